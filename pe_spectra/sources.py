"""From a description to an encoding: the only joint between what was typed and what is analysed.

Two steps: `_describe` finds the class that a SPEC means and the values that it gives (reading a
file where it names one), `_choose` fills what is left open from options, and the class is built.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pe_spectra.encodings import VARIANTS, Encoding, find_encoding
from pe_spectra.encodings.parameters import FileOfNumbers, GivenArray, Parameter, Value
from pe_spectra.errors import FileError, InputError
from pe_spectra.limits import MAX_ENCODINGS
from pe_spectra.numbers import suggest
from pe_spectra.records import dataclass
from pe_spectra.spec import FileSpec, NamedSpec, parse_rows, parse_spec, split_list

if TYPE_CHECKING:
    from pe_spectra.files.arrays import FileArray

#: The encoding that a file holds, unless it turns out to be of another one.
_HELD = "learned"
#: Keys that a file takes, beside those that the options --rows and --d fill.
_FILE_KEYS = ("rows", "prefix", "grid")
#: Kinds of tables in checkpoints that are not rows of positions, and the encoding that they belong to.
_OTHER_TABLES = {"buckets": "t5", "offsets": "swin"}
#: Options that say what positions are in time; they reach the members of a hybrid, too.
_OF_MEMBERS = ("start", "step")
#: Hybrids of hybrids end somewhere.
_DEEPEST = 8


@dataclass(frozen=True, kw_only=True)
class _Description:
    """A class of the catalogue and the values that a SPEC gives it, by keyword; the path of a configuration."""

    cls: type[Encoding]
    text: str
    values: dict[str, Value]
    remarks: tuple[str, ...] = ()
    path: str = ""


def build_encodings(
    specs: Sequence[str], given: Mapping[str, Sequence[str]], label: str = "--encoding"
) -> tuple[Encoding, ...]:
    """Build the encodings that SPECs name; options fill the parameters that they leave open.

    Parameters
    ----------
    specs : SPECs as typed.
    given : texts of options such as `d` and `rho`; several values give several encodings of each
        SPEC that has the parameter.
    label : the option that named the SPECs.

    Raises
    ------
    InputError : a SPEC that is not known, a value out of range, an option that contradicts a SPEC
        or that none of the encodings has.
    FileError : a file that cannot be read.

    >>> [encoding.rho for encoding in build_encodings(["sinusoidal:d=64"], {"rho": ["100", "10000"]})]
    [100.0, 10000.0]
    """
    parsed = [_parse(text, label) for text in specs]
    is_open = any(isinstance(spec, FileSpec) for spec, _ in parsed)  # what a file asks for is not known yet
    if not any(isinstance(spec, FileSpec) and spec.path.endswith((".json", "/")) for spec, _ in parsed):
        # before any file is opened
        _refuse_options(given, [(cls, _list_options(cls, spec, label)) for spec, cls in parsed])
    described = [_describe(spec, cls, given, label) for spec, cls in parsed]
    built = dict.fromkeys(_construct(one, chosen, tuple(given)) for one in described for chosen in _choose(one, given))
    if is_open:
        _refuse_options(given, [(type(one), _list_built_options(one)) for one in built])
    return tuple(built)


def has_option(specs: Iterable[str], option: str, label: str = "--encoding") -> bool:
    """Whether an option has a meaning for any of the encodings that SPECs name; InputError for one that is not known.

    >>> has_option(["dft", "calendar"], "step"), has_option(["dft", "table.npy"], "step")
    (True, False)
    """
    return any(option in _list_options(cls, spec, label) for spec, cls in (_parse(text, label) for text in specs))


def read_encoding(spec: str) -> Encoding:
    """Build the one encoding that a SPEC names: a name of the catalogue with parameters, or a file.

    Parameters
    ----------
    spec : as on the command line, "rope:d=64,base=5e5" or "model.safetensors::pos_embed?grid=14x14".

    Raises
    ------
    InputError : a SPEC that is not known, or a value out of range.
    FileError : a file that cannot be read.

    >>> read_encoding("sinusoidal:d=64").d
    64
    """
    (encoding,) = build_encodings([spec], {}, "SPEC")
    return encoding


def _parse(text: str, label: str) -> tuple[NamedSpec | FileSpec, type[Encoding]]:
    """Read a SPEC, its keys checked, and find its class: a file may turn out to be of another than the learned one.

    A SPEC that names a variant by a key of its relative means the variant.
    """
    spec = parse_spec(text, label)
    if isinstance(spec, FileSpec):
        _check_keys(spec, _FILE_KEYS, f"{label} {spec.path}")
        return spec, find_encoding(_HELD)
    for key, value in spec.parameters:
        name = VARIANTS.get((spec.name, key, value))
        if name is not None:
            kept = tuple(pair for pair in spec.parameters if pair[0] != key)
            raw = tuple(pair for pair in spec.raw if pair[0] != key)
            spec = NamedSpec(text=text, name=name, parameters=kept, raw=raw)
    cls = find_encoding(spec.name, label)
    _check_keys(spec, [p.name for p in cls.accepts], f"{label} {cls.name}")
    return spec, cls


def _refuse_options(given: Mapping[str, Sequence[str]], known: Sequence[tuple[type[Encoding], Sequence[str]]]) -> None:
    """Refuse an option that none of the encodings, each with those it has, can be told."""
    for option, texts in given.items():
        if not any(option in options for _, options in known):
            names = ", ".join(dict.fromkeys(cls.name for cls, _ in known))
            raise InputError(f"--{option} has no meaning for {names}", " ".join(texts), "leave it out")


def _list_options(cls: type[Encoding], spec: NamedSpec | FileSpec | None = None, label: str = "") -> list[str]:
    """List the options that an encoding has, and those that reach the members that its SPEC names."""
    raw = dict(spec.raw) if isinstance(spec, NamedSpec) else {}
    found = [parameter.name for parameter in cls.accepts] + (["rows"] if cls.name == _HELD else [])
    for one in cls.accepts:
        if one.accepts.names_encodings and one.name in raw:
            name = f"{label} {cls.name}: {one.name}"
            members = (_parse(text, name) for text in split_list(raw[one.name]))
            inner = (_list_options(member, part, name) for part, member in members)
            found += [option for options in inner for option in options if option in _OF_MEMBERS]
    return found


def _list_built_options(built: Encoding) -> list[str]:
    inner = [option for member in getattr(built, "of", ()) for option in _list_built_options(member)]
    return _list_options(type(built)) + [option for option in inner if option in _OF_MEMBERS]


def _check_keys(spec: NamedSpec | FileSpec, known: Sequence[str], label: str) -> None:
    for key, _ in spec.parameters:
        if key not in known:
            accepted = f"{suggest(key, known)}accepted: {', '.join(known) or 'none'}"
            raise InputError(f"{label}: key is not known", key, accepted)


def _describe(
    spec: NamedSpec | FileSpec, cls: type[Encoding], given: Mapping[str, Sequence[str]], label: str, depth: int = 0
) -> _Description:
    if isinstance(spec, FileSpec):
        return _describe_file(spec, given.get("rows", ()), label)
    typed = [parameter for parameter in cls.accepts if parameter.name in dict(spec.parameters)]
    values = {one.keyword: _read_value(one, spec, f"{label} {cls.name}: {one.name}", depth, given) for one in typed}
    if cls.name == _HELD:
        _add_rows(values, given.get("rows", ()), spec.text)
    return _Description(cls=cls, text=spec.text, values=values)


def _read_value(
    parameter: Parameter, spec: NamedSpec, name: str, depth: int, given: Mapping[str, Sequence[str]]
) -> Value:
    text = dict(spec.parameters)[parameter.name]
    if isinstance(parameter.accepts, FileOfNumbers):
        return _read_given(text, parameter.accepts.axes, name)
    if parameter.accepts.names_encodings:
        if depth >= _DEEPEST:
            raise InputError(f"{name} nests too deep", text, f"at most {_DEEPEST} levels")
        times = {option: given[option] for option in _OF_MEMBERS if option in given}
        parts = [_parse(part, name) for part in split_list(dict(spec.raw)[parameter.name])]
        members = [_describe(part, cls, times, name, depth + 1) for part, cls in parts]
        members = [replace(member, values=_choose(member, times)[0]) for member in members]
        if dict(spec.parameters).get("mode", "sum") == "sum":
            from pe_spectra.encodings.combined import share_width

            shared = share_width([(member.cls, member.values) for member in members])
            members = [replace(member, values=values) for member, values in zip(members, shared, strict=True)]
        return tuple(_construct(member, member.values, ()) for member in members)
    return parameter.accepts.parse(text, name)


def _read_given(text: str, axes: tuple[int, ...], name: str) -> GivenArray:
    from pe_spectra.files.tables import read_array

    path, separator, tensor = text.rpartition("::") if "::" in text else (text, "", "")
    found = read_array(Path(path).expanduser(), tensor if separator else None, label=name, axes=axes)
    return GivenArray(found.values, origin=text, spec=text, dtype=found.dtype)


def _describe_file(spec: FileSpec, rows: Sequence[str], label: str) -> _Description:
    from pe_spectra.files.checkpoint import find_configuration
    from pe_spectra.files.reading import NoTableError
    from pe_spectra.files.tables import read_array

    place = Path(os.path.expanduser(spec.path))
    folder = os.path.isdir(place)
    if folder and not spec.path.endswith("/"):
        raise FileError(spec.path, f"is a folder (directory); {label} {spec.path}/ names a model's folder")
    config = find_configuration(place, label) if folder else None
    try:
        found = read_array(place, spec.tensor, label=label, only_known=_names_encoding(config))
    except NoTableError:
        config = config if folder else find_configuration(place, label)
        if spec.tensor is not None or config is None:
            raise
        return _describe_configuration(spec, config, rows, label)
    return _describe_table(spec, found, config, rows, label)


def _names_encoding(config: Mapping[str, Any] | None) -> bool:
    """Whether a configuration names an encoding, which goes before a tensor of no known name."""
    from pe_spectra.models.scheme import read_scheme

    try:
        return config is not None and bool(read_scheme(config, ""))
    except FileError:
        return False


def _describe_configuration(spec: FileSpec, config: Mapping[str, Any], rows: Sequence[str], label: str) -> _Description:
    from pe_spectra.models.scheme import read_scheme

    if spec.parameters or rows or spec.tensor:
        given = ", ".join([key for key, _ in spec.parameters] + (["--rows"] if rows else [])) or spec.tensor
        raise InputError(f"{label} {spec.path}: a configuration has no rows", str(given), "leave it out")
    scheme = read_scheme(config, spec.path)
    cls = find_encoding(scheme.name)
    values: dict[str, Any] = {p.keyword: scheme.values[p.name] for p in cls.accepts if p.name in scheme.values}
    return _Description(cls=cls, text=spec.text, values=values, remarks=scheme.notes, path=spec.path)


def _describe_table(
    spec: FileSpec,
    found: FileArray,
    config: Mapping[str, Any] | None,
    rows: Sequence[str],
    label: str,
) -> _Description:
    from pe_spectra.files.known_tables import describe_known_table
    from pe_spectra.spectrum.gram import settle_grid

    texts = dict(spec.parameters)
    kind = describe_known_table(found.tensor, config, len(found.values))
    name = spec.path if found.tensor is None else f"{spec.path}::{found.tensor}"
    given = GivenArray(found.values, origin=name, spec=name, dtype=found.dtype)
    remarks = (*found.notes, *kind.notes)
    if kind.kind in _OTHER_TABLES:
        if texts or rows:
            raise InputError(f"{label} {spec.path}: a table of biases has no rows to choose", spec.text, "leave it out")
        cls = find_encoding(_OTHER_TABLES[kind.kind])
        keyword = next(p.keyword for p in cls.accepts if p.name == "table")
        return _Description(cls=cls, text=spec.text, values={keyword: given}, remarks=remarks)
    values: dict[str, Value] = {
        p.keyword: p.accepts.parse(texts[p.name], f"{label} {spec.path}: {p.name}")
        for p in find_encoding(_HELD).accepts
        if p.name in texts
    }
    values.update(_read_rows(texts.get("rows"), rows, spec, label))
    values["values"] = given
    if kind.prefix and not {"prefix", "first"} & values.keys():
        values["prefix"] = kind.prefix
    settled, notes = settle_grid(given.values, values)
    return _Description(cls=find_encoding(_HELD), text=spec.text, values=settled, remarks=(*remarks, *notes))


def _read_rows(text: str | None, rows: Sequence[str], spec: FileSpec, label: str) -> dict[str, int]:
    """Read `rows=A:B` of a file, or what --rows asks for; either end may be left out."""
    asked = parse_rows(rows[0], "--rows") if rows else {}
    found = asked if text is None else parse_rows(text, f"{label} {spec.path}: rows")
    if rows and asked != found:
        raise InputError(f"--rows contradicts {spec.text}", rows[0], "give it once")
    return found


def _add_rows(values: dict[str, Value], rows: Sequence[str], text: str) -> None:
    """Add what --rows asks for to the values of a table that is named as an encoding of the catalogue."""
    if not rows:
        return
    bounds = parse_rows(rows[0], "--rows")
    if any(values.get(name, bounds.get(name)) != bounds.get(name) for name in ("first", "last")):
        raise InputError(f"--rows contradicts {text}", rows[0], "give it once")
    values.update(bounds)


def _choose(description: _Description, given: Mapping[str, Sequence[str]]) -> list[dict[str, Value]]:
    """Fill what the SPEC leaves open: one choice of values for each combination of what options list."""
    choices: list[dict[str, Value]] = [{}]
    for parameter in description.cls.accepts:
        texts, name, key = given.get(parameter.name, ()), f"--{parameter.name}", parameter.keyword
        if key in description.values:
            values = [description.values[key]]
            for text in texts:
                if parameter.accepts.parse(text, name) != values[0]:
                    raise InputError(f"{name} contradicts {description.text}", text, "give it once")
        elif texts:
            values = [parameter.accepts.parse(text, name) for text in texts]
        else:
            continue
        if len(choices) * len(values) > MAX_ENCODINGS:
            asked = f"{len(choices)} x {len(values)}"
            raise InputError(f"{name} asks for too many encodings", asked, f"at most {MAX_ENCODINGS}")
        choices = [{**chosen, key: value} for chosen in choices for value in values]
    return choices


def _construct(description: _Description, chosen: Mapping[str, Value], options: Sequence[str]) -> Encoding:
    arguments: dict[str, Any] = dict(chosen)
    try:
        built = description.cls(**arguments)
        return built.remember(description.remarks) if description.remarks else built
    except InputError as error:
        if description.path:
            raise FileError(description.path, str(error)) from error
        # where an option gave the value, the message names the option
        from pe_spectra.encodings.learned import abbreviate

        start, _, rest = error.what.rpartition(": ")
        names = [description.cls.name, *(abbreviate(v.spec) for v in chosen.values() if isinstance(v, GivenArray))]
        if start in names and rest.split(" ")[0] in options:
            raise InputError(f"--{rest}", error.given, error.accepted) from error
        raise
