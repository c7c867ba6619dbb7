"""Every JSON document of the program is valid against the schema in the package, and every null is explained."""

import json

import pytest

from pe_spectra import inspection
from pe_spectra.models.checks import kinds
from tests.answers.lines import FILE_LINES, LINES, MODEL_LINES, draw_nothing, list_nulls, read_strictly

# ----------------------------------------------------------------------------------- documents


@pytest.fixture(scope="module")
def answered():
    """What each line of this module answered when it was first run."""
    return {}


@pytest.fixture
def answer(cli, answered):
    """Run one of LINES as JSON, once for all tests of this module."""

    def run(line):
        if line not in answered:
            answered[line] = cli(f"{draw_nothing(line)} --json")
        return answered[line]

    return run


@pytest.mark.few(20)
@pytest.mark.parametrize("line", LINES)
def test_document(cli, answer, validate, line):
    done = answer(line)
    assert done.code == (1 if "--require" in line else 0), done.err
    document = read_strictly(done.out)
    validate(document)
    assert json.loads(json.dumps(document)) == document
    assert document["figure"] is None
    assert cli(f"{draw_nothing(line)} --json").out == done.out


@pytest.mark.few(1)
@pytest.mark.parametrize("line", FILE_LINES)
def test_document_about_a_file(cli, validate, tables, line):
    done = cli(f"{draw_nothing(line)} --json")
    assert done.code == 0, done.err
    validate(read_strictly(done.out))


@pytest.mark.few(3)
@pytest.mark.parametrize(("line", "code"), MODEL_LINES.items())
@pytest.mark.usefixtures("models")
def test_document_about_models(cli, validate, line, code):
    done = cli(f"{line} --json")
    assert done.code == code, done.err
    document = read_strictly(done.out)
    validate(document)
    assert document["figure"] is None
    assert cli(f"{line} --json").out == done.out


@pytest.mark.parametrize(
    ("command", "code"),
    [*(("inspect", code) for code in inspection.KINDS), *(("audit", code) for code in kinds.KINDS)],
)
def test_document_of_every_explanation(cli, validate, command, code):
    document = read_strictly(cli(f"{command} --explain {code} --json").out)
    validate(document)
    assert document["explained"] == document["verdict"]["code"] == code


def test_document_of_claims(cli, validate):
    document = read_strictly(cli("claims --json").out)
    validate(document)
    assert len(document["rows"]) == len({row["id"] for row in document["rows"]}) > 20


@pytest.mark.few(2)
@pytest.mark.parametrize("line", ["spectrum --d 4", "reconstruct --d 4", "faithfulness --d 4", "count-low-bin --d 4"])
def test_the_figure_is_named(cli, validate, tmp_path, line):
    document = read_strictly(cli(f"{line} --json --figure a.svg").out)
    validate(document)
    assert document["figure"] == "a.svg"
    assert (tmp_path / "a.svg").exists()


def test_documents_about_figures(validate):
    from pe_spectra.answers.drawn import Mismatch, answer_checked, answer_drawn

    found = [
        Mismatch(figure="fig1_spectrum", column="weight", row=7, expected="0.5", got="0.6", reason="differs"),
        Mismatch(figure="fig2_reconstruction", reason="no such file"),
    ]
    for answer in (
        answer_drawn({"a": "A"}, ["a.png", "a.csv"], "figures", {}),
        answer_checked("f", [], 8),
        answer_checked("f", found, 8),
    ):
        validate(json.loads(json.dumps(answer.to_document(None), allow_nan=False)))


def test_lengths_agree(answer):
    """Within a spectrum and within a panel every array is over the same bins or points."""
    for line in LINES:
        document = json.loads(answer(line).out) if line.startswith(("spectrum", "recon")) else {}
        for member in document.get("spectra", [document] if document.get("kind") == "spectrum" else []):
            bins = len(member["omega"])
            assert len(member["weights"]) == len(member["log_weights"]) == bins
            assert abs(sum(member["weights"]) - 1) < 1e-12
        for panel in document.get("panels", []):
            points = len(panel["reconstructions"][0]["values"])
            assert len(panel["weights"]) == len(panel["multipliers"]) == points // 2 + 1
            assert panel.get("kernel") is None or len(panel["kernel"]) == points


