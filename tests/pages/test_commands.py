"""What README.md and docs/ promise in passing: commands and options between backquotes, JSON, and every refusal."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from pe_spectra import read_encoding
from pe_spectra.cli.commands import COMMANDS as DECLARED
from pe_spectra.cli.declared import build_command
from pe_spectra.pytest_plugin import UPDATE
from pe_spectra.spec import FileSpec, parse_spec
from tests.in_one import in_one
from tests.pages.test_docs import write_fixtures
from tests.pages.test_numbers_in_prose import ELSEWHERE, PAGES, find

#: Texts between backquotes, outside of the blocks and tables that other tests compare.
INLINE = sorted({(page, text) for page in PAGES for text in re.findall(r"`([^`\n]+)`", ELSEWHERE.sub("", PAGES[page]))})
#: Those in blocks are run, with their output, by test_readme and test_docs.
IN_BLOCKS = {line for text in PAGES.values() for line in re.findall(r"^\$ (pe-spectra.*)$", text, re.MULTILINE)}
COMMANDS = [(page, text) for page, text in INLINE if re.match(r"pe-spectra( |$)", text) and text not in IN_BLOCKS]
OPTIONS = [(page, text) for page, text in INLINE if re.match(r"(?!pe-spectra)(?:[a-z-]+ )*--?[a-z]", text)]
SPECS = [(page, text) for page, text in INLINE if re.fullmatch(r"[a-z0-9.-]+(:[a-z]+=|::|\?)\S+", text)]
#: What stands for a word of the reader's in a command line.
PLACEHOLDERS = {"NAME": "rope", "COMMAND": "spectrum"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the documentation, and those of the refusals below."""
    place = tmp_path_factory.mktemp("promises")
    write_fixtures(place)
    table = np.load(place / "table.npy")
    broken = table.copy()
    broken[3, 2] = np.nan
    np.save(place / "nan.npy", broken)
    np.save(place / "none.npy", table[:0])
    np.save(place / "wide.npy", np.zeros((1, 65537), dtype=np.float32))
    shutil.copy(place / "two.npz", place / "wrong.npy")
    (place / "cut.npy").write_bytes((place / "table.npy").read_bytes()[:200])
    (place / "empty.npy").write_bytes(b"")
    save_file({"wte.weight": table.astype(np.float32)}, place / "words.safetensors")
    (place / "damaged.json").write_text('{"model_type": ', encoding="utf-8")
    scaling = {"rope_type": "magic", "factor": 2.0}
    unknown = {"model_type": "llama", "head_dim": 64, "rope_scaling": scaling}
    (place / "learned.json").write_text('{"architecture": "vit_base_patch16_rope_mixed_224"}', encoding="utf-8")
    (place / "unknown.json").write_text(json.dumps(unknown), encoding="utf-8")
    frozen = (place / "ref.json").read_text(encoding="utf-8")
    (place / "newer.json").write_text(frozen.replace("frozen/1", "frozen/2"), encoding="utf-8")
    (place / "differing.json").write_text(frozen.replace("0.8146172338565447", "0.81"), encoding="utf-8")
    for name in ("llama-3.1-8b", "no-base"):
        (place / "models" / name).mkdir(parents=True)
        shutil.copy(place / f"{name}.json", place / "models" / name / "config.json")
    return place


