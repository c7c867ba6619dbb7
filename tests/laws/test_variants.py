"""The laws are asked of every variant: one that breaks a law is named, whatever the others do."""

import pytest

from pe_spectra.encodings import HasFrequencies, HasTable
from tests.laws.variants import ALL, every, hold_for_all


def break_for_odd_widths(encoding):
    assert encoding.d % 2 == 0, "odd"


def test_each_variant_that_breaks_a_law_is_named():
    some = [one for one in ALL if one.name in ("sinusoidal", "dft")]
    odd = [one for one in some if one.d % 2]
    assert len(odd) > 2
    with pytest.raises(AssertionError) as caught:
        hold_for_all(break_for_odd_widths, some)
    first = str(caught.value).split("\n")[0]
    assert first == f"{len(odd)} of {len(some)} cases"
    assert all(
        any(line.startswith(f"{one.spec}: AssertionError odd") for line in str(caught.value).split("\n")) for one in odd
    )


def test_what_is_not_raised_is_a_broken_law_too():
    def demand_an_error(encoding):
        with pytest.raises(ValueError, match="never"):
            encoding.table(1)

    with pytest.raises(AssertionError, match="1 of 1 cases"):
        hold_for_all(demand_an_error, [next(one for one in ALL if isinstance(one, HasTable))])


def test_a_law_is_asked_of_each_variant_once():
    asked = []
    law = every(HasFrequencies, where=lambda one: one.d > 1)(asked.append)
    (mark,) = law.pytestmark
    for variants in mark.args[1]:
        law(variants)
    assert asked == [one for one in ALL if isinstance(one, HasFrequencies) and one.d > 1]
