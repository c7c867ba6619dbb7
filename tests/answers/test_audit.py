"""What audit answers: verdicts, documents, tables, and lengths that are served."""

import csv
import io
import json
import math
import re
import shlex

import pytest

from pe_spectra.cli.options import OPTIONS
from pe_spectra.models.checks.kinds import KINDS
from tests.answers.audits import COLUMNS, GEMMA3, LLAMA2, LLAMA31, PAIR_COLUMNS, YARN, at, model_of, read_csv
from tests.documents import read_json
from tests.places import MODELS

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
    *(
        "original_length",
        "trained_length",
        "served_length",
        "window",
        "window_sides",
        "never_turn",
        "unseen_pairs",
        "frequencies",
    ),
    *("spectrum", "low_bin", "encoding", "spec", "notes"),
}
MODEL = {
    *("file", "format", "model", "scheme", "scheme_parameters", "parts", "dtype", "error", "layer_types"),
    "findings",
}


# ----------------------------------------------------------------------------------- verdicts


VERDICTS = {
    LLAMA31: "Rotary, base 500000 with llama3 scaling (factor 8 from 8,192): 25 of 64 pairs never complete a period "
    "within 131,072 positions. Nothing wrong found.",
    LLAMA2: "Rotary, base 10000: 18 of 64 pairs never complete a period within 4,096 positions. Nothing wrong found.",
    "mistral-7b-v0.1.json": "Rotary, base 10000: 18 of 64 pairs never complete a period within 4,096 positions, the "
    "window. Nothing wrong found.",
    "phi-2.json": "Rotary in 32 of 80 channels, base 10000: 5 of 16 pairs never complete a period within 2,048 "
    "positions. Nothing wrong found.",
    GEMMA3: "Rotary, base 1000000 with linear scaling (factor 8) in full_attention layers, and 1 other layer type: 55 "
    "of 128 pairs never complete a period within 131,072 positions; beside it vision_config. Nothing wrong found.",
    "deepseek-r1-distill-qwen-7b.json": "Rotary, base 10000: each of 64 pairs completes a period within 131,072 "
    "positions. 1 warning: the base is too small for this length (base-too-small).",
    "bloom-560m.json": "ALiBi: 16 heads, slopes from 0.707107 to 0.00390625. Nothing wrong found.",
    "bert-base-uncased.json": "Learned: 512 rows for 512 positions. Nothing wrong found.",
    "roberta-base.json": "Learned: 514 rows, 2 of which are no positions, for 512 positions. Nothing wrong found.",
    "opus-mt-en-de.json": (
        "Sinusoidal: 512 columns by formula, in a table of 512 rows; all sines first, wavelengths from 6.28 to 60,611 "
        "positions. Nothing wrong found."
    ),
    "mamba-130m-hf.json": "No positional encoding: order is in the recurrence. Nothing wrong found.",
    "broken/unknown-rope-type.json": "Rotary, but no frequencies can be given. 1 error: the scaling is not known "
    "(unknown-scaling).",
    "broken/base-missing-131072.json": "Rotary, base 10000: each of 64 pairs completes a period within 131,072 "
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
    assert verdict["code"] in (*KINDS, "clean")


def test_t5_says_where_the_last_bucket_starts(cli):
    text = cli(f"audit {at('t5-small.json')}").out.splitlines()[0]
    assert text.startswith("T5: 32 buckets")
    assert "share one in an encoder" in text
    assert "from 91 on " in text.replace("distances ", "")
    assert ", from 113 on in a decoder" in text


def test_a_release_that_states_no_length(cli, tmp_path):
    params = {"dim": 4096, "n_heads": 32, "n_layers": 32, "rope_theta": 500000.0, "use_scaled_rope": True}
    (tmp_path / "params.json").write_text(json.dumps(params))
    unknown = "how many periods its 64 pairs complete in training is not known, since no training length is stated."
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
    explain = OPTIONS["explain:completed"]
    assert explain._complete("") == list(KINDS)
    assert explain._complete("unse") == ["unseen-phases"]


# ----------------------------------------------------------------------------------- documents and tables


@pytest.mark.parametrize("name", [LLAMA31, GEMMA3, "bloom-560m.json", "gemma-4-26b-a4b.json", "smollm3-3b.json"])
def test_document(cli, name):
    document = read_json(cli(f"audit {at(name)} --json"))
    assert document["kind"] == "audit"
    assert document["parameters"] == {"trained": None, "served": None, "allocated": None}
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
    facts = [line.split(": ")[1] for line in out.splitlines() if line.startswith("base: ")]
    assert facts == ["full_attention", "sliding_attention"]


def test_csv_has_one_shape(cli):
    one = read_csv(cli(f"audit {at(LLAMA31)} --format csv"))
    several = read_csv(cli(f"audit {at(LLAMA31, GEMMA3, 'bloom-560m.json')} --format csv"))
    assert list(one[0]) == list(several[0]) == COLUMNS
    assert several[0] == one[0]
    named = ["all", "sliding_attention", "full_attention", "vision_config", "all"]
    assert [row["layer"] for row in several] == named
    assert [row["scheme"] for row in several[3:]] == ["learned", "alibi"]
    assert several[4]["base"] == several[4]["never_turn"] == ""
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


def test_each_layer_type_has_the_bound_of_its_own_frequencies(cli):
    lines = cli(f"audit {at('gemma-4-26b-a4b.json')}").out.splitlines()
    notes = [line.removeprefix("note: precision: ") for line in lines if line.startswith("note: precision: ")]
    assert [note.partition(": ")[0] for note in notes] == ["sliding_attention", "full_attention"]
    assert notes[0].partition(": ")[2] != notes[1].partition(": ")[2]


def test_layer_types_share_the_lines_that_say_the_same(cli):
    shown = cli(f"audit {at(GEMMA3)} --color always", COLUMNS="80").out
    lines = [re.sub("\x1b[^m]*m", "", line).rstrip() for line in shown.splitlines()]
    widths = [line for line in lines if "256 channels" in line]
    assert widths == ["head width  full_attention and sliding_attention: 256 channels, all of them"]
    scalings = [line for line in lines if line.startswith("scaling")]
    assert scalings == ["scaling     full_attention: linear: factor 8", "scaling     sliding_attention: none"]
    assert "notes       nested-config, length-defaulted, base-defaulted, precision and" in lines
    full = cli(f"audit {at(GEMMA3)} --color always --full", COLUMNS="80").out
    assert "length-defaulted: no key gives the length" in full


@pytest.mark.few(20)
@pytest.mark.parametrize("name", sorted(path.name for path in MODELS.glob("*.json") if path.name != "EXPECTED.json"))
def test_a_model_fits_a_screen_and_a_line_for_each_layer_type(cli, monkeypatch, name):
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)
    # by its name alone: where the checkout lies must not decide whether the command of `next:` wraps
    monkeypatch.chdir(MODELS)
    ran = cli(f"audit {name}", COLUMNS="80", LINES="24")
    types = len(model_of(cli, name)["layer_types"])
    assert len((ran.out + ran.err).splitlines()) <= 24 + (types if types > 1 else 0)


