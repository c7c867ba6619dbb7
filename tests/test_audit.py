"""The command audit as people meet it: verdicts, formats, many files, lengths, exit codes, figures."""

import csv
import io
import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from pe_spectra.cli.audit import CODES
from pe_spectra.model_sources import read_model
from pe_spectra.models.checks import EXPLANATIONS, audit_configuration
from pe_spectra.plots.audit import compose_audit, find_unscaled
from pe_spectra.plots.style import COLUMN_WIDTH, PAGE_WIDTH, fixed_style
from pe_spectra.records.audit_verdict import find_last_bucket
from tests.pace import call_within

MODELS = Path(__file__).with_name("models")
LLAMA2, LLAMA31 = "llama-2-7b.json", "llama-3.1-8b.json"
GEMMA3, YARN = "gemma-3-4b-it.json", "qwen2.5-7b-instruct-yarn.json"
COLUMNS = [
    *("file", "model", "layer", "scheme", "head_dim", "rotary_dim", "base", "scaling", "attention_scaling", "layout"),
    *("trained_length", "served_length", "window", "never_turn", "unseen", "level", "findings", "notes"),
]
PAIR_COLUMNS = [
    *("file", "model", "layer", "pair", "frequency_before", "frequency", "wavelength", "turns", "turns_served", "state")
]
PAIR = set(PAIR_COLUMNS[3:])
LAYER = {
    *(
        "name",
        "scheme",
        "head_dim",
        "rotary_dim",
        "base",
        "scaling",
        "scaling_parameters",
        "attention_scaling",
        "layout",
    ),
    *("original_length", "trained_length", "served_length", "window", "never_turn", "unseen_pairs", "frequencies"),
    *("spectrum", "low_bin", "encoding", "notes"),
}
MODEL = {
    *("file", "format", "model", "scheme", "scheme_parameters", "dtype", "error", "layer_types", "findings"),
}


def at(*names):
    return " ".join(str(MODELS / name) for name in names)


def read_json(done, code=0):
    assert done.code == code, done.err
    return json.loads(done.out)


def read_csv(done, code=0):
    assert done.code == code, done.err
    return list(csv.DictReader(io.StringIO(done.out)))


def model_of(cli, name, options=""):
    (model,) = read_json(cli(f"audit {at(name)} --json {options}"))["models"]
    return model


# ----------------------------------------------------------------------------------- verdicts


VERDICTS = {
    LLAMA31: "Rotary, base 500000 with llama3 scaling (factor 8 from 8,192): 25 of 64 pairs never complete a turn "
    "within 131,072 positions. Nothing wrong found.",
    LLAMA2: "Rotary, base 10000: 18 of 64 pairs never complete a turn within 4,096 positions. Nothing wrong found.",
    "mistral-7b-v0.1.json": "Rotary, base 10000: 18 of 64 pairs never complete a turn within 4,096 positions, the "
    "window. Nothing wrong found.",
    "phi-2.json": "Rotary in 32 of 80 channels, base 10000: 5 of 16 pairs never complete a turn within 2,048 "
    "positions. Nothing wrong found.",
    GEMMA3: "Rotary, base 1000000 with linear scaling (factor 8) in full_attention layers, and 1 other layer type: 55 "
    "of 128 pairs never complete a turn within 131,072 positions. Nothing wrong found.",
    "deepseek-r1-distill-qwen-7b.json": "Rotary, base 10000: each of 64 pairs completes a turn within 131,072 "
    "positions. 1 warning: the base is too small for this length (base-too-small).",
    "bloom-560m.json": "ALiBi: 16 heads, slopes from 0.707107 to 0.00390625. Nothing wrong found.",
    "bert-base-uncased.json": "Learned: 512 rows for 512 positions. Nothing wrong found.",
    "roberta-base.json": "Learned: 514 rows, 2 of which are no positions, for 512 positions. Nothing wrong found.",
    "opus-mt-en-de.json": "Sinusoidal: 512 columns by formula, for any number of positions. Nothing wrong found.",
    "mamba-130m-hf.json": "No positional encoding: order is in the recurrence. Nothing wrong found.",
    "broken/unknown-rope-type.json": "Rotary, but no frequencies can be given. 1 error: the scaling is not known "
    "(unknown-scaling).",
    "broken/base-missing-131072.json": "Rotary, base 10000: each of 64 pairs completes a turn within 131,072 "
    "positions. 2 warnings, first: no key gives the base (base-defaulted).",
    "broken/position-table-short.json": "Learned: 1,024 rows for 2,048 positions. 1 error: the table has fewer rows "
    "than there are positions (position-table-short).",
}


