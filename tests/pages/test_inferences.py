"""Every sentence that infers has a test of its condition; findings about tables are tested on the corpus."""

import ast

import pytest

from pe_spectra.inspection import KINDS
from tests.inspection.corpus import KINDS as PLANTED
from tests.inspection.corpus import list_facts, make
from tests.pages.inferences import NO_INFERENCES, TESTS, list_inferences
from tests.places import ROOT

#: Of the spectrum, not of the rows: that it is signed is arithmetic.
OF_SPECTRA = {"no-shares"}


def find_key(inference):
    """The entry of a sentence: its code, the longest words of an entry that stand in it, or nothing."""
    if inference.code is not None:
        return inference.code
    return max((words for words in [*TESTS, *NO_INFERENCES] if words in inference.text), key=len, default=None)


def test_every_sentence_that_infers_has_its_tests():
    known = {*TESTS, *NO_INFERENCES, *KINDS}
    assert [inference for inference in list_inferences() if find_key(inference) not in known] == []


def test_every_entry_has_its_sentence():
    assert {*TESTS, *NO_INFERENCES} <= {find_key(one) for one in list_inferences()}


@pytest.mark.parametrize("name", sorted({name for names in TESTS.values() for name in names}))
def test_the_tests_are_there(name):
    path, function = name.split("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_finding_about_a_table_is_planted_or_held_against_its_numbers():
    """What it infers is right in 95 % of the tables that it is planted in, and false in 2 % of others at most."""
    planted = {code for kind in PLANTED for truth in make(kind, 0).truth for code in truth.codes}
    assert set(KINDS) - OF_SPECTRA <= planted


def test_what_is_held_against_numbers_is_a_finding():
    table = make("table that repeats", 0).table
    assert list_facts(table) <= set(KINDS)
