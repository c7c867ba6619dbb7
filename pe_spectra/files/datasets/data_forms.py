"""The forms of data sets by name: what `smd:FOLDER` and its like are read by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pe_spectra.errors import InputError
from pe_spectra.files.datasets.dated_columns import read_ett, read_labelled_table
from pe_spectra.files.datasets.recorded import CaseSet, RecordedSet
from pe_spectra.files.datasets.server_machines import read_smd
from pe_spectra.files.datasets.telemetry import read_telemetry
from pe_spectra.files.datasets.ts_file import read_ts
from pe_spectra.records import NamedTuple


class DataForm(NamedTuple):
    """A form of data sets: how one is written, what it is, and what reads it.

    >>> DATA_FORMS["smd"].written
    'smd:FOLDER'
    """

    written: str
    text: str
    read: Callable[..., RecordedSet | CaseSet]


#: By the word before the colon.
DATA_FORMS: Mapping[str, DataForm] = {
    "smd": DataForm("smd:FOLDER", "Server Machine Dataset, 28 machines of 38 columns", read_smd),
    "msl": DataForm(
        "msl:FOLDER", "telemetry of the Mars Science Laboratory", partial(read_telemetry, spacecraft="msl")
    ),
    "smap": DataForm("smap:FOLDER", "telemetry of the SMAP satellite", partial(read_telemetry, spacecraft="smap")),
    "ett": DataForm("ett:FILE.csv", "Electricity Transformer Temperature: whether OT rises", read_ett),
    "ucr": DataForm("ucr:FILE.ts", "a problem of the UCR or UEA archive", read_ts),
    "table": DataForm("table:FILE.csv", "a table with a column of labels", read_labelled_table),
}
#: The only form whose column of labels a person names.
_NAMED_COLUMN = "table"


def read_dataset(text: str, *, column: str | None = None, label: str = "--data") -> RecordedSet | CaseSet:
    """Read a data set that is named as FORM:PLACE.

    Parameters
    ----------
    text : as in smd:FOLDER; `DATA_FORMS` has all.
    column : of table:FILE.csv, the column of labels.
    label : the option that named it, for messages.

    Returns
    -------
    Series in time, or cases.

    Raises
    ------
    InputError : no such form, or a column of labels for the wrong one.
    FileError : a file that cannot be used; one line that names it, the line and the column.

    >>> read_dataset("smb:data")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: --data is not known (smb:data); smd:FOLDER, msl:FOLDER, smap:FOLDER, ett:FILE.csv, \
ucr:FILE.ts or table:FILE.csv is accepted
    """
    name, _, place = text.partition(":")
    if name not in DATA_FORMS or not place:
        *written, last = (form.written for form in DATA_FORMS.values())
        raise InputError(f"{label} is not known", text or "''", f"{', '.join(written)} or {last} is accepted")
    if name == _NAMED_COLUMN and not column:
        raise InputError("--label is missing", "", f"the name of the column of labels of {label} {text} is accepted")
    if name != _NAMED_COLUMN and column is not None:
        raise InputError("--label is given", column, f"it is accepted with {label} {DATA_FORMS[_NAMED_COLUMN].written}")
    path = Path(place).expanduser()
    named = {"column": column} if name == _NAMED_COLUMN else {}
    return DATA_FORMS[name].read(path, label=label, **named)
