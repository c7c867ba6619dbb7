"""Every JSON document of the program is valid against the schema in the package, strictly."""

import json
import shutil
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from pe_spectra.compare import COMPARED
from pe_spectra.encodings import ENCODINGS
from pe_spectra.inspection import EXPLANATIONS
from pe_spectra.models.checks import EXPLANATIONS as MODEL_EXPLANATIONS
from pe_spectra.records.answer import SCHEMA, describe_encoding
from tests.planted import make_grid, make_trained, plant_cls, plant_copies, plant_padding, plant_seam_jump, plant_tail

#: Command lines, each of which gives one document.
LINES = [
    "spectrum",
    "spectrum --d 2",
    "spectrum --d 3 --rho 1",
    "spectrum --d 7 --rho 0.5 --grid 12",
    "spectrum --d 64 --boundary reflect --bandwidth 0.001",
    "spectrum --d 1024 --bandwidth 0.5",
    "spectrum --d 16 --bandwidth 0.25 1 4 1e6",
    "spectrum -e dft --d 8",
    "spectrum -e dft:d=9 --grid 8",
    "spectrum -e dfstrans --d 8",
    "spectrum -e dfstrans:d=2",
    "spectrum -e sinusoidal dft dfstrans --d 6 --bandwidth 1 2",
    "spectrum -e sinusoidal:d=6,layout=concatenated sinusoidal:d=8",
    "spectrum -e sinusoidal:d=64 dft:d=8 --boundary reflect",
    "reconstruct",
    "reconstruct --d 2 --s 0 1",
    "reconstruct --d 5",
    "reconstruct --d 9 --rho 1 --s 0:9:2",
    "reconstruct --d 8 --rho 0.5 --s 3 --grid 31 --boundary reflect",
    "reconstruct --d 16 --bandwidth 0.25 1 4 16 64",
    "reconstruct --d 16 --window-free",
    "reconstruct -e dfstrans --d 16 --window-free --s 1,2,3",
    "reconstruct -e dft:d=8 sinusoidal:d=16 --window-free --s 2",
    "faithfulness",
    "faithfulness --d 2 --length 1",
    "faithfulness --d 2 --length 5",
    "faithfulness --d 7 --length 20 --rho 1 -e sinusoidal",
    "faithfulness --d 8 --rho 0.5 --length 12 -e sinusoidal",
    "faithfulness -e dft --d 9 --length 100 --limit 3",
    "faithfulness -e dfstrans:d=8 dft:d=8 sinusoidal --length 17",
    "faithfulness -e dft --d 4 --length 70000",
    "faithfulness --d 4 --length 9 --require injective rank>=9",
    "count-low-bin",
    "count-low-bin --d 2 3 256 512 --rho 1 100 10000",
    "count-low-bin --rho 0.5 --d 9",
    "count-low-bin -e dft dfstrans sinusoidal --d 6",
    "count-low-bin --d 128 --length 4096",
    "count-low-bin -e dft:d=9 --length 1",
    "spectrum -e alibi:heads=2",
    "spectrum -e alibi:heads=2 sinusoidal:d=16 --boundary none",
    "spectrum -e t5:heads=2,seed=1 shaw:clip=4,d=8 --length 20",
    "spectrum -e sincos2d:d=8,height=4,width=6",
    "spectrum -e tupe:heads=2,width=4,length=16 --length 12",
    "spectrum -e learned:init=normal,length=16,d=1 --bandwidth 0.01",
    "reconstruct -e alibi:heads=1 sinusoidal:d=256 --s 3",
    "reconstruct -e learned:init=normal,length=16,d=4 --s 3 --window-free",
    "reconstruct -e sincos2d:d=8,height=4,width=6 --s 3",
    "faithfulness -e alibi:heads=2 sinusoidal:d=8",
    "faithfulness -e erpe:length=8,heads=2 --length 8",
    "faithfulness -e t5:heads=2 --length 40 --limit 2",
    "faithfulness -e calendar:fields=hour+weekday --length 192",
    "faithfulness -e calendar rnn:d=4 tupe --length 60 --within 0.3",
    "faithfulness -e rnn:d=4 tree:depth=3 --length 12",
    "encodings",
    "encodings rope",
    "encodings calendar:fields=hour+weekday",
    """encodings "hybrid:of='rope:d=64,base=5e5'+'sinusoidal:d=64'" """,
    "compare sinusoidal:d=8 dft:d=8 --length 24",
    "compare sinusoidal:d=8 alibi sincos2d:d=8,height=3,width=4 fire:heads=2 --length 12 --sort stable_rank",
    "compare calendar:fields=minute+hour sinusoidal:d=8 --step 5min --periods day,90min --length 40",
    "compare learned:init=normal,d=4 --length 1",
    "inspect sinusoidal:d=8 --length 40 --resize 80",
    "inspect sincos2d:d=8,height=4,width=4 --resize 6x8 --method bilinear --align-corners",
    "inspect alibi:heads=2 --length 12",
    "inspect ramp --length 3",
    "spectrum -e sinusoidal:d=8 --positions 0:10:0.25",
    "spectrum -e sinusoidal:d=8 mtan:d=8 --positions 0:10:0.25 --bandwidth 1 2",
    "faithfulness -e sinusoidal:d=8 --positions 0:10:0.25",
    "compare sinusoidal:d=8 mtan:d=8 --positions 0:10:0.25",
    "inspect sinusoidal:d=8 --positions 0:10:0.25",
    "inspect learned:init=normal,length=64,d=16",
    "inspect one-hot:d=8 --length 1",
    "inspect --explain seam",
    "precision sinusoidal:d=8 --length 300 --dtype bfloat16 float32",
    "precision rope:d=8 --length 300 --dtype float16 --recipe all-bf16 --embedding 16",
    "precision alibi:heads=2 --length 20 --dtype bfloat16 float8_e4m3fn --recipe fp32 fp32-then-cast",
    "precision rnn:d=4 --length 12 --dtype float8_e5m2",
    "precision dft:d=8 --length 300 --dtype float64 --require injective",
]
#: Lines about files, which `tables` makes.
FILE_LINES = [
    "spectrum -e grid.npy table.npy",
    "spectrum -e table.npy?rows=3:60 --bandwidth 0.5 2",
    "reconstruct -e table.npy --s 1 --window-free",
    "faithfulness -e copies.npy table.npy --rows 2:60",
    "compare table.npy zeros.npy grid.npy --length 50",
    "inspect table.npy",
    "inspect grid.npy --resize 16x8",
    "inspect copies.npy",
    "inspect padding.npy",
    "inspect seam.npy --rows 1:",
    "inspect tail.npy",
    "inspect zeros.npy",
    "encodings table.npy?rows=0:8",
]
MODELS = Path(__file__).parent / "models"
#: Lines about models, which `models` makes, and the exit code of each.
MODEL_LINES = {
    "audit llama-3.1-8b.json": 0,
    "audit llama-3.1-8b.json --trained 4096 --served 1000000": 0,
    "audit gemma-3-1b-it.json bloom-560m.json bert-base-uncased.json flan-t5-base.json mamba-130m-hf.json": 0,
    "audit opus-mt-en-de.json deepseek-v2-lite.json phi-3.5-mini-instruct.json gpt-j-6b.json": 0,
    "audit broken.json --fail-on warning": 1,
    "audit refused.json": 0,
    "audit small.json": 0,
    "audit llama-3.1-8b.json missing.json": 2,
    "audit params.json": 0,
    "diff llama-3.1-8b.json llama-3-8b.json": 0,
    "diff llama-3.1-8b.json llama-3-8b.json --check": 1,
    "diff llama-3.1-8b.json params.json": 0,
    "diff llama-3.1-8b.json inv_freq.npy": 0,
    "diff llama-3.1-8b.json cache.npz": 0,
    "diff inv_freq.npy cache.npz": 0,
    "diff gemma-3-1b-it.json gemma-3-1b-newer-keys.json": 0,
    "diff gemma-3-1b-it.json inv_freq.npy": 0,
    "diff phi-3.5-mini-instruct.json --stack transformers-5,keras-hub": 0,
    "diff llama-3.1-8b.json --stack meta": 0,
    "diff llama-3.1-8b.json --all-stacks": 0,
    "diff gemma-3-1b-it.json --all-stacks --full": 0,
    "diff table.npy table.npy": 0,
    "diff table.npy shifted.npy": 0,
    "diff table.npy narrow.npy": 0,
    "diff table.npy noise.npy --check": 1,
    "context --d 64 --base 500000 --trained 8192 --target 65536": 0,
    "context --d 4 --base 10000 --trained 8 --target 9": 0,
    "context --d 1024 --base 1e18 --trained 1000 --target 200000": 0,
    "context --target 8192": 0,
    "context --d 256 --target 1000000000": 0,
}


