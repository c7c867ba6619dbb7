"""What a SPEC puts into the network: vectors added to tokens, or what turns, shifts or joins the scores of attention.

An encoding for a decoder, which knows lags 0, 1, .. alone, is used in both directions by the distance, since the
network has no mask. Sizes that a SPEC leaves open are those of the network: `d` is its width, for what enters
attention that of a head; `length` the positions of a window. A table that is narrower than the network fills the first
columns, and the others get nothing.
"""

from __future__ import annotations

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.bias_maps import Tupe
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.parameters import format_value
from pe_spectra.encodings.protocol import HasBias, HasBiasMap, HasLagTable, HasTable
from pe_spectra.encodings.sinusoidal import Sinusoidal
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.sources import build_encodings
from pe_spectra.spec import NamedSpec, parse_spec

#: Columns and heads of the network of the study.
WIDTH, HEADS = 32, 4
#: The arm without an encoding, and the one whose norm others are matched to.
NONE, REFERENCE = "none", "sinusoidal"
_LABEL = "arm"
#: Norms closer than this, relatively, are one.
_EQUAL = 1e-9
#: Arms whose numbers training changes: those that are learned as published, and were not read from a file.
_TRAINED = ("learned", "t5", "shaw", "erpe")


@dataclass(frozen=True, kw_only=True, eq=False)
class Arm(ReadOnly):
    """What one encoding puts into a network of a given size.

    Attributes
    ----------
    name : the arm as results call it.
    spec : the SPEC with all its sizes and its seed; empty for none.
    entry : where it enters, of `ENTRIES`.
    values : token: (length, width), what is added. rotation: (length, head width), cosines of the pairs, then their
        sines. score, weight: (rows, heads), numbers; key, value: (rows, head width), vectors. None: (0, 0).
    index : (length, length), which row of `values` belongs to a query and a key; (0, 0) where that has no meaning.
    trained : whether training changes `values`.
    factor : what `values` were multiplied with to have their norm.
    """

    name: str
    spec: str
    entry: str
    values: F64
    index: I64
    trained: bool
    factor: float = 1.0

    @property
    def rms_norm(self) -> float | None:
        """Root mean square norm of the vectors that are added to tokens; None for what is not added."""
        return compute_rms_norm(self.values) if self.entry == "token" else None


def compute_rms_norm(table: F64) -> float:
    """Return the root of the mean squared norm of the rows of a table (S, d).

    >>> compute_rms_norm(np.array([[3.0, 4.0], [-4.0, 3.0]]))
    5.0
    """
    return float(np.sqrt(np.mean(np.sum(table * table, axis=1))))


def name_arm(text: str, *, length: int, width: int = WIDTH, heads: int = HEADS) -> str:
    """Write an arm the one way that results have it: keys in the catalogue's order, without those of the network.

    Raises
    ------
    InputError : a SPEC that is not known or that no network of this size can use.
    FileError : a table that cannot be read.

    >>> name_arm("sinusoidal:rho=1e2,d=32", length=32), name_arm("learned", length=32)
    ('sinusoidal:rho=100', 'learned')
    """
    return build_arm(text, length=length, width=width, heads=heads).name


def has_norm(text: str, length: int, width: int = WIDTH, heads: int = HEADS) -> bool:
    """Whether vectors are added to tokens and have another norm than those of the reference, so that they are scaled.

    >>> [has_norm(text, 32) for text in ("dft", "sinusoidal", "tape", "none", "rope")]
    [True, False, False, False, False]
    """
    norm = build_arm(text, length=length, width=width, heads=heads).rms_norm
    return norm is not None and norm > 0 and abs(norm / _measure_reference(length, width) - 1) > _EQUAL


def _measure_reference(length: int, width: int) -> float:
    return compute_rms_norm(Sinusoidal(d=width).table(length))


def build_arm(
    text: str, *, length: int, width: int = WIDTH, heads: int = HEADS, norm: str = "own", seed: int = 0
) -> Arm:
    """Compute what an arm puts into the network.

    Parameters
    ----------
    text : a SPEC, or "none".
    length : positions of a window.
    width, heads : of the network.
    norm : "own", or "matched" to the root mean square norm of `sinusoidal` of this width and length.
    seed : of what the encoding draws at random, where the SPEC has none.

    Raises
    ------
    InputError : a SPEC that is not known, too wide, too short, of another number of heads, without a meaning where
        all tokens see each other, or a norm to be matched that is not there.
    FileError : a table that cannot be read.

    >>> arm = build_arm("dft", length=32, norm="matched")
    >>> arm.entry, arm.values.shape, round(arm.rms_norm**2, 9)
    ('token', (32, 32), 16.0)
    >>> build_arm("alibi", length=32).values[:3].tolist()[1]
    [-0.25, -0.0625, -0.015625, -0.00390625]
    """
    nothing = np.zeros((0, 0), dtype=np.int64)
    if text == NONE:
        return Arm(name=NONE, spec="", entry="none", values=np.zeros((0, 0)), index=nothing, trained=False)
    encoding, name = _read(text, length, width, heads, seed)
    entry, values, index = _enter(encoding, length, width, heads)
    trained = encoding.name in _TRAINED and encoding.is_random
    factor = 1.0
    if norm == "matched":
        own = compute_rms_norm(values) if entry == "token" else 0.0
        if not own:
            raise InputError(f"{_LABEL} {name} has no norm to be matched", norm, "own is accepted")
        factor = _measure_reference(length, width) / own
    values = np.asarray(values * factor)
    return Arm(name=name, spec=encoding.spec, entry=entry, values=values, index=index, trained=trained, factor=factor)