@pytest.mark.parametrize("options", ["", "--full"])
def test_pairs_of_several_layer_types_are_a_table_of_80_columns(cli, options):
    shown = cli(f"audit {at(GEMMA3)} --color always {options}", COLUMNS="80").out
    lines = [re.sub("\x1b[^m]*m", "", line).rstrip() for line in shown.splitlines()]
    assert max(map(len, lines)) <= 80
    said = any(line.split()[-3:] == ["turns", "served", "state"] or "turns_served" in line for line in lines)
    assert said if options else lines[-1].endswith("256 rows: --full")
    assert not [line for line in lines if line.startswith("layer: ")]


def test_long_paths_lose_their_middle_on_a_terminal_only(cli, tmp_path):
    folder = tmp_path / "a-rather-long-folder-name-for-many-models"
    named = {"llama": LLAMA31, "gemma": GEMMA3, "no-base": "broken/base-missing-131072.json"}
    for name, source in named.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "config.json").write_text((MODELS / source).read_text())
    paths = [str(folder / name / "config.json") for name in named]
    line = f"audit {' '.join(paths)}"
    shown = cli(f"{line} --color always", COLUMNS="80").out
    lines = [re.sub("\x1b[^m]*m", "", line).rstrip() for line in shown.splitlines()]
    rows = [line.split() for line in lines if "/config.json " in line]
    assert [row[0] for row in rows] == [f".../{name}/config.json" for name in ("no-base", "llama", *["gemma"] * 3)]
    assert rows[0][1:] == ["all", "10000", "none", "base-defaulted", "warning"]
    assert rows[1][1:] == ["all", "500000", "llama3", "ok"]
    for options in ("", "--format csv", "--json"):
        found = cli(f"{line} {options}").out
        assert all(path in found for path in paths)
        assert "..." not in found


def test_csv_names_findings(cli):
    (row,) = read_csv(cli(f"audit {at('broken/unseen-phases.json')} --format csv"))
    assert row["level"] == "warning"
    assert "unseen-phases" in row["findings"].split()
    assert int(row["unseen"]) == 18


@pytest.mark.slow
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
    assert lengths["parameters"] == {"trained": 8192, "served": 131072, "allocated": None}
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


BROKEN = [path for path in sorted((MODELS / "broken").glob("*.json")) if path.name != "EXPECTED.json"]


# ----------------------------------------------------------------------------------- the gravest first


def test_errors_come_first_on_a_terminal_and_files_in_their_order_elsewhere(watch, cli):
    usable = [path for path in BROKEN if path.stem not in ("head-dim-not-dividing", "rope-scaling-not-object")]
    line = f"audit {shlex.join(map(str, usable))}"
    shown = watch(line).out
    assert re.match(rf"{len(usable)} configurations: \d+ with errors \([a-z]", shown)
    levels = re.findall(r" (error|warning|ok)\b", shown.partition("never_")[2])
    assert levels == ["error"] * 12
    rows = list(csv.DictReader(io.StringIO(cli(f"{line} --format csv").out)))
    assert list(dict.fromkeys(row["file"] for row in rows)) == [str(path) for path in usable]
    models = json.loads(cli(f"{line} --json").out)["models"]
    assert [model["file"] for model in models] == [str(path) for path in usable]