@pytest.mark.parametrize("name", VERDICTS)
def test_the_first_line_answers(cli, name):
    done = cli(f"audit {at(name)}")
    assert done.code == 0
    assert done.err == ""
    assert done.out.splitlines()[0] == VERDICTS[name]
    verdict = read_json(cli(f"audit {at(name)} --json"))["verdict"]
    assert verdict["text"] == VERDICTS[name]
    assert (verdict["level"] == "ok") == ("Nothing wrong found" in verdict["text"])
    assert verdict["code"] in (*EXPLANATIONS, "clean")


def test_t5_says_where_the_last_bucket_starts(cli):
    text = cli(f"audit {at('t5-small.json')}").out.splitlines()[0]
    assert text.startswith("T5: 32 buckets")
    assert "113" in text
    assert find_last_bucket(32, 128, bidirectional=True) == 91


def test_a_release_that_states_no_length(cli, tmp_path):
    params = {"dim": 4096, "n_heads": 32, "n_layers": 32, "rope_theta": 500000.0, "use_scaled_rope": True}
    (tmp_path / "params.json").write_text(json.dumps(params))
    unknown = "how often its 64 pairs turn in training is not known, since no length is stated (--trained)."
    assert unknown in cli("audit params.json").out.splitlines()[0]
    assert cli("audit params.json --trained 131072").out.splitlines()[0] == VERDICTS[LLAMA31]
    (model,) = read_json(cli("audit params.json --json"))["models"]
    (layer,) = model["layer_types"]
    assert model["format"] == "params.json"
    assert layer["layout"] == "interleaved"
    assert layer["never_turn"] is None
    assert (
        {pair["state"] for pair in layer["frequencies"]} == {pair["turns"] for pair in layer["frequencies"]} == {None}
    )
    assert (cli("audit params.json --figure a.svg").code, (tmp_path / "a.svg").exists()) == (0, True)


def test_several_files_are_counted(cli):
    names = (LLAMA2, "broken/unknown-rope-type.json", "broken/unseen-phases.json", LLAMA31)
    done = cli(f"audit {at(*names)}")
    assert done.code == 0
    first = done.out.splitlines()[0]
    counted = "1 with errors (broken/unknown-rope-type.json), 1 with warnings (broken/unseen-phases.json)"
    assert first == f"4 configurations: {counted}, 2 without anything wrong."
    assert read_json(cli(f"audit {at(*names)} --json"))["verdict"]["level"] == "error"


def test_completion_knows_every_finding():
    assert tuple(EXPLANATIONS) == CODES


# ----------------------------------------------------------------------------------- documents and tables


@pytest.mark.parametrize("name", [LLAMA31, GEMMA3, "bloom-560m.json", "gemma-4-26b-a4b.json", "smollm3-3b.json"])
def test_document(cli, name):
    document = read_json(cli(f"audit {at(name)} --json"))
    assert document["kind"] == "audit"
    assert document["parameters"] == {"trained": None, "served": None}
    (model,) = document["models"]
    assert set(model) == MODEL
    assert model["error"] is None
    for layer in model["layer_types"]:
        assert set(layer) == LAYER
        assert all(set(pair) == PAIR for pair in layer["frequencies"])
        assert [pair["pair"] for pair in layer["frequencies"]] == list(range(len(layer["frequencies"])))
        for pair in layer["frequencies"]:
            assert (pair["wavelength"] is None) == (pair["frequency"] == 0)


def test_numbers_of_a_document(cli):
    (layer,) = model_of(cli, LLAMA31)["layer_types"]
    assert (layer["scaling"], layer["base"], layer["never_turn"], layer["original_length"]) == ("llama3", 5e5, 25, 8192)
    assert layer["scaling_parameters"]["factor"] == 8
    assert layer["encoding"]["name"] == "rope"
    assert layer["low_bin"]["inside"] == 25
    assert layer["low_bin"]["bin_edge"] == pytest.approx(2 * math.pi / 131072)
    assert 0 < layer["spectrum"]["low_bin_mass"] < 1
    pair = layer["frequencies"][40]
    assert pair["wavelength"] == pytest.approx(2 * math.pi / pair["frequency"])
    assert pair["turns"] == pytest.approx(131072 / pair["wavelength"])
    assert pair["state"] == "never"
    assert sum(one["turns"] < 1 for one in layer["frequencies"]) == 25


