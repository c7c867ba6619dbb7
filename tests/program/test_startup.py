"""What a fresh process loads: help and completion stay quick because they load nothing heavy."""

import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from pe_spectra.cli.options import ENCODING_NAMES
from pe_spectra.encodings import ENCODINGS
from pe_spectra.models.stated import statement
from tests.places import MODELS
from tests.planted import make_trained
from tests.program.command_line_files import READINGS

HEAVY = ("numpy", "scipy", "matplotlib", "rich", "pydantic")
#: Runs the program and then tells, on stderr, which of the heavy modules were loaded.
PROBE = f"""
import sys
code = None
try:
    from pe_spectra.cli import main
    code = main()
except SystemExit as end:
    code = end.code
loaded = [name for name in {HEAVY!r} if sys.modules.get(name) is not None]
sys.stdout.flush()
import json
sys.stderr.write(json.dumps([code or 0, loaded]))
"""


def start(tmp_path, *arguments, probe=PROBE, expected=0, **variables):
    """Run in a fresh process; give stdout and the loaded modules."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PE_SPECTRA_")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", probe, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={**kept, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", **variables},
        timeout=600,
    )
    *messages, last = done.stderr.splitlines()
    code, loaded = json.loads(last)
    assert code == expected
    assert len(messages) == (1 if code else 0)
    return done.stdout, loaded


def complete(tmp_path, shell, line):
    """Press Tab behind a line; the variables are those that the completion scripts of Typer set."""
    words = line.split(" ")
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell != "bash":
        variables = {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    return start(tmp_path, _PE_SPECTRA_COMPLETE=f"complete_{shell}", **variables)


LLAMA = MODELS / "llama-3.1-8b.json"
OLDER, NEWEST = (f"transformers-{version}" for version in (statement.OLDER, statement.NEWEST))
HELP = ["--help", "--version", "--cite", "", "spectrum --help", "claims -h"]
HELP += ["encodings -h", "export --help", "compare --help", "inspect -h", "audit -h", "precision -h"]


@pytest.mark.few(3)
@pytest.mark.parametrize("line", HELP)
def test_help_loads_nothing_heavy(tmp_path, line):
    out, loaded = start(tmp_path, *line.split())
    assert out
    assert loaded == []


@pytest.mark.parametrize(
    ("line", "spared"),
    [
        ("--version", ("typer",)),
        ("--cite", ("typer",)),
        ("--help", ("pe_spectra.cli.options", "pe_spectra.cli.paper", "pe_spectra.numbers")),
        ("export --help", ("pe_spectra.cli.paper", "pe_spectra.encodings")),
    ],
)
def test_help_loads_no_more_than_it_names(tmp_path, line, spared):
    out, loaded = start(tmp_path, *line.split(), probe=PROBE.replace(repr(HEAVY), repr(spared)))
    assert out
    assert loaded == []


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("spectrum --json --no-figure", "spectrum"),
        ("encodings --json", "encodings"),
        ("encodings rope --json", "encodings"),
        ("encodings rope:d=64 --json", "encodings"),
        ("stacks --json", "stacks"),
        ("inspect --explain seam --json", "explanation"),
        ("audit --explain precision --json", "explanation"),
        (f"audit {LLAMA} --json", "audit"),
        ("spectrum -e alibi:heads=2 --json --no-figure", "spectrum"),
        ("faithfulness --length 80 --json", "faithfulness"),
        ("faithfulness -e calendar --length 80 --json", "faithfulness"),
    ],
)
def test_numbers_load_numpy_alone(tmp_path, line, kind):
    out, loaded = start(tmp_path, *line.split())
    assert json.loads(out)["kind"] == kind
    assert loaded == ["numpy"]


#: Rooms of the package that only answers about files need.
OF_FILES = ("models", "files", "frozen", "inspection", "series", "experiment")


@pytest.mark.parametrize(
    "line",
    [
        "spectrum --json --no-figure",
        "reconstruct --s 5 --no-figure",
        "faithfulness --length 80",
        "count-low-bin --d 64",
    ],
)
def test_answers_about_a_formula_load_nothing_that_reads_files(tmp_path, line):
    probe = PROBE.replace(
        f"[name for name in {HEAVY!r} if sys.modules.get(name) is not None]",
        f"[name for name in sys.modules if name.startswith(tuple(f'pe_spectra.{{room}}.' for room in {OF_FILES!r}))]",
    )
    assert probe != PROBE
    assert start(tmp_path, *line.split(), "--quiet", probe=probe)[1] == []


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("line", "spared"),
    [
        # of a configuration with a rotation: what reads arrays and other files, and what other encodings are
        (
            f"audit {LLAMA}",
            (
                "files.tables",
                "files.checkpoint",
                "files.gguf_file",
                "files.model_folders",
                # what a file without findings, and for which nothing is allocated, does not ask
                "models.checks.kinds",
                "models.checks.about_allocations",
                "models.stacks.conformance",
                "models.stated.gguf_metadata",
                "models.stated.meta_release",
                "spec",
                "models.dumps.phases",
                "models.dumps.dump",
                "models.comparison",
                # implementations that are not asked
                "models.stacks.llama_cpp",
                "models.stacks.keras_hub",
                "models.stacks.other_stacks",
                "files.json_keys",
                "spectrum.gram",
                "spectrum.gaussian_sums",
                "encodings.learned",
                "encodings.absolute",
                "encodings.sampled",
                "encodings.sinusoidal",
                "domains",
                "tomllib",
            ),
        ),
        (
            f"context {LLAMA} --target 262144",
            ("files.tables", "models.dumps.phases", "spectrum.gram", "tomllib", "numpy.ma"),
        ),
        (
            f"freeze {LLAMA} --output other.json",
            (
                "files.tables",
                "files.model_folders",
                "models.dumps.phases",
                "spectrum.gram",
                "spectrum.low_bin",
                "answers.differences",
                "frozen.changes",
                "models.comparison.scheme_diff",
                "models.comparison.divergence",
                "models.dumps",
            ),
        ),
        (
            f"diff {LLAMA} --stack vllm",
            (
                "files.tables",
                "models.dumps.phases",
                "models.dumps.identification",
                "models.comparison.table_diff",
                "faithfulness",
            ),
        ),
        ("faithfulness --length 80", ("metrics", "encodings.combined", "encodings.lag_tables", "encodings.learned")),
        (
            "precision sinusoidal --length 64",
            (
                "reconstruction",
                "faithfulness.certificates",
                "encodings.combined",
                "encodings.lag_tables",
                "numpy.ma",
                "numpy.random",
                "json",
                "shlex",
                "encodings.sampled",
                "cli.listings",
            ),
        ),
        (
            "claims fig2-width-30",
            (
                "claims.articles",
                "study",
                "faithfulness.certificates",
                "encodings.sampled",
                "answers.catalogues",
                "tomllib",
            ),
        ),
        ("sweep count-low-bin --grid d=64,128 --output sweep.csv", ("multiprocessing", "concurrent.futures")),
        ("encodings", ("claims", "answers.grades", "tomllib")),
        (
            "count-low-bin --d 64",
            ("spectrum.density", "spectrum.kernels", "domains", "answers.annotations", "findings"),
        ),
        # of Python: what finds files in packages and reads archives takes a tenth of the import of NumPy
        ("series readings.csv", ("importlib.resources", "tempfile", "zipfile", "numpy.ma", "numpy.polynomial")),
        (
            "series readings.csv",
            (
                "metrics.measured",
                "metrics.compare",
                "metrics.order",
                "faithfulness.report",
                "spectrum.record",
                "encodings.calendar",
                "encodings.learned",
                "encodings.sampled",
                "files.arrays",
                "study.statistics",
                "csv",
                "study.counting",
            ),
        ),
        # and of NumPy: arrays with masks, which its medians ask for, an eighth
        (
            "compare sinusoidal dft",
            (
                "numpy.ma",
                "numpy.random",
                "json",
                "shlex",
                "cli.experiment_options",
                "cli.frozen_options",
                "spectrum.gaussian_cells",
                "domains",
                "encodings.combined",
                "encodings.lag_tables",
                "encodings.learned",
                "encodings.sampled",
                "encodings.nested",
                "faithfulness.growth",
                "faithfulness.near_pairs",
                "faithfulness.near_search",
            ),
        ),
        ("schema", ("numpy", "answers.documents", "email", "importlib.metadata", "importlib.resources")),
    ],
)
def test_what_an_answer_does_not_need_is_not_loaded(tmp_path, line, spared):
    (tmp_path / "readings.csv").write_bytes(READINGS)
    others = {*sys.stdlib_module_names, "numpy"} - {"encodings"}  # of which we have one, too
    names = tuple(name if name.split(".")[0] in others else f"pe_spectra.{name}" for name in spared)
    assert start(tmp_path, *line.split(), "--quiet", probe=PROBE.replace(repr(HEAVY), repr(names)))[1] == []


@pytest.mark.parametrize(
    ("line", "spared"),
    [
        (f"audit {LLAMA}", ["fractions"]),
        ("spectrum --no-figure", ["fractions"]),
        ("faithfulness --length 80", ["fractions"]),
        ("count-low-bin --d 64", ["fractions"]),
        ("compare sinusoidal dft", []),
        ("precision sinusoidal --length 64", ["fractions"]),
    ],
)
def test_modules_of_single_names_are_not_loaded(tmp_path, line, spared):
    spared = ("numpy.typing", "pkgutil", *spared)
    assert start(tmp_path, *line.split(), "--quiet", probe=PROBE.replace(repr(HEAVY), repr(spared)))[1] == []


#: What reads values, keys and kinds of positions that few files have.
OF_FEW_FILES = tuple(
    f"models.stated.{name}"
    for name in (
        *("axial_models", "class_sinusoids", "class_ways", "dual_chunk", "passed_keys", "position_axes"),
        *("position_schemes", "position_tables", "query_scales", "unusable"),
    )
)
#: And what reads blocks of rotary keys, which the configurations have that `context` writes.
OF_BLOCKS = ("models.stated.needs", "models.stated.unread_blocks")


@pytest.mark.parametrize(
    ("line", "spared"),
    [
        ("audit config.json", OF_BLOCKS),
        ("context config.json --target 16384", ("models.model_audit", "spectrum.record")),
        ("freeze config.json --output other.json", (*OF_BLOCKS, "models.model_audit", "spectrum.record")),
        ("check config.json --against ref.json", (*OF_BLOCKS, "models.comparison", "spectrum.record")),
        (
            "diff config.json --stack transformers-5,vllm",
            (
                *OF_BLOCKS,
                "models.audit",
                "models.scheme",
                "models.dumps",
                "models.comparison.start",
                "models.comparison.ways",
                "spectrum.record",
            ),
        ),
    ],
)
def test_what_few_files_ask_for_is_not_loaded(tmp_path, line, spared):
    stated = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 8192}
    (tmp_path / "config.json").write_text(json.dumps({**stated, "rope_theta": 5e5}), encoding="utf-8")
    if line.startswith("check"):
        start(tmp_path, "freeze", "config.json", "--output", "ref.json", "--quiet")
    names = (*OF_FEW_FILES, "encodings.codes", "models.stacks.as_written", "precision", "spectrum.signs", *spared)
    probe = PROBE.replace(repr(HEAVY), repr(("encodings.utf_8_sig", *(f"pe_spectra.{name}" for name in names))))
    assert start(tmp_path, *line.split(), "--quiet", probe=probe)[1] == []


def test_a_short_series_loads_numpy_alone(tmp_path):
    (tmp_path / "readings.csv").write_bytes(READINGS)
    out, loaded = start(tmp_path, "series", "readings.csv", "--json", "--no-figure")
    assert json.loads(out)["kind"] == "series"
    assert loaded == ["numpy"]


def test_a_check_that_passes_loads_numpy_and_nothing_that_compares_or_finds(tmp_path):
    frozen = str(tmp_path / "ref.json")
    assert start(tmp_path, "freeze", str(LLAMA), "--output", frozen, "--quiet")[1] == ["numpy"]
    spared = [f"pe_spectra.{name}" for name in ("frozen.changes", "models.checks", "models.comparison.divergence")]
    spared += ["pe_spectra.models.dumps", "pe_spectra.precision"]
    probe = PROBE.replace(repr(HEAVY), repr((*HEAVY, *spared)))
    out, loaded = start(tmp_path, "check", str(LLAMA), "--against", frozen, "--json", probe=probe)
    assert json.loads(out)["verdict"]["code"] == "as-frozen"
    assert loaded == ["numpy"]


def test_a_check_of_a_table_without_a_grid_loads_numpy_alone(tmp_path):
    np.save(tmp_path / "table.npy", make_trained(256, 16))
    start(tmp_path, "freeze", "table.npy", "--output", "ref.json", "--quiet", expected=0)
    out, loaded = start(tmp_path, "check", "table.npy", "--against", "ref.json", "--json")
    assert json.loads(out)["verdict"]["code"] == "as-frozen"
    assert loaded == ["numpy"]


#: Runs the program as its installed script does, and tells at its end how often Python looked for rings of objects.
LOOKS = """
import atexit, gc, json, sys
def count():
    return sum(one["collections"] for one in gc.get_stats())
