"""What every encoding has of itself; above all, that a proof is not inherited."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np
import pytest

from pe_spectra import measure_faithfulness
from pe_spectra.encodings.codes import find_exact_key
from pe_spectra.encodings.pairs import Pairs, scale_to_words
from pe_spectra.encodings.parameters import parameter
from pe_spectra.encodings.sinusoidal import Sinusoidal, Tape
from pe_spectra.exact import CONTEXT, TWO_PI
from pe_spectra.numbers import IntegerRange


@dataclass(frozen=True, kw_only=True)
class Octave(Pairs):
    """A ladder of one's own: w = 2 pi/8, so that positions 0 and 8 share a code."""

    name: ClassVar[str] = "octave"
    family: ClassVar[str] = "absolute"
    d: int = parameter(default=2, accepts=IntegerRange(minimum=2, maximum=2), meaning="width of the code")

    def words(self):
        return scale_to_words(np.ones(1), CONTEXT.divide(TWO_PI, Decimal(8)))


@dataclass(frozen=True, kw_only=True)
class Proved(Octave):
    """The same, of which somebody says that it is injective: who writes so has to prove it."""

    @property
    def theorem(self):
        return Pairs.theorem.fget(self)


@dataclass(frozen=True, kw_only=True)
class Turned(Sinusoidal):
    """A subclass of a class with a theorem of its own, with other frequencies."""

    def words(self):
        return np.zeros((3, 2))


def test_a_ladder_of_ones_own_has_no_theorem():
    assert Octave().theorem is None
    assert find_exact_key(Octave(), np.arange(9)) is None
    found = measure_faithfulness(Octave(), length=9)
    assert found.injective is None
    assert found.certificate.kind == "rounding"
    assert found.closest_pair == (0, 8)


def test_a_class_that_states_a_theorem_in_its_own_body_has_it():
    assert Proved().theorem.kind == "irrational-period"
    assert measure_faithfulness(Proved(), length=9).injective is True


@pytest.mark.parametrize("parent", [Sinusoidal, Tape])
def test_a_theorem_is_not_inherited(parent):
    assert parent(d=4).theorem is not None
    child = type("Child", (parent,), {})
    assert child(d=4).theorem is None
    assert type("Grandchild", (child,), {})(d=4).theorem is None
    assert Turned(d=4).theorem is None
