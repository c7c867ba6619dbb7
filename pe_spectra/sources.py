"""From a description to an encoding: the only joint between what was typed and what is analysed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from pe_spectra.encodings import ENCODINGS, Encoding, find_encoding
from pe_spectra.errors import FileError, InputError
from pe_spectra.limits import MAX_ENCODINGS
from pe_spectra.spec import FileSpec, NamedSpec, parse_spec


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
    """
    described = [parse_spec(text, label) for text in specs]
    classes = [_find_class(spec, label) for spec in described]
    for option in given:
        if not any(option in _names(cls) for cls in classes):
            named = ", ".join(cls.name for cls in classes)
            raise InputError(f"--{option} has no meaning for {named}", " ".join(given[option]), "leave it out")
    built: dict[Encoding, None] = {}
    for spec, cls in zip(described, classes, strict=True):
        for encoding in _build(spec, cls, given, label):
            built[encoding] = None
    return tuple(built)


def _find_class(spec: NamedSpec | FileSpec, label: str) -> type[Encoding]:
    if isinstance(spec, NamedSpec):
        return find_encoding(spec.name, label)
    if not os.path.exists(os.path.expanduser(spec.path)):
        raise FileError(spec.path, "no such file")
    names = ", ".join(cls.name for cls in ENCODINGS)
    raise InputError(f"{label}: this version reads no tables from files", spec.text, f"accepted: {names}")


def _names(cls: type[Encoding]) -> list[str]:
    return [parameter.name for parameter in cls.accepts]


def _build(
    spec: NamedSpec | FileSpec, cls: type[Encoding], given: Mapping[str, Sequence[str]], label: str
) -> list[Encoding]:
    own = dict(spec.parameters) if isinstance(spec, NamedSpec) else {}
    for key in own:
        if key not in _names(cls):
            nearest = get_close_matches(key, _names(cls), n=1)
            hint = f"did you mean {nearest[0]}? " if nearest else ""
            raise InputError(f"{label} {cls.name}: key is not known", key, f"{hint}accepted: {', '.join(_names(cls))}")
    choices: list[dict[str, int | float | str]] = [{}]
    for parameter in cls.accepts:
        texts, name = given.get(parameter.name, ()), f"--{parameter.name}"
        if parameter.name in own:
            value = parameter.accepts.parse(own[parameter.name], f"{label} {cls.name}: {parameter.name}")
            for text in texts:
                if parameter.accepts.parse(text, name) != value:
                    raise InputError(f"{name} contradicts {spec.text}", text, "give it once")
            values: list[int | float | str] = [value]
        else:
            values = [parameter.accepts.parse(text, name) for text in texts] or [parameter.default]
        if len(choices) * len(values) > MAX_ENCODINGS:
            raise InputError(
                f"{name} asks for too many encodings", f"{len(choices)} x {len(values)}", f"at most {MAX_ENCODINGS}"
            )
        choices = [{**chosen, parameter.name: value} for chosen in choices for value in values]
    return [cls(**chosen) for chosen in choices]
