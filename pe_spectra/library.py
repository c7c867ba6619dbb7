"""What the public functions take in place of an encoding: a table, a list of rows, a SPEC, or a rule for positions."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from html import escape
from itertools import accumulate
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np

from pe_spectra.answers.answer import Verdict
from pe_spectra.answers.documents import answer_result
from pe_spectra.encodings import Encoding, GivenArray, Learned
from pe_spectra.errors import InputError, PeSpectraError
from pe_spectra.exact import I64, ArrayLike
from pe_spectra.faces import write_html
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.numbers import IntegerRange
from pe_spectra.quantities import Result
from pe_spectra.sources import read_encoding

#: A function of integer positions (S,) that returns their vectors (S, d).
Rule: TypeAlias = Callable[[I64], ArrayLike]
Subject: TypeAlias = Encoding | str | ArrayLike | Rule

#: Of a table in a notebook.
_MOST_ROWS = 8
_LENGTH = IntegerRange(minimum=1, maximum=MAX_LENGTH)
_Rest = ParamSpec("_Rest")
_Result = TypeVar("_Result")


def as_encoding(subject: Subject, *, length: int | None = None, name: str = "array") -> Encoding:
    """Return the encoding that an argument stands for.

    Parameters
    ----------
    subject : an encoding; a table (S, d), as an array or a list of S rows; a SPEC as on the command line; or a
        function of integer positions (S,) that returns their vectors (S, d).
    length : S, for such a function.
    name : what to call a table in titles and messages.

    Raises
    ------
    InputError : a SPEC that is not known, an array that is no table, a function without a length, or one that
        returns anything but a row for each position.
    FileError : a file that cannot be read.

    >>> as_encoding("dft:d=8").label, as_encoding([[0.0, 1.0], [1.0, 0.0]]).label
    ('dft d=8', 'array 2 x 2')
    >>> def wave(positions):
    ...     return np.stack([np.sin(positions), np.cos(positions)], axis=1)
    >>> as_encoding(wave, length=64).label
    'wave 64 x 2'
    """
    if isinstance(subject, Encoding):
        return subject
    if isinstance(subject, str):
        return read_encoding(subject)
    if callable(subject) and not hasattr(subject, "__array__"):
        if length is None:
            raise InputError(
                "a function of positions needs a length", "None", "pe_spectra.as_encoding(function, length=64)"
            )
        count = _LENGTH.check(length, "length")
        name, subject = getattr(subject, "__name__", "function"), subject(np.arange(count, dtype=np.int64))
        return _read_table(subject, name, rows=count)
    return _read_table(subject, name)


def accept(
    function: Callable[Concatenate[Encoding, _Rest], _Result],
) -> Callable[Concatenate[Subject, _Rest], _Result]:
    """Let a function of an encoding take everything that :func:`as_encoding` does.

    >>> from pe_spectra.spectrum import compute_spectrum
    >>> accept(compute_spectrum)(np.eye(8)).weights.shape
    (5,)
    """

    @wraps(function)
    def call(encoding: Subject, *arguments: _Rest.args, **named: _Rest.kwargs) -> _Result:
        return function(_read(encoding, named), *arguments, **named)

    return cast("Callable[Concatenate[Subject, _Rest], _Result]", call)


def accept_all(
    function: Callable[Concatenate[Sequence[Encoding], _Rest], _Result],
) -> Callable[Concatenate[Sequence[Subject], _Rest], _Result]:
    """Let a function of several encodings take everything that :func:`as_encoding` does, in each place.

    >>> from pe_spectra.metrics.compare import compare_encodings
    >>> rows = accept_all(compare_encodings)(["dft:d=8", np.eye(8), np.ones((8, 2))], length=8)
    >>> [row.encoding.label for row in rows]
    ['dft d=8', 'array 1 8 x 8', 'array 2 8 x 2']
    """

    @wraps(function)
    def call(encodings: Sequence[Subject], *arguments: _Rest.args, **named: _Rest.kwargs) -> _Result:
        is_one = isinstance(encodings, str | Encoding | np.ndarray) or callable(encodings)
        several: list[Any] = [encodings] if is_one else list(encodings)
        tables = accumulate(not isinstance(one, str | Encoding) and not callable(one) for one in several)
        found = [_read(one, named, f"array {number:d}") for one, number in zip(several, tables, strict=True)]
        return function(found, *arguments, **named)

    return cast("Callable[Concatenate[Sequence[Subject], _Rest], _Result]", call)


def _read(subject: Subject, named: Mapping[str, object], name: str = "array") -> Encoding:
    """The encoding, with the length among the arguments of the call; what is no number is refused where it is used."""
    length = named.get("length")
    return as_encoding(subject, length=length if isinstance(length, int) else None, name=name)


def _read_table(values: Any, name: str, rows: int | None = None) -> Encoding:
    """A table of numbers; it must have two axes, and a row for each position where their number is known."""
    try:
        given = GivenArray(values, origin=name)
    except (TypeError, ValueError) as error:
        accepted = 'a table (S, d), a list of rows, a SPEC such as "dft:d=64", or a function with length'
        raise InputError("no encoding", type(values).__name__, accepted) from error
    shape = given.values.shape
    if len(shape) != 2 or (rows is not None and shape[0] != rows):
        wanted = "(S, d)" if rows is None else f"({rows}, d): a row for each position"
        several = "; several tables go to pe_spectra.compare_encodings" if len(shape) == 3 else ""
        raise InputError(f"{name} is no table", " x ".join(map(str, shape)) or "one number", wanted + several)
    return Learned(values=given)


def judge(result: Result) -> Verdict:
    """Return what the program says first of a result.

    Raises
    ------
    AttributeError : a part of a result, of which nothing is said by itself.

    >>> from pe_spectra.spectrum import count_low_bin
    >>> judge(count_low_bin(as_encoding("dft:d=64"))).code
    'sparse-low-bin'
    """
    answer = answer_result(result)
    if answer is None:
        raise AttributeError(f"nothing is said of {type(result).__name__} by itself")
    return answer.verdict


def write_page(result: Result) -> str:
    """Write the verdict of a result, a small picture where there is one, and its first rows in HTML.

    >>> from pe_spectra.spectrum import count_low_bin
    >>> write_page(count_low_bin(as_encoding("dft:d=64"))).startswith("<p>0 of 33 frequencies (0.0 %) lie between")
    True
    """
    answer = answer_result(result)
    said = f"<p>{escape(answer.verdict.text)}</p>" if answer is not None else ""
    return f"{said}{_draw_small(result)}{write_html(result.to_columns(), most=_MOST_ROWS)}"


def _draw_small(result: Result) -> str:
    """The picture of a result as an element of HTML; empty where there is none."""
    from pe_spectra.plots.on_axes import draw_small

    try:
        return f'<img alt="" src="data:image/png;base64,{b64encode(draw_small(result)).decode()}">'
    except PeSpectraError:
        return ""
