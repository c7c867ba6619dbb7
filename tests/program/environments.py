"""What the tests of environments share: a line for every command, the environments, and runs in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).with_name("adversarial")))

from running import Process
from warm import WarmProgram
from workspace import Workspace

from tests.program.command_line_files import READINGS

SERVER = Path(__file__).with_name("environment_program.py")
#: -P: the working directory is no place to import from, as with the installed script.
PROGRAM = (sys.executable, "-P", "-m", "pe_spectra")
#: A short answer of every command; {inputs} is the folder that `write_inputs` fills.
LINES = {
    "spectrum": "spectrum -e sinusoidal:d=16 {inputs}/table.npy",
    "reconstruct": "reconstruct --d 16 --s 3",
    "faithfulness": "faithfulness --d 8 --length 12",
    "count-low-bin": "count-low-bin --d 8 16",
    "figures": "figures --check --output {inputs}/figures",
    "claims": "claims",
    "schema": "schema",
    "encodings": "encodings alibi",
    "export": "export alibi:heads=4 --length 4 --output -",
    "compare": "compare sinusoidal:d=8 alibi {inputs}/table.npy --length 24",
    "inspect": "inspect {inputs}/model/::wpe.weight",
    "series": "series {inputs}/readings.csv",
    "audit": "audit {inputs}/model/",
    "diff": "diff {inputs}/model/config.json --all-stacks",
    "stacks": "stacks",
    "context": "context --d 16 --base 10000 --trained 2048 --target 8192",
    "precision": "precision sinusoidal:d=8 --length 300 --dtype bfloat16 --dtype float16",
    "report": "report {inputs}/model/ --output page.html",
}
#: What a line of these writes, whatever the form of the answer.
WRITTEN = {"report": "page.html"}
#: Answers about tables so large that a library with several threads uses them.
LARGE_LINES = {
    "inspect, large": "inspect {inputs}/large.npy",
    "compare, large": "compare {inputs}/large.npy sinusoidal:d=256 --length 2000",
    "faithfulness, large": "faithfulness -e {inputs}/large.npy --within 0.5",
    "faithfulness, condition": "faithfulness -e sinusoidal:d=256 --length 4096",
}
FORMATS = ("table", "json", "csv")
DRAWINGS = (".svg", ".png", ".pdf")
#: Endings of `export`, which writes arrays.
ARRAYS = (".npy", ".csv", ".tsv", ".safetensors")


@cache
def build_program():
    """Give the program with all its commands."""
    from pe_spectra.cli.declared import build_command

    return build_command()


def has_option(command, option):
    """Whether a command of the program has an option."""
    return any(option in parameter.opts for parameter in build_program().commands[command].params)


def list_jobs(inputs, *, formats=FORMATS, drawing=None):
    """Give name -> (arguments, file that is written): every command in each of its forms."""
    jobs = {}
    for command, line in LINES.items():
        words = line.format(inputs=inputs).split()
        plain = [*words, "--no-figure"] if has_option(command, "--no-figure") else words
        for form in formats if has_option(command, "--format") else ("table",):
            more = ["--format", form] if has_option(command, "--format") else []
            jobs[f"{command}, {form}"] = ([*plain, *more], WRITTEN.get(command))
        if drawing and has_option(command, "--figure"):
            jobs[f"{command}, {drawing}"] = ([*words, "--figure", f"drawn{drawing}"], f"drawn{drawing}")
    return jobs


def list_exports():
    """Give the jobs of `export` that write files, and the arguments of each."""
    return {
        f"export, {ending}": (["export", "rope:d=8", "--length", "40", "--output", f"array{ending}"], f"array{ending}")
        for ending in ARRAYS
    }


def write_inputs(folder):
    """Write what the lines read: a table, a model in parts, the figures' numbers, a large table."""
    from safetensors.numpy import save_file

    generator = np.random.Generator(np.random.PCG64(5))
    (folder / "readings.csv").write_bytes(READINGS)
    np.save(folder / "table.npy", generator.standard_normal((24, 8)).cumsum(axis=0))
    large = np.cos(np.outer(np.arange(2000), np.linspace(0.001, 3, 256))) / 8
    np.save(folder / "large.npy", (large + 0.02 * generator.standard_normal((2000, 256))).astype(np.float32))
    model = folder / "model"
    model.mkdir()
    config = {"model_type": "llama", "head_dim": 16, "rope_theta": 5e5, "max_position_embeddings": 64}
    (model / "config.json").write_text(json.dumps(config))
    places = {}
    for number, name in enumerate(("wpe.weight", "h.0.weight", "h.1.weight"), start=1):
        shard = f"model-0000{number}-of-00003.safetensors"
        places[name] = shard
        values = generator.standard_normal((64, 16)).cumsum(axis=0).astype(np.float32)
        save_file({name: values}, model / shard)
    index = {"metadata": {}, "weight_map": places}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "figures").symlink_to(Path(__file__).parents[2] / "figures")


