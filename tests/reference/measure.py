"""Measure a release of other software in a fresh environment: one command for each stack.

    python tests/reference/measure.py transformers 5.24.0
    python tests/reference/measure.py --list

`recipes.toml` has the lines of each stack that install the release and measure it; what they write is in
pe_spectra/models/measured and in the folders beside this file. A line that fails ends the run, which says how to go on
from it. Only the standard library is needed here; CONTRIBUTING.md says what is to be done with what was measured.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MEASURED = pathlib.Path("pe_spectra", "models", "measured")
RECIPES = tomllib.loads((HERE / "recipes.toml").read_text(encoding="utf-8"))


def list_lines(stack, version, folder):
    """The lines of a release, the first of which makes its environment."""
    words = {"version": version, "folder": shlex.quote(str(folder)), "measured": MEASURED.as_posix()}
    made = f"{shlex.quote(sys.executable)} -m venv {words['folder']}"
    return [made, *(line.format(**words) for line in RECIPES[stack])]


def run_lines(lines, folder, start=1):
    """Run the lines from one on, the first is 1; the number of the one that failed, or None."""
    environment = os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    for number, line in enumerate(lines[start - 1 :], start):
        print(f"{number} of {len(lines)}: {line}", flush=True)
        began = time.monotonic()
        if subprocess.run(line, shell=True, cwd=ROOT, env=environment, check=False).returncode:
            return number
        print(f"{number} of {len(lines)}: {time.monotonic() - began:.0f} s", flush=True)
    return None


def read_arguments(given):
    """What is asked for; what cannot be ends the program with what is accepted."""
    parser = argparse.ArgumentParser(description="Measure a release of other software in a fresh environment.")
    parser.add_argument("stack", choices=RECIPES, nargs="?")
    parser.add_argument("version", nargs="?", help="as the package index has it: 5.24.0")
    parser.add_argument("--environment", type=pathlib.Path, help="where it is made and kept; else a temporary folder")
    parser.add_argument("--from", dest="start", type=int, default=1, help="the number of the first line that is run")
    parser.add_argument("--list", action="store_true", help="show the lines of every stack, and run none")
    asked = parser.parse_args(given)
    if asked.list:
        return asked
    if not re.fullmatch(r"[0-9][0-9A-Za-z.]*", asked.version or ""):
        parser.error(f"STACK and VERSION are needed, as in: transformers 5.24.0 (VERSION is {asked.version})")
    if not 1 <= asked.start <= len(RECIPES[asked.stack]) + 1:
        parser.error(f"--from: {asked.stack} has no line {asked.start}; lines 1 to {len(RECIPES[asked.stack]) + 1}")
    if asked.start > 1 and asked.environment is None:
        parser.error("--from needs --environment, where the lines before it were run")
    return asked


def main(given=None):
    """Measure one release; the exit code."""
    asked = read_arguments(given)
    if asked.list:
        for stack in RECIPES:
            print("\n    ".join((stack, *list_lines(stack, "VERSION", "FOLDER"))))
        return 0
    folder = asked.environment or pathlib.Path(tempfile.mkdtemp(prefix=f"{asked.stack}-{asked.version}-"))
    failed = run_lines(list_lines(asked.stack, asked.version, folder.resolve()), folder.resolve(), asked.start)
    if failed is not None:
        print(f"line {failed} failed; to go on: --environment {folder} --from {failed}", file=sys.stderr)
        return 1
    if asked.environment is None:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
