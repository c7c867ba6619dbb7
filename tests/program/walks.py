"""How far one number goes: the functions that a command runs, their files, and the changes from file to file.

.venv/bin/python -m tests.program.walks prints the walks of CONTRIBUTING.md as they are now.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pe_spectra

PACKAGE = Path(pe_spectra.__file__).parent
#: What stands for something of Python, as a statement that imports, of its library or of NumPy is no more a part of a
#: walk than that is.
STANDING = tuple(str(PACKAGE / f"{name}.py") for name in ("records", "ordering", "names"))
#: What is walked: a name, and a command line. Files are those of `write_files`.
LINES = {
    "spectrum": "spectrum --d 256 --no-figure",
    "audit": "audit config.json",
    "inspect": "inspect table.npy",
    "fig. 2": "reconstruct --s 5 40 75 --figure fig2.png",
}


@dataclass(frozen=True)
class Walk:
    """What one command ran of the package: distinct functions, files that they stand in, steps from file to file."""

    functions: int
    files: int
    changes: int
    calls: dict[str, int]


def write_files(folder: Path) -> None:
    """Write what the lines read: a configuration and a table."""
    import numpy as np

    model = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 5e5}
    model["max_position_embeddings"] = 8192
    (folder / "config.json").write_text(json.dumps(model), encoding="utf-8")
    angles = np.arange(512)[:, None] * 10000.0 ** (-np.arange(192) / 192)
    np.save(folder / "table.npy", np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32))


class Terminal(io.StringIO):
    """A terminal of 80 columns, which people look at: a pipe would get every row."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Yes."""
        return True


def walk(arguments: list[str]) -> Walk:
    """Run a command in this process and count what it enters; what runs while modules load is not part of a walk."""
    from pe_spectra.cli import main

    entered: dict[str, int] = {}
    order: list[str] = []
    loading = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal loading
        code = frame.f_code
        if code.co_name == "<module>":
            loading += {"call": 1, "return": -1}.get(event, 0)
        if event != "call" or loading or not code.co_filename.startswith(str(PACKAGE)) or code.co_name[0] == "<":
            return
        if code.co_filename in STANDING:
            return
        path = code.co_filename[len(str(PACKAGE)) + 1 :]
        name = f"{path}:{code.co_qualname}"
        entered[name] = entered.get(name, 0) + 1
        if not order or order[-1] != path:
            order.append(path)

    output = Terminal()
    sys.setprofile(note)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            sys.argv[1:] = arguments
            main()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    files = {name.partition(":")[0] for name in entered}
    return Walk(functions=len(entered), files=len(files), changes=len(order), calls=entered)


def measure(name: str) -> Walk:
    """Walk one line of `LINES`."""
    with tempfile.TemporaryDirectory() as place:
        write_files(Path(place))
        return walk_apart(LINES[name].split(), Path(place))


def walk_apart(arguments: list[str], place: Path) -> Walk:
    """Walk one line in a process of its own, where nothing is loaded yet."""
    environment = {**os.environ, "PE_SPECTRA_NO_FIGURE": "1", "COLUMNS": "80", "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.program.walks", *arguments],
        capture_output=True,
        text=True,
        cwd=place,
        env=environment,
        check=True,
    )
    return Walk(**json.loads(done.stdout))


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(vars(walk(sys.argv[1:]))))
    else:
        for name in LINES:
            found = measure(name)
            print(f"{name}: {found.functions} functions, {found.files} files, {found.changes} changes of file")
