"""Names from files are only shown: none steers a terminal, forges a row, or is run as a formula or command."""

import contextlib
import csv
import io
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
import xml.etree.ElementTree as ElementTree
from fcntl import ioctl
from pathlib import Path

import pytest

from tests.program.damage_judge import find_controls
from tests.program.hostile_files import (
    ALL,
    CONFIGURATIONS,
    CONTENTS,
    LLAMA,
    name_file,
    pack_gguf,
    pack_member,
    pack_tensors,
)

#: Escapes that the program itself writes for colours: attributes and the eight first colours, never a background.
OURS = re.compile(r"\x1b\[(?:[0-2]|22|3[0-7])(?:;(?:[0-2]|22|3[0-7]))*m")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_FORMATS = (["--format", "table"], ["--color", "always", "--full"], ["--format", "csv"], ["--json"])
_BEGINNINGS = ("note: ", "error: ", "wrote ", "next: ", "check failed: ")

TABLES = {
    "spectrum": ["spectrum", "-e", "SPEC", "--no-figure"],
    "reconstruct": ["reconstruct", "-e", "SPEC", "--s", "1", "--no-figure"],
    "faithfulness": ["faithfulness", "-e", "SPEC", "--no-figure"],
    "inspect": ["inspect", "SPEC"],
    "compare": ["compare", "SPEC", "alibi"],
    "precision": ["precision", "SPEC", "--dtype", "bfloat16"],
    "diff": ["diff", "SPEC", "SPEC"],
    "encodings": ["encodings", "learned:table='SPEC'"],
}
#: Commands whose answers do not name the tensor.
NAMELESS = ("diff", "encodings")
MODELS = {
    "audit": ["audit", "SPEC"],
    "audit of two": ["audit", "SPEC", "plain.json", "missing.json"],
    "diff": ["diff", "SPEC", "plain.json"],
    "diff of stacks": ["diff", "SPEC", "--all-stacks"],
    "context": ["context", "SPEC", "--target", "131072"],
    "inspect": ["inspect", "SPEC"],
    "faithfulness": ["faithfulness", "-e", "SPEC", "--no-figure"],
}


#: All of it together at every run, each by itself in the long one.
each_content = pytest.mark.parametrize(
    "what", ["all", *(pytest.param(what, marks=pytest.mark.long) for what in CONTENTS)]
)


def check_line_free(text, allowed=""):
    found = find_controls(text.replace("\n", ""))
    assert not set(found) - set(allowed), repr(text[:2000])


def check_streams(done, form):
    """Demand of any run that nothing but its own text reaches the streams; give what stdout holds."""
    assert done.code in (0, 2), done
    assert "internal fault" not in done.err, done.err
    check_line_free(done.err)
    for line in done.err.splitlines():
        assert line.startswith(_BEGINNINGS), line
    if "--json" in form:
        check_line_free(done.out)
        return json.loads(done.out, parse_constant=pytest.fail) if done.out else None
    if "csv" in form:
        return check_csv(done.out)
    text = OURS.sub("", done.out) if "always" in form else done.out
    check_line_free(text, allowed="" if "always" in form else "\t")
    return text


def check_csv(text):
    check_line_free(text)
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    for row in rows:
        assert len(row) == len(rows[0])
        for cell in row:
            if cell.startswith(_FORMULA):
                float(cell)
    return rows


