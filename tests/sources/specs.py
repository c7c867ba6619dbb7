"""Encodings as they are built of what was typed."""

from pe_spectra.sources import build_encodings


def build(*specs, **given):
    return build_encodings(specs, {key: [value] if isinstance(value, str) else value for key, value in given.items()})


def build_one(spec, **given):
    (encoding,) = build(spec, **given)
    return encoding