def test_a_pair_at_rest_has_no_wavelength(cli):
    full = model_of(cli, "gemma-4-26b-a4b.json")["layer_types"][1]
    assert [pair["wavelength"] for pair in full["frequencies"]].count(None) == 192


@pytest.mark.parametrize(
    ("name", "never", "pairs"),
    [
        (LLAMA2, 18, 64),
        ("llama-3-8b.json", 29, 64),
        ("qwen2.5-7b-instruct.json", 24, 64),
        ("gemma-7b.json", 28, 128),
        (LLAMA31, 25, 64),
    ],
)
def test_pairs_that_never_turn(cli, name, never, pairs):
    (layer,) = model_of(cli, name)["layer_types"]
    assert layer["never_turn"] == never
    assert len(layer["frequencies"]) == pairs


def test_table_of_one_model_has_its_pairs_and_its_findings_first(cli):
    lines = cli(f"audit {at('broken/unseen-phases.json')}").out.splitlines()
    (heading,) = [number for number, line in enumerate(lines) if line.startswith("pair\t")]
    assert lines[heading].split("\t") == PAIR_COLUMNS[3:]
    assert len(lines) == heading + 65
    (finding,) = [number for number, line in enumerate(lines) if line.startswith("warning: unseen-phases: ")]
    assert finding < heading


def test_table_of_several_layer_types_says_which(cli):
    out = cli(f"audit {at(GEMMA3)}").out
    assert f"\n{chr(9).join(['layer', *PAIR_COLUMNS[3:]])}\n" in out
    facts = [line for line in out.splitlines() if line.startswith(("full_attention: ", "sliding_attention: "))]
    assert facts[0].startswith("full_attention: ")


def test_csv_has_one_shape(cli):
    one = read_csv(cli(f"audit {at(LLAMA31)} --format csv"))
    several = read_csv(cli(f"audit {at(LLAMA31, GEMMA3, 'bloom-560m.json')} --format csv"))
    assert list(one[0]) == list(several[0]) == COLUMNS
    assert several[0] == one[0]
    assert [row["layer"] for row in several] == ["all", "sliding_attention", "full_attention", "all"]
    assert several[3]["scheme"] == "alibi"
    assert several[3]["base"] == several[3]["never_turn"] == ""
    assert {row["level"] for row in several} == {"ok"}


def test_csv_with_full_has_every_pair(cli):
    rows = read_csv(cli(f"audit {at(LLAMA31, GEMMA3)} --format csv --full"))
    assert list(rows[0]) == PAIR_COLUMNS
    assert len(rows) == 64 + 2 * 128
    document = model_of(cli, LLAMA31)
    assert [float(row["frequency"]) for row in rows[:64]] == [
        pair["frequency"] for pair in document["layer_types"][0]["frequencies"]
    ]
    single = read_csv(cli(f"audit {at(LLAMA31)} --format csv --full"))
    assert single == rows[:64]


def test_the_ladder_before_scaling_is_in_the_document(cli):
    (layer,) = model_of(cli, LLAMA31)["layer_types"]
    for pair in layer["frequencies"]:
        assert pair["frequency_before"] == pytest.approx(5e5 ** (-pair["pair"] / 64), rel=1e-13)
        assert (pair["frequency_before"] == pair["frequency"]) == (pair["pair"] < 29)
    sliding, full = model_of(cli, "gemma-4-26b-a4b.json")["layer_types"]
    assert all(pair["frequency_before"] == pair["frequency"] for pair in sliding["frequencies"])
    assert [pair["frequency_before"] for pair in full["frequencies"]].count(0) == 192


def test_what_layer_types_share_is_said_once(cli):
    lines = cli(f"audit {at('gemma-4-26b-a4b.json')}").out.splitlines()
    (note,) = [line for line in lines if line.startswith("note: precision: ")]
    assert note.startswith("note: precision: sliding_attention and full_attention: computed in bfloat16")


def test_layer_types_stand_apart_on_a_terminal(cli):
    shown = cli(f"audit {at(GEMMA3)} --color always", COLUMNS="80").out
    lines = [re.sub("\x1b[^m]*m", "", line).rstrip() for line in shown.splitlines()]
    places = [lines.index(name) for name in ("full_attention", "sliding_attention")]
    assert [lines[place - 1] for place in places] == ["", ""]
    assert [lines[place + 1].split()[:2] for place in places] == [["head", "width"]] * 2