from pe_spectra.cli import run_process
before = count()
atexit.register(lambda: sys.stderr.write(json.dumps([0, count() - before])))
run_process()
"""


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "line", [f"audit {LLAMA} --json", "spectrum --figure s.png", f"report {LLAMA} --output r.html", "schema"]
)
def test_nothing_looks_through_what_was_loaded(tmp_path, line):
    assert start(tmp_path, *line.split(), "--quiet", probe=LOOKS)[1] == 0


#: In place of the program, calls at many depths, where frames end at every place: tells how many pages of memory 200
#: calls took of the system, at most.
CALLS = """
import json, resource, sys
from pe_spectra import cli
def call():
    return None
def go_down(depth):
    if depth:
        return go_down(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(200):
        call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
def begin(depth):
    return go_down(depth)
def main():
    most = 0
    for places in range(32):
        begin.__code__ = begin.__code__.replace(co_stacksize=8 + places)
        most = max(most, *map(begin, range(60, 200)))
    sys.stderr.write(json.dumps([0, most]))
    return 0
cli.main = main
cli.run_process()
"""


def test_calls_take_hardly_any_memory_of_the_system_at_any_depth(tmp_path):
    pytest.importorskip("resource")
    assert start(tmp_path, probe=CALLS)[1] < 100


#: In place of the program, fills 24 MiB with arrays of 1 MiB, again and again: tells how many pages of memory that took
#: of the system, after the first two times.
ARRAYS = """
import json, resource, sys
import numpy as np
from pe_spectra import cli
def fill():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    held = [np.ones(1 << 17) for _ in range(24)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
def main():
    faults = [fill() for _ in range(6)]
    sys.stderr.write(json.dumps([0, max(faults[2:])]))
    return 0
cli.main = main
cli.run_process()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries keep memory in their own ways")
def test_the_memory_of_arrays_is_that_of_the_next_ones(tmp_path):
    assert start(tmp_path, probe=ARRAYS)[1] < 100


#: Runs the program and then tells which tables of measured software were read.
TABLES = """
import json, sys
from pathlib import Path
found = set()
def watch(event, given):
    if event == "open" and "measured" in str(given[0]) and str(given[0]).endswith(".json"):
        found.add(Path(given[0]).stem)
sys.addaudithook(watch)
from pe_spectra.cli import main
code = main()
sys.stdout.flush()
sys.stderr.write(json.dumps([code or 0, sorted(found)]))
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("spectrum --json --no-figure", []),
        ("encodings --json", []),
        ("faithfulness --length 80 --json", []),
        (f"audit {LLAMA} --json", [OLDER, f"{OLDER}-refusals", NEWEST, f"{NEWEST}-refusals", f"{NEWEST}-schemes"]),
        (f"diff {LLAMA} --stack keras-hub --json", [NEWEST, f"{NEWEST}-refusals", f"{NEWEST}-schemes"]),
    ],
)
def test_what_was_measured_is_read_where_it_is_asked_for(tmp_path, line, read):
    out, found = start(tmp_path, *line.split(), probe=TABLES)
    assert out
    assert found == read


@pytest.mark.few(1)
@pytest.mark.parametrize("line", ["compare dft:d=8 alibi --length 12", "inspect dft:d=8", "export dft:d=8 --output -"])
def test_without_a_figure_nothing_for_pictures_is_loaded(tmp_path, line):
    out, loaded = start(tmp_path, *line.split(), "--quiet")
    assert out
    assert set(loaded) <= {"numpy", "scipy"}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "line",
    [
        "spectrum --d x",
        "encodings gauss",
        "compare --sort x",
        "inspect none.npy",
        "export dft",
        "inspect dft --figure a",
    ],
)
def test_a_refusal_loads_nothing_for_pictures(tmp_path, line):
    out, loaded = start(tmp_path, *line.split(), expected=2)
    assert out == ""
    assert set(loaded) <= {"numpy"}


@pytest.mark.parametrize("statement", ["import pe_spectra", "import pe_spectra.spec", "import pe_spectra.numbers"])
def test_the_package_loads_nothing(tmp_path, statement):
    probe = f"{statement}\nimport json, sys\n"
    probe += f"sys.stderr.write(json.dumps([0, [n for n in {(*HEAVY, 'typer')!r} if n in sys.modules]]))"
    assert start(tmp_path, probe=probe) == ("", [])


@pytest.mark.few(3)
@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize(
    ("line", "offered", "withheld"),
    [
        ("pe-spectra ", ["spectrum", "reconstruct", "faithfulness", "count-low-bin", "figures", "claims"], ["--json"]),
        ("pe-spectra sp", ["spectrum"], ["reconstruct"]),
        ("pe-spectra spectrum --", ["--encoding", "--bandwidth", "--boundary", "--json", "--help"], ["--limit"]),
        ("pe-spectra reconstruct --s 5 40 --w", ["--window-free"], ["--json"]),
        ("pe-spectra spectrum --encoding ", list(ENCODING_NAMES), ["--json"]),
        ("pe-spectra spectrum -e df", ["dft", "dfstrans"], ["sinusoidal"]),
        ("pe-spectra spectrum --boundary ", ["none", "reflect"], []),
        ("pe-spectra claims --format ", ["table", "json", "csv"], []),
        ("pe-spectra ", ["encodings", "export", "compare", "inspect"], ["--all"]),
        ("pe-spectra encodings ", list(ENCODING_NAMES), ["--json"]),
        ("pe-spectra encodings ro", ["rope", "rope-axial"], ["sinusoidal"]),
        ("pe-spectra inspect ali", ["alibi"], ["sinusoidal"]),
        ("pe-spectra compare sinusoidal df", ["dft", "dfstrans"], ["sinusoidal"]),
        ("pe-spectra compare --", ["--all", "--sort", "--periods", "--require"], ["--resize"]),
        ("pe-spectra inspect --", ["--resize", "--method", "--align-corners", "--fail-on", "--explain"], ["--sort"]),
        ("pe-spectra inspect --method bil", ["bilinear", "bilinear-antialias"], ["bicubic"]),
        ("pe-spectra inspect --fail-on ", ["note", "warning", "error"], []),
        ("pe-spectra export --what ", ["table", "frequencies", "kernel", "bias"], []),
        ("pe-spectra export sin", ["sinusoidal", "sincos2d"], ["dft"]),
    ],
)
def test_completion(tmp_path, shell, line, offered, withheld):
    out, loaded = complete(tmp_path, shell, line)
    assert loaded == []
    words = out.splitlines() if shell == "bash" else out.replace('"', " ").replace(":", " ").split()
    assert set(offered) <= set(words)
    assert not set(withheld) & set(words)


def test_completion_of_fish_has_whole_descriptions(tmp_path):
    out, loaded = complete(tmp_path, "fish", "pe-spectra reconstruct --win")
    assert loaded == []
    assert "show the encoding's bare kernel beside it" in out


def test_completion_reads_no_settings_and_writes_nothing(tmp_path):
    (tmp_path / "s.toml").write_text("nonsense")
    out, _ = complete(tmp_path, "bash", "pe-spectra spectrum --settings s.toml --bound")
    assert out.split() == ["--boundary"]
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


def test_completion_offers_the_encodings_there_are():
    assert tuple(cls.name for cls in ENCODINGS) == ENCODING_NAMES


def test_python_m_is_the_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pe_spectra", "--version"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0
    assert done.stdout.startswith("pe-spectra ")


@pytest.mark.few(1)
@pytest.mark.parametrize("level", ["1", "2"])
def test_nothing_rests_on_asserts_or_docstrings(tmp_path, level):
    """python -O strips the one, -OO also the other."""
    out, _ = start(tmp_path, "spectrum", "--d", "4", "--json", "--no-figure", PYTHONOPTIMIZE=level)
    assert json.loads(out)["kind"] == "spectrum"
    start(tmp_path, "spectrum", "--d", "1", expected=2, PYTHONOPTIMIZE=level)
    assert "spectrum" in start(tmp_path, "--help", PYTHONOPTIMIZE=level)[0]
