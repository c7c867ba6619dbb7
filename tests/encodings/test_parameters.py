"""A parameter is declared once, as a field; the class's list of them follows."""

from dataclasses import dataclass

import pytest

from pe_spectra.encodings.heads import TABLE_SEED
from pe_spectra.encodings.parameters import Parameter, parameter
from pe_spectra.encodings.protocol import Encoding
from pe_spectra.errors import InputError
from pe_spectra.numbers import Choice, IntegerRange

COUNT = IntegerRange(minimum=1, maximum=9)


@dataclass(frozen=True, kw_only=True)
class Turning(Encoding):
    name = "turning"
    period: int = parameter(default=3, accepts=COUNT, meaning="positions in one turn")
    direction: str = parameter(
        name="way", default="left", accepts=Choice(members=("left", "right")), meaning="where to"
    )
    aside: int = 7  # no parameter: no SPEC sets it


@dataclass(frozen=True, kw_only=True)
class TurningTwice(Turning):
    period: int = parameter(default=4, accepts=COUNT, meaning="positions in two turns")
    again: int | None = parameter(accepts=COUNT, meaning="the second turn")
    seed: int = parameter(like=TABLE_SEED, meaning="seed of the turns", only_with={"again": (None,)})


def test_the_list_of_parameters_follows_from_the_fields():
    assert [(found.name, found.keyword, found.default) for found in Turning.accepts] == [
        ("period", "period", 3),
        ("way", "direction", "left"),
    ]
    assert Turning().to_dict() == {"name": "turning", "parameters": {"period": 3, "way": "left"}}


def test_a_subclass_has_those_of_its_parents_and_its_own():
    assert [found.name for found in TurningTwice.accepts] == ["period", "way", "again", "seed"]
    assert TurningTwice().given == {"period": 4, "direction": "left", "seed": 0}
    assert [found.name for found in Turning.accepts] == ["period", "way"]
    assert Encoding.accepts == ()


def test_a_parameter_that_several_have_is_changed_for_one():
    own = TurningTwice.accepts[-1]
    assert (own.meaning, own.only_with, own.accepts) == ("seed of the turns", {"again": (None,)}, TABLE_SEED.accepts)
    assert TABLE_SEED.keyword == ""


def test_a_parameter_may_be_given_by_its_name_in_a_spec():
    assert Turning(way="right") == Turning(direction="right")
    assert TurningTwice(way="right").direction == "right"
    with pytest.raises(InputError, match="way and direction are one parameter"):
        Turning(way="right", direction="left")
    with pytest.raises(TypeError, match="speed"):
        Turning(speed=3)


def test_fields_are_checked_as_they_are_declared():
    with pytest.raises(InputError, match="turning: way"):
        Turning(direction="up")
    with pytest.raises(InputError, match=r"turning: seed has no meaning here .*; it goes without again"):
        TurningTwice(again=2, seed=1)


def test_what_is_not_set_stays_none():
    assert Parameter(accepts=COUNT, meaning="turns").check(None, "x") is None
    with pytest.raises(InputError):
        Parameter(default=1, accepts=COUNT, meaning="turns").check(None, "x")
