"""What a class of the catalogue says of itself, and what its parameters accept."""

import dataclasses
import math

import numpy as np
import pytest

from pe_spectra.domains import Duration, Moment
from pe_spectra.encodings import ENCODINGS, Dft, Encoding, find_encoding
from pe_spectra.encodings.known_periods import StatedPeriod
from pe_spectra.encodings.learned import Grid
from pe_spectra.encodings.nested import OtherEncodings
from pe_spectra.encodings.parameters import FileOfNumbers, format_value
from pe_spectra.errors import InputError
from pe_spectra.numbers import Choice, IntegerRange, ListOf, RealRange, YesNo
from tests.in_one import in_one
from tests.laws.variants import FEW, NARROWED, VALUES, complete, every_class, list_given, number_entries

# ----------------------------------------------------------------------------------- the class


@every_class
def test_a_class_says_what_it_is(cls):
    assert issubclass(cls, Encoding)
    for text in (cls.summary, cls.formula, cls.source, cls.pitfalls):
        assert len(text) > 10
        assert "\n" not in text
        assert text == text.strip()
    assert cls.family in ("absolute", "rotary", "relative", "temporal", "structural", "learned", "combined")
    assert cls.__doc__
    assert dataclasses.is_dataclass(cls)
    assert getattr(cls, "__final__", False)
    assert find_encoding(cls.name) is cls


@every_class
def test_parameters_are_the_fields(cls):
    fields = [field for field in dataclasses.fields(cls) if field.compare]
    assert [parameter.keyword for parameter in cls.accepts] == [field.name for field in fields]
    for parameter, field in zip(cls.accepts, fields, strict=True):
        assert len(parameter.meaning) > 10
        assert parameter.accepts.accepted
        assert parameter.name.replace("_", "").isalnum()
        assert field.default == parameter.default
        assert type(field.default) is type(parameter.default)
        assert set(parameter.only_with) <= {field.name for field in fields} - {parameter.keyword}


@every_class
def test_names_of_parameters_are_unique(cls):
    assert len({parameter.name for parameter in cls.accepts}) == len(cls.accepts)
    assert len({parameter.keyword for parameter in cls.accepts}) == len(cls.accepts)


@every_class
def test_defaults_build(cls):
    if cls.name == "learned":  # the one encoding that is nothing without numbers, or the word that they be drawn
        with pytest.raises(InputError, match="table=FILE, or init=normal"):
            cls()
        assert cls(init="normal").rows == 512
    else:
        assert cls() == cls(**{p.keyword: p.default for p in cls.accepts})


@every_class
def test_every_parameter_has_values_to_try(cls):
    tried = list(list_given(cls))
    assert list(VALUES[cls.name]) == [parameter.keyword for parameter in cls.accepts]
    for parameter in cls.accepts:
        assert any(given.get(parameter.keyword, parameter.default) != parameter.default for given in tried)
        if isinstance(parameter.accepts, Choice):
            assert {given.get(parameter.keyword, parameter.default) for given in tried} == set(
                parameter.accepts.members
            )


def test_names_are_unique_and_can_be_typed():
    names = [cls.name for cls in ENCODINGS]
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)
    with pytest.raises(InputError):
        find_encoding("gauss")


# ----------------------------------------------------------------------------------- what parameters accept


#: What has to be given with a parameter for its bounds to be accepted: (name, keyword) -> by keyword.
AT_BOUNDS = {
    **{(cls.name, "head"): {"heads": 1024} for cls in ENCODINGS if cls.family == "relative" and cls.name != "tupe"},
    ("hybrid", "weights"): {"of": (Dft(d=2),)},
    ("learned", "d"): {"length": 1},
    ("rope", "share"): {"d": 128},
    ("rope", "short_factor"): {"d": 2},
    ("rope", "long_factor"): {"d": 2},
}