@pytest.mark.parametrize("options", ["", "--full"])
def test_pairs_of_several_layer_types_are_a_table_of_80_columns(cli, options):
    shown = cli(f"audit {at(GEMMA3)} --color always {options}", COLUMNS="80").out
    lines = [re.sub("\x1b[^m]*m", "", line).rstrip() for line in shown.splitlines()]
    assert max(map(len, lines)) <= 80
    assert any(line.split()[-3:] == ["turns", "served", "state"] or "turns_served" in line for line in lines)
    assert not [line for line in lines if line.startswith("layer: ")]


def test_long_paths_lose_their_beginning_on_a_terminal_only(cli, tmp_path):
    folder = tmp_path / "a-rather-long-folder-name-for-many-models"
    named = {"llama": LLAMA31, "gemma": GEMMA3, "no-base": "broken/base-missing-131072.json"}
    for name, source in named.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "config.json").write_text((MODELS / source).read_text())
    paths = [str(folder / name / "config.json") for name in named]
    line = f"audit {' '.join(paths)}"
    shown = cli(f"{line} --color always", COLUMNS="80").out
    lines = [re.sub("\x1b[^m]*m", "", line).rstrip() for line in shown.splitlines()]
    rows = [line.split() for line in lines if line.startswith("...")]
    assert [row[0] for row in rows] == [f".../{name}/config.json" for name in ("no-base", "llama", "gemma", "gemma")]
    assert rows[0][1:] == ["all", "10000", "0", "warning", "base-defaulted"]
    assert rows[1][1:] == ["all", "500000", "25", "ok"]
    for options in ("", "--format csv", "--json"):
        found = cli(f"{line} {options}").out
        assert all(path in found for path in paths)
        assert "..." not in found


def test_csv_names_findings(cli):
    (row,) = read_csv(cli(f"audit {at('broken/unseen-phases.json')} --format csv"))
    assert row["level"] == "warning"
    assert "unseen-phases" in row["findings"].split()
    assert int(row["unseen"]) == 18


def test_every_model_in_every_format(cli):
    everything = " ".join(str(path) for path in sorted(MODELS.glob("*.json")) if path.name != "EXPECTED.json")
    rows = read_csv(cli(f"audit {everything} --format csv"))
    document = read_json(cli(f"audit {everything} --json"))
    assert len(rows) == sum(len(model["layer_types"]) for model in document["models"])
    assert cli(f"audit {everything}").out.startswith(document["verdict"]["text"])


# ----------------------------------------------------------------------------------- lengths


def test_served_beyond_the_training_shows_new_phases(cli):
    (before,) = model_of(cli, LLAMA31)["layer_types"]
    (after,) = model_of(cli, LLAMA31, "--served 524288")["layer_types"]
    assert before["unseen_pairs"] == []
    assert after["served_length"] == 524288
    assert after["trained_length"] == 131072
    assert after["unseen_pairs"]
    assert all(before["frequencies"][pair]["turns"] < 1 for pair in after["unseen_pairs"])
    assert after["frequencies"][0]["turns_served"] == 4 * after["frequencies"][0]["turns"]
    lengths = read_json(cli(f"audit {at(LLAMA31)} --json --trained 8192 --served 131072"))
    assert lengths["parameters"] == {"trained": 8192, "served": 131072}
    (shorter,) = lengths["models"][0]["layer_types"]
    assert shorter["never_turn"] > before["never_turn"]


def test_yarn_reaches_its_factor_and_no_further(cli):
    (within,) = model_of(cli, YARN)["layer_types"]
    assert (within["trained_length"], within["served_length"]) == (32768, 131072)
    assert within["unseen_pairs"] == []
    (beyond,) = model_of(cli, YARN, "--served 262144")["layer_types"]
    assert beyond["unseen_pairs"]


def test_dynamic_and_longrope_follow_the_served_length(cli):
    for name, long in (("internlm2-7b.json", 65536), ("phi-3.5-mini-instruct.json", 131072)):
        (short,) = model_of(cli, name, "--served 4096")["layer_types"]
        (served,) = model_of(cli, name, f"--served {long}")["layer_types"]
        assert short["frequencies"][20]["frequency"] > served["frequencies"][20]["frequency"]


