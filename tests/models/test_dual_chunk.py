"""Dual chunk attention, against the places that the rotary module of vLLM turns by (tests/reference/vllm/chunks.py)."""

import json

import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stacks import Refusal, find_stack, list_releases
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.dual_chunk import DualChunk
from tests.documents import read_json
from tests.places import REFERENCE

FROZEN = json.loads((REFERENCE / "vllm" / "dual-chunk.json").read_text(encoding="utf-8"))
CASES = [case for release in FROZEN["releases"].values() for case in release["cases"]]
QWEN = {
    "model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28, "rope_theta": 1e7,
    "max_position_embeddings": 1010000, "dual_chunk_attention_config": {"chunk_size": 262144, "local_size": 8192},
}  # fmt: skip


def read(**keys):
    return read_configuration(QWEN | keys, "config.json")


def ask(size, local):
    return {"dual_chunk_attention_config": {"chunk_size": size, "local_size": local}}


def list_distances(case):
    """Of each query the distances at which it meets the keys before it, as the module has them; and its own."""
    length = case["chunk_size"] - case["local_size"]
    for query in range(case["length"]):
        chunk, place = divmod(query, length)
        forms = {0: case["own"][place], 1: case["before"][place]}
        for key in range(query + 1):
            yield query, key, forms.get(chunk - key // length, case["earlier"]) - case["keys"][key]


@pytest.mark.parametrize("case", CASES[:5], ids=lambda case: f"{case['chunk_size']}-{case['local_size']}")
def test_reach_and_beginning_are_those_of_the_real_module(case):
    chunk = DualChunk(case["chunk_size"], case["local_size"])
    found = list(list_distances(case))
    assert chunk.length == len(case["own"])
    assert max(distance for _, _, distance in found) == chunk.reach
    assert next(query for query, key, distance in found if distance != query - key) == chunk.begins


def test_the_releases_agree():
    older, newer = (release["cases"] for release in FROZEN["releases"].values())
    assert older == newer


def test_who_reads_it_is_what_was_searched():
    stacks = {(stack.name, stack.version): stack for stack in list_releases()}
    for version, release in FROZEN["releases"].items():
        assert stacks["vllm", version].chunked == {*release["models"]}
        assert release["attention"] == 0
    assert all(found["files"] == 0 for found in FROZEN["searched"].values())
    silent = {
        f"{stack.package}-{stack.version}"
        for stack in list_releases()
        if stack.package in ("transformers", "keras-hub")
    }
    assert silent < {*FROZEN["searched"]}


@pytest.mark.parametrize(
    ("size", "local", "length", "said"),
    [
        (262144, 8192, 1010000, "differ from position 262,145 on"),
        (262144, 8192, 262145, "agree within the context"),
        (262144, 8192, 262146, "differ from position 262,145 on"),
        (1000, 900, 200, "agree within the context"),  # a chunk of 100: no distance is above 199
        (1000, 900, 201, "differ from position 200 on"),
        (1000, 900, None, "differ from position 200 on"),
    ],
)
def test_where_distances_differ_within_the_context(size, local, length, said):
    found = audit_configuration(read(max_position_embeddings=length, **ask(size, local))).findings
    (one,) = (one for one in found if one.code == "dual-chunk")
    assert one.data["begins"] == min(size + 1, 2 * (size - local))
    assert one.message.endswith(said)


@pytest.mark.parametrize("asked", [None, {}])
def test_a_file_that_does_not_ask(asked):
    found = read(dual_chunk_attention_config=asked)
    assert found.dual_chunk == "none"
    assert "dual-chunk" not in [one.code for one in audit_configuration(found).findings]


@pytest.mark.parametrize(
    "asked",
    [
        {"chunk_size": 8},
        {"chunk_size": 8, "local_size": 8},
        {"chunk_size": 8, "local_size": 9},
        {"chunk_size": 8.0, "local_size": 2},
        {"chunk_size": True, "local_size": 2},
        [8, 2],
    ],
)
def test_sizes_that_make_no_chunk_are_refused(asked):
    with pytest.raises(FileError, match=r"local_size|chunk_size|dual_chunk_attention_config"):
        read(dual_chunk_attention_config=asked)


def test_vllm_refuses_what_it_has_no_attention_for():
    found = read()
    stacks = [find_stack(name, "--stack") for name in ("vllm", "vllm==0.19.1", "transformers-5", "keras-hub")]
    refused = [isinstance(stack.read(found, found.layers[0], None), Refusal) for stack in stacks]
    assert refused == [True, True, False, False]
    llama = read(model_type="llama", hidden_size=4096, num_attention_heads=32)  # whose file does not ask for the key
    assert not isinstance(stacks[0].read(llama, llama.layers[0], None), Refusal)


def test_diff_compares_it(cli, tmp_path):
    plain = {key: value for key, value in QWEN.items() if "chunk" not in key}
    files = {"a": QWEN, "b": plain, "c": QWEN | ask(131072, 8192)}
    for name, keys in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(keys))
    for other in "bc":
        (found,) = read_json(cli(f"diff a.json {other}.json --json"))["differences"]
        assert (found["what"], found["a"]) == ("dual_chunk", "chunks of 253952 positions, distances up to 262144")
    assert read_json(cli("diff a.json a.json --json"))["agree"] is True