def test_rows_of_one_level_stay_in_the_order_of_their_files(watch):
    files = [MODELS / name for name in ("mistral-7b-v0.1.json", "llama-2-7b.json", "broken/unseen-phases.json")]
    files = [path for path in files if path.exists()]
    assert len(files) >= 2
    shown = watch(f"audit {shlex.join(map(str, files))}").out.partition("never_")[2]
    places = [shown.index(path.name) for path in files]
    assert places[-1] == min(places)
    assert sorted(places[:-1]) == places[:-1]


@pytest.mark.parametrize(
    ("share", "turned", "every"), [(0.25, "16", "every pair that turns"), (1.0, "all", "every pair")]
)
def test_pairs_at_rest_are_not_called_turned(cli, tmp_path, share, turned, every):
    block = {"rope_type": "proportional", "partial_rotary_factor": share, "rope_theta": 100.0}
    keys = {"model_type": "gemma4_text", "global_head_dim": 64, "head_dim": 64, "max_position_embeddings": 1 << 20}
    keys |= {"rope_parameters": {"full_attention": block}, "layer_types": ["full_attention"]}
    (tmp_path / "config.json").write_text(json.dumps(keys))
    text = cli("audit config.json").out
    assert f"head width: 64 channels, {turned} of them turned" in text
    assert f"{every} completes a period within 1,048,576 positions" in text


@pytest.mark.parametrize("model", ["dia", "ernie4_5_vl_moe"])
def test_a_model_with_parts_that_have_names_has_one_too(cli, tmp_path, model):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model}))
    facts = cli("audit config.json --quiet --format table").out.split("\n\n")[1]
    assert ": : " not in facts
    assert "context: the model: training" in facts


def test_one_axis_is_not_several(cli, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"_class_name": "StableAudioDiTModel"}))
    assert cli("audit config.json --quiet").out.startswith("Rotary over 1 axis (all), base")


# ----------------------------------------------------------------------------------- as published


def list_facts(cli, tmp_path, config):
    """The lines of an audit that say one fact each."""
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    lines = cli(f"audit {tmp_path}/config.json --quiet").out.splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def test_channels_of_a_grid_are_those_of_an_axis(cli, tmp_path):
    """DINOv3 and Qwen2-VL pair channels i and i + 32 of 64, Gemma 4 (its source) those of an axis: 32 tells neither."""
    facts = list_facts(cli, tmp_path, {"model_type": "dinov3_vit", "hidden_size": 1024, "num_attention_heads": 16})
    assert facts["head width"] == "32 channels for each of 2 axes, all of them turned"
    assert facts["layout"] == (
        "half: a pair is channels of two halves, of a head or of each axis, which is not told here"
    )


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"sliding_window": 4096}, ", at most 4,096 of them at once (sliding window)"),
        ({"sliding_window": 262144}, ""),  # as the files of Phi-3 have it, which is none
        ({"sliding_window": None}, ""),
    ],
)
def test_a_window_as_long_as_the_context_is_not_told(cli, tmp_path, keys, told):
    phi = {"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32, "max_position_embeddings": 131072}
    facts = list_facts(cli, tmp_path, phi | keys)
    assert facts["context"] == f"training 131,072, inference 131,072 positions{told}"


def test_chunks_are_no_sliding_window(cli, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama4_text", "max_position_embeddings": 65536}))
    text = cli(f"audit {tmp_path}/config.json --quiet").out
    assert "8,192 of them at once (attention in chunks)" in text
    assert "sliding window" not in text


def test_a_base_that_no_key_gives_is_held_against_what_the_layers_see(cli, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gemma3_text", "sliding_window": 1024}))
    text = cli(f"audit {tmp_path}/config.json --quiet").out
    assert (
        "sliding_attention: no key gives the base, so 10000 is silently assumed, the default of gemma3_text, for a "
        "window of 1,024; state" in text
    )
    assert "for a context of 131,072; state" in text


def test_a_base_on_top_that_layers_do_not_read_is_not_asked_for_again(cli, tmp_path):
    """That of OLMo 3 is read for full attention alone."""
    keys = {"model_type": "olmo3", "rope_theta": 5e5, "sliding_window": 4096, "max_position_embeddings": 65536}
    (tmp_path / "config.json").write_text(json.dumps(keys), encoding="utf-8")
    text = cli(f"audit {tmp_path}/config.json --quiet").out
    assert "window of 4,096; state rope_parameters.sliding_attention.rope_theta" in text
    assert "full_attention: no key" not in text


@pytest.mark.parametrize("model", ["clip", "siglip"])
def test_a_part_that_is_read_is_not_said_to_be_unread(cli, tmp_path, model):
    parts = {f"{name}_config": {"model_type": f"{model}_{name}_model"} for name in ("text", "vision")}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model, **parts}), encoding="utf-8")
    text = cli(f"audit {tmp_path}/config.json --quiet").out
    assert "text_config is the one that reads text, and what is audited, beside vision_config\n" in text