def fill_cache(folder):
    """Give the drawing library its list of fonts, as these tests have it themselves: making one takes seconds."""
    import matplotlib
    from matplotlib import font_manager  # makes the list, if there is none

    folder.mkdir()
    for path in Path(matplotlib.get_cachedir()).glob(f"fontlist-v{font_manager.FontManager.__version__}*.json"):
        shutil.copy(path, folder)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """How one environment differs from a plain one.

    Attributes
    ----------
    variables : set, or removed where None; {work}, {home}, {root} stand for folders of the run.
    files : name -> text, written into the working directory first.
    streams : what becomes of the characters that the answer has: same, or written in ASCII.
    draws : whether the drawings are compared as well.
    """

    variables: dict[str, str | None] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    ascii: bool = False
    draws: bool = False


class Place(Workspace):
    """Folders of one environment, and the variables of a run in them."""

    def __init__(self, root, cache_folder, environment=None):
        super().__init__(root)
        environment = environment or Environment()
        for name, text in environment.files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="latin-1")
        folders = {"work": self.work, "home": self.home, "root": self.root}
        plain = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "MPLCONFIGDIR": str(cache_folder),
        }
        changed = {name: value and value.format(**folders) for name, value in environment.variables.items()}
        self.variables = {name: value for name, value in {**plain, **changed}.items() if value is not None}
        if "PYTHONPATH" in os.environ:
            self.variables.setdefault("PYTHONPATH", os.environ["PYTHONPATH"])


class Program(WarmProgram):
    """The program loaded in one environment.

    Attributes
    ----------
    code, threads : of its first answer.
    complaints : what that answer left on stderr, but for the place of its figure.
    """

    def __init__(self, place, *, planted="", umask=-1):
        self.place = place
        streams = place.root / "first"
        streams.mkdir()
        variables = {**place.variables, **({"PLANTED": planted} if planted else {})}
        command = [sys.executable, "-P", str(SERVER), str(streams)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            cwd=place.work,
            umask=umask,
            encoding="utf-8" if "PYTHONIOENCODING" not in variables else "latin-1",
        )
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(self._process.stderr.read())
        answer = json.loads(line)
        self.code, self.threads = answer["code"], answer["threads"]
        said = (streams / "first.err").read_text(encoding="latin-1")
        self.complaints = said.replace(f"wrote {streams}/first.svg\n", "")

    def answer(self, argv, **more):
        """Run once; give the outcome."""
        return self.run(argv, self.place, {**self.place.variables, **more}, 600)

    def take(self, name):
        """Give the bytes of a file that a run has written, and remove it."""
        path = self.place.work / name
        data = path.read_bytes()
        path.unlink()
        return data

    def close(self):
        """End the process."""
        self._process.stderr.close()
        super().close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def start_fresh(place, argv, *, command=PROGRAM, steps=(), lines=None, **more):
    """Run once in a process of its own, after `steps` (see the adversarial tests); give the outcome."""
    place.process_steps, place.pipe_lines = [list(step) for step in steps], lines
    return Process(list(command), list(argv), place, {**place.variables, **more}).wait(600)


def run_two_by_two(function, items):
    """Call a function with each item, on two processors."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, items))