def collect_texts(document):
    """Give every text in a document, keys too."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield key
            yield from collect_texts(value)
    elif isinstance(document, list):
        for value in document:
            yield from collect_texts(value)
    elif isinstance(document, str):
        yield document


def run_all(cli, commands, spec, name, forms=_FORMATS):
    """Run each command in each format; JSON holds the whole name wherever it holds a part of the answer."""
    for command, words in commands.items():
        for form in forms:
            done = cli("", *(word.replace("SPEC", spec) for word in words), *form)
            found = check_streams(done, form)
            if name and "--json" in form and done.code == 0 and command not in NAMELESS:
                assert any(name in text for text in collect_texts(found)), (command, done.out[:1000])
            yield command, form, done, found


def run_both(cli, commands, write, name):
    """Run on the same file with a hostile and with a plain name: the answers have equally many rows and cells."""
    found = []
    for one in (name, "plain"):
        spec = write(one)
        found.append([result[:2] + result[3:] for result in run_all(cli, commands, spec, one)])
    for (command, form, hostile), (_, _, plain) in zip(*found, strict=True):
        if "csv" in form:
            assert [len(row) for row in hostile] == [len(row) for row in plain], command
        elif "table" in form:
            assert hostile.count("\n") == plain.count("\n"), command
        elif "--json" in form:
            assert count_members(hostile) == count_members(plain), command


def count_members(document):
    if isinstance(document, dict):
        return sum(1 + count_members(value) for value in document.values())
    return sum(1 + count_members(value) for value in document) if isinstance(document, list) else 0


@pytest.fixture
def plain_files(cli):
    """A plain configuration beside the hostile one, in the working directory."""
    Path("plain.json").write_text(json.dumps(LLAMA))
    return cli


def write_tensor(name):
    Path("t.safetensors").write_bytes(pack_tensors(name))
    return "t.safetensors"


def write_member(name):
    Path("t.npz").write_bytes(pack_member(name))
    return "t.npz"


def write_named(name):
    path = name_file(name, ".csv")
    Path(path).write_text("".join(f"{i},{i * i % 7},{-i}\n" for i in range(1, 13)))
    return path


# ----------------------------------------------------------------------------------- tables


@pytest.mark.slow
def test_the_name_of_a_tensor(cli):
    run_both(cli, {name: TABLES[name] for name in ("inspect", "compare", "faithfulness")}, write_tensor, ALL)


@pytest.mark.slow
def test_the_name_of_a_member(cli):
    run_both(cli, {"inspect": TABLES["inspect"]}, write_member, ALL.replace("/", "|"))


def test_the_name_of_a_file(cli):
    run_both(cli, {"diff": TABLES["diff"]}, write_named, ALL.replace("/", "|"))


@pytest.mark.slow
@pytest.mark.parametrize("command", TABLES)
def test_any_command_about_a_table(cli, command):
    run_both(cli, {command: TABLES[command]}, write_tensor, ALL)


@pytest.mark.slow
@pytest.mark.parametrize("what", CONTENTS)
@pytest.mark.parametrize("write", [write_tensor, write_member, write_named])
def test_any_name_of_a_table(cli, what, write):
    name = CONTENTS[what]
    if (write is write_named and name_file(name, ".csv") is None) or (write is write_member and "\udc80" in name):
        with pytest.raises((OSError, TypeError, UnicodeError)):  # there is no such name
            write(name)
        return
    chosen = {command: TABLES[command] for command in ("inspect", "diff")}
    for _ in run_all(cli, chosen, write(name), name if write is write_named else None):
        pass


@each_content
def test_tensors_to_choose_from_are_listed(refuse, what):
    name = CONTENTS.get(what, ALL)
    Path("t.safetensors").write_bytes(pack_tensors(name, "b", "c"))
    for text in (refuse("inspect t.safetensors"), refuse("inspect t.safetensors::missing")):
        check_line_free(text)
        assert len(text) < 3000
        if name.isprintable() and "\\" not in name and len(name) < 100:
            assert f"{name} (12 x 6)" in text


def test_what_is_exported_says_whose_it_is(cli):
    spec = write_tensor(ALL)
    done = cli("export", spec, "--output", "-")
    assert done.code == 0
    check_csv(done.out)
    assert cli("export", spec, "--output", "o.safetensors").code == 0
    again = cli("inspect o.safetensors --json")
    json.loads(again.out, parse_constant=pytest.fail)


@pytest.mark.few(1)
@pytest.mark.parametrize("line", [b"position,\x1b[31m\n", b'"a\tb","[/red]"\n'])
def test_headers_of_texts_are_not_run(cli, line):
    Path("t.csv").write_bytes(line + b"1,2\n3,5\n4,4\n")
    for _ in run_all(cli, {"inspect": TABLES["inspect"]}, "t.csv", None):
        pass


# ----------------------------------------------------------------------------------- models


@pytest.mark.few(5)
@pytest.mark.parametrize("where", CONFIGURATIONS)
def test_a_configuration(plain_files, where):
    Path("m.json").write_bytes(CONFIGURATIONS[where](ALL))
    forms = _FORMATS if where == "layer types" else _FORMATS[1:2]
    for _ in run_all(plain_files, {"audit": MODELS["audit"]}, "m.json", None, forms):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("where", CONFIGURATIONS)
@pytest.mark.parametrize("what", CONTENTS)
def test_any_configuration(plain_files, where, what):
    Path("m.json").write_bytes(CONFIGURATIONS[where](CONTENTS[what]))
    for _ in run_all(plain_files, {"audit": MODELS["audit of two"]}, "m.json", None, _FORMATS[1:3]):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("command", MODELS)
def test_any_command_about_a_model(plain_files, command):
    for where in CONFIGURATIONS:
        Path("m.json").write_bytes(CONFIGURATIONS[where](ALL))
        for _ in run_all(plain_files, {command: MODELS[command]}, "m.json", None):
            pass


def test_a_column_is_named_by_a_file(plain_files):
    """The types of layers are columns where implementations are compared."""
    Path("m.json").write_bytes(CONFIGURATIONS["layer types"](ALL))
    for _, form, done, found in run_all(plain_files, {"diff": MODELS["diff of stacks"]}, "m.json", None, _FORMATS[:3]):
        assert done.code == 0
        if "csv" in form:
            assert any("[/red]" in cell for cell in found[0])


@pytest.mark.parametrize("key", ["general.architecture", "general.name", "[5;45m\x1b\n", "llama.rope.scaling.type"])
def test_a_gguf_file(plain_files, key):
    Path("m.gguf").write_bytes(pack_gguf(**{key: ALL}))
    for _ in run_all(plain_files, {"audit": MODELS["audit"]}, "m.gguf", None, (["--color", "always"], ["--json"])):
        pass


def test_a_file_of_a_model(plain_files):
    path = name_file(ALL.replace("/", "|"), ".json")
    Path(path).write_text(json.dumps(LLAMA))
    for _ in run_all(plain_files, {"audit of two": MODELS["audit of two"]}, path, None):
        pass


@each_content
def test_an_index_of_shards(refuse, what):
    name = CONTENTS.get(what, ALL)
    for place in ({"x.wpe.weight": name}, {name: "x.safetensors", "b": "x.safetensors"}):
        Path("a.index.json").write_text(json.dumps({"weight_map": place}))
        check_line_free(refuse("inspect a.index.json"))


# ----------------------------------------------------------------------------------- messages


@each_content
def test_what_was_typed_is_repeated_safely(refuse, what):
    name = CONTENTS.get(what, ALL)
    lines = [["inspect", f"rope:d={name}"], ["inspect", f"rope:{name}=1"], ["inspect", f"./{name}.npz"]]
    lines += [
        ["audit", f"./{name}/missing"],
        ["spectrum", "-e", f"./t.csv::{name}"],
        ["spectrum", "--output", f"{name}/"],
    ]
    lines += [["inspect", f"t.npy?{name}=1"], ["compare", "alibi", "--sort", name or "x"]]
    for words in lines:
        check_line_free(refuse("", *words))


@each_content
def test_settings_are_named_safely(refuse, what):
    name = CONTENTS.get(what, ALL)
    quoted = json.dumps(name.encode("utf-8", "replace").decode()).replace("\\ud", "x")
    for text in (f"{quoted} = 1\n", f"format = {quoted}\n", f"[spectrum]\n{quoted} = 1\n", f"d = [{quoted}]\n"):
        Path("s.toml").write_text(text)
        check_line_free(refuse("spectrum --no-figure --settings s.toml"))


def test_a_trace_on_request_is_safe(cli):
    done = cli("", "inspect", f"./{ALL}.npy", PE_SPECTRA_DEBUG="1")
    assert "Traceback" in done.err
    check_line_free(done.err)


@pytest.mark.parametrize(
    "command",
    [
        "inspect",
        "encodings",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("compare", "precision", "spectrum")),
    ],
)
def test_a_hint_runs_nothing(cli, monkeypatch, command):
    """Who copies the command that a hint proposes runs that command and no other."""
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)
    spec = write_named("$(touch made);`touch made` &b")
    done = cli("", *(word.replace("SPEC", spec) for word in TABLES[command]))
    assert done.code == 0, done.err
    hints = [line.removeprefix("next: ") for line in done.err.splitlines() if line.startswith("next: ")]
    assert len(hints) == 1
    assert "--explain" in hints[0] or spec in shlex.split(hints[0])


# ----------------------------------------------------------------------------------- figures


def check_svg(path):
    text = path.read_text(encoding="utf-8")
    check_line_free(text.replace("\r", ""))
    for element in ElementTree.fromstring(text).iter():
        tag = str(element.tag).rpartition("}")[2]
        assert tag not in ("script", "a", "b", "foreignObject")
        links = [value for key, value in element.items() if key.endswith("href")]
        assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)
    return text


@pytest.fixture
def parsed(monkeypatch):
    """The texts that were drawn as mathematics."""
    from matplotlib.mathtext import MathTextParser

    seen = []
    parse = MathTextParser.parse

    def record(self, text, *rest, **options):
        seen.append(text)
        return parse(self, text, *rest, **options)

    monkeypatch.setattr(MathTextParser, "parse", record)
    return seen


FIGURES = {
    "spectrum": ["spectrum", "-e", "SPEC"],
    "reconstruct": ["reconstruct", "-e", "SPEC", "--s", "1"],
    "faithfulness": ["faithfulness", "-e", "SPEC"],
    "inspect": ["inspect", "SPEC"],
    "compare": ["compare", "SPEC", "alibi"],
    "precision": ["precision", "SPEC", "--dtype", "bfloat16"],
}


def draw(cli, command, write, name, parsed):
    spec = write(name)
    done = cli("", *(word.replace("SPEC", spec) for word in FIGURES[command]), "--figure", "f.svg", "--json")
    check_streams(done, ["--json"])
    assert done.code == 0, done.err
    check_svg(Path("f.svg"))
    assert not [text for text in parsed if "frac" in text or "alpha" in text]


def test_a_figure(cli, parsed):
    draw(cli, "faithfulness", write_tensor, ALL[-60:], parsed)


@pytest.mark.slow
@pytest.mark.parametrize("command", FIGURES)
def test_any_figure(cli, parsed, command):
    names = (
        CONTENTS
        if command == "faithfulness"
        else ("colour", "surrogate", "mathematics", "half mathematics", "XML", "long")
    )
    for what in names:
        draw(cli, command, write_tensor, CONTENTS[what], parsed)


@pytest.mark.few(2)
@pytest.mark.parametrize("where", ["name", "rope_type", "layer parameters"])
def test_figures_of_models(plain_files, parsed, where):
    Path("m.json").write_bytes(CONFIGURATIONS[where](r"$\frac{1}{2}$<b>" + "\x1b\u202e[/red]"))
    done = plain_files("audit m.json --figure f.svg --json")
    check_streams(done, ["--json"])
    assert done.code == (2 if where == "rope_type" else 0)
    if done.code == 0:
        check_svg(Path("f.svg"))
    assert not [text for text in parsed if "frac" in text]


# ----------------------------------------------------------------------------------- a real terminal


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", ["all", "colour", "erased line", "overrides", "markup", "emoji", "long hostile", "surrogate"]
)
@pytest.mark.parametrize("command", ["inspect", "faithfulness", "audit"])
def test_a_terminal_is_not_steered(tmp_path, monkeypatch, what, command):
    monkeypatch.chdir(tmp_path)
    name = CONTENTS.get(what, ALL)
    Path("m.json").write_bytes(CONFIGURATIONS["layer types"](name))
    words = {**TABLES, **MODELS}[command] if command != "audit" else MODELS["audit"]
    spec = "m.json" if command == "audit" else write_tensor(name)
    shown = watch_terminal([*(word.replace("SPEC", spec) for word in words), "-q"])  # no progress of our own
    assert "\x1b[" in shown  # it is a terminal: there are colours
    check_line_free(OURS.sub("", shown))
    kept = {"markup": "[link=http://a.b]c[/link]", "emoji": ":smile:"}.get(what, "")
    assert command == "audit" or kept in shown


def watch_terminal(arguments):
    """Run the program on a terminal of 100 columns, both streams; give what it shows."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "pe_spectra", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        env={**environment, "TERM": "xterm", "PYTHONUTF8": "1"},
    )
    os.close(follower)
    chunks = []
    with contextlib.suppress(OSError):  # Linux says so where the other end is closed
        while chunk := os.read(leader, 65536):
            chunks.append(chunk)
    os.close(leader)
    assert process.wait() in (0, 2)
    return b"".join(chunks).decode().replace("\r\n", "\n")