@pytest.mark.parametrize(
    "line",
    [
        "spectrum -e sinusoidal:d=16 dft:d=8",
        "reconstruct -e sinusoidal:d=16 dft:d=8 --s 1",
        "spectrum -e sinusoidal:d=16 alibi sincos2d:d=8,height=4,width=6",
        "reconstruct -e sinusoidal:d=16 alibi sincos2d:d=8,height=4,width=6 --s 1",
    ],
)
def test_members_on_other_lattices_say_so(cli, line):
    """What stands once for all members must be true of all of them."""
    document = json.loads(cli(f"{line} --json --no-figure").out)
    for member in document.get("spectra", document.get("panels")):
        points = {len(r["values"]) for r in member.get("reconstructions", [])} or {2 * (len(member["omega"]) - 1)}
        assert {member["grid"]} == points
        # a window on a kernel always reflects, a density of frequencies does so when it is told to
        assert member["boundary"] == ("reflect" if member["estimator"] == "lag-window" else "none")


# ----------------------------------------------------------------------------------- nulls


#: Fields that are null for one reason only, which the schema states; every other null has its note.
WITHOUT_NOTE = {"figure", "length", "d", "rho", "sidelobe", "fwhm", "width_10", "distinct"}
WITHOUT_NOTE |= {"near_pairs", "largest", "error"}
WITHOUT_NOTE |= {"first_collision", "max_phase_error", "phase_error_bound", "constant_channels"}
WITHOUT_NOTE |= {"ulp_margin", "exact_distinct"}
WITHOUT_NOTE |= {
    "axis",
    "toeplitz_share",
    "empty_upper_band",
    "mean_frequency",
    "reference",
    "injective",
    "relative_error",
}
_FEW_LAGS = "spectrum -e learned:init=normal,length=16,d=1 --bandwidth 0.01"
_OF_SHARES = ("low_bin_mass", "centroid", "effective_bins_entropy", "effective_bins_participation", "flatness")
#: field -> a command line in which it is null, and words of the note that says why.
NULLS = {
    "bandwidth": ("spectrum -e dft --d 8", "no bandwidth enters"),
    "kernel": ("reconstruct -e sincos2d:d=8,height=4,width=6 --window-free --s 1", "no kernel"),
    "condition_number": ("faithfulness --rho 1 -e sinusoidal --d 8", "condition number"),
    "error_bound": ("faithfulness --length 1 --d 8", "single position"),
    "singular_values": ("faithfulness -e sinusoidal --d 2048 --length 2048", "rank"),
    "separation_by_lag": ("faithfulness -e dft --d 4 --length 70000", "separation_by_lag"),
    "rank": ("faithfulness -e sinusoidal --d 2048 --length 2048", "rank"),
    "rank_tolerance": ("faithfulness -e sinusoidal --d 2048 --length 2048", "rank"),
    "crossing": ("count-low-bin --rho 1 --d 8", "never crosses"),
    "log_weights": ("spectrum -e dfstrans --d 8", "log_weights"),
    "min_separation": ("faithfulness --length 1 --d 8", "single position"),
    "closest_pair": ("faithfulness --length 1 --d 8", "single position"),
    **dict.fromkeys(_OF_SHARES, (_FEW_LAGS, "not a distribution")),
}


def list_null_fields(document):
    return {[key for key in path if isinstance(key, str)][-1] for path in list_nulls(document)}


@pytest.mark.few(5)
@pytest.mark.parametrize("field", NULLS)
def test_what_is_null_is_explained(cli, field):
    line, words = NULLS[field]
    document = json.loads(cli(f"{line} --json --no-figure").out)
    assert field in list_null_fields(document)
    assert any(words in note for note in document["notes"]), document["notes"]


@pytest.mark.few(20)
@pytest.mark.parametrize("line", LINES)
def test_nothing_else_is_null(answer, line):
    document = json.loads(answer(line).out)
    if document["kind"] == "comparison":
        for row in document["rows"]:
            # a metric that is null says why beside it
            assert {name for name, value in row["metrics"].items() if value is None} == set(row["undefined"])
    if document["kind"] in ("comparison", "inspection", "encodings", "stacks"):
        return  # what null means there is fixed: no value, no such thing, not set
    fields = list_null_fields(document) - WITHOUT_NOTE
    assert fields <= set(NULLS)
    # the DFT encodings have no ladder that could cross anything: this is said by their name
    if fields - {"crossing"}:
        assert document["notes"]