def read_strictly(text):
    """Read one document; NaN and Infinity are none of JSON's words."""

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    assert text.endswith("}\n")
    assert text.count("\n") == 1
    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def tables(tmp_path):
    """Tables with planted truth, in the working directory of `cli`."""
    table = make_trained(256, 32)
    grid = plant_cls(np.concatenate([np.ones((1, 32)), make_grid(8, 8, 32)]))
    planted = {"table": table[:64], "grid": grid, "zeros": np.zeros((64, 4)), "copies": plant_copies(table)}
    planted |= {"padding": plant_padding(table), "seam": plant_seam_jump(table), "tail": plant_tail(table, 200)}
    for name, values in planted.items():
        np.save(tmp_path / f"{name}.npy", values)


@pytest.fixture
def models(tmp_path):
    """Configurations of models, dumps of a port, and tables, in the working directory of `cli`."""
    for line in MODEL_LINES:
        for name in line.split():
            if (MODELS / name).is_file():
                shutil.copy(MODELS / name, tmp_path)
    shutil.copy(MODELS / "broken" / "unseen-phases.json", tmp_path / "broken.json")
    shutil.copy(MODELS / "broken" / "longrope-list-too-short.json", tmp_path / "refused.json")
    small = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 1}
    (tmp_path / "small.json").write_text(json.dumps(small), encoding="utf-8")
    params = {"dim": 4096, "n_heads": 32, "n_layers": 32, "rope_theta": 5e5, "use_scaled_rope": True}
    (tmp_path / "params.json").write_text(json.dumps(params), encoding="utf-8")
    frequencies = 500000.0 ** (-np.arange(64) / 64)
    np.save(tmp_path / "inv_freq.npy", frequencies.astype(np.float32))
    angles = np.outer(np.arange(64), frequencies)
    np.savez(tmp_path / "cache.npz", cos=np.cos(angles).astype(np.float32), sin=np.sin(angles).astype(np.float32))
    table = make_trained(64, 16)
    np.save(tmp_path / "table.npy", table)
    np.save(tmp_path / "shifted.npy", 2 * table[2:])
    np.save(tmp_path / "narrow.npy", table[:, :8])
    np.save(tmp_path / "noise.npy", table[:, ::-1] ** 2)


