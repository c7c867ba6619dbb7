"""What is frozen of a table, and of an encoding that a SPEC names: digests of the numbers, and what inspect says."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from pe_spectra.encodings import Encoding, GivenArray, HasFrequencies
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.export import export_encoding
from pe_spectra.frozen.coding import encode
from pe_spectra.frozen.digests import digest_array
from pe_spectra.frozen.entries import Entry, FrozenFinding, read_entry, seal, write_entry

#: The type that the numbers of formulas are rounded to: what machines round otherwise does not come so far.
_ROUNDED = "float32"


def take_encoding(encoding: Encoding, known: Any = None) -> Entry:
    """Take what is frozen of a table from a file, or of a formula.

    Parameters
    ----------
    known : what was frozen under the same name, as values of JSON: where the digest of a table is the one there, so are
        metrics and findings, which take time. None measures them.

    >>> from pe_spectra import Dft
    >>> take_encoding(Dft(d=4)).encoding["name"]
    'dft'
    """
    if isinstance(encoding, Learned) and encoding.values is not None:
        return _take_table(encoding, known)
    found = export_encoding(encoding)
    with np.errstate(over="ignore"):
        rounded = found.values.astype(_ROUNDED).astype(float)
    frequencies = encoding.frequencies().values if isinstance(encoding, HasFrequencies) else None
    arrays = {found.what: digest_array(rounded, _ROUNDED)}
    # the name of a file says where numbers stand, and these are in the array
    origins = [one.origin for one in vars(encoding).values() if isinstance(one, GivenArray)]
    stated = {name: value for name, value in encoding.parameters.items() if value not in origins}
    return Entry(encoding={"name": encoding.name, "parameters": stated}, frequencies=frequencies, arrays=arrays)


def _take_table(encoding: Learned, known: Any) -> Entry:
    form = {"grid": encoding.shape, "prefix": encoding.prefix, "rows": encoding.rows}
    arrays = {"table": digest_array(encoding.file_rows, encoding.stored_type)}
    bare = Entry(encoding={"name": encoding.name, **form}, arrays=arrays)
    stated = write_entry(bare)
    if isinstance(known, dict) and {**known, **stated} == known:
        with suppress(InputError):  # what a person wrote there
            found = read_entry(known, "WHAT")
            if found.source == _seal(stated, found):
                return found
    from pe_spectra.inspection.portrait import draw_portrait

    portrait = draw_portrait(encoding)
    findings = tuple(FrozenFinding(level=one.level, code=one.code, message=one.message) for one in portrait.findings)
    whole = replace(bare, metrics=portrait.metrics, findings=findings)
    return replace(whole, source=_seal(stated, whole))


def _seal(stated: dict[str, Any], entry: Entry) -> str:
    return seal({"table": stated, "metrics": encode(entry.metrics)}, entry.findings)
