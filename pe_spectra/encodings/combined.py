"""Encodings made of others: sums, concatenations and linear mixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from pe_spectra.draws import start_generator
from pe_spectra.encodings.codes import as_positions, check_held
from pe_spectra.encodings.nested import OtherEncodings
from pe_spectra.encodings.parameters import SEED, FileOfNumbers, GivenArray, Value, format_value, parameter
from pe_spectra.encodings.protocol import Encoding, HasContinuousTable, HasTable
from pe_spectra.encodings.sinusoidal import Sinusoidal
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.numbers import Choice, IntegerRange, ListOf, RealRange
from pe_spectra.records import dataclass

_MIXED = {"mode": ("mix",)}
#: Widest mix: its layer is a full matrix.
_MAX_MIX = 1 << 16


@final
@dataclass(frozen=True, kw_only=True)
class Hybrid(Encoding):
    """A weighted sum or concatenation of other encodings, or a linear layer over their concatenation.

    Not told what it is of, it is 0.5 x sinusoidal + 0.5 x an untrained learned table. The layer of a mix
    is drawn, uniform in [-1/sqrt(n), 1/sqrt(n)] for n columns, as PyTorch begins a linear layer, or given.
    """

    name: ClassVar[str] = "hybrid"
    family: ClassVar[str] = "combined"
    summary: ClassVar[str] = "a sum, concatenation or linear mix of other encodings"
    formula: ClassVar[str] = "e(s) = sum a_j e_j(s), (a_1 e_1(s), a_2 e_2(s), ..), or A (a_1 e_1(s), a_2 e_2(s), ..)"
    source: ClassVar[str] = (
        "common practice: half a sinusoid and half a learned table; a linear layer over time features"
    )
    pitfalls: ClassVar[str] = (
        "in a sum one member can undo what another distinguishes, and the larger one rules; a table of std 0.02 hardly "
        "shows beside a sinusoid; it ends where its shortest member does"
    )

    of: tuple[Encoding, ...] | None = parameter(
        accepts=OtherEncodings(),
        meaning="the encodings, each with a table; not set: sinusoidal and learned:init=normal; typed in a sum, "
        "one that leaves its d open takes that of the others",
    )
    weights: tuple[float, ...] | None = parameter(
        accepts=ListOf(of=RealRange(minimum=-1e6, maximum=1e6), most=16),
        meaning="a factor for each; not set: 0.5 each in a sum, else 1",
    )
    mode: str = parameter(
        accepts=Choice(members=("sum", "concat", "mix")),
        meaning="added, side by side, or side by side and then through a linear layer",
    )
    layer: GivenArray | None = parameter(
        accepts=FileOfNumbers(what="the weights of a linear layer, d x columns"),
        meaning="the layer of a mix, d x columns of the concatenation; not set: drawn",
        only_with=_MIXED,
    )
    width: int | None = parameter(
        name="d",
        accepts=IntegerRange(minimum=1, maximum=_MAX_MIX),
        meaning="width of a mix; that of its layer, or 256 where it is drawn",
        only_with=_MIXED,
    )
    seed: int = parameter(
        like=SEED,
        meaning="seed of the layer of a mix where it is drawn",
        only_with={**_MIXED, "layer": (None,)},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of is None:
            from pe_spectra.encodings.learned import Learned

            object.__setattr__(self, "of", (Sinusoidal(), Learned(init="normal")))
        self.keep_step(next((one.time_step for one in self._of if one.time_step), ""))
        members = self.members
        if self.weights is None:
            object.__setattr__(self, "weights", (0.5 if self.mode == "sum" else 1.0,) * len(members))
        if len(self.weights or ()) != len(members):
            given = "+".join(str(weight) for weight in self.weights or ())
            raise InputError("hybrid: weights are not as many as encodings", given, f"{len(members)} are accepted")
        widths = [member.d for member in members]
        if self.mode == "sum" and len(set(widths)) > 1:
            given = ", ".join(f"{encoding.name} {width}" for encoding, width in zip(self._of, widths, strict=True))
            raise InputError("hybrid: encodings of different widths do not add", given, "one width; or mode=concat")
        if self.mode == "mix":
            self._check_layer(sum(widths))
        if all(isinstance(member, HasContinuousTable) for member in members):
            # who has it takes real positions, as a hybrid does where all its members do
            object.__setattr__(self, "table_at", self._read_at)

    def _check_layer(self, columns: int) -> None:
        if self.layer is not None:
            shape = self.layer.values.shape
            if shape[1] != columns:
                raise InputError(f"hybrid: layer has shape {shape}", accepted=f"d x {columns} is accepted")
        self.settle("width", None if self.layer is None else len(self.layer.values), 256)
        check_held("hybrid: the layer", self.d, columns)

    @property
    def _of(self) -> tuple[Encoding, ...]:
        return self.of or ()

    @property
    def members(self) -> tuple[HasTable, ...]:
        """The encodings that it is made of."""
        found = tuple(encoding for encoding in self._of if isinstance(encoding, HasTable))
        for encoding in self._of:
            if not isinstance(encoding, HasTable):
                raise InputError("hybrid: of has an encoding without a table", encoding.name, "encodings of positions")
        return found

    @property
    def label(self) -> str:
        """The members with their factors: `hybrid sum: 0.5 x sinusoidal d=256 .. + 0.5 x ..`."""
        terms = (
            f"{format_value(a)} x {encoding.label}" for a, encoding in zip(self.weights or (), self._of, strict=True)
        )
        layer = ""
        if self.mode == "mix":
            layer = f", layer {self.layer.origin}" if self.layer is not None else f", d={self.d} seed={self.seed}"
        return f"hybrid {self.mode}: {' + '.join(terms)}{layer}"

    @property
    def d(self) -> int:
        """Width: that of each member, of all together, or of the layer."""
        widths = [member.d for member in self.members]
        return {"sum": widths[0], "concat": sum(widths), "mix": self.width or 256}[self.mode]

    @property
    def rows(self) -> int | None:
        """Rows of the shortest member that has an end."""
        ends = [encoding.rows for encoding in self._of if encoding.rows is not None]
        return min(ends, default=None)

    @property
    def default_length(self) -> int:
        """The longest that a member is looked at by default, as far as all have rows."""
        longest = max(encoding.default_length for encoding in self._of)
        return min(longest, self.rows or longest)

    @property
    def shape(self) -> tuple[int, int] | None:
        """The grid that all its members fill, if they fill one and the same."""
        shapes = {encoding.shape for encoding in self._of}
        return shapes.pop() if len(shapes) == 1 else None

    def bound_error(self, table: F64) -> float | None:
        """The errors of the members by their factors, and the rounding of their sum: parts may cancel."""
        parts = [member.table(len(table)) for member in self.members]
        errors = [encoding.bound_error(part) for encoding, part in zip(self._of, parts, strict=True)]
        known = [error for error in errors if error is not None]
        if len(known) < len(errors):
            return None
        scales = [abs(float(weight)) for weight in self.weights or ()]
        eps = float(np.finfo(float).eps)
        beside = [scale * float(np.abs(part).max(initial=0.0)) for scale, part in zip(scales, parts, strict=True)]
        own = [scale * error for scale, error in zip(scales, known, strict=True)]
        if self.mode == "concat":
            return max(error + eps * size for error, size in zip(own, beside, strict=True))
        if self.mode == "sum":
            return sum(own) + (len(own) + 1) * eps * sum(beside)
        rows = float(np.abs(self._matrix).sum(axis=1).max(initial=0.0))
        columns = int(self._matrix.shape[1])
        return rows * (max(own) + (columns + 2) * eps * max(beside))

    @property
    def is_random(self) -> bool:
        """Whether a member, or the layer of a mix, is drawn."""
        return any(encoding.is_random for encoding in self._of) or (self.mode == "mix" and self.layer is None)

    @property
    def knows_dates(self) -> bool:
        """Whether a member knows them."""
        return any(encoding.knows_dates for encoding in self._of)

    @property
    def notes(self) -> tuple[str, ...]:
        """What its members have to say."""
        drawn = self.mode == "mix" and self.layer is None
        own = (f"{self.label}: layer drawn at random, as before training",) if drawn else ()
        return (*own, *dict.fromkeys(note for encoding in self._of for note in encoding.notes))

    def describe_position(self, s: int) -> str:
        """As the first member does that says more than the number: a date, a place on a grid."""
        said = (encoding.describe_position(s) for encoding in self._of)
        return next((text for text in said if text != str(s)), str(s))

    @cached_property
    def _matrix(self) -> F64:
        if self.layer is not None:
            return self.layer.values
        columns = sum(member.d for member in self.members)
        bound = 1 / np.sqrt(columns)
        return start_generator(self.seed).uniform(-bound, bound, (self.d, columns))

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d).

        Raises
        ------
        InputError : a position beyond the rows of a member.
        """
        columns = sum(member.d for member in self.members)
        s = as_positions(positions, max(columns, self.d))
        return self._join([member.table(s) for member in self.members])

    def _read_at(self, times: F64) -> F64:
        """Vectors of real positions, shape (S, d), of members that all have them there."""
        return self._join([one.table_at(times) for one in self._of if isinstance(one, HasContinuousTable)])

    def _join(self, tables: Sequence[F64]) -> F64:
        """Put the vectors of the members together, shape (S, d)."""
        parts = [weight * table for weight, table in zip(self.weights or (), tables, strict=True)]
        if self.mode == "sum":
            total: F64 = np.sum(parts, axis=0)
            return total
        beside = np.concatenate(parts, axis=1)
        return beside if self.mode == "concat" else np.asarray(beside @ self._matrix.T, dtype=np.float64)