def draw_nothing(line):
    """Where a command may draw, say that it shall not."""
    drawing = line.split()[0] in ("spectrum", "reconstruct", "faithfulness", "count-low-bin", "compare", "inspect")
    return f"{line} --no-figure" if drawing else line


@pytest.fixture(scope="module")
def validate(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    def run(document):
        error = jsonschema.exceptions.best_match(validator.iter_errors(document))
        assert error is None, f"{error.json_path}: {error.message[:300]}"

    return run


def list_nulls(value, path=()):
    if value is None:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield from list_nulls(member, (*path, key))


# ----------------------------------------------------------------------------------- the schema itself


def list_objects(node, path="$"):
    """Every schema of an object, with where it stands."""
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield path, node
        for key, member in node.items():
            yield from list_objects(member, f"{path}.{key}")
    if isinstance(node, list):
        for key, member in enumerate(node):
            yield from list_objects(member, f"{path}[{key}]")


def test_the_schema_says_which_it_is(schema):
    assert schema["$id"] == "pe-spectra/1" == SCHEMA
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


#: Which parameters there are is the encoding's own, which numbers stand behind a finding the finding's: a new one
#: needs no new schema.
OPEN = (
    "$.encoding.properties.parameters",
    "$.parameter.properties.only_with",
    "$.comparison-row.properties.undefined",
    "$.finding.properties.data",
    "$.model-finding.properties.data",
    "$.audited-layer.properties.scaling_parameters",
    "$.turned-layer.properties.scaling_parameters",
)


def test_the_schema_leaves_nothing_open_and_describes_everything(schema):
    objects = list(list_objects(schema["$defs"]))
    assert len(objects) > 20
    for path, node in objects:
        own = path in OPEN
        assert (node["additionalProperties"] is False) != own, path
        assert set(node["propertyNames"]) == {"pattern" if "undefined" not in path else "enum"} if own else True
        assert own or set(node["required"]) <= set(node["properties"]), path
        for name, member in node["properties"].items():
            text = member["description"]
            assert len(text) > 10, f"{path}.{name}"
            assert text.endswith("."), f"{path}.{name}"


@pytest.mark.parametrize("cls", ENCODINGS, ids=lambda cls: cls.name)
def test_the_schema_takes_every_encoding(cls, schema):
    encoding = cls(init="normal") if cls.name == "learned" else cls()
    validator = jsonschema.Draft202012Validator({"$ref": "#/$defs/encoding", "$defs": schema["$defs"]})
    validator.validate(json.loads(json.dumps(describe_encoding(encoding), allow_nan=False)))


def test_the_schema_knows_every_metric(schema):
    metrics = schema["$defs"]["comparison-row"]["properties"]["metrics"]
    assert list(metrics["properties"]) == metrics["required"] == list(COMPARED)
    assert schema["$defs"]["comparison"]["properties"]["sorted_by"]["enum"] == [*COMPARED, None]
    undefined = schema["$defs"]["comparison-row"]["properties"]["undefined"]
    assert undefined["propertyNames"]["enum"] == list(COMPARED)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("more",), 1),
        (("summary", "more"), 1),
        (("verdict", "level"), "bad"),
        (("weights", 0), "0.5"),
        (("weights", 0), None),
        (("kind",), "faithfulness"),
        (("schema",), "pe-spectra/2"),
        (("encoding", "name"), "Sinusoidal"),
        (("parameters", "boundary"), "mirror"),
        (("summary", "peak_bin"), 1.5),
    ],
)
def test_the_schema_refuses_what_is_wrong(cli, schema, path, value):
    document = json.loads(cli("spectrum --d 8 --json --no-figure").out)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not validator.is_valid(document)