def list_bounds(accepts):
    """Values that are accepted, and values just beyond."""
    if isinstance(accepts, IntegerRange):
        inside = [accepts.minimum, accepts.maximum, np.int64(accepts.minimum)]
        return inside, [accepts.minimum - 1, accepts.maximum + 1, accepts.minimum + 0.5, True, "x"]
    if isinstance(accepts, RealRange):
        inside = [accepts.minimum, accepts.maximum]
        beyond = [math.nextafter(accepts.minimum, -math.inf), math.nextafter(accepts.maximum, math.inf)]
        return inside, [*beyond, math.nan, math.inf, -math.inf, "x", True]
    if isinstance(accepts, YesNo):
        return list(accepts.members), ["", "x", 2]
    if isinstance(accepts, Choice):
        return list(accepts.members), ["", "x", accepts.members[0].upper(), 1]
    if isinstance(accepts, ListOf):
        inside, beyond = list_bounds(accepts.of)
        return [(value,) for value in inside], [
            (),
            *((value,) for value in beyond),
            "x",
            5,
            inside[:1] * (accepts.most + 1),
        ]
    return OTHER_BOUNDS[type(accepts)]


OTHER_BOUNDS = {
    StatedPeriod: ([2.0, 2.0**53, "day", "1week"], [1.9, 2.0**54, math.nan, "x", "0min", "1h", "day,week", True]),
    Moment: (["0001-01-01T00:00", "9999-12-31T00:00"], ["0000-01-01", "10000-01-01", "x", "", 5]),
    Duration: (["1s", "1week", "1month", "1year"], ["0s", "1", "1.5month", "0month", "", 5]),
    Grid: (["1x40", "40x1"], ["0x40", "40", "4x10x1", "-4x-10", "", 40]),
    FileOfNumbers: ([], [np.ones((2, 3, 4)), np.ones((0, 2)), np.full((3, 3), np.nan), [[1.0]], "x", 5]),
    OtherEncodings: ([FEW["of"], list(FEW["of"])], [(), "dft", 5, (1,), (Dft(d=2),) * 17]),
}


def list_parameters(*kinds, but=()):
    """Each parameter of each class, or those of some kinds."""
    return in_one(
        "cls, parameter",
        [
            pytest.param(cls, parameter, id=f"{cls.name}-{parameter.name}")
            for cls in ENCODINGS
            for parameter in cls.accepts
            if (not kinds or isinstance(parameter.accepts, kinds)) and not isinstance(parameter.accepts, but)
        ],
    )


@list_parameters()
def test_what_is_beyond_its_bounds_is_refused(cls, parameter):
    for value in list_bounds(parameter.accepts)[1]:
        with pytest.raises(InputError) as caught:
            cls(**complete(cls, parameter.keyword, value))
        assert str(caught.value).startswith(f"{cls.name}: {parameter.name} "), value


@list_parameters(but=FileOfNumbers)
def test_its_bounds_are_accepted(cls, parameter):
    for value in list_bounds(parameter.accepts)[0]:
        given = {**complete(cls, parameter.keyword, value), **AT_BOUNDS.get((cls.name, parameter.keyword), {})}
        if (cls.name, parameter.keyword) in NARROWED and value == parameter.accepts.maximum:
            given.pop("heads", None)
            with pytest.raises(InputError, match=f"^{cls.name}: .*{parameter.name}|rows .*{value}"):
                cls(**given)
            continue
        if (cls.name, value) == ("learned", "none"):
            given = {"init": "none", "values": np.ones((2, 2))}
        kept = getattr(cls(**given), parameter.keyword)
        assert kept == (tuple(value) if isinstance(value, list) else value)
        assert not isinstance(kept, np.generic)


@list_parameters(but=(FileOfNumbers, OtherEncodings))
def test_a_default_is_read_back_as_it_is_written(cls, parameter):
    if parameter.default is not None:
        assert parameter.accepts.parse(format_value(parameter.default), "x") == parameter.default


def list_conditions():
    """Each parameter that has a meaning with others alone, and each of those others."""
    for cls in ENCODINGS:
        for parameter in cls.accepts:
            for keyword, allowed in parameter.only_with.items():
                name = next(p.name for p in cls.accepts if p.keyword == keyword)
                yield pytest.param(cls, parameter, keyword, allowed, id=f"{cls.name}-{parameter.name}-{name}")