def _read(text: str, length: int, width: int, heads: int, seed: int) -> tuple[Encoding, str]:
    """The encoding of a SPEC with the sizes of the network, and its name."""
    typed = parse_spec(text, _LABEL)
    if not isinstance(typed, NamedSpec):
        (encoding,) = build_encodings([text], {}, _LABEL)
        return encoding, text
    keys = dict(typed.parameters)
    if typed.name == Learned.name and not {"table", "init"} & set(keys):
        text = f"{text}{',' if keys else ':'}init=normal"
    (bare,) = build_encodings([text], {}, _LABEL)
    sizes = _list_sizes(bare, length, width, heads)
    if bare.is_random:
        sizes["seed"] = seed
    # a key that has no meaning with the others is not among the parameters
    given = {key: [str(value)] for key, value in sizes.items() if key not in keys and key in bare.parameters}
    (encoding,) = build_encodings([text], given, _LABEL)
    plain = {p.name: p.default for p in encoding.accepts} | {"init": "normal"} | sizes
    plain["seed"] = None  # a typed one is kept: it does not change with the trial's
    values = {p.name: getattr(encoding, p.keyword) for p in encoding.accepts if p.name in keys}
    kept = [f"{key}={format_value(value)}" for key, value in values.items() if value != plain[key]]
    return encoding, f"{encoding.name}:{','.join(kept)}" if kept else encoding.name


def _list_sizes(bare: Encoding, length: int, width: int, heads: int) -> dict[str, int]:
    """The sizes of the network by the keys that an encoding has for them."""
    if not bare.is_random and isinstance(bare, Learned):  # a file has its own
        return {}
    if bare.name == "calendar" and bare.parameters.get("rows") != "learned":
        return {}
    if isinstance(bare, Tupe):  # a row for CLS, which is not used
        return {"heads": heads, "width": width // heads, "length": length + 1}
    inside = bare.family in ("rotary", "relative")
    sizes = {"d": width // heads if inside else width, "heads": heads, "length": length}
    return {key: value for key, value in sizes.items() if key != "d" or bare.name != "sandwich"}


def _enter(encoding: Encoding, length: int, width: int, heads: int) -> tuple[str, F64, I64]:
    """Where an encoding enters, with what values, and which of them belong to a query and a key."""
    none = np.zeros((0, 0), dtype=np.int64)
    if isinstance(encoding, HasTable) and encoding.family == "rotary":
        return "rotation", _turn(encoding, length, width // heads), none
    if isinstance(encoding, HasTable):
        return "token", _widen(encoding, length, width), none
    lags = np.subtract.outer(np.arange(length), np.arange(length))
    if isinstance(encoding, HasBiasMap):
        return "score", *_map(encoding, length, heads)
    if isinstance(encoding, HasBias | HasLagTable):
        seen = np.unique(np.abs(lags) if encoding.causal else lags)
        # lags of one bucket share one number, which training changes for all of them
        _, first, rows = np.unique(encoding.exact_key(seen), return_index=True, return_inverse=True)
        index = rows.reshape(-1)[np.searchsorted(seen, np.abs(lags) if encoding.causal else lags)]
        if isinstance(encoding, HasLagTable):
            values = encoding.lag_table(seen[first])
            _check_columns(encoding, values.shape[1], width // heads, "columns of a head")
            return ("value" if encoding.parameters.get("side") == "value" else "key"), values, index
        biases = encoding.bias(seen[first]).T
        _check_columns(encoding, biases.shape[1], heads, "heads")
        return ("weight" if encoding.name == "erpe" else "score"), biases, index
    raise InputError(f"{_LABEL} {encoding.label} has nothing to add", accepted="a table, a rotation or a bias")


def _check_columns(encoding: Encoding, found: int, wanted: int, what: str) -> None:
    if found != wanted:
        raise InputError(f"{_LABEL} {encoding.label} does not fit the network", f"{found} {what}", f"{wanted} {what}")


def _widen(encoding: HasTable, length: int, width: int) -> F64:
    """The table, with columns of zeros up to the width of the network."""
    table = encoding.table(length)
    if table.shape[1] > width:
        label = getattr(encoding, "label", "")
        raise InputError(f"{_LABEL} {label} is wider than the network", str(table.shape[1]), f"at most {width} columns")
    return np.pad(table, ((0, 0), (0, width - table.shape[1])))


def _turn(encoding: HasTable, length: int, width: int) -> F64:
    """Cosines of the pairs, then their sines: which channels make a pair is no matter to weights that are learned."""
    if isinstance(encoding, Encoding) and not encoding.turns_alone:
        what = f"{_LABEL} {encoding.label} does more to queries and keys than to turn them"
        raise InputError(what, accepted="a rotation, as of rope without xpos")
    parameters = encoding.parameters if isinstance(encoding, Encoding) else {}
    table = encoding.table(length)
    if isinstance(encoding, Encoding):
        _check_columns(encoding, table.shape[1], width, "columns of a head")
    in_turn = parameters.get("layout") == "interleaved" or "mode" in parameters
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1) if in_turn else table


def _map(encoding: HasBiasMap, length: int, heads: int) -> tuple[F64, I64]:
    """The numbers of a map, a row for each pair of query and key; below the diagonal alone, it is mirrored."""
    maps = encoding.bias_map(length + 1)[:, 1:, 1:] if isinstance(encoding, Tupe) else encoding.bias_map(length)
    if encoding.causal:
        maps = np.tril(maps) + np.tril(maps, -1).transpose(0, 2, 1)
    if isinstance(encoding, Encoding):
        _check_columns(encoding, len(maps), heads, "heads")
    return maps.reshape(len(maps), -1).T, np.arange(length * length).reshape(length, length)