#: A line of each kind without optional fields.
DEMANDING = (
    "spectrum --d 4",
    "spectrum --d 4 --bandwidth 1 2",
    "reconstruct --d 4",
    "faithfulness --d 4",
    "count-low-bin --d 4",
    "encodings",
    "compare dft:d=4 --length 8",
    "inspect dft:d=4 --length 8",
    "inspect --explain seam",
    "precision sinusoidal:d=4 --length 8 --dtype bfloat16",
    "context --target 1024",
    "audit small.json",
    "diff small.json inv_freq.npy",
    "diff small.json --all-stacks",
    "diff table.npy table.npy",
)


@pytest.mark.usefixtures("models")
def test_the_schema_demands_every_field(cli, schema):
    validator = jsonschema.Draft202012Validator(schema)
    for line in DEMANDING:
        document = json.loads(cli(f"{draw_nothing(line)} --json").out)
        for key in document:
            assert not validator.is_valid({k: v for k, v in document.items() if k != key}), (line, key)


# ----------------------------------------------------------------------------------- documents


@pytest.mark.parametrize("line", LINES)
def test_document(cli, validate, line):
    done = cli(f"{draw_nothing(line)} --json")
    assert done.code == (1 if "--require" in line else 0), done.err
    document = read_strictly(done.out)
    validate(document)
    assert json.loads(json.dumps(document)) == document
    assert document["figure"] is None
    assert cli(f"{draw_nothing(line)} --json").out == done.out


