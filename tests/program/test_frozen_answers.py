"""What release 0.1.0 answered, key for key and value for value, is what is answered today."""

import copy
import csv
import gzip
import io
import json
import math
import re
import sys
from operator import itemgetter

import numpy as np
import pytest

from pe_spectra.claims import list_claims
from pe_spectra.metrics.measured import METRICS, SpectrumMetrics
from pe_spectra.models.lengths.proposals import WAYS
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stated.statement import NEWEST
from tests.reference.answers.freeze import FROZEN, draw_nothing, fill_folder, list_lines, reduce_document, reduce_table

ANSWERS = json.loads(gzip.decompress(FROZEN.read_bytes()))
#: Twelve digits are kept, and other releases of NumPy add up in another order.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
#: What magnifies that: the place of a flat maximum, and least squares over columns that nearly depend on each other.
#: With the lowest and the newest releases that are allowed they differ by up to 1.3e-7, 2e-9 and 2.6e-6.
MAGNIFIED = {
    "nearest_sinusoid_rho": 1e-6,
    "nearest_sinusoid_share": 1e-7,
    "shift_linearity_mean": 1e-5,
    "shift_linearity_worst": 1e-5,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with every file that the lines name."""
    folder = tmp_path_factory.mktemp("answers")
    fill_folder(folder)
    return folder


@pytest.fixture
def program(cli, folder, monkeypatch):
    """The program in that folder, without a cache of Hugging Face."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HF_HOME", str(folder))
    return cli


def keep_above(error, bound):
    """Return, of a record, its bound where its error is not above that, else its error, which the bound is not."""
    return lambda row: row[error] if row[error] not in ("", None) and row[error] > row[bound] else row[bound]


def measure_literally(panel):
    """The error that Eq. 22 leaves, of `dft`: multipliers 1, and 1/2 at 0 and pi."""
    if panel["encoding"]["name"] != "dft":
        return panel["relative_error_of_weights"]
    n, ends = panel["grid"], 2 - panel["grid"] % 2
    total, squares = n - ends / 2, n - 3 * ends / 4
    return math.sqrt(2 - 2 * total / math.sqrt(n * squares))


#: Keys and columns that answers have since then: name -> the value, computed anew from the record that has it.
ADDED = {
    "start_position": lambda _: 0,
    # of the frozen models Marian alone has a table of sines that ends; tests/models/test_position_tables.py has others
    "rows": lambda table: table["d"],
    "unused": lambda _: 0,
    # of all ladders that were asked about those of the lattice alone have the frequency 0
    "zero": lambda row: int(any(name in str(row.get("encoding")) for name in ("dft", "dfstrans"))),
    "relative_error_of_weights": measure_literally,
    # test_methods counts them
    "tolerated_pairs": itemgetter("tolerated_pairs"),
    # of ways to lengthen a context: declared with each
    "training": lambda row: WAYS[row["method"]].training,
    # recorded beside each grade: test_claims has the rule
    "weight": itemgetter("weight"),
    "how": itemgetter("how"),
    # of diffs: test_port_faults, test_position_axes, test_query_scales and test_dual_chunk have what is there
    **{
        name: itemgetter(name)
        for name in ("causes", "axes", "coordinates", "indexer_layout", "query_scale", "dual_chunk")
    },
    "allocated": lambda _: None,  # none of them asks for it
    # none of the models states several; what their classes build of defaults is in tests/models/EXPECTED.json
    "parts": lambda model: [one for one in model["parts"] if one["part"] == "vision_config"],
    "window_sides": lambda _: None,  # but for those in `SEEN`
    "drift": lambda _: None,  # no line drifts in any of them
    # of two tables; tests/models/test_table_diff.py computes them from the rows
    "rms_difference": itemgetter("rms_difference"),
    "differing_columns": itemgetter("differing_columns"),
    "spec": itemgetter("spec"),  # of layers: tests/models/test_scheme_formulas.py reads it back
    "formula": lambda _: None,  # no table from a file is one
    "layout": lambda _: "concatenated",  # of tensor2tensor
    # they cannot be had from their record: test_every_metric computes them from the rows
    **{metric: itemgetter(metric) for metric in METRICS},
    "phase_error_bound": keep_above("max_phase_error", "phase_error_bound"),
    # of a seam: a jump alone, behind the shorter side of the table
    **dict.fromkeys(("norm_errors", "step_errors", "turn_errors", "turn_before", "turn_after"), lambda _: None),
    **dict.fromkeys(("amplitude_ratio", "amplitude_errors", "noise_ratio", "noise_errors"), lambda _: None),
    "shorter_side": itemgetter("length"),
    # of a comparison: one lattice, of as many points as there are positions
    "grid": lambda asked: max(2, min(asked["length"]) if isinstance(asked["length"], list) else asked["length"]),
    "bandwidth": lambda _: 4.0,
    # none of them has vectors that rounding alone keeps apart
    "outcome": lambda row: {True: "injective", False: "not-injective", None: "undecided"}[row["injective"]],
}


