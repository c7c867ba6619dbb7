"""What is frozen of one configuration, dump, table or SPEC: all that `diff` compares, lengths, windows and findings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pe_spectra._version import __version__
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.faces import Cell
from pe_spectra.findings import OPEN_OBJECT, Finding
from pe_spectra.frozen.coding import decode, decode_fields, decode_record, encode, encode_fields, list_fields
from pe_spectra.model_sources import Side
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.scheme import build_layers
from pe_spectra.models.stated.statement import FORMATS, Configuration
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CALLED, FINDING_LEVELS, FURTHER

if TYPE_CHECKING:
    from pe_spectra.models.comparison.divergence import Diff
    from pe_spectra.models.dumps.dump import Dump

#: Of what a file states what is frozen elsewhere, or says where it stands and not what it means.
_ELSEWHERE = (
    "path",
    "format",
    "length_key",
    "layers",
    "findings",
    "where",
    "part",
    "parts",
    "keys",
    "read_by",
    "list_ways",
)
#: What a dump has besides: the rotation that it is from, and a second cache, which is a layer of its own.
_NOT_OF_DUMPS = ("rope", "later", *Rotation.quantities())
_SAID: Mapping[str, object] = {"type": ["number", "string", "boolean", "null"]}
#: The part that reads text.
WHOLE = "model"
_OPEN: dict[str, Any] = {"default_factory": lambda: MappingProxyType({}), "schema": OPEN_OBJECT}


@dataclass(frozen=True, kw_only=True)
class FrozenLayer(Result):
    """What the layers of one type were given."""

    scheme: str | None = quantity("The kind of positional encoding of these layers.", default=None)
    rotation: Rotation | None = quantity("What turns queries and keys; null where nothing does.", default=None)
    dump: Mapping[str, Any] = quantity("Of an array besides: how it holds the rotation.", **_OPEN)
    refusal: str | None = quantity("Why the library does not build it; null where it does.", default=None)
    trained_length: int | None = quantity("Training context length.", unit="positions", default=None, minimum=1)
    served_length: int | None = quantity("Inference context length.", unit="positions", default=None, minimum=1)
    original_length: int | None = quantity("Length before scaling.", unit="positions", default=None, minimum=1)
    window: int | None = quantity("Positions that attention sees at once; null for all.", default=None, minimum=0)
    beside: int = quantity("Channels of a query beside the turned part.", default=0, minimum=0)
    places: str | None = quantity(
        "Which layers are of this type, from 0, as ranges; null where all are, or where it is not known.", default=None
    )

    @property
    def whole(self) -> Rotation | None:
        """The rotation with what is known of its array."""
        if self.rotation is None or not self.dump:
            return self.rotation
        from pe_spectra.models.dumps.dump import Dump

        known = {name: getattr(self.rotation, name) for name in Rotation.quantities()}
        return Dump(**{**known, **self.dump})


@dataclass(frozen=True, kw_only=True)
class FrozenArray(Result):
    """An array by its digest: of all of it, and of stretches of its rows, so that a change has a place."""

    shape: tuple[int, ...] = quantity("Its axes.", minimum=0)
    dtype: str = quantity("The type that it is stored in.")
    digest: str | None = quantity("SHA-256 of its numbers; null where they are frozen themselves.", default=None)
    stretch: int = quantity("Rows that each of the digests is of, the last of fewer.", default=1, minimum=1)
    stretches: tuple[str, ...] = quantity("Digests of these rows, the first characters.", default=())
    numbers: F64 | None = quantity(
        "Of what a call gave at positions behind a gap, the numbers, row by row.", default=None
    )


@dataclass(frozen=True, kw_only=True)
class FrozenFinding(Result):
    """A finding that was there; its sentence is for people, and not compared."""

    level: str = quantity("How grave it was.", words=FINDING_LEVELS)
    code: str = quantity("Code of its kind.")
    layers: str | None = quantity("The layers that it is about; null for the model.", default=None)
    message: str = quantity("What it said.", default="")


@dataclass(frozen=True, kw_only=True)
class Entry(Result):
    """What is frozen under one name; what does not apply is left out of the file.

    >>> entry = Entry(layers={"all": FrozenLayer(rotation=Rotation(layout="half"))})
    >>> entry.layers["all"].whole.layout
    'half'
    """

    source: str | None = quantity(
        "SHA-256 of the keys of its file, sorted, or of a table's digest and metrics, with the findings and the "
        "version that made them; null for others. Not compared.",
        default=None,
    )
    format: str | None = quantity("Which keys its file has; null for arrays.", default=None, words=FORMATS)
    schemes: Mapping[str, Mapping[str, Any]] = quantity(
        "What each part states beside its layers, by its place.", **_OPEN
    )
    layers: Mapping[str, FrozenLayer] = quantity("The types of layers of all parts, by their names.", **_OPEN)
    encoding: Mapping[str, Any] = quantity("Of a SPEC, or a table, the encoding.", **_OPEN)
    frequencies: F64 | None = quantity("Of a SPEC with frequencies.", unit="rad/position", default=None, minimum=0)
    arrays: Mapping[str, FrozenArray] = quantity("Arrays, by their names.", **_OPEN)
    metrics: Mapping[str, float | None] = quantity("Numbers about a table.", **_OPEN)
    findings: tuple[FrozenFinding, ...] = quantity("What a reader should know.", default=())

    def list_rotations(self) -> dict[str, Rotation]:
        """Return what turns each type of layers, by its name."""
        found = {name: layer.whole for name, layer in self.layers.items()}
        return {name: replace(one, name=name) for name, one in found.items() if one is not None}


@dataclass(frozen=True, kw_only=True)
class Change(Result):
    """One thing that is not as it was frozen."""

    what: str = quantity("Name of the key, as the frozen file has it, or of the part, as `diff` has it.")
    layers: tuple[str, ...] = quantity("The types of layers, the parts or the arrays that changed so.", default=())
    frozen: Cell = quantity("Its value when it was frozen; null for none.", schema=_SAID)
    now: Cell = quantity("Its value now; null for none.", schema=_SAID)
    effect: str = quantity("What the change is, in one sentence; A is what was frozen, B what is there now.")
    first_position: int | None = quantity(
        "First position where a phase is off by more than pi/8; of an array the first row of the stretch in which its "
        "first other number is; null where none is known.",
        default=None,
        minimum=0,
    )


@dataclass(frozen=True, kw_only=True)
class EntryComparison(Result):
    """What changed in one entry; besides, the comparison of its rotations, findings, and keys that are not compared."""

    changes: tuple[Change, ...] = ()
    diff: Diff | None = None
    new: tuple[FrozenFinding, ...] = ()
    gone: tuple[FrozenFinding, ...] = ()
    unknown: tuple[str, ...] = ()


def take_side(side: Side, known: Any = None) -> Entry:
    """Take what is frozen of a configuration or of arrays; a table alone is taken as an encoding.

    Parameters
    ----------
    known : what this version of the program froze under the same name, as values of JSON: where a configuration has the
        keys that it had, it has the findings, too, which take most of the time. None looks for them.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 4, "rope_theta": 1e4}, "config.json")
    >>> take_side(Side(shown="config.json", configuration=stated)).layers["all"].rotation.base
    10000.0
    """
    if side.configuration is not None:
        findings = _find_known(known, side.keys)
        if findings is None:
            from pe_spectra.models.checks import list_findings

            findings = tuple(map(take_finding, list_findings(side.configuration)))
        source = None if side.keys is None else seal(side.keys, findings)
        return replace(_take_configuration(side.configuration), source=source, findings=findings)
    from pe_spectra.frozen.digests import digest_array

    dumps = side.kinds or ((side.dump,) if side.dump is not None else ())
    layers = {name: _take_dump(one) for dump in dumps for name, one in _list_caches(dump)}
    # the numbers of inverse frequencies are frozen themselves, and those of a call have other roundings elsewhere
    held = all(one.kind == "frequencies" for one in dumps)
    arrays = {
        name: FrozenArray(shape=one.values.shape, dtype=one.dtype)
        if held or name.endswith(CALLED)
        else digest_array(one.values, one.dtype)
        for name, one in side.arrays.items()
    }
    for name, one in side.others.items():
        arrays[name] = (
            FrozenArray(shape=one.values.shape, dtype=one.dtype, numbers=one.values.ravel())
            if name.endswith(CALLED + FURTHER)
            else digest_array(one.values, one.dtype)
        )
    return Entry(layers=layers, arrays=arrays)


def seal(stated: Mapping[str, Any], findings: Sequence[FrozenFinding]) -> str:
    """Take the digest of what a file states, as keys in whatever order they are written, and of what was found of it.

    What a person took out of a frozen file, or another version found, is then not taken for what this one finds.

    >>> seal({"a": 1, "b": 2}, ()) == seal({"b": 2, "a": 1}, ())
    True
    """
    import hashlib  # OpenSSL, which no other answer about a configuration needs

    whole = {"stated": stated, "findings": encode(findings), "version": __version__}
    written = json.dumps(whole, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    return hashlib.sha256(written).hexdigest()


def _find_known(known: Any, keys: Mapping[str, Any] | None) -> tuple[FrozenFinding, ...] | None:
    """Find what was found of the same keys; None where others were frozen, or a person changed it."""
    if keys is None or not isinstance(known, Mapping) or not known.get("source"):
        return None
    try:
        found: tuple[FrozenFinding, ...] = decode(tuple[FrozenFinding, ...], known.get("findings", []), "findings")
    except InputError:
        return None
    return found if known["source"] == seal(keys, found) else None


def _take_configuration(configuration: Configuration) -> Entry:
    names = [name for name in list_fields(Configuration) if name not in _ELSEWHERE]
    places = ((WHOLE, configuration), *configuration.list_beside())
    layers = [layer for part in (configuration, *configuration.parts) for layer in build_layers(part)]
    return Entry(
        format=configuration.format,
        schemes={place: {name: value for name in names if (value := getattr(one, name))} for place, one in places},
        layers={layer.name: _take_layer(layer) for layer in layers},
    )


def _take_layer(layer: LayerAudit) -> FrozenLayer:
    return FrozenLayer(
        scheme=layer.scheme,
        # the type of weights, which stands elsewhere, is not the type in which cosines and sines are held
        rotation=layer.rotation and replace(layer.rotation, dtype=None),
        refusal=layer.refusal and layer.refusal.reason.removeprefix(f"{layer.configuration.path}: "),
        trained_length=layer.trained_length,
        served_length=layer.served_length,
        original_length=layer.original_length,
        window=layer.reach,
        beside=layer.statement.beside,
        places=_write_places(layer.statement.places) if len(layer.configuration.layers) > 1 else None,
    )


def _write_places(places: Sequence[int]) -> str | None:
    """Write which layers there are, as ranges; None where it is not known."""
    ends = [place for place in places if place + 1 not in places]
    starts = [place for place in places if place - 1 not in places]
    runs = (f"{a}" if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))
    return " ".join(runs) or None


def _list_caches(dump: Dump) -> Iterator[tuple[str, Dump]]:
    yield dump.name, dump
    if dump.later is not None:
        yield f"{dump.name}, later rows", dump.later


def _take_dump(dump: Dump) -> FrozenLayer:
    besides = {name: getattr(dump, name) for name in list_fields(type(dump)) if name not in _NOT_OF_DUMPS}
    return FrozenLayer(rotation=dump, dump=besides)


def take_finding(finding: Finding) -> FrozenFinding:
    """Take what is frozen of a finding of a model.

    >>> take_finding(Finding(level="note", code="aliasing", message="Short.", data={})).code
    'aliasing'
    """
    about = finding.data.get("layer_type")
    return FrozenFinding(
        level=finding.level, code=finding.code, message=finding.message, layers=None if about is None else str(about)
    )


def write_entry(entry: Entry) -> dict[str, Any]:
    """Write an entry as values of JSON; what does not apply to it is left out.

    >>> write_entry(Entry(layers={"all": FrozenLayer(window=8)}))["layers"]["all"]["window"]
    8
    """
    return {name: value for name, value in encode_fields(entry, list(Entry.quantities())).items() if value}


def read_entry(document: Any, where: str) -> Entry:
    """Read an entry from values of JSON.

    Raises
    ------
    InputError : a value that cannot be used, or a key that is not known.

    >>> read_entry({"layers": {"all": {"window": 8}}}, "config.json").layers["all"].window
    8
    """
    found: Entry = decode_record(Entry, document, where)
    layers = dict(found.layers)
    for name, layer in found.layers.items():
        if besides := document["layers"][name].get("dump"):
            layers[name] = replace(layer, dump=_read_dump(layer.rotation, besides, f"{where}.layers.{name}.dump"))
    return replace(found, layers=layers)


def _read_dump(rotation: Rotation | None, besides: Any, where: str) -> Mapping[str, Any]:
    """Read what is known of an array besides, but what none can hold: other bounds than frequencies, or no rows."""
    from pe_spectra.models.dumps.dump import Dump

    names = [name for name in list_fields(Dump) if name not in _NOT_OF_DUMPS]
    held = decode_fields(Dump, besides, where, names)
    known = None if rotation is None else rotation.frequencies
    bounds, rows = held.get("error_bounds"), held.get("rows")
    if known is None or bounds is None or len(bounds) != len(known) or "kind" not in held:
        raise InputError(f"{where} has not a bound for each frequency", accepted="a file that freeze wrote")
    if rows is not None and rows < 1:
        raise InputError(f"{where}.rows is out of range", str(rows), "from 1 on is accepted")
    return held
