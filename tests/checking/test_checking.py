"""freeze and check from Python: subjects of every kind pass as they were frozen, and what changed is named."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pe_spectra
from pe_spectra.errors import FileError, InputError
from tests.capturing.fakes import Embedding, Model, Rotary, Tensor, make_ladder
from tests.places import MODELS


def turn(positions):
    angles = np.outer(positions, 10000.0 ** -(np.arange(8) / 8))
    return np.cos(angles), np.sin(angles)


def turn_more(positions):
    cosines, sines = turn(np.asarray(positions) * 2.0)
    return cosines, sines


LLAMA = MODELS / "llama-3.1-8b.json"
TABLE = np.random.default_rng(5).normal(size=(32, 4))
FREQUENCIES = 10000.0 ** -(np.arange(8) / 8)


@pytest.mark.parametrize(
    ("subject", "other", "changed"),
    [
        (turn, turn_more, "frequencies"),
        (FREQUENCIES, FREQUENCIES.astype(np.float16), "dtype"),
        (TABLE, np.where(np.eye(32, 4) > 0, 9.0, TABLE), "digest"),
        (pe_spectra.Dft(d=8), pe_spectra.Dft(d=16), "encoding.parameters.d"),
        ("rope:d=16", "rope:d=16,layout=interleaved", "encoding.parameters.layout"),
        (LLAMA, MODELS / "llama-3-8b.json", "scaling"),
        (str(LLAMA), MODELS / "llama-3-8b.json", "scaling"),
    ],
)
def test_a_subject_is_as_it_was_frozen_and_another_is_not(subject, other, changed, tmp_path):
    place = pe_spectra.freeze(subject, tmp_path / "ref.json")
    assert pe_spectra.check(subject, place, tolerance=0).verdict.code == "as-frozen"
    answer = pe_spectra.check(other, place)
    assert any(text.endswith(f": {changed} changed") for text in answer.failed), answer.failed


def test_a_model_is_taken_by_what_its_modules_give(tmp_path):
    place = pe_spectra.freeze(Model(rotary_emb=Rotary()), tmp_path / "ref.json")
    assert pe_spectra.check(Model(rotary_emb=Rotary()), place).failed == []
    answer = pe_spectra.check(Model(rotary_emb=Rotary(make_ladder(base=5e5))), place)
    assert answer.verdict.code == "breaks"
    assert any(text.endswith(": base changed") for text in answer.failed)


class Elsewhere(Rotary):
    """The module on another machine: some of its cosines and sines are the float beside."""

    def forward(self, x, position_ids):
        cosines, sines = (one.values for one in super().forward(x, position_ids))
        steps = np.tile(np.random.default_rng(3).integers(-1, 2, (*cosines.shape[:-1], cosines.shape[-1] // 2)), 2)
        return tuple(Tensor(one + np.spacing(np.abs(one)) * steps.astype(one.dtype)) for one in (cosines, sines))


@pytest.mark.parametrize("scale", [1.0, 1.1386])
def test_roundings_of_another_machine_are_no_change_of_what_a_module_gives(tmp_path, scale):
    place = pe_spectra.freeze(Model(rotary_emb=Rotary(scale=scale)), tmp_path / "ref.json")
    assert pe_spectra.check(Model(rotary_emb=Elsewhere(scale=scale)), place).failed == []
    answer = pe_spectra.check(Model(rotary_emb=Elsewhere(scale=scale * 1.001)), place)
    assert answer.failed == ["Model: attention_scaling changed"]
    reversed_one = pe_spectra.check(lambda s: (turn(s)[0], -turn(s)[1]), pe_spectra.freeze(turn, tmp_path / "b.json"))
    assert reversed_one.failed


@pytest.mark.parametrize("seed", range(3))
def test_roundings_of_another_machine_are_no_change_of_what_a_function_gives(tmp_path, seed):
    """Cosines and sines that differ by a last bit, which digests of them would not bear."""
    place = pe_spectra.freeze(turn, tmp_path / "ref.json")

    def turn_elsewhere(positions):
        draw = np.random.default_rng(seed)
        return [one + np.spacing(np.abs(one)) * draw.integers(-1, 2, one.shape) for one in turn(positions)]

    assert pe_spectra.check(turn_elsewhere, place).failed == []


def make_model(*, rotary=True, second=False, change=0.0):
    """A model with a rotation or none and a table or two, the last of which has one number that changes."""
    table = np.random.default_rng(2).normal(size=(32, 4))
    last = np.where(np.arange(128).reshape(32, 4) == 50, table + change, table)
    tables = {"wpe": Embedding(table + 1), "embed_positions": Embedding(last)} if second else {"wpe": Embedding(last)}
    return Model(**({"rotary_emb": Rotary()} if rotary else {}), **tables)


@pytest.mark.parametrize("parts", [{}, {"second": True}, {"rotary": False}, {"rotary": False, "second": True}])
def test_every_table_of_a_model_is_frozen(parts, tmp_path):
    place = pe_spectra.freeze(make_model(**parts), tmp_path / "ref.json")
    assert pe_spectra.check(make_model(**parts), place, tolerance=0).failed == []
    assert "Model: digest changed" in pe_spectra.check(make_model(**parts, change=1e-3), place).failed
    capture = pe_spectra.capture(make_model(**parts, change=1e-3))
    if "rotary" not in parts:  # so is what a file holds of a capture
        answer = pe_spectra.check(capture.save(tmp_path / "a.safetensors"), place)
        assert answer.failed == ["Model: digest changed"]


def test_a_table_that_a_model_lost_is_told(tmp_path):
    place = pe_spectra.freeze(make_model(), tmp_path / "ref.json")
    assert pe_spectra.check(Model(rotary_emb=Rotary()), place).failed == ["Model: arrays changed"]


@pytest.mark.parametrize(("change", "failed"), [(0.0, []), (2.0**-24, []), (1e-5, ["digest"])])
def test_rows_behind_a_gap_are_frozen(change, failed, tmp_path):
    """As those that only a long input shows."""

    def turn_far(positions):
        cosines, sines = turn(positions)
        far = positions > 1000
        return [(one + change * far[:, None]).astype(np.float32) for one in (cosines, sines)]

    positions = [*range(64), 100_000, 100_001]
    for name, function in (("now", turn_far), ("then", lambda s: [one.astype(np.float32) for one in turn(s)])):
        found = pe_spectra.capture(function, positions=positions)
        found.save(tmp_path / f"{name}.safetensors")
    place = pe_spectra.freeze(tmp_path / "then.safetensors", tmp_path / "ref.json")
    found = pe_spectra.check(tmp_path / "now.safetensors", place).failed
    assert [text.split(": ")[-1] for text in found] == [f"{what} changed" for what in failed]


def test_every_list_of_frequencies_in_a_file_is_frozen(tmp_path):
    """And not the first alone, which is the one that is compared with other models."""
    paths = []
    for name, base in (("then", 1e4), ("now", 5e5)):
        lists = {f"layers.{k}.rotary_emb.inv_freq": make_ladder(base=1e4 if k < 3 else base) for k in range(4)}
        np.savez(tmp_path / f"{name}.npz", **lists)
        paths.append(tmp_path / f"{name}.npz")
    place = pe_spectra.freeze(paths[0], tmp_path / "ref.json")
    assert pe_spectra.check(paths[0], place).failed == []
    assert [text.split(": ")[-1] for text in pe_spectra.check(paths[1], place).failed] == ["digest changed"]


def test_an_array_that_is_refused_is_named(tmp_path):
    with pytest.raises(InputError, match=r"^ndarray cannot be frozen \(entry 1 is nan"):
        pe_spectra.freeze(np.array([1.0, np.nan]), tmp_path / "ref.json")


class Bfloat16(Tensor):
    """A tensor that NumPy cannot read as it is."""

    def __init__(self, values):
        super().__init__(values, "bfloat16")


def test_a_tensor_is_frozen_in_its_own_type(tmp_path):
    place = pe_spectra.freeze(Tensor([1.0, 0.5, 0.25]), tmp_path / "ref.json")
    assert pe_spectra.check(np.float32([1.0, 0.5, 0.25]), place).failed == []
    answer = pe_spectra.check(Bfloat16([1.0, 0.5, 0.25]), place)
    assert "Tensor: dtype changed" in answer.failed
    for wrong in (Tensor([True], "bool"), np.array(["a"]), {"a": 1}):
        with pytest.raises(InputError, match=r"^there is nothing to freeze \("):
            pe_spectra.freeze(wrong, tmp_path / "ref.json")


def test_a_path_without_what_says_nothing_is_the_name(tmp_path, monkeypatch, cli):
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_bytes(LLAMA.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert cli("freeze a.json b.json --output ref.json").code == 0
    assert cli("check ./a.json .//b.json --against ref.json").code == 0
    assert pe_spectra.check("./b.json", "ref.json").failed == []
    done = cli("check a.json ./a.json --against ref.json")
    assert (done.code, done.err) == (2, "error: WHAT has one name twice (a.json); each is accepted once\n")


def test_a_tolerance_covers_what_is_recognised_of_frequencies(tmp_path):
    """Whether they are a ladder, or rounded, follows from the numbers."""
    place = pe_spectra.freeze(FREQUENCIES, tmp_path / "ref.json")
    assert pe_spectra.check(FREQUENCIES * (1 + 1e-6), place, tolerance=1e-5).failed == []
    assert pe_spectra.check(FREQUENCIES * (1 + 1e-6), place).failed != []


def test_where_a_table_lies_is_not_frozen(tmp_path):
    for name in ("a", "b"):
        np.save(tmp_path / f"{name}.npy", TABLE)
    place = pe_spectra.freeze(f"t5:table={tmp_path / 'a.npy'}", tmp_path / "ref.json")
    assert pe_spectra.check(f"t5:table={tmp_path / 'b.npy'}", place, tolerance=0).failed == []
    assert str(tmp_path) not in "".join(json.dumps(one) for one in json.loads(place.read_text())["entries"].values())


def test_an_entry_is_written_anew_and_reasons_are_kept(tmp_path):
    config = json.loads(LLAMA.read_text(encoding="utf-8"))
    plain = {key: value for key, value in config.items() if key != "rope_scaling"}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    place = pe_spectra.freeze(tmp_path / "config.json", tmp_path / "ref.json", accept={"aliasing": "known"})
    (tmp_path / "config.json").write_text(json.dumps(plain), encoding="utf-8")
    assert "scaling" in "".join(pe_spectra.check(tmp_path / "config.json", place).failed)
    pe_spectra.freeze(tmp_path / "config.json", place)
    assert pe_spectra.check(tmp_path / "config.json", place).failed == []
    document = json.loads(place.read_text(encoding="utf-8"))
    assert (document["accepted"], len(document["entries"])) == ({"aliasing": "known"}, 1)


def test_of_several_entries_the_one_of_the_name_is_taken(cli, empty_folder):
    assert cli("freeze dft:d=8 dft:d=16 --output ref.json").code == 0
    assert pe_spectra.check("dft:d=16", "ref.json").failed == []
    with pytest.raises(FileError, match=r"ref.json: has no entry dft:d=32; it has dft:d=16 and dft:d=8"):
        pe_spectra.check("dft:d=32", "ref.json")
    pe_spectra.freeze("dft:d=32", "ref.json")
    assert sorted(json.loads(Path("ref.json").read_text(encoding="utf-8"))["entries"]) == [
        "dft:d=16",
        "dft:d=32",
        "dft:d=8",
    ]


def test_a_second_subject_has_an_entry_beside_the_first(tmp_path):
    """Of one name and not of the other: neither is lost, whichever is frozen first."""
    place = tmp_path / "ref.json"
    for subject in ("dft:d=8", "dft:d=16", turn):
        pe_spectra.freeze(subject, place)
    assert sorted(json.loads(place.read_text(encoding="utf-8"))["entries"]) == ["dft:d=16", "dft:d=8", "turn"]
    for subject in ("dft:d=8", "dft:d=16", turn):
        assert pe_spectra.check(subject, place).failed == []


def test_an_older_version_stays_as_long_as_entries_of_it_do(tmp_path, monkeypatch):
    """What an older program found is not taken for what this one finds, and one entry of its own makes no file new."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_bytes(LLAMA.read_bytes())
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        pe_spectra.freeze(f"{name}/config.json", "ref.json")
    document = json.loads(Path("ref.json").read_text(encoding="utf-8"))
    document["version"] = "0.0.1"
    planted = {"level": "warning", "code": "aliasing", "layers": None, "message": "It said so."}
    document["entries"]["b/config.json"]["findings"] = [planted]
    Path("ref.json").write_text(json.dumps(document), encoding="utf-8")
    pe_spectra.freeze("a/config.json", "ref.json")
    assert json.loads(Path("ref.json").read_text(encoding="utf-8"))["version"] == "0.0.1"
    assert any("finding aliasing is gone" in note for note in pe_spectra.check("b/config.json", "ref.json").notes)
    pe_spectra.freeze("b/config.json", "only.json")
    written = json.loads(Path("only.json").read_text(encoding="utf-8"))
    Path("only.json").write_text(json.dumps(written | {"version": "0.0.1"}), encoding="utf-8")
    pe_spectra.freeze("b/config.json", "only.json")
    assert json.loads(Path("only.json").read_text(encoding="utf-8"))["version"] == pe_spectra.__version__


