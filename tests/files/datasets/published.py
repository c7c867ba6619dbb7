"""Small data sets in the forms in which they are published, and what is said of a damaged one."""

import json
from pathlib import Path

import numpy as np

from pe_spectra.errors import FileError
from pe_spectra.files.datasets.data_forms import read_dataset
from tests.refusing import catch

ROWS, COLUMNS = 12, 3


def draw(seed, rows=ROWS, columns=COLUMNS):
    """Numbers that six decimals hold exactly."""
    return np.random.default_rng(seed).integers(0, 1000, size=(rows, columns)) / 1000


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_smd(folder, machines=("machine-1-1", "machine-1-2", "machine-1-10")):
    """Write SMD as it is published, with the folder that is not needed, too."""
    for number, name in enumerate(machines):
        for seed, part in enumerate(("train", "test")):
            np_lines = [",".join(f"{value:.6f}" for value in row) for row in draw(2 * number + seed).tolist()]
            write_lines(folder / part / f"{name}.txt", np_lines)
        labels = ["1" if number < row < 6 else "0" for row in range(ROWS)]
        write_lines(folder / "test_label" / f"{name}.txt", labels)
        write_lines(folder / "interpretation_label" / f"{name}.txt", [f"{number + 1}-6:1,2"])
    return folder


#: Lines of labeled_anomalies.csv as they are published: P-2 twice, several sequences, not in their order.
TELEMETRY = [
    "chan_id,spacecraft,anomaly_sequences,class,num_values",
    'P-1,SMAP,"[[8, 9], [1, 2]]","[contextual, contextual]",12',
    'P-2,SMAP,"[[3, 5]]",[point],12',
    'E-1,SMAP,"[[10, 11]]",[point],12',
    'P-2,SMAP,"[[4, 6]]",[point],12',
    'M-1,MSL,"[[0, 0]]",[point],12',
]


def write_telemetry(folder, lines=TELEMETRY, place="data", columns=25):
    for number, name in enumerate(("P-1", "P-2", "E-1", "M-1")):
        for seed, part in enumerate(("train", "test")):
            path = folder / place / part / f"{name}.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, draw(2 * number + seed, columns=55 if name == "M-1" else columns))
    write_lines(folder / "labeled_anomalies.csv", lines)
    return folder


ETT = [
    "date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT",
    "2016-07-01 00:00:00,5.827000141143799,2.009000062942505,1.598999,0.462000012,4.203,1.34,30.5310001373291",
    "2016-07-01 01:00:00,5.692999839782715,2.075999975204468,1.491999,0.425999999,4.142,1.37,27.78700065612793",
    "2016-07-01 02:00:00,5.1570000648498535,1.741000056266785,1.2790000,0.35499999,3.776,1.21,27.78700065612793",
]


def draw_ett(rows, seed=0):
    """Lines of a file of ETT: hours of a load with a day in it, and an oil temperature that follows it."""
    generator = np.random.default_rng(seed)
    hours = np.arange(rows)
    times = np.datetime64("2016-07-01T00:00:00") + hours.astype("timedelta64[h]")
    load = np.sin(2 * np.pi * hours / 24)[:, None] + generator.normal(scale=0.3, size=(rows, 6))
    oil = 20 + 5 * np.sin(2 * np.pi * (hours - 3) / 24) + np.cumsum(generator.normal(scale=0.2, size=rows))
    lines = zip(times, np.column_stack([load, oil]).tolist(), strict=True)
    return [ETT[0], *(f"{str(time).replace('T', ' ')},{','.join(map(str, row))}" for time, row in lines)]


TS = [
    "#Small steps",
    "#",
    "@problemName SmallSteps",
    "@timeStamps false",
    "@missing false",
    "@univariate false",
    "@dimensions 2",
    "@equalLength true",
    "@seriesLength 3",
    "@classLabel true Standing Running",
    "@data",
    "1.0,2.0,3.0:4,5,-6e-1:Standing",
    "1.5,2.5,?:NaN,5,6:Running",
    "0,0,0:1,1,1:Running",
]


def change(lines, number, old, new):
    """The lines with one of them changed; lines count from 1."""
    assert old in lines[number - 1]
    return [*lines[: number - 1], lines[number - 1].replace(old, new), *lines[number:]]


def refuse(text, **options):
    """Give what is said about a data set that is refused: the last part of the name of the file, and the reason."""
    said = catch(read_dataset, text, kind=FileError, after="(--data)", **options)
    place, _, reason = said.removesuffix(" (--data)").partition(": ")
    return f"{Path(place).name}: {reason}"


def write_known(folder):
    """A set in each form, by the text that names it, and its column of labels."""
    write_smd(folder / "smd")
    write_telemetry(folder / "spacecraft")
    write_lines(folder / "ETTh1.csv", ETT)
    write_lines(folder / "Small_TRAIN.ts", TS)
    write_lines(folder / "table.csv", ["a,b,kind", "1,2,x", "3,4,y"])
    names = ("smd:smd", "smap:spacecraft", "msl:spacecraft", "ett:ETTh1.csv", "ucr:Small_TRAIN.ts", "table:table.csv")
    forms = {name.partition(":")[0]: f"{folder}/{name.partition(':')[2]}" for name in names}
    return {f"{form}:{place}": "kind" if form == "table" else None for form, place in forms.items()}


def dump(found):
    """Everything that a set says, as plain text."""
    return json.dumps(vars(found), default=lambda one: one.tolist() if hasattr(one, "tolist") else vars(one))