def is_enlarged(frozen, found):
    """Whether a bound that left two of three roundings out has them now."""
    return found is None or frozen <= found <= 4 * frozen


def has_one_lattice(frozen, found):
    """Whether there is a value where there was one: that it is right, test_every_metric says."""
    return (frozen in ("", None)) == (found in ("", None)) and (found in ("", None) or found >= 0)


def is_given_up(frozen, found):
    """Whether a number about the nearest ladder is what it was, or none any more."""
    return found is None or math.isclose(frozen, found, rel_tol=1e-6)


def is_per_position(frozen, found):
    """Whether a metric is as it was, or in positions where it was in rows, 0.25 of them apart in the only such line.

    Information is that of the slopes, where it was that of differences over two rows: (sin 0.5 / 0.5)^2 = 0.98 of it.
    """
    if is_same(frozen, found) or None in (frozen, found) or "" in (frozen, found):
        return is_same(frozen, found)
    return any(math.isclose(found, factor * frozen, rel_tol=0.03) for factor in (0.25, 16.0))


#: Values of 0.1.0 that were wrong: path, without numbers of members -> why, and what now holds of old and new value.
CORRECTED = (
    {
        f"$.models.findings.data.{key}": (
            "positions and frequencies are rounded, too, not only their product",
            is_enlarged,
        )
        for key in ("phase_error", "phase_error_float32")
    }
    | {
        f"$.{place}.{name}": (
            "each spectrum stood on a lattice of its own, as long as the encoding is wide",
            has_one_lattice,
        )
        for place in ("rows.metrics", "samples")
        for name in SpectrumMetrics.quantities()
    }
    | {
        f"$.{place}.{name}": ("at real positions it was measured in rows", is_per_position)
        for place in ("rows.metrics", "samples")
        for name, declared in METRICS.items()
        if declared.unit in ("positions", "per position squared")
    }
)
CORRECTED |= {
    f"$.metrics.nearest_sinusoid_{key}": ("a ladder that explains what any order of columns does is none", is_given_up)
    for key in ("rho", "share")
}


def breaks_unscaled(frozen, found):
    """Whether a first position is as it was, or where dynamic scaling by 4 at twice the length leaves the plain ladder.

    At base 500000, in 64 pairs: transformers has base b (4 * 2 - 3)^(128/126) there.
    """
    if is_same(frozen, found) or frozen in ("", None):
        return is_same(frozen, found)
    plain, scaled = ((5e5 * growth ** (128 / 126)) ** -(np.arange(64) / 64) for growth in (1, 5))
    return found == math.floor(math.pi / 8 / np.abs(plain - scaled).max()) + 1