@pytest.mark.parametrize("option", ["--trained", "--served"])
@pytest.mark.parametrize("value", ["0", "1073741825", "x", "1.5"])
def test_refused_lengths(refuse, option, value):
    assert refuse(f"audit {at(LLAMA2)} {option} {value}").startswith(f"{option} ")


# ----------------------------------------------------------------------------------- exit codes and streams


@pytest.mark.parametrize(
    ("name", "level", "code"),
    [
        (LLAMA31, "error", 0),
        (LLAMA31, "warning", 0),
        (LLAMA31, "note", 1),
        ("broken/unseen-phases.json", "error", 0),
        ("broken/unseen-phases.json", "warning", 1),
        ("broken/unknown-rope-type.json", "error", 1),
    ],
)
def test_fail_on(cli, name, level, code):
    done = cli(f"audit {at(name)} --fail-on {level}")
    assert done.code == code
    assert done.out == cli(f"audit {at(name)}").out
    assert ("check failed: finding of level" in done.err) == bool(code)


def test_fail_on_names_the_file_among_several(cli):
    done = cli(f"audit {at(LLAMA31, 'broken/unseen-phases.json')} --fail-on warning")
    assert done.code == 1
    assert f"check failed: {MODELS / 'broken/unseen-phases.json'}: finding of level warning" in done.err


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_bad_file_among_good_ones_is_told_and_stops_nothing(cli, form):
    names = (LLAMA2, "broken/rope-scaling-not-object.json", "none.json", LLAMA31)
    done = cli(f"audit {at(*names)} --format {form} --fail-on note")
    assert done.code == 2
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert [error.split(": ")[1] for error in errors] == [str(MODELS / name) for name in names[1:3]]
    assert LLAMA2 in done.out
    assert LLAMA31 in done.out
    if form == "json":
        models = json.loads(done.out)["models"]
        assert [model["error"] is None for model in models] == [True, False, False, True]
        assert models[1]["layer_types"] == models[1]["findings"] == []
        assert models[1]["error"] == errors[0].removeprefix("error: ")


def test_bad_files_are_told_with_quiet(cli):
    done = cli(f"audit {at(LLAMA2, 'none.json')} --quiet")
    assert done.code == 2
    assert done.err.count("error: ") == 1


@pytest.mark.parametrize("options", ["", "--json", "--format csv"])
def test_nothing_is_printed_where_no_file_can_be_used(cli, options):
    single = cli(f"audit {at('none.json')} {options}")
    assert (single.code, single.out) == (2, "")
    assert single.err.count("\n") == 1
    both = cli(f"audit {at('none.json', 'broken/rope-scaling-not-object.json')} {options}")
    assert (both.code, both.out) == (2, "")
    assert both.err.count("error: ") == both.err.count("\n") == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("audit", "CONFIG is missing"),
        ("audit ''", "no file is named"),
        ("audit --explain", "--explain has no value"),
        ("audit --explain unseen", "--explain is not known (unseen); did you mean unseen-phases?"),
        ("audit a.json --explain precision", "--explain takes nothing beside it (a.json)"),
        ("audit --explain precision --figure a.png", "--figure has no meaning with --explain"),
        ("audit a.json --fail-on fatal", "--fail-on is not known (fatal); accepted: note, warning, error"),
        ("audit a.json b.json --figure a.png", "--figure draws one configuration (2 are named)"),
        ("audit org/model", "hf download org/model config.json"),
        ("audit a.json", "a.json: no such file or folder"),
    ],
)
def test_refused_lines(refuse, line, words):
    assert words in refuse(line)


