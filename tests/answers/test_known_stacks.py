"""The list of known implementations: a row for each release, with what it does when it is asked."""

from dataclasses import replace

import pytest

from pe_spectra.answers.known_stacks import answer_stacks
from pe_spectra.models.stacks import STACKS, Refusal, find_stack, list_releases
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration

ROWS = answer_stacks().body.rows
CONFIG = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}


def test_a_row_for_each_release_the_newest_first():
    assert [row.title for row in ROWS] == [stack.title for stack in list_releases()]
    firsts = {}
    for row in ROWS:
        firsts.setdefault(row.name, row.title)
    assert firsts == {name: stack.title for name, stack in STACKS.items()}


@pytest.mark.parametrize("row", ROWS, ids=[row.title for row in ROWS])
def test_what_is_said_of_a_release_is_what_it_does(row):
    stack = find_stack(f"{row.package or row.name}=={row.version}" if row.version else row.name, "--stack")
    assert stack.title == row.title
    assert row.how in ("measured", "read")
    read = {}
    for kind in ("default", "linear", "a-type-of-2030"):
        stated = read_configuration({**CONFIG, "rope_scaling": {"rope_type": kind, "factor": 2.0}}, "config.json")
        stated = replace(stated, format=stack.formats[0])
        read[kind] = stack.read(stated, stated.layers[0], None)
        assert isinstance(read[kind], Refusal) == (row.refuses_others and kind not in row.scalings)
    assert read["default"].layout in row.layouts
    gguf = stack.read(read_gguf(), read_gguf().layers[0], None)
    assert isinstance(gguf, Refusal) != row.reads_gguf


def read_gguf():
    keys = {"general.architecture": "llama", "llama.attention.head_count": 1, "llama.embedding_length": 4}
    return read_gguf_configuration(keys, {}, "a.gguf")


def test_the_sentence_counts_releases_and_implementations():
    assert answer_stacks().verdict.text.startswith(
        f"{len(list_releases())} releases of {len(STACKS)} implementations; "
    )