CORRECTED["$.samples.dynamic"] = ("vLLM 0.33 scales nothing where no trained length is stated", breaks_unscaled)
CORRECTED["$.models.layer_types.encoding.parameters"] = (
    "Marian's class has all sines first; what rotations have is as it was",
    lambda frozen, found: found == (frozen | {"layout": "concatenated"} if "rho" in frozen else frozen),
)
CORRECTED["$.b.name"] = (
    "releases of keras-hub are told apart",
    lambda frozen, found: found == (STACKS["keras-hub"].title if frozen.startswith("keras-hub") else frozen),
)
CORRECTED["$.summary.flatness"] = CORRECTED["$.spectra.summary.flatness"] = (
    "of weights per basis function, as the verdict: on the lattice the ends, which have one, made it less than 1",
    lambda frozen, found: (
        (frozen is None) == (found is None)
        and (
            frozen is None
            or math.isclose(frozen, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
            or (frozen > 0.9 and math.isclose(found, 1.0, rel_tol=RELATIVE))
        )
    ),
)


def has_possible_periods(_, found):
    """Whether no period is below two rows, along either side of a grid, and no share above one."""
    lengths = [abs(one) for period in found for one in (period["along"] or [period["period"]]) if one is not None]
    return all(length >= 2 for length in lengths) and sum(period["share"] for period in found) <= 1 + 1e-9


CORRECTED |= {
    "$.dominant_periods": (
        "some were noise of few columns, or parts of a smooth curve; others were below two rows",
        has_possible_periods,
    ),
    "$.metrics.trend_and_periods_share": (
        "the share of those",
        lambda frozen, found: found is frozen is None or 0 <= found <= 1,
    ),
    "$.metrics.sinusoid_per_channel_share": (
        "a wave of two rows was taken for a slightly longer one",
        lambda frozen, found: found is frozen is None or abs(found - frozen) < 1e-3,
    ),
    "$.a.name": (
        "a later release of transformers is known",
        lambda frozen, found: found == (f"transformers {NEWEST}" if frozen == "transformers 5.23.0" else frozen),
    ),
}

_ONE_LATTICE = "spectra of one call stand on one lattice, which --grid chose before"
#: What 0.1.0 answered otherwise: line -> rows that are now those of another line, or what makes it that line, and why.
CHANGED = {
    "spectrum -e sinusoidal:d=6,layout=concatenated sinusoidal:d=8": ("--grid 8", _ONE_LATTICE),
    "spectrum -e sinusoidal:d=64 dft:d=8 --boundary reflect": ("--grid 64", _ONE_LATTICE),
    "spectrum -e alibi:heads=2 sinusoidal:d=16 --boundary none": ("--grid 256", _ONE_LATTICE),
    "spectrum -e grid.npy table.npy": ("--grid 64 --bandwidth 4", _ONE_LATTICE),
    "spectrum -e sinusoidal alibi t5:bidirectional=no rope:d=128,base=500000": ("--grid 256", _ONE_LATTICE),
    "faithfulness -e alibi:heads=2 sinusoidal:d=8": (
        {1: "faithfulness -e sinusoidal:d=8 --length 256"},
        "encodings of one call have one length: 256 is the longest that is usual for one of them",
    ),
}

#: Comparisons that stood as they were named -> the places of their rows, best first.
DEFAULT_ORDERS = {
    "compare calendar:fields=minute+hour sinusoidal:d=8 --step 5min --periods day,90min --length 40": (1, 0),
    "compare calendar:fields=hour+weekday sinusoidal:d=64 --step 1h --periods day,week": (1, 0),
    "compare table.npy zeros.npy grid.npy --length 50": (0, 2, 1),
}

#: Verdicts of 0.1.0 that were wrong: line -> what is said now, and why.
JUDGED_ANEW = {
    "diff gemma-3-1b-it.json --all-stacks --full": (
        {"level": "warning", "code": "stacks-differ"},
        "torchtune, which came since, has no builder of this model",
    ),
    "precision ramp:d=1,length=2048 --length 2048 --dtype float16 --recipe fp32-then-cast": (
        {"level": "warning", "code": "merged-by-rounding"},
        "of 2,048 codes that are distinct, fewer are after the sum, the last stage that was asked for",
    ),
    "spectrum -e tupe:heads=2,width=4,length=16 --length 12": (
        {"level": "note", "code": "uneven"},
        "the smallest weight is 64 % of the largest, less than the two thirds from which on they are nearly the same",
    ),
    "spectrum -e dft:d=9 --grid 8": (
        {"level": "ok", "code": "flat"},
        "at half a bin, too, the smallest of the five weights is 99 % of the largest: no wide kernel makes them even",
    ),
    "compare sinusoidal:d=8 alibi sincos2d:d=8,height=3,width=4 fire:heads=2 --length 12 --sort stable_rank": (
        {"level": "note"},
        "for one of four it is not decided whether vectors are distinct",
    ),
}


#: Statements that 0.1.0 graded by another rule than the others: id -> its grade, and why it is another one now.
REGRADED = {
    "article-ramp": ("partly", "half precision is not held against a text that does not speak of number types"),
    "article-wavelengths": ("partly", "the article leaves open to which k its wavelengths go"),
    "reference-periods": ("ok", "a dimension shares its period, as in series-d-waves"),
    "reference-rotary": ("ok", "code is judged as it is printed, and this stops where no positions are given"),
    "short-range-cause": ("not tested", "0.1.0 had no study of networks that were trained"),
    "systematic-improvement": ("not tested", "as short-range-cause"),
    "series-growing-wavelength": ("ok", "codes differ beyond the longest wavelength for another reason than is given"),
}


def restore_grades(rows):
    """Rows of graded claims as 0.1.0 had them: its grades, and their order."""
    rows = [{**row, "verdict": REGRADED.get(row["id"], (row["verdict"],))[0]} for row in rows]
    grades, ids = ("wrong", "partly", "ok", "not tested"), list_claims()
    return sorted(rows, key=lambda row: (grades.index(row["verdict"]), ids.index(row["id"])))


def sort_rows(answer):
    """Put the rows of a comparison that nobody asked to be sorted in the order that is the default since then.

    Best first by the relative separation, which 0.1.0 had not: of the smallest to the root mean squared distance of
    these encodings, as tests/metrics/test_every_metric.py computes it.
    """
    order = DEFAULT_ORDERS.get(answer["line"])
    if answer["document"]["kind"] == "comparison" and answer["document"]["sorted_by"] is None:
        answer["document"]["sorted_by"] = "relative_separation"
    if order is not None:
        for whole, name in ((answer["document"], "rows"), (answer["table"], "samples")):
            whole[name] = [whole[name][place] for place in order]
        asked = answer["document"]["parameters"]
        if isinstance(asked["length"], list):
            asked["length"] = [asked["length"][place] for place in order]


def change(answer, program):
    """Put what is answered on purpose in place of what was: rows and their order, one length, verdicts."""
    sort_rows(answer)
    put_windows(answer)
    verdict, _ = JUDGED_ANEW.get(answer["line"], ({}, ""))
    answer["document"] |= {"verdict": answer["document"]["verdict"] | verdict} if verdict else {}
    others, _ = CHANGED.get(answer["line"], ({}, ""))
    if isinstance(others, str):
        line = draw_nothing(f"{answer['line']} {others}")
        answer["document"] = reduce_document(json.loads(program(f"{line} --json").out))
        answer["table"] = reduce_table(program(f"{line} --format csv").out)
        return answer
    for place, line in others.items():
        found = reduce_document(json.loads(program(f"{draw_nothing(line)} --json").out))
        answer["document"]["rows"][place] = found["rows"][0]
        answer["document"]["parameters"]["length"] = found["parameters"]["length"]
        table = reduce_table(program(f"{draw_nothing(line)} --format csv").out)
        answer["table"]["samples"][place] = table["samples"][0]
    return answer


CORRECTED["$.samples.parameters"] = (
    "tensor2tensor has a layout since then",
    lambda frozen, found: found in (frozen, frozen.replace("max_timescale, offset", "max_timescale, layout, offset")),
)


def list_differences(frozen, found, path="$"):
    """Where a value differs from the frozen one, and how; what came since must be in `ADDED`, and right."""
    _, is_right = CORRECTED.get(re.sub(r"\[\d+\]", "", path), (None, None))
    if is_right is not None:
        if not is_right(frozen, found):
            yield f"{path}: {frozen!r:.80} became {found!r:.80}"
    elif frozen in ("a sentence", "sentences"):
        if found != frozen:
            yield f"{path}: no {frozen}: {found!r:.80}"
    elif isinstance(frozen, dict):
        if isinstance(found, dict):
            for key in [key for key in found if key in ADDED and key not in frozen]:
                if not is_same(ADDED[key](found), found[key]):
                    yield f"{path}.{key}: {found[key]!r:.80} is not {ADDED[key](found)!r:.80}"
                found = {name: value for name, value in found.items() if name != key}
        if not isinstance(found, dict) or set(frozen) != set(found):
            yield f"{path}: keys {sorted(frozen)} are {sorted(found) if isinstance(found, dict) else found!r:.80}"
            return
        for key, value in frozen.items():
            yield from list_differences(value, found[key], f"{path}.{key}")
    elif isinstance(frozen, list):
        if not isinstance(found, list) or len(frozen) != len(found):
            yield f"{path}: {len(frozen)} members are {found!r:.80}"
            return
        for place, value in enumerate(frozen):
            yield from list_differences(value, found[place], f"{path}[{place}]")
    elif not is_same(frozen, found, allow(path.rpartition(".")[2], frozen)):
        yield f"{path}: {frozen!r:.80} is {found!r:.80}"


def allow(name, frozen):
    """The relative difference that rounding may make of a value."""
    if name == "condition_number" and isinstance(frozen, float):  # of the smallest singular value: ulps of the largest
        return max(RELATIVE, 4 * sys.float_info.epsilon * frozen)
    return MAGNIFIED.get(name, RELATIVE)


def is_same(frozen, found, relative=RELATIVE):
    """Whether two plain values agree: types, words, and numbers but for the last digits."""
    numbers = (int, float)
    if isinstance(frozen, bool) or not isinstance(frozen, numbers):
        return type(frozen) is type(found) and frozen == found
    if isinstance(found, bool) or not isinstance(found, numbers):
        return False
    return math.isclose(frozen, found, rel_tol=relative, abs_tol=ABSOLUTE)


#: Encodings of the catalogue, and parts of a rotation, that came since then: their rows are left out.
NEW_ENCODINGS = ("grape", "pope", "detr-sine", "transformer-xl", "deberta", "periods")
NEW_PARAMETERS = (("tensor2tensor", "layout"),)
#: test_query_scales, test_dual_chunk and test_parts have where they are made.
NEW_FINDINGS = ("query-scale", "dual-chunk", "part-defaulted")
SINCE = {"encodings": NEW_ENCODINGS, "comparison": NEW_ENCODINGS, "diff": ("rows",)}
SINCE["conformance"] = ("torchtune", "x-transformers", "rotary-embedding-torch")
#: What stacks make of scalings otherwise since they were measured: keras-hub 0.32 rounds the ends of yarn's ramp, and
#: llama.cpp has no factors of longrope for llama, and no linear nor dynamic for phi3 without an original length.
READ_ANEW = {("yarn", "keras-hub"), *((kind, "llama.cpp") for kind in ("linear", "dynamic", "longrope"))}


def put_readings(frozen, found):
    """Put rows of readings that tests/reference holds against the software in place of those that were read by hand."""
    for before, now in zip(frozen, found, strict=False):
        if before["stack"] == now["stack"]:
            kinds = {kind for kind, stack in READ_ANEW if stack == now["stack"]}
            is_whole = "scaling" in now  # a row of one scaling; the other form has a column for each
            keys = (
                now if is_whole and before["scaling"] == now["scaling"] and now["scaling"] in kinds else kinds & {*now}
            )
            before |= {key: now[key] for key in keys}


def see_anew(layer, sides):
    """Put a window that was measured in place of the one that was read, and what follows from it, by its definitions.

    A query sees so many positions on its sides, so the longest lag is the larger side; a pair completes frequency
    times span over 2 pi periods, and a few of them are 1 to 32.
    """
    span = max(sides) + 1
    values = [pair["frequency"] for pair in layer["frequencies"]]
    for pair in layer["frequencies"]:
        pair["turns"] = pair["turns_served"] = turns = pair["frequency"] * span / (2 * math.pi)
        pair["state"] = "never" if turns < 1 else "few" if turns < 32 else "many"
    inside = sum(value < 2 * math.pi / span for value in values)
    low = {"length": span, "bin_edge": 2 * math.pi / span, "inside": inside, "outside": len(values) - inside}
    layer |= {"window": span, "window_sides": [*sides], "never_turn": inside, "low_bin": layer["low_bin"] | low}


#: What 0.1.0 read as a window of 128 before a query: (file, type of layers) -> what it sees on either side, measured.
SEEN = {("modernbert-base.json", "sliding_attention"): (64, 64)}


def put_windows(answer):
    """Put measured windows into a frozen audit, document and table."""
    for model in answer["document"].get("models", ()):
        for layer in model["layer_types"]:
            if (sides := SEEN.get((model["file"], layer["name"]))) is None:
                continue
            see_anew(layer, sides)
            columns = answer["table"]["columns"]
            for row in answer["table"]["samples"]:
                if (row[columns.index("file")], row[columns.index("layer")]) == (model["file"], layer["name"]):
                    row[columns.index("window")] = str(layer["window"])
                    row[columns.index("never_turn")] = str(layer["never_turn"])


def leave_new(document):
    """Leave out the rows of what came since then, and the length that each has among the parameters; name them."""
    left = set()
    for place in document.get("models", ()):
        # a part that the file leaves out, and what is said of it: it was not read
        parts = [one["data"]["part"] for one in place["findings"] if one["code"] == "part-defaulted"]
        left |= {*parts}
        place["layer_types"] = [one for one in place["layer_types"] if one["name"] not in parts]
        place["findings"] = [
            one
            for one in place["findings"]
            if one["code"] not in NEW_FINDINGS and not one["message"].startswith(tuple(f"{part}: " for part in parts))
        ]
    rows = document.get("rows", document.get("differences", []))
    for row in rows if document["kind"] == "encodings" else ():
        row["parameters"] = [one for one in row["parameters"] if (row["name"], one["name"]) not in NEW_PARAMETERS]
    known = SINCE.get(document["kind"], ())
    keys = ("what", "stack", "name")
    names = [next((row[key] for key in keys if row.get(key)), None) or row["encoding"]["name"] for row in rows if known]
    lengths = document["parameters"].get("length")
    for place in reversed([place for place, name in enumerate(names) if name in known]):
        for listed in [rows, *([lengths] if isinstance(lengths, list) else [])]:
            del listed[place]
    return ({*names} & {*known}) | left


def write_table(program, line, new):
    """The CSV of a line: of reconstructions without the curve, of claims with their old grades, without what is new."""
    text = program(f"{draw_nothing(line)} --format csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    if new:
        return reduce_table(
            write_rows([row for row in rows if not {cell.split(" ")[0] for cell in list(row.values())[:3]} & new])
        )
    if line.startswith("claims"):
        return reduce_table(write_rows(restore_grades(rows)))
    if not line.startswith("reconstruct"):
        return reduce_table(text)
    firsts = [{name: cell for name, cell in row.items() if name not in ("t", "r")} for row in rows if row["t"] == "0"]
    return reduce_table(write_rows(firsts))


def write_rows(rows):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def read_cell(cell):
    """A cell of CSV as a number where it is one."""
    try:
        return float(cell)
    except ValueError:
        return cell


def read_cells(table, known):
    """A table with its numbers, without the columns that came since those that were known."""
    rows = [zip(table["columns"], row, strict=True) for row in table["samples"]]
    samples = [{name: read_cell(cell) for name, cell in row} for row in rows]
    return {
        **table,
        "columns": [name for name in table["columns"] if name in known or name not in ADDED],
        "samples": samples,
    }


def test_every_line_is_frozen():
    assert [answer["line"] for answer in ANSWERS] == list_lines()
    assert len(ANSWERS) >= 120
    kinds = {answer["document"]["kind"] for answer in ANSWERS}
    assert {"spectrum", "reconstruction", "faithfulness", "low-bin-count", "claims", "encodings"} <= kinds
    assert {"comparison", "inspection", "precision", "audit", "diff", "conformance", "context", "explanation"} <= kinds


@pytest.mark.few(36)
@pytest.mark.parametrize("answer", ANSWERS, ids=[answer["line"] for answer in ANSWERS])
def test_answers_are_as_they_were(program, answer):
    answer = change(copy.deepcopy(answer), program)
    done = program(f"{draw_nothing(answer['line'])} --json")
    assert done.code == answer["code"], done.err
    document = json.loads(done.out)
    if document["kind"] == "claims":
        document["rows"] = restore_grades(document["rows"])
    new = leave_new(document)
    found = reduce_document(document)
    if document["kind"] == "conformance":
        put_readings(answer["document"]["rows"]["samples"], found["rows"]["samples"])
    assert list(list_differences(answer["document"], found)) == []
    if "table" in answer:
        table = write_table(program, answer["line"], new)
        known = answer["table"]["columns"]
        frozen, found = read_cells(answer["table"], known), read_cells(table, known)
        if document["kind"] == "conformance":
            put_readings(frozen["samples"], found["samples"])
        assert list(list_differences(frozen, found)) == []


@pytest.mark.parametrize(
    ("frozen", "found"),
    [
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([1, 2], [1]),
        (1.0, 1.0 + 1e-8),
        (True, 1),
        ("kde", "KDE"),
        (None, 0.0),
        ("a sentence", None),
    ],
)
def test_a_difference_is_seen(frozen, found):
    assert list(list_differences({"x": frozen}, {"x": found}))


def test_a_long_list_is_seen_through():
    values = [float(n) for n in range(100)]
    frozen = reduce_document({"x": values})
    for place in (0, 57, 99):
        changed = [*values]
        changed[place] += 1e-3
        assert list(list_differences(frozen, reduce_document({"x": changed})))


def test_a_new_key_needs_its_value(monkeypatch):
    frozen, found = {"row": {"inside": 3, "total": 4}}, {"row": {"inside": 3, "total": 4, "outside": 1}}
    assert list(list_differences(frozen, found))
    monkeypatch.setitem(ADDED, "outside", lambda row: row["total"] - row["inside"])
    assert list(list_differences(frozen, found)) == []
    found["row"]["outside"] = 2
    assert list(list_differences(frozen, found)) == ["$.row.outside: 2 is not 1"]