def test_a_key_that_somebody_took_away_is_a_change(tmp_path):
    """Only another version may not have known it."""
    place = pe_spectra.freeze(LLAMA, tmp_path / "ref.json")
    document = json.loads(place.read_text(encoding="utf-8"))
    del document["entries"][str(LLAMA)]["layers"]["all"]["trained_length"]
    for version, failed in ((document["version"], True), ("0.0.1", False)):
        place.write_text(json.dumps(document | {"version": version}), encoding="utf-8")
        assert bool(pe_spectra.check(LLAMA, place).failed) is failed


@pytest.mark.parametrize("accept", [{"aliasing": ""}, {"aliasing": 3}, {"aliassing": "known"}])
def test_what_is_accepted_is_known_and_has_a_reason(accept, tmp_path):
    with pytest.raises(InputError, match=r"^accept"):
        pe_spectra.freeze("dft:d=8", tmp_path / "ref.json", accept=accept)
    assert not (tmp_path / "ref.json").exists()
    place = pe_spectra.freeze("dft:d=8", tmp_path / "ref.json", accept={"taken-by-its-buffers": "it is so"})
    with pytest.raises(InputError, match=r"^accept"):
        pe_spectra.check("dft:d=8", place, accept=accept)


@pytest.mark.slow
def test_processes_that_freeze_into_one_file_lose_no_entry(tmp_path):
    program = "import sys, pe_spectra; [pe_spectra.freeze(f'dft:d={d}', 'ref.json') for d in map(int, sys.argv[1:])]"
    lists = [[str(d) for d in range(8 + k, 48, 4)] for k in range(4)]
    running = [subprocess.Popen([sys.executable, "-c", program, *one], cwd=tmp_path) for one in lists]
    assert [one.wait() for one in running] == [0] * 4
    entries = json.loads((tmp_path / "ref.json").read_text(encoding="utf-8"))["entries"]
    assert sorted(entries) == sorted(f"dft:d={d}" for one in lists for d in one)


@pytest.mark.parametrize("tolerance", [-1e-9, 1.0, float("nan"), "1e-3", True])
def test_a_tolerance_is_a_share(tolerance, tmp_path):
    place = pe_spectra.freeze("dft:d=8", tmp_path / "ref.json")
    with pytest.raises(InputError, match=r"^tolerance is (out of range|not a number) .*from 0 to 0.99"):
        pe_spectra.check("dft:d=8", place, tolerance=tolerance)


def test_places_and_subjects_that_cannot_be_used(tmp_path):
    with pytest.raises(InputError, match=r"\.json"):
        pe_spectra.freeze("dft:d=8", tmp_path / "ref.txt")
    with pytest.raises(FileError, match=r"none\.json"):
        pe_spectra.check("dft:d=8", tmp_path / "none.json")
    with pytest.raises((InputError, FileError)):
        pe_spectra.freeze(object(), tmp_path / "ref.json")
    assert not (tmp_path / "ref.json").exists()