def share_width(members: Sequence[tuple[type[Encoding], Mapping[str, Value]]]) -> list[dict[str, Value]]:
    """Give the one width that members of a sum have to those that leave theirs open.

    Parameters
    ----------
    members : a class and the values it is to have, by keyword, for each.

    Returns
    -------
    The values of each; as they were where no width, or more than one, is given or follows from a file.

    >>> share_width([(Sinusoidal, {"d": 64}), (Sinusoidal, {"rho": 100.0})])[1]
    {'rho': 100.0, 'd': 64}
    """
    keys = [_find_open_width(cls, values) for cls, values in members]
    closed = [member for member, key in zip(members, keys, strict=True) if key is None]
    widths = {width for cls, values in closed if (width := _find_width(cls, values)) is not None}
    shared = widths.pop() if len(widths) == 1 else None
    settled = []
    for (cls, values), key in zip(members, keys, strict=True):
        tried = {**values, key: shared} if key is not None else dict(values)
        # what cannot have this width stays as it is, and the sum says that they differ
        settled.append(tried if shared is not None and _find_width(cls, tried) == shared else dict(values))
    return settled


def _find_open_width(cls: type[Encoding], values: Mapping[str, Value]) -> str | None:
    """Give the keyword of the width where neither the values nor a file among them settles it."""
    if any(isinstance(value, GivenArray) for value in values.values()):
        return None
    for declared in cls.accepts:
        if declared.name == "d" and declared.keyword not in values:
            applies = (values.get(key, getattr(cls, key)) in only for key, only in declared.only_with.items())
            return declared.keyword if all(applies) else None
    return None


def _find_width(cls: type[Encoding], values: Mapping[str, Value]) -> int | None:
    arguments: dict[str, Any] = dict(values)
    try:
        built = cls(**arguments)
    except InputError:  # said again, with the option, where it is built to stay
        return None
    return built.d if isinstance(built, HasTable) else None