def find_forbidden(cls, keyword, allowed):
    """A value of the other parameter with which this one has no meaning."""
    other = next(p for p in cls.accepts if p.keyword == keyword)
    return next(v for v in (other.default, *VALUES[cls.name][keyword]) if v not in allowed)


@pytest.mark.parametrize(("cls", "parameter", "keyword", "allowed"), list(list_conditions()))
def test_a_parameter_without_meaning_is_refused_with_the_other_named(cls, parameter, keyword, allowed):
    value = next(v for v in VALUES[cls.name][parameter.keyword] if v != parameter.default)
    forbidden = find_forbidden(cls, keyword, allowed)
    others = {
        key: next(v for v in values if v is not None) for key, values in parameter.only_with.items() if any(values)
    }
    given = {**others, parameter.keyword: value, keyword: forbidden}
    if (cls.name, keyword) == ("learned", "init"):
        given["values"] = np.ones((2, 2))
    given = {key: kept for key, kept in given.items() if kept is not None}
    with pytest.raises(InputError) as caught:
        cls(**given)
    name = next(p.name for p in cls.accepts if p.keyword == keyword)
    before, after = str(caught.value).split("; ")
    assert before.startswith(f"{cls.name}: {parameter.name} has no meaning here ")
    assert f"with {name}=" in after or f"without {name}" in after


#: What does not go together, and what a refusal has to say about it.
REFUSED = [
    ("dfstrans", {"d": 7}, "even d"),
    ("tape", {"d": 7}, "d is odd"),
    ("learnable-sinusoid", {"d": 7}, "d is odd"),
    ("fourier-features", {"d": 7}, "d is odd"),
    ("pixel-bands", {"d": 7}, "d is odd"),
    ("mtan", {"d": 7}, "d is odd"),
    ("rope", {"d": 7}, "d is odd"),
    ("rope", {"d": 12, "share": 0.25}, "no even width"),
    ("fope", {"d": 7}, "d is odd"),
    ("rope-axial", {"d": 6}, "multiple of 4"),
    ("sincos2d", {"d": 6}, "multiple of 4"),
    ("sandwich", {"d": 7}, "d is odd"),
    ("kerple", {"kind": "power", "r1": (1.0,), "r2": (2.5,)}, "r2 is too large"),
    ("kerple", {"r1": (1.0,), "r2": (1.0, 2.0)}, "r2 has 2 members"),
    ("t5", {"buckets": 64, "max_distance": 16}, "max_distance is too small"),
    ("learned", {"init": "normal", "values": np.ones((2, 2))}, "needs its values, once"),
    *[("rope", {"d": 8, "scaling": name}, "needs") for name in ("linear", "ntk", "dynamic", "yarn", "yarn-paper")],
    *[
        (cls.name, {"values": number_entries(rows, 3), keyword: size}, "contradicts")
        for cls, rows, keyword, size in (
            (find_encoding("learned"), 4, "d", 4),
            (find_encoding("time2vec"), 2, "d", 4),
            (find_encoding("mtan-learned"), 2, "d", 4),
            (find_encoding("rnn"), 2, "d", 4),
            (find_encoding("t5"), 32, "heads", 4),
            (find_encoding("t5"), 32, "buckets", 16),
            (find_encoding("shaw"), 5, "d", 4),
            (find_encoding("shaw"), 5, "clip", 4),
            (find_encoding("erpe"), 5, "length", 4),
            (find_encoding("swin"), 25, "window", 4),
        )
    ],
]


@pytest.mark.parametrize(("name", "given", "words"), REFUSED)
def test_what_does_not_go_together_is_refused(name, given, words):
    with pytest.raises(InputError, match=words) as caught:
        find_encoding(name)(**given)
    assert str(caught.value).startswith(f"{name}: ")
    assert "\n" not in str(caught.value)