# ----------------------------------------------------------------------------------- these tests are awake


def unescaped(text, limit=None):
    return text


@pytest.mark.parametrize(
    ("place", "form"),
    [
        ("pe_spectra.cli.render.escape", ["--format", "table"]),
        ("pe_spectra.cli.render.escape", ["--color", "always", "--full"]),
        ("pe_spectra.cli.render.guard_cell", ["--format", "csv"]),
        ("pe_spectra.cli.terminal.escape", None),
        ("pe_spectra.cli.program.escape", ["--output", "o.json"]),
    ],
)
def test_without_escapes_these_tests_fail(cli, monkeypatch, place, form):
    monkeypatch.setattr(place, unescaped)
    spec = write_tensor("\x1b[5;45m") if form is not None else "./\x1b[5;45m.npy"
    done = cli("", "faithfulness", "-e", spec, "--no-figure", *(form or []))
    if form == ["--output", "o.json"]:
        done = cli("", "inspect", spec, "--output", "\x1b.json")
    with pytest.raises(AssertionError):
        check_streams(done, form or [])


def test_a_formula_a_forged_row_and_mathematics_would_be_seen(cli, monkeypatch, parsed):
    with pytest.raises((AssertionError, ValueError)):
        check_csv("encoding,d\n=1+1,2\n")
    with pytest.raises(AssertionError):
        check_csv("encoding,d\na\n,2\n")
    monkeypatch.setattr("pe_spectra.plots.distances.escape_text", lambda text: text)
    with pytest.raises(AssertionError):
        draw(cli, "faithfulness", write_tensor, r"$\frac{1}{2}$", parsed)
