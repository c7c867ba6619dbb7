"""One configuration under every implementation, and what differs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pe_spectra.models.stacks.conformance import _build_examples, tabulate_conformance, tabulate_scalings
from pe_spectra.models.stated.statement import LayerStatement
from tests.models.stack_configurations import EXAMPLES, LIBRARIES, NAMES, YARN, block, read, state


def tell(rows, scaling, stack):
    (row,) = [row for row in rows if (row.scaling, row.stack) == (scaling, stack)]
    return row


def test_conformance_of_one_file():
    rows = tabulate_conformance(EXAMPLES["yarn"])
    assert [row.stack for row in rows] == list(NAMES)
    own = tell(rows, "yarn", "transformers-5")
    assert (own.smallest_ratio, own.largest_ratio, own.differing, own.max_phase_error) == (1, 1, 0, 0)
    assert own.first_position_off is None
    assert tell(rows, "yarn", "meta").refusal.endswith("default, llama3 are")
    paper = tell(rows, "yarn", "yarn-paper")
    found = read("transformers-5", EXAMPLES["yarn"]), read("yarn-paper", EXAMPLES["yarn"])
    ratio = found[1].frequencies / found[0].frequencies
    assert (paper.smallest_ratio, paper.largest_ratio) == (ratio.min(), ratio.max())
    assert paper.differing == np.count_nonzero(ratio != 1)
    off = np.abs(found[1].frequencies - found[0].frequencies)
    assert paper.max_phase_error == pytest.approx(32767 * off.max(), rel=1e-12)
    assert paper.first_position_off == math.ceil(math.pi / 8 / off.max())
    assert tell(rows, "yarn", "llama.cpp").layout == "interleaved"


def test_conformance_of_several_layer_types():
    full = LayerStatement(name="full_attention", head_dim=64, newer=block(base=1e6, where="rope_parameters"))
    sliding = replace(full, name="sliding_attention", newer=block(where="rope_parameters"), window=512)
    configuration = replace(state(), layers=(full, sliding, LayerStatement(name="nope", head_dim=64, turns=False)))
    rows = tabulate_conformance(configuration, 4096)
    assert [row.layer for row in rows] == [name for name in (full.name, sliding.name, "nope") for _ in NAMES]
    older = [row for row in rows if row.stack == "transformers-4"]
    assert older[0].differing == 31
    assert older[0].first_position_off is not None
    assert older[1].differing == older[2].differing == 0


def test_conformance_where_the_reference_refuses():
    rows = tabulate_conformance(state(block("nonsense")))
    assert rows[0].refusal is not None
    assert tell(rows, "nonsense", "llama.cpp").smallest_ratio is None
    assert tell(rows, "nonsense", "llama.cpp").attention_scaling == 1


def test_conformance_of_all_scalings():
    rows = tabulate_scalings(state(block(base=5e5), head_dim=128, length=8192, model="llama"))
    assert list(dict.fromkeys(row.scaling for row in rows)) == list(EXAMPLES)
    assert len(rows) == len(EXAMPLES) * len(NAMES)
    same = {
        *((kind, "vllm") for kind in ("default", "linear", "yarn", "llama3", "longrope")),
        *((kind, "llama.cpp") for kind in ("default", "linear", "yarn", "llama3")),
        *((kind, "keras-hub") for kind in ("default", "linear", "yarn", "llama3", "longrope")),
        *((kind, "transformers-4") for kind in EXAMPLES),
        *((kind, "yarn-paper") for kind in ("default", "linear")),
        *(("default", name) for name in ("meta", *LIBRARIES)),
        *((kind, name) for kind, name in (("llama3", "torchtune"), ("linear", LIBRARIES[1]), ("linear", LIBRARIES[2]))),
    }
    others = [row for row in rows if row.stack != "transformers-5" and row.refusal is None]
    assert {(row.scaling, row.stack) for row in others if row.differing == 0} == same
    for row in others:
        assert (row.first_position_off is None) == (row.max_phase_error < math.pi / 8) or row.scaling == "dynamic"
    assert tell(rows, "dynamic", "keras-hub").first_position_off < 3
    # at l = 2 L transformers divides by 2 s - (s - 1), and vLLM by nothing where no trained length is given
    assert tell(rows, "dynamic", "vllm").largest_ratio == pytest.approx(5, rel=1e-12)


def test_conformance_of_all_scalings_for_one_file():
    configuration = state(block("yarn", YARN, 1e6), model="qwen2", head_dim=64)
    examples = _build_examples("qwen2", configuration.layers[0], 4096)
    assert [example.layers[0].older.kind for example in examples] == list(EXAMPLES)
    assert {example.model for example in examples} == {"qwen2"}
    assert {example.layers[0].older.base for example in examples} == {1e6}
    assert [example.length for example in examples] == [4096, 16384, 4096, 16384, 16384, 16384]
    rows = tabulate_scalings(configuration, 8192)
    assert {row.layout for row in rows if row.stack == "llama.cpp"} == {"half"}