@pytest.fixture
def program(cli, folder, monkeypatch):
    """The program in the folder of these files, without a cache of Hugging Face."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HF_HOME", str(folder / "nowhere"))
    return cli


# ----------------------------------------------------------------------------------- commands and options


#: What takes long, and names of commands without the arguments that they need.
NO_ARGUMENTS = (
    *(["figures"], ["precision"], ["experiment", "run"]),
    *([name] for name, declared in DECLARED.items() if not declared.repeats),
)


@pytest.mark.parametrize(("page", "text"), COMMANDS, ids=[f"{page} {text}" for page, text in COMMANDS])
def test_every_command_in_a_sentence_runs(program, page: str, text: str) -> None:
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(text)[1:]]
    if "clock" in text or "--install-completion" in text or words in NO_ARGUMENTS:
        # the worked example, a file in the reader's home
        words = [*(words[:1] if words[0][0] != "-" else []), "--help"]
    done = program(shlex.join(words))
    assert done.code == 0, done.err


@cache
def list_options() -> set[str]:
    """Every option of every command, of the program, and that which pytest has from the plugin."""
    command = build_command()
    parameters = [*command.params, *(one for sub in command.every().values() for one in sub.params)]
    return {name for one in parameters for name in (*one.opts, *one.secondary_opts)} | {"--install-completion", UPDATE}


@in_one("page, text", OPTIONS, ids=[f"{page} {text}" for page, text in OPTIONS])
def test_every_option_in_a_sentence_exists(page: str, text: str) -> None:
    known = list_options()
    named = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)
    assert named
    assert set(named) <= known


@pytest.mark.parametrize(("page", "text"), SPECS, ids=[f"{page} {text}" for page, text in SPECS])
def test_every_spec_in_a_sentence_is_one(page: str, text: str) -> None:
    spec = parse_spec(text, "SPEC")
    if not isinstance(spec, FileSpec) and ".safetensors" not in text:
        assert read_encoding(text).name == spec.name


def test_the_first_spec_of_the_readme_is_that_of_its_parameters() -> None:
    text = re.search(r"`-e (rope:d=64[^`]*)`", PAGES["docs/commands.md"])[1]
    given = {"d": 64, "base": 5e5, "scaling": "yarn", "factor": 4.0, "original": 4096}
    assert given.items() <= read_encoding(text).parameters.items()


def test_several_values_have_the_three_forms_of_the_page(program) -> None:
    line = next(
        line for line in PAGES["docs/commands.md"].splitlines() if line.startswith("Options with several values")
    )
    *forms, ranges = re.findall(r"`(--s [^`]*)`", line)
    answers = [program(f"reconstruct -e dft:d=80 --no-figure --format csv {form}").out for form in forms]
    assert len(forms) == 3
    assert answers[0].count("\n") > 3
    assert len(set(answers)) == 1
    found = json.loads(program(f"reconstruct -e dft:d=80 --no-figure --json {ranges}").out)
    assert [one["s"] for one in found["panels"][0]["reconstructions"]] == list(range(0, 80, 5))


def test_a_variable_sets_an_option(program) -> None:
    name, value = re.search(r"`(PE_SPECTRA_\w+)=(\d+)`", PAGES["docs/commands.md"]).groups()
    found = json.loads(program("spectrum --d 64 --json --no-figure", **{name: value}).out)
    assert found["encoding"]["parameters"]["rho"] == float(value)
    given = json.loads(program("spectrum --d 64 --rho 100 --json --no-figure", **{name: value}).out)
    assert given["encoding"]["parameters"]["rho"] == 100


def test_citing_prints_the_paper_and_this_software(program) -> None:
    done = program("--cite")
    assert done.out.count("\n@") + done.out.startswith("@") == 2
    assert "2405.09061" in done.out


# ----------------------------------------------------------------------------------- blocks that no prompt precedes


def shape(value: object) -> object:
    """The keys of a document; of short lists and plain values nothing."""
    return {key: shape(inner) for key, inner in value.items()} if isinstance(value, dict) else None


def test_the_json_of_the_readme_is_that_of_the_program(program) -> None:
    shown = json.loads(re.search(r"^```json\n(.*?)^```", PAGES["docs/json.md"], re.MULTILINE | re.DOTALL)[1])
    found = json.loads(program("spectrum --json --no-figure").out)
    assert list(shown) == list(found)
    for key in ("schema", "kind", "version", "encoding", "parameters", "figure"):
        assert shown[key] == found[key], key
    assert {**shown["verdict"], "text": found["verdict"]["text"]} == found["verdict"]
    assert shown["reference"]["encoding"] == found["reference"]["encoding"]
    assert shape({**found, "summary": {}}) == shape(shown)


def test_there_are_no_other_blocks_than_those_that_are_checked() -> None:
    fences = {page: set(re.findall(r"^```(\w*)$", text, re.MULTILINE)) - {""} for page, text in PAGES.items()}
    assert set().union(*fences.values()) == {"sh", "console", "python", "json", "yaml"}
    assert {page for page, kinds in fences.items() if "json" in kinds} == {"docs/json.md"}
    # of the action and the hook: tests/program/test_action.py
    assert {page for page, kinds in fences.items() if "yaml" in kinds} == {"docs/models.md"}
    assert {page for page, kinds in fences.items() if "sh" in kinds} == {
        *("README.md", "CONTRIBUTING.md"),
        "docs/commands.md",  # sweeps, which write files: below
        "docs/reports.md",  # below, too
    }
    indented = [line for page in PAGES for line in re.findall(r"\n\n    (\S.*)", ELSEWHERE.sub("", PAGES[page]))]
    assert [line.split("(")[0].split()[0] for line in indented] == ["max", "pe-spectra", "numpy.save"]


def test_the_sweeps_of_the_tour_run(program, folder) -> None:
    lines = re.findall(r"^pe-spectra (sweep .*)$", PAGES["docs/commands.md"], re.MULTILINE)
    assert [program(f"{line} --workers 1").out.partition(" ")[0] for line in lines] == ["18", "30"]
    assert (folder / "sweep.csv").exists()
    assert (folder / "spectra.csv").exists()


def test_the_reports_of_the_page_are_written(program, folder) -> None:
    (folder / "config.json").write_bytes((folder / "llama-3.1-8b.json").read_bytes())
    lines = re.findall(r"^pe-spectra (report .*)$", PAGES["docs/reports.md"], re.MULTILINE)
    assert lines[-1].startswith("report --paper ")  # tests/cli/test_report_page.py, for it takes seconds
    for line in lines[:-1]:
        assert program(line).code == 0
        (folder / "report.html").unlink()
    (folder / "config.json").unlink()


def test_the_line_for_ci_finds_what_is_wrong(program, folder) -> None:
    line = re.search(r"^    pe-spectra (audit .*)$", PAGES["docs/models.md"], re.MULTILINE)[1]
    pattern = next(word for word in line.split() if "*" in word)
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern))
    assert len(paths) == 2
    done = program(line.replace(pattern, " ".join(paths)))
    assert done.code == 1
    assert "check failed: models/no-base/config.json: finding of level warning: base-defaulted\n" in done.err
    rows = (folder / "audit.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == paths


def test_the_line_that_writes_a_dump_writes_one_that_is_read(program, folder, monkeypatch) -> None:
    line = re.search(r"^    (numpy\.save\(.*)$", PAGES["docs/models.md"], re.MULTILINE)[1]

    class Tensor:
        def __init__(self, values: np.ndarray) -> None:
            self.values = values

        def __getattr__(self, name: str) -> object:
            return {"numpy": lambda: self.values}.get(name, lambda: self)

    class Module:
        def __getattr__(self, name: str) -> object:
            return Tensor((5e5 ** (-np.arange(64) / 64)).astype(np.float32)) if name == "inv_freq" else self

    exec(compile(line, "models.md", "exec"), {"numpy": np, "model": Module()})
    done = program("diff no-base.json inv_freq.npy")
    assert "base" in done.out
    assert "500000" in done.out


# ----------------------------------------------------------------------------------- refusals and exit codes


#: Where a page says that something is refused: words of the page, a command line, and what stderr says then.
REFUSALS = (
    (
        "docs/models.md",
        "Other classes are refused, those that turn by learned frequencies by name",
        "audit learned.json",
        "vit_base_patch16_rope_mixed_224 turns by learned frequencies of both axes",
    ),
    (
        "docs/commands.md",
        "pickles are never opened",
        "inspect old.pt",
        "is a pickle, which can run code when it is read",
    ),
    (
        "docs/models.md",
        "where there is none the error has the command that fetches it",
        "audit org/model",
        (
            "error: org/model: no such file or folder, and the local cache of Hugging Face has no configuration of "
            "such a model; this fetches it: hf download org/model config.json"
        ),
    ),
    (
        "docs/models.md",
        "one that cannot be used has its line on stderr, the others are answered, and the exit code is 2:",
        "audit damaged.json llama-3.1-8b.json",
        "error: damaged.json: is not JSON (line 1, column 16)",
    ),
    (
        "docs/reading-tables.md",
        "Numbers that are not finite are refused, with their place.",
        "inspect nan.npy",
        "error: nan.npy: row 3, column 2 is nan; finite numbers are accepted (SPEC)",
    ),
    (
        "docs/reading-tables.md",
        "A file whose first bytes are those of another kind than its name says is refused.",
        "inspect wrong.npy",
        (
            "error: wrong.npy: is named .npy, but is a zip archive (.npz); .npy, .npz, .csv, .tsv, .safetensors, "
            ".safetensors.index.json and a model's folder are accepted (SPEC)"
        ),
    ),
    (
        "docs/reading-tables.md",
        (
            "A table of words (embed_tokens, wte, word_embeddings, lm_head and their like) is never taken unless it is "
            "named."
        ),
        "inspect words.safetensors",
        (
            "error: words.safetensors: holds tables of words and none of positions: wte.weight (96 x 8); name one as "
            "FILE::TENSOR (SPEC)"
        ),
    ),
    (
        "docs/reading-tables.md",
        "What is beyond, damaged or empty ends with one line on stderr and exit code 2.",
        "inspect wide.npy",
        "error: wide.npy: has 65537 columns; at most 65536 are accepted (SPEC)",
    ),
    (
        "docs/reading-tables.md",
        "What is beyond, damaged or empty ends with one line on stderr and exit code 2.",
        "inspect cut.npy",
        "error: cut.npy: is cut off: its header claims 6144 bytes of data, it has 72 (SPEC)",
    ),
    (
        "docs/reading-tables.md",
        "What is beyond, damaged or empty ends with one line on stderr and exit code 2.",
        "inspect empty.npy",
        "error: empty.npy: is empty (0 bytes) (SPEC)",
    ),
    (
        "docs/reading-tables.md",
        "What is beyond, damaged or empty ends with one line on stderr and exit code 2.",
        "inspect none.npy",
        "error: none.npy: is empty (shape 0 x 8) (SPEC)",
    ),
    (
        "docs/checking.md",
        "a file in which the two differ is refused",
        "check llama-3.1-8b.json --against differing.json",
        "frequencies[1] has two numbers that differ (['0x1.a115829457fbep-1', 0.81]); 0.8146172338565447 is the first",
    ),
    (
        "docs/checking.md",
        "and one with a key that this version does not know are refused (exit 2)",
        "check llama-3.1-8b.json --against newer.json",
        "error: newer.json: is of the form pe-spectra/frozen/2; one of the form pe-spectra/frozen/1, ",
    ),
    (
        "docs/quantities.md",
        "Tables and biases have no list of frequencies, and are refused",
        "count-low-bin -e alibi",
        "error: this encoding has no list of frequencies (alibi heads=8); those with one are",
    ),
    (
        "docs/quantities.md",
        "set without them it is refused",
        "spectrum -e rope:factor=4 --no-figure",
        (
            "error: rope: factor has no meaning here (4); it goes with scaling=linear or ntk or dynamic or yarn or "
            "yarn-paper or llama3 or longrope or proportional"
        ),
    ),
)
#: Where a page says that the program exits with 1 for what it found: words of the page, a command line, its line.
CHECKS = (
    (
        "docs/commands.md",
        "Exit codes: 0 done, 1 a check that was asked for",
        "faithfulness -e dft:d=8 --length 9 --require injective --no-figure",
    ),
    ("docs/commands.md", "`--fail-on warning` is for CI", "audit no-base.json --fail-on warning"),
    ("docs/commands.md", "exit 1 where anything changed", "check no-base.json --against ref.json"),
    ("docs/checking.md", "and with it the scaling (exit 1)", "check no-base.json --against ref.json"),
    ("docs/models.md", "An unknown scaling is an error", "audit unknown.json --fail-on error"),
    ("docs/models.md", "`--check` exits 1 where something differs", "diff llama-3.1-8b.json port/inv_freq.npy --check"),
    (
        "docs/precision.md",
        "of every code exits with 1 where it does not hold",
        "precision ramp:d=1,length=4096 --length 4096 --dtype float16 --recipe fp32-then-cast --require ulp_margin>=1",
    ),
    (
        "docs/precision.md",
        "that is noise, and `--require injective` fails all the same",
        "precision dft:d=8 --length 9 --dtype float16 --recipe fp32 --require injective",
    ),
    ("docs/quantities.md", "`--fail-on` exits 1 when there is one", "inspect cls.npy --fail-on warning"),
)
#: Words that promise a refusal or an exit code; sentences with them are in one of the tables above, or here.
PROMISING = re.compile(
    r"\b(?:(?:is|are) refused|never opened|exits?(?: with)? (?:code )?[12]\b|exit codes?)", re.IGNORECASE
)
ELSEWHERE_PROVOKED: dict[str, tuple[str, ...]] = {
    "README.md": ("how to report",),
    "docs/reading-tables.md": ("can run code when they are read, so they are refused",),  # its console block
    "docs/models.md": (
        "In CI, over all configurations of a repository, exit 1",  # the line for CI above
        "cannot be listed is refused by name",  # tests/cli/test_audit_folders.py
        "The line that refuses them names the key and what is accepted",  # the same
        "models without a rotation are refused in one line",  # tests/cli/test_lengthening.py
    ),
    "docs/quantities.md": (
        "the exit code is 2; `verdict`",  # the refusal of damaged.json
        "Where a row does not agree, the exit code is 1",  # tests/experiment/test_rechecking.py
    ),
    "docs/choosing.md": (
        "A word where a number stands in other rows is refused",
    ),  # tests/files/test_recorded_series.py
    # tests/experiment/test_rechecking.py
    "docs/commands.md": ("It exits 1 where something differs; without a file it checks the study",),
    "docs/experiment.md": ("a wider one than the network is refused",),  # tests/experiment/test_arms.py
}


@pytest.mark.parametrize(("page", "words", "line", "message"), REFUSALS, ids=[f"{one[0]} {one[2]}" for one in REFUSALS])
def test_every_refusal_is_provoked(program, page: str, words: str, line: str, message: str) -> None:
    assert find(words, page)
    done = program(line)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\nerror: ") + done.err.startswith("error: ") == 1
    several = line == "audit damaged.json llama-3.1-8b.json"
    assert ("llama-3.1-8b.json" in done.out) is several
    assert bool(done.out) is several


@pytest.mark.parametrize(("page", "words", "line"), CHECKS, ids=[f"{one[0]} {one[2]}" for one in CHECKS])
def test_every_check_exits_with_1(program, page: str, words: str, line: str) -> None:
    assert find(words, page)
    done = program(line)
    assert done.code == 1
    assert "check failed: " in done.err
    assert done.out


@pytest.mark.parametrize("page", PAGES)
def test_no_refusal_is_promised_without_being_provoked(page: str) -> None:
    known = [words for where, words, *_ in (*REFUSALS, *CHECKS) if where == page] + list(
        ELSEWHERE_PROVOKED.get(page, ())
    )
    covered = {place for words in known for span in find(words, page) for place in span}
    prose = ELSEWHERE.sub(lambda match: " " * len(match[0]), PAGES[page])
    promised = [match.span() for match in PROMISING.finditer(prose) if match.start() not in covered]
    shown = [prose[max(0, start - 60) : end + 30] for start, end in promised]
    assert not shown, f"add the words and a command line to REFUSALS or CHECKS: {shown}"


def test_a_folder_is_read_by_its_configuration(program) -> None:
    assert find("a folder, as `model/` | its `config.json`, else its `params.json`", "docs/models.md")
    assert program("audit models/no-base/").code == 0
