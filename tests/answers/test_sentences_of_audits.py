"""What an audit says of drawn configurations: of turns against the frequencies, of other schemes by definition."""

import math
import re

import ml_dtypes
import numpy as np
import pytest

from pe_spectra.answers.audit_words import judge_audits, list_facts
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stated.configuration import read_configuration
from tests.answers.holding import NUMBER, hold, is_rounded

TURN = 2 * math.pi


def draw_configurations(seed):
    """Ladders of few pairs and many, scaled in every way, with windows, partial and proportional, at any lengths."""
    draw = np.random.default_rng(seed)
    by_turns = {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": 128}
    by_turns |= {"short_factor": [1.0] * 32, "long_factor": [1.0, 9.0] * 16}  # of neighbours one is out of range
    of_turns = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 512}
    yield of_turns | {"rope_scaling": by_turns}, 4096, None
    for _ in range(25):
        width, length = 2 * int(draw.choice([1, 2, 8, 32])), int(draw.choice([8, 64, 512, 8192]))
        keys = {"model_type": "llama", "head_dim": width, "rope_theta": float(draw.choice([2.0, 100.0, 1e4, 5e5]))}
        keys |= {"max_position_embeddings": length, "hidden_size": 4 * width, "num_attention_heads": 4}
        factor = float(draw.choice([0.25, 2.0, 8.0]))
        scaling = str(draw.choice(["none", "linear", "dynamic", "yarn", "llama3", "longrope"]))
        rope = {"rope_type": scaling, "factor": factor}
        if scaling in ("yarn", "llama3", "longrope"):
            rope["original_max_position_embeddings"] = max(2, length // max(1, int(factor)))
        if scaling == "llama3":
            rope |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
        if scaling == "longrope":
            rope |= {f"{one}_factor": draw.choice([1.0, 1.5, 9.0], width // 2).tolist() for one in ("short", "long")}
        keys |= {} if scaling == "none" else {"rope_scaling": rope}
        keys |= {"torch_dtype": str(draw.choice(["float32", "bfloat16", "float16"]))}
        keys |= draw.choice([{}, {"partial_rotary_factor": 0.5}, {"model_type": "mistral", "sliding_window": 32}])
        yield keys, draw.choice([None, 4 * length]), draw.choice([None, None, length // 2])


def count_turns(layer):
    """Periods of each pair within the training length, as far as it is seen at once."""
    return layer.frequencies * layer.limit(layer.trained_length) / TURN


def say_pairs(layer, many, few, never, rest=None, within=None):
    turns = count_turns(layer)
    near = np.isclose(turns, 1, rtol=1e-12) | np.isclose(turns, 32, rtol=1e-12)
    counted = [int((turns >= 32).sum()), int(((turns < 32) & (turns >= 1)).sum()), int((turns < 1).sum())]
    still = int((layer.frequencies == 0).sum())
    told = 0 if rest is None else int(never) if rest == "all" else int(rest)
    length = int(within.replace(",", "")) == layer.limit(layer.trained_length)
    return length and told == still and (near.any() or [int(many), int(few), int(never)] == counted)


def list_beyond(layer):
    """Pairs that turn farther than they did in training, by more than 1 %, and never turned round in it."""
    trained, served = layer.seen_phases, layer.frequencies * layer.limit(layer.served_length)
    return [i for i, (seen, now) in enumerate(zip(trained, served, strict=True)) if seen < TURN and now > 1.01 * seen]


def say_phases(layer, many, which):
    pairs = list_beyond(layer)
    named = [int(n) for n in re.findall(r"\d+", which.partition(" more")[0])]
    if " to " in which:
        return int(many) == len(pairs) and pairs == list(range(named[0], named[1] + 1))
    return (
        int(many) == len(pairs) and named[: 3 if "more" in which else None] == pairs[: 3 if "more" in which else None]
    )


def say_width(layer, channels, turned):
    moving = 2 * int(np.count_nonzero(layer.frequencies))
    return int(channels) == layer.head_dim and (layer.head_dim if turned == "all" else int(turned)) == moving


def say_spectrum(layer, first, bins, share, mean):
    g = layer.spectrum.weights
    right = (int(first), int(bins)) == (min(10, len(g)), len(g)) and abs(100 * g[:10].sum() - float(share)) < 0.0501
    return right and is_rounded(mean, float(layer.frequencies.mean()), 4)


def say_low(layer, inside, total, length, zero=None):
    w, edge = layer.frequencies, TURN / int(length)
    below = (w > 0) & (w < edge * (1 - 1e-12))
    return (int(inside), int(total), int(zero or 0)) == (int(below.sum()), len(w), int((w == 0).sum()))


def say_unseen(layer, many, pairs, served, newly):
    beyond = list_beyond(layer)
    reach = layer.limit(layer.served_length)
    complete = sum(layer.frequencies[i] * reach >= TURN for i in beyond)
    told = (int(many), int(pairs), int(served.replace(",", "")), int(newly))
    return told == (len(beyond), len(layer.frequencies), reach, complete)


def say_negative(layer, lag, reach, seen, times):
    """The first negative sum of cosines is there, and none before; sums that are 0 but for rounding may be either."""
    first = int(lag.replace(",", ""))
    sums = np.cos(np.outer(np.arange(1, first + 1), layer.frequencies)).sum(axis=1)
    right = sums[-1] < 1e-9 and (sums[:-1] > -1e-9).all()
    whole = layer.limit(layer.served_length)
    right = right and (seen == "window") is (whole < layer.served_length)
    return right and int(reach.replace(",", "")) == whole and is_rounded(times.replace(",", ""), whole / first, 3)


def say_narrow(layer, kind, last, error, merged):
    """No angle of the recipe with every step in the type is further off; the type has no odd number there."""
    positions = np.unique(np.linspace(0, layer.served_length - 1, 300).round())
    cast = ml_dtypes.bfloat16 if kind == "bfloat16" else np.float16
    w = layer.frequencies.astype(np.float32).astype(cast).astype(float)
    with np.errstate(over="ignore"):
        angles = np.multiply.outer(positions.astype(cast).astype(float), w).astype(cast).astype(float)
    finite = np.isfinite(angles)
    off = np.abs(angles - np.multiply.outer(positions, layer.frequencies))[finite].max()
    top = int(merged.replace(",", ""))
    merges = cast(top + 1) in (cast(top), cast(top + 2)) and cast(top) != cast(top - 1)
    assert int(last.replace(",", "")) == layer.served_length - 1
    return merges and (error is None or off <= float(error.replace(",", "")) * (1 + 1e-12))


MESSAGES = {
    r"(\d+) of (\d+) pairs never completed a period in training and see out-of-range phases \(not covered in "
    rf"training\) at ({NUMBER}) positions \((\d+) of them completes? (?:its|their) first there\); scale .*": say_unseen,
    rf"the sum of cosines with base .* is first negative at lag ({NUMBER}); the ({NUMBER}) positions of the "
    rf"(context|window) are ({NUMBER}) times as many.*": say_negative,
    r"(\d+) pairs? turns? by more than pi per position, so "
    r"(?:they alias|it aliases) to (?:slower ones|a slower one)": lambda layer, pairs: (
        int(pairs) == np.count_nonzero(layer.frequencies > math.pi)
    ),
    rf"every pair(?: that turns)? completes a period within ({NUMBER}) positions "
    rf"\(longest wavelength ({NUMBER})\): .*": (
        lambda layer, reach, longest: (
            int(reach.replace(",", "")) == layer.limit(layer.served_length)
            and is_rounded(longest, TURN / layer.frequencies[layer.frequencies > 0].min(), 4)
            and TURN / layer.frequencies[layer.frequencies > 0].min() < layer.limit(layer.served_length)
        )
    ),
    rf"with every step in (\S+), the type that the file states of its weights, angles at positions up to ({NUMBER}) "
    rf"would (?:be off by up to ({NUMBER}) rad|overflow.*?) and positions above ({NUMBER}) "
    r"merge; keep angles in float32.*": say_narrow,
}
ASKED = {"unseen-phases", "base-below-bound", "base-too-small", "aliasing", "precision"}


FACTS = {
    r"pairs: (\d+) complete 32 periods or more, (\d+) fewer, (\d+) none(?: \((\S+) of them at rest\))?, "
    rf"within ({NUMBER}) positions": say_pairs,
    r"phases: out of range \(not covered in training\) of (\d+) pairs?, (.*)": say_phases,
    r"head width: (\d+) channels, (\S+) of them turned": say_width,
    r"spectrum: the first (\d+) of (\d+) bins hold (\S+) % of the weight \(Eq\. 15 at bandwidth 4\); mean frequency "
    r"(\S+) rad/position": say_spectrum,
    r"low bin: (\d+) of (\d+) frequencies (?:below|between 0 and) 2 pi/(\d+) rad/position"
    r"(?: \((\d+) others? (?:is|are) 0, constant over positions\))? \(Eq\. 16\)(?:; the ladder .*)?": say_low,
}


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_of_turns_is_true(seed):
    for keys, served, trained in draw_configurations(seed):
        audit = audit_configuration(read_configuration(keys, "config.json"), trained=trained, served=served)
        (layer,) = audit.layers
        if layer.rotation is None:
            continue
        facts, details = list_facts(audit)
        known = ("pairs", "phases", "head width", "spectrum", "low bin")
        texts = [f"{label}: {text}" for label, text in (*facts, *details) if label in known]
        hold(FACTS, texts, layer)
        assert ("phases" in dict(facts)) == bool(list_beyond(layer))
        messages = [one.message for one in audit.findings if one.code in ASKED]
        hold(MESSAGES, messages, layer)
        text = judge_audits([audit]).text
        turns = count_turns(layer)
        never = int((turns < 1).sum())
        said = re.search(
            r"(?:(\d+)|each) of (\d+) pairs (?:never )?completes? a period within ([\d,]+) positions", text
        )
        assert said is not None, text
        assert (int(said[1] or 0), int(said[2])) == (never, len(turns)) or np.isclose(turns, 1, rtol=1e-12).any()


# ----------------------------------------------------------------------------------- models that are not turned


def draw_unturned(seed):
    """Biases by ALiBi and T5, learned tables, sinusoids and recurrences, with lengths of the file and asked for."""
    draw = np.random.default_rng(100 + seed)
    for _ in range(60):
        heads, length = int(draw.integers(1, 80)), int(draw.integers(1, 3000))
        buckets = 2 * int(draw.integers(2, 40))
        kinds = [
            {"model_type": "bloom", "n_head": heads, "hidden_size": 4 * heads, "seq_length": length},
            {"model_type": "t5", "num_heads": heads, "d_model": 64, "relative_attention_num_buckets": buckets}
            | {"relative_attention_max_distance": buckets + int(draw.integers(1, 300))},
            {"model_type": "bert", "hidden_size": 64, "max_position_embeddings": length},
            {"model_type": "roberta", "hidden_size": 64, "max_position_embeddings": length + 2, "pad_token_id": 1},
            {"model_type": "opt", "hidden_size": 64, "max_position_embeddings": length},
            {"model_type": "marian", "d_model": 2 * heads, "max_position_embeddings": length},
            {"model_type": "xglm", "d_model": 2 * heads, "max_position_embeddings": length},
            {"model_type": "vit", "image_size": [16 * heads, 224], "patch_size": 16, "hidden_size": 64},
            {"model_type": "mamba", "hidden_size": 64},
        ]
        keys = kinds[int(draw.integers(len(kinds)))]
        asked = {"trained": draw.choice([None, 100]), "served": draw.choice([None, length, length + 1])}
        yield keys, {name: None if value is None else int(value) for name, value in asked.items()}


def list_slopes(heads):
    """Slopes as the paper of ALiBi has them: a geometric sequence, with every second one of twice as many added."""
    whole = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / whole) for i in range(whole)]
    return slopes + [2 ** (-8 * (i + 1) / (2 * whole)) for i in range(0, 2 * (heads - whole), 2)]


def find_last_bucket(buckets, most, *, causal, nudge):
    """The first distance of the last bucket, as the published code of T5 places keys, with logarithms nudged."""
    buckets = buckets if causal else buckets // 2
    exact = buckets // 2
    unit = math.log(most / exact) / (buckets - exact)
    return next(n for n in range(exact, most + 1) if exact + int(math.log(n / exact) / unit + nudge) >= buckets - 1)


def say_alibi(keys, _, heads, steepest, flattest):
    slopes = list_slopes(keys["n_head"])
    near = is_rounded(steepest, max(slopes), 6) and is_rounded(flattest, min(slopes), 6)
    return int(heads) == len(slopes) == keys["n_head"] and near


def say_buckets(keys, _, buckets, heads, encoder, decoder):
    stated = keys["relative_attention_num_buckets"], keys["relative_attention_max_distance"]
    ways = ((int(encoder), False), (int(decoder), True))
    # a logarithm that is whole but for rounding may be either
    found = [first in {find_last_bucket(*stated, causal=way, nudge=n) for n in (-1e-9, 1e-9)} for first, way in ways]
    return (int(buckets), int(heads)) == (stated[0], keys["num_heads"]) and all(found)


def say_rows(keys, asked, rows, unused=None, positions=None):
    real = keys["max_position_embeddings"] + (2 if keys["model_type"] == "opt" else 0)
    apart = 0 if keys["model_type"] == "bert" else 2
    served = asked["served"] or asked["trained"] or real - apart
    told = tuple(int((one or "0").replace(",", "")) for one in (rows, unused, positions))
    return told == (real, apart, served)


#: The classes of Marian and XGLM have all sines first.
WAVES = rf"all sines first, wavelength(?:s from 6.28 to ({NUMBER})| 6.28) positions"
UNTURNED = {
    rf"ALiBi: (\d+) heads?, slopes from ({NUMBER}) to ({NUMBER})": say_alibi,
    r"T5: (\d+) buckets, (\d+) heads?; distances from (\d+) on share one in an encoder, from (\d+) on in a "
    r"decoder": say_buckets,
    rf"Learned: ({NUMBER}) rows(?:, (\d+) of which are no positions,)? for ({NUMBER}) positions": say_rows,
    rf"Sinusoidal: (\d+) columns by formula, for any number of positions; {WAVES}, the first position counted as 2": (
        lambda keys, _, d, slowest: (
            (keys["model_type"], keys["d_model"]) == ("xglm", int(d))
            and int(slowest.replace(",", "")) == round(2 * math.pi * 10000)
        )
    ),
    rf"Sinusoidal: (\d+) columns by formula, in a table of ({NUMBER}) rows; {WAVES}": lambda keys, _, d, rows, slow: (
        (int(d), int(rows.replace(",", ""))) == (keys["d_model"], keys["max_position_embeddings"])
        and keys["model_type"] == "marian"
        and (int(d) == 2) == (slow is None)  # one wavelength
        and int((slow or "6").replace(",", "")) == round(2 * math.pi * 10000 ** (2 * ((int(d) - 1) // 2) / int(d)))
    ),
    rf"Learned: ({NUMBER}) rows, 1 of which is no position, for (\d+) x (\d+) patches": (
        lambda keys, _, rows, high, wide: (
            [16 * int(high), 16 * int(wide)] == keys["image_size"]
            and int(rows.replace(",", "")) == int(high) * int(wide) + 1
        )
    ),
    r"No positional encoding: order is in the recurrence": lambda keys, _: keys["model_type"] == "mamba",
}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_of_models_without_rotation_is_true(seed):
    for keys, asked in draw_unturned(seed):
        audit = audit_configuration(read_configuration(keys, "config.json"), **asked)
        what, _, found = judge_audits([audit]).text.removesuffix(".").partition(". ")
        hold(UNTURNED, [what], keys, asked)
        held = re.search(r"(?:: |table of )([\d,]+) rows(?:, (\d+) of)?", what)
        rows, unused = (int((n or "0").replace(",", "")) for n in (held.groups() if held else "00"))
        wanted = asked["served"] or asked["trained"] or 0
        short = "1 error: the table has fewer rows than there are positions (position-table-short)"
        assert found == (short if held and rows - unused < wanted else "Nothing wrong found"), (keys, asked)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"partial_rotary_factor": 0.2, "rope_theta": 5e5}, "made of 500000 from rope_theta (how it is read)"),
        ({"partial_rotary_factor": 0.25, "rope_theta": 5e5}, "from rope_theta"),
        ({"partial_rotary_factor": 0.25}, "from none of the keys: the default of the model's class"),
    ],
)
def test_a_base_is_said_to_come_from_its_key_where_exponents_changed_it(keys, said):
    """A share of 0.2 turns 25 channels of 128, which 26 exponents over 25 do."""
    audit = audit_configuration(read_configuration({"model_type": "glm4", "head_dim": 128, **keys}, "config.json"))
    assert dict(list_facts(audit)[0])["base"].partition(", ")[2] == said