@pytest.mark.parametrize("line", FILE_LINES)
def test_document_about_a_file(cli, validate, tables, line):
    done = cli(f"{draw_nothing(line)} --json")
    assert done.code == 0, done.err
    validate(read_strictly(done.out))


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
    [*(("inspect", code) for code in EXPLANATIONS), *(("audit", code) for code in MODEL_EXPLANATIONS)],
)
def test_document_of_every_explanation(cli, validate, command, code):
    document = read_strictly(cli(f"{command} --explain {code} --json").out)
    validate(document)
    assert document["explained"] == document["verdict"]["code"] == code


def test_document_of_claims(cli, validate):
    document = read_strictly(cli("claims --json").out)
    validate(document)
    assert len(document["rows"]) == len({row["id"] for row in document["rows"]}) > 20


def test_the_figure_is_named(cli, validate, tmp_path):
    for line in ("spectrum --d 4", "reconstruct --d 4", "faithfulness --d 4", "count-low-bin --d 4"):
        document = read_strictly(cli(f"{line} --json --figure a.svg").out)
        validate(document)
        assert document["figure"] == "a.svg"
        assert (tmp_path / "a.svg").exists()


def test_documents_about_figures(validate):
    from pe_spectra.figures import Difference
    from pe_spectra.records.figures import answer_checked, answer_written

    found = [
        Difference(figure="fig1_spectrum", column="weight", row=7, expected="0.5", got="0.6", reason="differs"),
        Difference(figure="fig2_reconstruction", reason="no such file"),
    ]
    for answer in (answer_written(["a.png", "a.csv"], "figures"), answer_checked([], "f"), answer_checked(found, "f")):
        validate(json.loads(json.dumps(answer.to_document(None), allow_nan=False)))


def test_lengths_agree(cli):
    """Within a spectrum and within a panel every array is over the same bins or points."""
    for line in LINES:
        document = json.loads(cli(f"{line} --json --no-figure").out) if line.startswith(("spectrum", "recon")) else {}
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
WITHOUT_NOTE |= {"first_collision", "max_phase_error", "constant_channels", "ulp_margin", "exact_distinct"}
WITHOUT_NOTE |= {"axis", "toeplitz_share", "empty_upper_band", "reference", "injective", "relative_error"}
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
    **dict.fromkeys(_OF_SHARES, (_FEW_LAGS, "weights have both signs")),
}


def list_null_fields(document):
    return {[key for key in path if isinstance(key, str)][-1] for path in list_nulls(document)}


@pytest.mark.parametrize("field", NULLS)
def test_what_is_null_is_explained(cli, field):
    line, words = NULLS[field]
    document = json.loads(cli(f"{line} --json --no-figure").out)
    assert field in list_null_fields(document)
    assert any(words in note for note in document["notes"]), document["notes"]


@pytest.mark.parametrize("line", LINES)
def test_nothing_else_is_null(cli, line):
    document = json.loads(cli(f"{draw_nothing(line)} --json").out)
    if document["kind"] == "comparison":
        for row in document["rows"]:
            # a metric that is null says why beside it
            assert {name for name, value in row["metrics"].items() if value is None} == set(row["undefined"])
    if document["kind"] in ("comparison", "inspection", "encodings"):
        return  # what null means there is fixed: no value, no such thing, not set
    fields = list_null_fields(document) - WITHOUT_NOTE
    assert fields <= set(NULLS)
    # the DFT encodings have no ladder that could cross anything: this is said by their name
    if fields - {"crossing"}:
        assert document["notes"]
