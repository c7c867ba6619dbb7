"""Each encoding of the catalogue against one value with its source."""

from numpy.testing import assert_allclose

from pe_spectra.encodings import ENCODINGS, HasBiasMap, HasTable
from tests.encodings.reference_values import REFERENCES, TOLERANCES
from tests.laws.variants import SMALL, TOGETHER, VALUES, WITH, every_class, list_codes


def read_place(encoding, place):
    """The numbers of a position, a lag, or a query and a key."""
    if isinstance(encoding, HasBiasMap):
        return encoding.bias_map(max(place) + 1)[:, place[0], place[1]]
    if isinstance(encoding, HasTable):
        count = max(4, place + 1)
        return encoding.table(min(count, encoding.rows or count))[place]
    return list_codes(encoding, [place])[0]


@every_class
def test_reference_value(cls):
    assert cls.name in REFERENCES, f"add a value of {cls.name} with its source to REFERENCES"
    parameters, place, expected, source = REFERENCES[cls.name]
    assert len(source) > 20
    atol, rtol = TOLERANCES.get(cls.name, (2.3e-16, 0))
    assert_allclose(read_place(cls(**parameters), place), expected, rtol=rtol, atol=atol)


def test_no_reference_without_an_encoding():
    names = {cls.name for cls in ENCODINGS}
    assert set(REFERENCES) == names
    assert set(VALUES) == names
    assert {*SMALL, *TOGETHER, *TOLERANCES, *(name for name, _ in WITH)} <= names