def test_standard_input(cli, monkeypatch):
    expected = cli(f"audit {at(LLAMA2)}").out
    stream = io.TextIOWrapper(io.BytesIO((MODELS / LLAMA2).read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    done = cli("audit -")
    assert done.code == 0, done.err
    assert done.out == expected


def test_a_folder(cli, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_bytes((MODELS / LLAMA2).read_bytes())
    assert cli("audit model").out == cli(f"audit {at(LLAMA2)}").out


@pytest.mark.parametrize("code", EXPLANATIONS)
def test_explain(cli, code):
    done = cli(f"audit --explain {code}")
    assert done.code == 0
    found = EXPLANATIONS[code]
    assert done.out.startswith(found.reasoning)
    assert found.formula in done.out
    assert all(reference in done.out for reference in found.references)


@pytest.mark.slow
def test_a_thousand_configurations_in_one_call(cli, tmp_path):
    shapes = [path.read_bytes() for path in sorted(MODELS.glob("*.json")) if path.name != "EXPECTED.json"]
    for number in range(1000):
        (tmp_path / f"{number}.json").write_bytes(shapes[number % len(shapes)])
    (tmp_path / "7.json").write_bytes(b"[")
    done = call_within(30, lambda: cli("audit --format csv", *(f"{number}.json" for number in range(1000))))
    assert done.code == 2
    assert done.err.splitlines() == ["error: 7.json: is not JSON (line 1, column 2)"]
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert {row["file"] for row in rows} == {f"{number}.json" for number in range(1000)} - {"7.json"}


# ----------------------------------------------------------------------------------- figures


def draw(name, **lengths):
    return compose_audit(audit_configuration(read_model(str(MODELS / name)), **lengths))


DRAWN = {
    "llama3": lambda: draw(LLAMA31),
    "yarn": lambda: draw(YARN),
    "longrope": lambda: draw("phi-3.5-mini-instruct.json"),
    "two layer types": lambda: draw(GEMMA3),
    "pairs at rest": lambda: draw("gemma-4-26b-a4b.json"),
    "layers that are not turned": lambda: draw("smollm3-3b.json"),
    "new phases": lambda: draw(LLAMA2, served=32768),
}


def visible_words(figure):
    return " ".join(text.get_text() for text in figure.texts)


@pytest.mark.parametrize("name", DRAWN)
def test_figure_has_a_message_and_everything_inside(name):
    figure = DRAWN[name]()
    assert isinstance(figure, Figure)
    assert figure.get_size_inches()[0] in (COLUMN_WIDTH, PAGE_WIDTH)
    assert "never complete a turn" in visible_words(figure)
    with fixed_style():
        figure.draw_without_rendering()
        for text in (*figure.texts, *(text for axes in figure.axes for text in axes.texts)):
            box = text.get_window_extent()
            assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text.get_text()
            assert 0 <= box.y0 <= box.y1 <= figure.bbox.y1, text.get_text()


def test_ladder_holds_the_wavelengths():
    found = audit_configuration(read_model(str(MODELS / LLAMA31)))
    (layer,) = found.layers
    ladder, _ = compose_audit(found).axes
    before, *parts = [np.asarray(line.get_ydata(), dtype=float) for line in ladder.lines if len(line.get_xdata()) == 64]
    expected = np.log10(2 * np.pi / layer.frequencies)
    joined = np.nanmax(parts, axis=0)
    np.testing.assert_allclose(joined, expected, rtol=1e-12)
    np.testing.assert_allclose(before, np.log10(2 * np.pi * 500000.0 ** (np.arange(64) / 64)), rtol=1e-12)


def test_nothing_is_drawn_before_a_scaling_that_changes_nothing():
    (layer,) = audit_configuration(read_model(str(MODELS / LLAMA2))).layers
    assert find_unscaled(layer) is None
    sliding, full = audit_configuration(read_model(str(MODELS / GEMMA3))).layers
    assert find_unscaled(sliding) is None
    np.testing.assert_allclose(find_unscaled(full), 8 * full.frequencies, rtol=1e-15)


def test_figure_on_the_command_line(cli, tmp_path):
    done = cli(f"audit {at(GEMMA3)} --figure ladder.svg --json")
    assert read_json(done)["figure"] == "ladder.svg"
    assert (tmp_path / "ladder.svg").read_bytes().startswith(b"<?xml")
    assert done.err == "wrote ladder.svg\n"


def test_what_does_not_turn_has_no_figure(cli):
    done = cli(f"audit {at('bloom-560m.json')} --figure a.png")
    assert done.code == 2
    assert "--figure has no rotary frequencies to draw (alibi)" in done.err


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="needs layers that are turned"):
        draw("bloom-560m.json")


@pytest.mark.parametrize("options", ["--output config.json", "--output model/config.json", "--figure link.png"])
def test_what_is_read_is_not_written_over(refuse, tmp_path, options):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_bytes((MODELS / LLAMA2).read_bytes())
    (tmp_path / "config.json").symlink_to("model/config.json")
    (tmp_path / "link.png").symlink_to("model/config.json")
    named = "model" if "model" in options else "config.json"
    assert "is read by this command" in refuse(f"audit {named} {options}")
    assert (tmp_path / "model" / "config.json").read_bytes() == (MODELS / LLAMA2).read_bytes()
