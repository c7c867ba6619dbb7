"""Each sentence of README.md, docs/ and CONTRIBUTING.md that has a number, and how its numbers are computed.

A sentence stands here as it stands on its page, with {} for each number that is computed; how the page breaks its
lines does not matter. What no code decides, advice and conventions, stands in CONVENTIONS with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, cos, log2, log10, pi

import numpy as np

from pe_spectra import Sinusoidal, compute_spectrum, limits, reconstruct_positions
from pe_spectra.answers import learning
from pe_spectra.claims import judging
from pe_spectra.encodings import ENCODINGS, calendar
from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import scale_llama3, scale_yarn
from pe_spectra.exact import DIGITS, EXACT
from pe_spectra.experiment import tasks
from pe_spectra.experiment.design import FULL
from pe_spectra.faithfulness import growth, near_search, pair_lags, separation
from pe_spectra.figures import build, recipes
from pe_spectra.frozen import digests
from pe_spectra.inspection import channels, formulas, levels, periods, ridges
from pe_spectra.metrics import linearity, order
from pe_spectra.metrics.common_ground import DEFAULT_LENGTH
from pe_spectra.metrics.measures import TIE
from pe_spectra.models.comparison.divergence import BREAKS
from pe_spectra.models.cosine_sums import find_first_negative_lag
from pe_spectra.models.lengths import proposals
from pe_spectra.models.rotation import SAME_FORMULA, TOLERANCE
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stated.known_models import REFUSALS, load_table, read_measured
from pe_spectra.models.stated.statement import NEWEST, OLDER
from pe_spectra.precision.dtypes import DTYPES
from pe_spectra.series import line_search
from pe_spectra.spectrum import evenness, lag_window
from pe_spectra.spectrum.density import DEFAULT_BANDWIDTH
from pe_spectra.spectrum.evenness import LOW_BINS
from pe_spectra.spectrum.record import MOST_NEGATIVE
from pe_spectra.study import plan
from pe_spectra.wording import write_with_error
from tests.mutation.mutants import read_mutants
from tests.pages import docs_numbers as numbers
from tests.pages import readme, test_house
from tests.pages import study_page as study
from tests.pages import test_faithfulness_page as test_docs_faithfulness
from tests.pages.docs_numbers import CONDITION, exponent, find_first_lost, group, name_number, write
from tests.reference import test_refusals

README, TOUR, FAITHFULNESS, MODELS = "README.md", "docs/commands.md", "docs/faithfulness.md", "docs/models.md"
PRECISION, QUANTITIES, TABLES = "docs/precision.md", "docs/quantities.md", "docs/reading-tables.md"
CONTRIBUTING, EXPERIMENT, CHECKING, CHOOSING = (
    "CONTRIBUTING.md",
    "docs/experiment.md",
    "docs/checking.md",
    "docs/choosing.md",
)
#: Where the page on faithfulness draws its lines, and what pi is divided by where a phase breaks a port.
SEPARATED, CONDITIONED, RECONSTRUCTED = numbers.lines_of_the_page()
EIGHTH = round(pi / BREAKS, 9)
DIGITS_OF_A_DOUBLE, DIGITS_LOST = ceil(-log10(2.0**-52)), round(2 * log10(CONDITIONED))


@dataclass(frozen=True)
class Sentence:
    """Words of a page with {} for each number, and what computes these numbers, in their order."""

    page: str
    text: str
    compute: Callable[[], tuple[object, ...]]

    def fill(self) -> str:
        """The words with the numbers that are computed now."""
        return self.text.format(*(write(value) for value in self.compute()))


#: What is computed, by page and in the order of the page.
SENTENCES = (
    Sentence(README, "held against arithmetic of {} digits", lambda: (numbers.count_reference_digits(),)),
    Sentence(README, "`pe-spectra encodings` lists {} with formula", lambda: (name_number(len(ENCODINGS)),)),
    Sentence(
        README, "what bfloat16 and float16 leave of {} positions", lambda: (group(recipes._STAIRCASES["length"]),)
    ),
    Sentence(TOUR, "on a terminal of {} columns", lambda: (readme.COLUMNS,)),
    Sentence(TOUR, "the catalogue, {} encodings with formula", lambda: (name_number(len(ENCODINGS)),)),
    Sentence(FAITHFULNESS, "at bandwidth {}, on a lattice", lambda: (DEFAULT_BANDWIDTH,)),
    Sentence(FAITHFULNESS, "well separated: at least {} of the typical", lambda: (SEPARATED,)),
    Sentence(FAITHFULNESS, "here a {} of what", lambda: ({0.05: "twentieth"}[SEPARATED / 2],)),
    Sentence(
        FAITHFULNESS,
        "well conditioned: below 1e{}.** Least squares by the Gram matrix squares the condition number: at 1e{} that "
        "is 1e{}, and of the {} digits of a double {} are left.",
        lambda: (
            *(round(log10(CONDITIONED)),) * 2,
            DIGITS_LOST,
            DIGITS_OF_A_DOUBLE,
            name_number(DIGITS_OF_A_DOUBLE - DIGITS_LOST),
        ),
    ),
    Sentence(FAITHFULNESS, 'Above {} the number itself is unknown: `null`, "> {}"', lambda: (CONDITION, CONDITION)),
    Sentence(
        FAITHFULNESS,
        "error below {}.** With the norm restored, ||r - f||^2 = 2 (1 - r(s)): the error is below {} where r(s) is "
        "above {}, so that {} % of the energy comes back",
        lambda: (
            *(RECONSTRUCTED,) * 2,
            round(1 - RECONSTRUCTED**2 / 2, 9),
            round(100 * (1 - RECONSTRUCTED**2 / 2) ** 2),
        ),
    ),
    Sentence(
        FAITHFULNESS,
        "{} of the {}, each with an encoding",
        lambda: (name_number(len(test_docs_faithfulness.ROWS)).capitalize(), name_number(2**4)),
    ),
    # sigma is the bandwidth times 2 pi/N, the window exp(-sigma**2 tau**2/2)
    Sentence(
        FAITHFULNESS,
        "At bandwidth {} Algorithm 1 sees the encoding through a Gaussian window of N/({} pi) lags",
        lambda: (DEFAULT_BANDWIDTH, 2 * DEFAULT_BANDWIDTH),
    ),
    Sentence(FAITHFULNESS, "the higher peak is the wrong one, at {}:", lambda: (numbers.find_wrong_peak(),)),
    Sentence(FAITHFULNESS, "A {}-bit hash of each row", lambda: (numbers.count_hash_bits(),)),
    Sentence(
        FAITHFULNESS,
        "{} buckets up to {} merge lags {} and {} (causal) or {} and {} (both directions), and all lags from {} or "
        "{} on.",
        lambda: (
            *numbers.find_t5_defaults(),
            *numbers.find_merged("no")[:2],
            *numbers.find_merged("yes")[:2],
            *(numbers.find_merged(word)[2] for word in ("no", "yes")),
        ),
    ),
    Sentence(FAITHFULNESS, "They are multiples of 2^-{} and", lambda: (exponent(calendar._GRAIN),)),
    Sentence(FAITHFULNESS, "u = ({} + 2 d) 2^-{} times", numbers.measure_entry_bounds),
    Sentence(FAITHFULNESS, "sum of {} sin^2(w tau/2), with", lambda: (numbers.find_factor_of_sines(),)),
    Sentence(FAITHFULNESS, "by a k-d tree up to {} columns", lambda: (near_search._TREE_COLUMNS,)),
    Sentence(MODELS, "Frequencies are computed in {} digits", lambda: (DIGITS,)),
    Sentence(
        MODELS,
        "Of {} configurations of rotary classes with something wrong in them, drawn by rule, transformers {} refuses "
        "{}; of {} of the classes of {}, that release refuses {}.",
        lambda: tuple(
            told
            for release in test_refusals.RELEASES
            for drawn, refused, _ in [test_refusals.count_cases(release)]
            for told in (group(drawn), release, group(refused))
        ),
    ),
    Sentence(
        MODELS,
        "`audit` has no error of {} and {} of these",
        lambda: tuple(test_refusals.count_cases(release)[2] for release in test_refusals.RELEASES),
    ),
    Sentence(
        MODELS,
        "In {} of the {} configurations that transformers {} loads of these, frequencies are computed with one",
        lambda: (
            test_refusals.ODD[NEWEST][0],
            group(test_refusals.count_cases(NEWEST)[0] - test_refusals.count_cases(NEWEST)[1]),
            NEWEST,
        ),
    ),
    Sentence(
        MODELS,
        "In {} layers that depend on it have no rotation",
        lambda: (test_refusals.ODD[NEWEST][1],),
    ),
    Sentence(
        MODELS,
        "{} are read without it, for no rotation depends on it. Of {} the whole file is an error",
        lambda: (test_refusals.ODD[NEWEST][2], sum(test_refusals.UNUSABLE[NEWEST].values())),
    ),
    Sentence(
        MODELS,
        "{} of these state a width, or a number of heads, alone",
        lambda: (test_refusals.UNUSABLE[NEWEST][test_refusals.LACKING],),
    ),
    Sentence(
        MODELS,
        "Of the {} that {} loads, {} are computed with one by `--reader transformers-4`, {} have layers without a "
        "rotation, and {} are read without it; {} are an error as a whole, of which {} state a width,",
        lambda: (
            group(test_refusals.count_cases(OLDER)[0] - test_refusals.count_cases(OLDER)[1]),
            OLDER,
            *test_refusals.ODD[OLDER],
            sum(test_refusals.UNUSABLE[OLDER].values()),
            test_refusals.UNUSABLE[OLDER][test_refusals.LACKING],
        ),
    ),
    Sentence(
        MODELS,
        "Of the older release {} of {} classes were asked",
        lambda: tuple(len(load_table(name)["classes"]) for name in (OLDER + REFUSALS, OLDER)),
    ),
    Sentence(MODELS, "within {} steps for linear", lambda: (proposals.WAYS["linear"].training.split()[4],)),
    Sentence(MODELS, "{} times fewer steps than ways", lambda: (proposals.WAYS["yarn"].training.split()[4],)),
    Sentence(
        MODELS,
        "within the {} that float32 leaves, against those of transformers {} and {} for every scaling",
        lambda: (
            numbers.reread("reference/test_transformers.py", r"rtol=([^,]+), atol=0"),
            *(STACKS[name].title.split()[-1] for name in ("transformers-5", "transformers-4")),
        ),
    ),
    Sentence(
        MODELS,
        "{} of {} in Llama 2, {} of {} in Llama 3, {} of {} in Qwen2.5, {} of {} in Gemma 7B.",
        lambda: tuple(
            number
            for name in ("llama-2-7b", "llama-3-8b", "qwen2.5-7b-instruct", "gemma-7b")
            for number in numbers.count_never(name)
        ),
    ),
    Sentence(
        MODELS,
        "that {} classes and {} architectures make",
        lambda: tuple(
            len(read_measured(f"{one.name}-{one.version}")["classes"]) for one in (STACKS["diffusers"], STACKS["timm"])
        ),
    ),
    Sentence(MODELS, "is above {} times the largest", lambda: (TOLERANCE,)),
    Sentence(MODELS, "theta'_i l > {} max(theta_i L0", lambda: (TOLERANCE,)),
    Sentence(MODELS, "further than pi/{} from where it should be", lambda: (EIGHTH,)),
    Sentence(MODELS, "pi/{} is our threshold", lambda: (EIGHTH,)),
    Sentence(MODELS, "no phase by more than pi/{} within", lambda: (EIGHTH,)),
    Sentence(
        MODELS, "| `yarn` | keeps pairs with {} periods", lambda: (numbers.find_keyword(scale_yarn, "beta_fast"),)
    ),
    Sentence(
        MODELS,
        "| `llama3` | keeps pairs with {} periods",
        lambda: (numbers.find_keyword(scale_llama3, "high_freq_factor"),),
    ),
    Sentence(MODELS, "theta' T > {} theta L), those between", lambda: (TOLERANCE,)),
    Sentence(MODELS, "theta L and {} theta L, which are not counted", lambda: (TOLERANCE,)),
    Sentence(
        MODELS,
        "are decided in {} digits. At d = 128 it is {} for base {}, {} for {} and {} for {}.",
        lambda: (
            DIGITS,
            *(
                number
                for base in (10000, 500000, 1000000)
                for number in (find_first_negative_lag(compute_ladder(base, 128), 1 << 15), base)
            ),
        ),
    ),
    Sentence(MODELS, "{} T^{} |", lambda: numbers.fit_power(proposals._compute_fitted_base)),
    Sentence(
        MODELS,
        "T / arccos {}, least | a frequency 1/base keeps a cosine of {};",
        lambda: (round(cos(64 / numbers.find_bound("stability-bound", 64)), 9),) * 2,
    ),
    Sentence(MODELS, "2^{}, largest", lambda: (exponent(numbers.find_bound("precision-bound", 64)),)),
    Sentence(
        PRECISION,
        "the {} bits of bfloat16 cannot hold {}, and",
        lambda: (name_number(DTYPES["bfloat16"].digits), find_first_lost("bfloat16") + 1),
    ),
    Sentence(
        PRECISION,
        "turns an angle by up to {} rad at {} positions and by",
        lambda: (numbers.measure_casts()["bf16-positions", "positions"].max_phase_error, group(8192)),
    ),
    # the last of a million positions have a step of 2**(20 - digits), and are off by half of it
    Sentence(
        PRECISION,
        "by {} rad at a million, where float32 phases are off by {} and {} rad",
        lambda: (
            group(2 ** (20 - DTYPES["bfloat16"].digits) / 2),
            f"{numbers.measure_casts()['fp32-then-cast', 'phases'].max_phase_error:.4f}",
            f"{numbers.bound_phases(10**6):.2f}",
        ),
    ),
    Sentence(
        PRECISION,
        "whole numbers beyond {} (bfloat16), {} (float16) or 2^{} (float32) merge",
        lambda: (
            find_first_lost("bfloat16"),
            group(find_first_lost("float16")),
            exponent(find_first_lost("float32")),
        ),
    ),
    Sentence(
        PRECISION,
        "with base {} and {} channels {} are constant over {} positions in bfloat16",
        numbers.measure_rope,
    ),
    Sentence(
        PRECISION,
        "A ramp of {} levels on [0, 1] keeps {} of them in float16",
        lambda: tuple(group(number) for number in numbers.measure_ramp()),
    ),
    Sentence(
        PRECISION,
        "largest number of a type ({} in float8_e4m3fn) a cast",
        lambda: (int(DTYPES["float8_e4m3fn"].largest),),
    ),
    Sentence(QUANTITIES, "Unless asked otherwise {}, and 1 along", lambda: (DEFAULT_BANDWIDTH,)),
    Sentence(
        QUANTITIES,
        "Right to {} units in the last place up to d = {};",
        lambda: (
            numbers.reread("reference/test_frozen_rows.py", r'hold_ulps\(row, "g", g, row\["g"\], (\d+)\)'),
            numbers.reread("reference/test_frozen_rows.py", r'unit = 1e-15 if case\["d"\] <= (\d+)'),
        ),
    ),
    Sentence(QUANTITIES, "S below {} N / (2 pi bandwidth)", lambda: (lag_window._LAST_LAG,)),
    Sentence(
        QUANTITIES,
        "The smallest is {} of the largest and more, as those of {} columns of noise are",
        lambda: (Fraction(evenness.LEAST_EVEN).limit_denominator(10), numbers.count_even_columns()),
    ),
    Sentence(QUANTITIES, "{} bins are a fixed number", lambda: (name_number(LOW_BINS),)),
    Sentence(
        QUANTITIES,
        "where the frequencies are low ({} and {} rad/position for the paper's Fig. 1)",
        lambda: tuple(
            f"{getattr(compute_spectrum(Sinusoidal()).summary, name):.4g}" for name in ("mean_frequency", "centroid")
        ),
    ),
    Sentence(
        QUANTITIES,
        "a Gaussian tail nearly so ({} for the paper's Fig. 1)",
        lambda: (f"{compute_spectrum(Sinusoidal()).summary.flatness:.0e}",),
    ),
    Sentence(
        QUANTITIES,
        "It is {} for every ladder with rho >= 1",
        lambda: (f"{compute_spectrum(Sinusoidal(d=64)).summary.empty_upper_band:.2f}",),
    ),
    Sentence(QUANTITIES, "Above {}, or where the centroid is below 0", lambda: (MOST_NEGATIVE,)),
    Sentence(
        QUANTITIES,
        "Right to {} log2(N) in norm",
        lambda: (numbers.reread("reference/test_frozen_rows.py", r"limit = (\S+) \* max\(1\.0, math\.log2\(n\)\)"),),
    ),
    Sentence(
        QUANTITIES,
        "({}, {}, {}, {} and {} positions at bandwidth {}, {}, {}, {} and {} for the paper's parameters)",
        lambda: (*numbers.find_widths(), *numbers.BANDWIDTHS),
    ),
    Sentence(
        QUANTITIES,
        "{} for the paper's Fig. 2, whose",
        lambda: (f"{reconstruct_positions(compute_spectrum(Sinusoidal()), [40]).positions[0].width_10:.1f}",),
    ),
    Sentence(QUANTITIES, "values closer than {} are equal, and of equal ones", lambda: (separation._FLAT,)),
    Sentence(QUANTITIES, "ties are closer than {} of the largest; 1 falls", lambda: (TIE,)),
    Sentence(QUANTITIES, "ties are closer than {} of the largest squared norm", lambda: (TIE,)),
    Sentence(QUANTITIES, "squares closer than {} of the largest are ties", lambda: (TIE,)),
    Sentence(QUANTITIES, "of at most 2^-{} of the largest entry", lambda: (exponent(separation._COARSE),)),
    Sentence(QUANTITIES, "it is 2 x 2^-{} of the distance", lambda: (exponent(numbers.find_share_of_bound()),)),
    Sentence(
        QUANTITIES,
        "prints it behind the distance: `{}`, and",
        lambda: (numbers.print_distance("sinusoidal", 80),),
    ),
    Sentence(
        QUANTITIES,
        "no digits that it leaves open: `{}`",
        lambda: (write_with_error(3.79e-13, 1.4e-14),),
    ),
    Sentence(QUANTITIES, "at S, 2 S, {} S, .. up to 2^{} positions", lambda: (4, exponent(limits.MAX_LENGTH))),
    Sentence(QUANTITIES, "up to 2^{} frequencies x positions", lambda: (exponent(growth._MOST_TERMS),)),
    Sentence(QUANTITIES, "all others up to 2^{} multiplications", lambda: (exponent(growth._MOST_WORK),)),
    Sentence(QUANTITIES, 'beyond its limit ("> {}" in the line', lambda: (CONDITION,)),
    Sentence(
        QUANTITIES,
        "64 positions of the sinusoidal encoding with d = 64 have {}.",
        lambda: (numbers.CONDITION_OF_64,),
    ),
    Sentence(QUANTITIES, "`null` beyond {} lags. For", lambda: (limits.MAX_CURVE,)),
    Sentence(QUANTITIES, "sum over l of {} sin^2(w_l tau / 2)", lambda: (numbers.find_factor_of_sines(),)),
    Sentence(QUANTITIES, "up to d S / 2 = 2^{}; beyond", lambda: (exponent(pair_lags._EXACT_CURVE),)),
    Sentence(QUANTITIES, "take `--embedding {}` for d = {}", lambda: (round(Sinusoidal().d ** 0.5), Sinusoidal().d)),
    Sentence(QUANTITIES, "rows are hashed to {} bits", lambda: (numbers.count_hash_bits(),)),
    # two doubles of 53 bits
    Sentence(QUANTITIES, "against w s to {} digits", lambda: (int(2 * 53 * log10(2)),)),
    Sentence(QUANTITIES, "rows that one of them has, else {}.", lambda: (DEFAULT_LENGTH,)),
    Sentence(
        QUANTITIES,
        "on {} points the centroids of sinusoidal d = {}, {} and {} are {}, {} and {} reflected, {}, {} and {} cut off",
        lambda: (336, 16, 64, 256, *numbers.find_centroids("reflect"), *numbers.find_centroids("none")),
    ),
    Sentence(QUANTITIES, "an eighth of the rows, at least {} rows in all", lambda: (ridges._PART * ridges._SHORTEST,)),
    Sentence(QUANTITIES, "Beyond 2^{} dot products s is", lambda: (exponent(order._MOST_ENTRIES),)),
    Sentence(
        QUANTITIES,
        "over k = {} up to S/{}, on the components that hold {} % of the variance",
        lambda: (
            ", ".join(map(str, linearity.SHIFTS)),
            numbers.find_share_of_shifts(),
            round(100 * linearity.KEPT_VARIANCE, 9),
        ),
    ),
    Sentence(QUANTITIES, "fewer than {} rows have no periods", lambda: (periods.FEWEST_ROWS,)),
    Sentence(QUANTITIES, "(Fisher's test, p < {})", lambda: (channels._CHANCE,)),
    Sentence(QUANTITIES, "in another order, with a chance of at most {} that none", lambda: (channels._CHANCE,)),
    Sentence(QUANTITIES, "turned at random, with a chance of at most {}.", lambda: (formulas._CHANCE,)),
    Sentence(QUANTITIES, "the more; `null` for fewer than {} rows", lambda: (periods.FEWEST_ROWS,)),
    Sentence(QUANTITIES, "only the {} codes about zero", lambda: (name_number(numbers.count_formula_codes()),)),
    # |cos(x + b) - cos x| = 2 |sin(b/2)| |sin(x + b/2)|
    Sentence(
        QUANTITIES,
        "pi/{} is our choice: the cosine of a lag that is off by so much is wrong by up to {}.",
        lambda: (EIGHTH, f"{2 * np.sin(BREAKS / 2):.2f}"),
    ),
    Sentence(QUANTITIES, "counts those that differ by more than {}.", lambda: (SAME_FORMULA,)),
    Sentence(QUANTITIES, "stays as it was, to {}.", lambda: (SAME_FORMULA,)),
    Sentence(QUANTITIES, "a number beyond {} of the column's largest", lambda: (build.TOLERANCE,)),
    Sentence(QUANTITIES, "at s = {}, {} and {}", lambda: recipes._POSITIONS),
    Sentence(QUANTITIES, "it is checked only to be below {}", lambda: (recipes._ROUNDING,)),
    Sentence(QUANTITIES, "deviations below {} are written as that bound", lambda: (judging.ROUNDING,)),
    Sentence(
        TABLES,
        "one that chance leaves in one table of a {}, and where",
        lambda: ({100: "hundred"}[levels._TABLES],),
    ),
    Sentence(TABLES, "At most 2^{} numbers in a table", lambda: (exponent(limits.MAX_HELD_ENTRIES),)),
    Sentence(
        TABLES,
        "{} columns, {} MiB in the header of a checkpoint, {} MiB of text, {} MiB of configuration",
        lambda: (
            limits.MAX_COLUMNS,
            *(
                most / 2**20
                for most in (limits.MAX_TENSOR_INDEX_BYTES, limits.MAX_TEXT_TABLE_BYTES, limits.MAX_CONFIGURATION_BYTES)
            ),
        ),
    ),
    Sentence(
        EXPERIMENT,
        "The study has {} networks: {} encodings, those that are added to tokens at two norms, {} tasks, windows of {} "
        "and {} positions, {} seeds each.",
        lambda: (
            group(study.report().runs),
            len(plan.STUDY_ARMS),
            name_number(len(plan.STUDY_TASKS)),
            *plan.STUDY_LENGTHS,
            name_number(plan.STUDY_SEEDS),
        ),
    ),
    Sentence(EXPERIMENT, "was to be seen in {} comparisons with", lambda: (study.count_shown("own")[2],)),
    Sentence(
        EXPERIMENT,
        "At its own norm, {} where the sinusoid has {}, the DFT encoding is more accurate in {} of them and less "
        "accurate in {}: on `anomaly`, which has the form of the paper's task, it reaches {} where the sinusoid "
        "reaches {}, at {} positions. Scaled to the norm of the sinusoid it is more accurate in {} and less accurate "
        "in {}. On `anomaly` it then reaches {}, so that most of that difference is one of norm; on `order` it goes "
        "from {} to {}, where the sinusoid has {}: there",
        lambda: (
            *study.read_norms(),
            *study.count_shown("own")[:2],
            *study.read_accuracies("anomaly", ("dft", "own"), ("sinusoidal", "own")),
            study.LONGER,
            *study.count_shown("matched")[:2],
            *study.read_accuracies("anomaly", ("dft", "matched")),
            *study.read_accuracies("order", ("dft", "own"), ("dft", "matched"), ("sinusoidal", "own")),
        ),
    ),
    Sentence(
        EXPERIMENT,
        "without positions is {} at their own norms and {} at that of the sinusoid, at {} positions",
        lambda: (*study.average_norms(), study.LONGER),
    ),
    Sentence(
        EXPERIMENT,
        "on `faint` the DFT encoding falls from {} to {}",
        lambda: study.read_accuracies("faint", ("dft", "own"), ("dft", "matched")),
    ),
    Sentence(EXPERIMENT, "a p below {}, corrected for all encodings", lambda: (learning.LEVEL,)),
    Sentence(EXPERIMENT, "* **{}** go with accuracy on no task", lambda: (study.list_silent(),)),
    Sentence(
        EXPERIMENT,
        "{} of {} comparisons shows a difference, of {}, and all intervals lie between {} and {}. Its correlations "
        "are those of accuracies from {} up.",
        study.describe_control,
    ),
    Sentence(
        EXPERIMENT,
        "windows of at most {} positions and a fixed number",
        lambda: (study.LONGER,),
    ),
    Sentence(EXPERIMENT, "over {} encodings need not", lambda: (study.count_correlated(),)),
    Sentence(EXPERIMENT, "the sinusoid itself is at {} or more", lambda: (learning.CEILING,)),
    Sentence(
        EXPERIMENT,
        "Of these networks {} were trained on a machine with another processor as well: {} of them have",
        lambda: tuple(map(group, study.compare_machines())),
    ),
    Sentence(
        EXPERIMENT,
        "has {} pre-norm layers of width {} with {} heads",
        lambda: (FULL.layers, FULL.width, FULL.heads),
    ),
    Sentence(
        EXPERIMENT,
        "AdamW for at most {} steps of {} windows: {} passes over {} windows",
        lambda: (FULL.steps, FULL.batch, FULL.passes, group(FULL.windows)),
    ),
    Sentence(EXPERIMENT, "after a pass with a mean loss below {}", lambda: (FULL.learned,)),
    Sentence(EXPERIMENT, "rises for a {} of the steps", lambda: ({10: "tenth"}[round(1 / FULL.warmup)],)),
    Sentence(
        EXPERIMENT,
        "in turn, {}, {} and {}, until one judges {} % of {} validation windows rightly; that with the most right "
        "judges {} test windows",
        lambda: (*FULL.rates, 100 * FULL.settled, group(FULL.validation), group(FULL.test)),
    ),
    Sentence(EXPERIMENT, "in positions, {} unless a design says otherwise", lambda: (FULL.scale,)),
    Sentence(EXPERIMENT, "normal noise of standard deviation {}", lambda: (FULL.noise,)),
    Sentence(EXPERIMENT, "two bumps of height {}, not one", lambda: (tasks.FAINT_HEIGHT,)),
    Sentence(
        EXPERIMENT,
        "width {} in place of 64; rates of {} to {} in place of 0.001 to 0.004",
        lambda: (FULL.width, min(FULL.rates), max(FULL.rates)),
    ),
    Sentence(EXPERIMENT, "a spike has the height {} in place of 1.5", lambda: (f"{tasks.SPIKE:g}",)),
    Sentence(CHECKING, '`["0x1.a115829457fbep-1", {}]`', lambda: (repr(float.fromhex("0x1.a115829457fbep-1")),)),
    Sentence(CHOOSING, "Each test is held to {} %", lambda: (f"{100 * line_search._HELD:g}",)),
    Sentence(CHOOSING, "noise alone a period is told in {} % at most", lambda: (f"{100 * line_search.RATE:g}",)),
    Sentence(CHOOSING, "nothing stands out or {} sinusoids are found", lambda: (line_search.MOST_LINES,)),
    Sentence(CHOOSING, "fewer than {} times in the record", lambda: (f"{line_search.LEAST_CYCLES:g}",)),
    Sentence(
        CHOOSING,
        "fewer than {} samples, and none is told that explains less than {} % of the variance",
        lambda: (line_search.FEWEST_SAMPLES, f"{100 * line_search.SMALLEST_SHARE:g}"),
    ),
    Sentence(CHECKING, "of up to {} stretches of rows", lambda: (digests._STRETCHES,)),
    Sentence(CHECKING, "within a relative 2**-{}", lambda: (-round(log2(EXACT)),)),
    Sentence(CONTRIBUTING, "plants {} faults in copies of the package", lambda: (len(read_mutants()),)),
    Sentence(CONTRIBUTING, "and against arithmetic of {} digits", lambda: (numbers.count_reference_digits(),)),
    Sentence(
        CONTRIBUTING,
        "functions of at most {} lines, modules of at most {}",
        lambda: (test_house.LONGEST_FUNCTION, test_house.LONGEST_MODULE),
    ),
)

#: Numbers that no code decides: the page, the words, and why.
CONVENTIONS = (
    (CHOOSING, "hour and weekday alone do not name a position of eight days", "the article's windows"),
    (CHOOSING, "forecasts hourly traffic from windows of eight days", "the article's"),
    (CHOOSING, "do not name a position in a window of eight days, and that a timestamp does", "the article's words"),
    (CHOOSING, "It agrees with astropy's to 1e-9", "tests/series/test_periodogram.py holds it"),
    (TOUR, "130 interrupted", "128 and the number of SIGINT, as shells have it"),
    (PRECISION, "below some ten, one more rounding", "advice"),
    (QUANTITIES, "below some ten, one more rounding", "advice"),
    (QUANTITIES, "an absolute error of some 1e-16", "an order of magnitude: what float64 leaves of shares"),
    (QUANTITIES, "Above some 1e-3 trust only", "advice"),
    (QUANTITIES, 'whose "about 30" it is', "the paper's words"),
    (
        QUANTITIES,
        "to some 1e-13 of the largest weight",
        "an order of magnitude; tests of these spectra hold it",
    ),
    (QUANTITIES, "an absolute error of about 1e-13 d", "an order of magnitude; the tests of separation hold it"),
    (QUANTITIES, "A smooth table reaches 0.9 without any such map", "advice"),
    (QUANTITIES, "`log_weights` / ln 10", "the base of the logarithm"),
    (QUANTITIES, "base-10 logarithm", "the base of the logarithm"),
    (MODELS, "a line through such bases at D = 128", "what Men et al. took"),
    (EXPERIMENT, "A first version (width 64, `bag` with bumps of height 0.4)", "history"),
    (EXPERIMENT, "(1000 and up)", "history"),
    (EXPERIMENT, "with six seeds", "history"),
    (EXPERIMENT, "was 0.731, that of `sinusoidal` 0.575", "measured once"),
    (EXPERIMENT, "fell from 0.84 without an encoding to 0.69", "measured once"),
    (EXPERIMENT, "the seeds 1000 and 1001", "history"),
    (EXPERIMENT, "was changed when 984 networks, all of windows of 16 positions, were there", "history"),
    (EXPERIMENT, "with networks of width 64", "what was measured"),
    (EXPERIMENT, "| | JAX 0.10.2, Optax 0.2.8 | PyTorch 2.15.0 |", "what was measured"),
    (EXPERIMENT, "| installed, with NumPy | 0.5 GB | 5.3 GB", "measured once"),
    (EXPERIMENT, "| import | 0.8 s | 2.1 s |", "measured once"),
    (EXPERIMENT, "once for each shape | 5 s | none |", "measured once"),
    (EXPERIMENT, "| step of 16 windows of 32 positions | 9 ms | 13 ms |", "measured once"),
    (EXPERIMENT, "| step of 32 windows | 19 ms | 18 to 22 ms |", "measured once"),
    (EXPERIMENT, "| a trial of all three rates | 21 s |", "measured once"),
    (EXPERIMENT, "JAX 0.4.30 and Optax 0.2.3", "stands in pyproject.toml"),
    (CONTRIBUTING, "in about twenty-five minutes", "depends on the machine"),
    (CONTRIBUTING, "about ten minutes", "depends on the machine"),
)
