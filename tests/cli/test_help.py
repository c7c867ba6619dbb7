"""Help, completion, version and citation."""

from __future__ import annotations

import re
import shlex
import sys

import pytest

from pe_spectra import __version__
from pe_spectra.cli import run_process
from tests.cli.paper import COMMANDS, DRAWING, list_options
from tests.places import ROOT

# ----------------------------------------------------------------------------------- help and the rest


def list_help_lines(cli, command, columns):
    done = cli(f"{command} --help", COLUMNS=str(columns))
    assert (done.code, done.err) == (0, "")
    text, _, examples = done.out.partition("Examples:")
    return text.splitlines(), [line.strip() for line in examples.splitlines() if line.strip()]


@pytest.mark.few(40)
@pytest.mark.parametrize("columns", [40, 59, 60, 80, 200])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_the_terminal(cli, command, columns):
    lines, _ = list_help_lines(cli, command, columns)
    assert max(len(line) for line in lines) <= columns
    # what is wrapped is the same text: no word is cut
    wide, _ = list_help_lines(cli, command, 80)
    assert "".join(lines).replace(" ", "") == "".join(wide).replace(" ", "")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_names_every_option_and_no_variable_of_its_own(cli, command):
    lines, _ = list_help_lines(cli, command, 80)
    text = "\n".join(lines)
    assert cli(f"{command} -h").out == cli(f"{command} --help").out
    for name, option, _ in list_options():
        if name == command:
            assert re.search(rf"^ +(-\w, )?{option} ", text, re.MULTILINE)
    named = [] if command else ["PE_SPECTRA_COMMAND_OPTION", "PE_SPECTRA_NO_FIGURE"]
    assert re.findall(r"PE_SPECTRA\w*", text) == named


def test_the_program_alone_shows_its_help(cli):
    done = cli("")
    assert done.code == 0
    assert done.out == cli("--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", done.out, re.MULTILINE)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=pytest.mark.slow if c in ("", "figures") else []) for c in ("", *COMMANDS)]
)
@pytest.mark.usefixtures("quick_claims", "example_files")
def test_examples_in_the_help_run(cli, tmp_path, command):
    _, examples = list_help_lines(cli, command, 80)
    assert examples
    for example in examples:
        program, *words = shlex.split(example)
        assert program == "pe-spectra"
        if "figures" in words and "--check" in words and not (tmp_path / "figures/manifest.json").exists():
            cli("figures")
        # their figures are drawn in other tests
        done = cli("", *words, *(["--no-figure"] if words[0] in DRAWING else []))
        # the claims are stand-ins, one of which differs from its record
        assert done.code == (1 if words[0] == "claims" and "--check" in words else 0), (example, done.err)
        assert done.out or words[0] in ("export", "report")


def test_version(cli):
    done = cli("--version")
    assert (done.code, done.out, done.err) == (0, f"pe-spectra {__version__}\n", "")


def parse_bibtex(text):
    """Entries of BibTeX: kind, key, and fields whose braces balance."""
    entries, rest = [], text.strip()
    while rest:
        head = re.match(r"@(\w+)\{([\w.:-]+),\s*", rest)
        assert head, rest[:50]
        rest, fields = rest[head.end() :], {}
        while not rest.startswith("}"):
            name = re.match(r"(\w+)\s*=\s*(?=\{)", rest)
            assert name, rest[:50]
            rest = rest[name.end() :]
            depth, end = 0, 0
            for letter in rest:
                depth += {"{": 1, "}": -1}.get(letter, 0)
                end += 1
                if depth == 0:
                    break
            fields[name[1].lower()] = rest[1 : end - 1]
            rest = rest[end:].lstrip(", \n")
        rest = rest[1:].lstrip()
        entries.append((head[1], head[2], fields))
    return entries


def test_cite_is_bibtex(cli):
    done = cli("--cite")
    assert (done.code, done.err) == (0, "")
    entries = parse_bibtex(done.out)
    assert [kind for kind, _, _ in entries] == ["misc", "software"]
    assert len({key for _, key, _ in entries}) == 2
    for _, _, fields in entries:
        assert {"title", "author", "year"} <= set(fields)
    assert entries[0][2]["eprint"] == "2405.09061"
    assert entries[1][2]["version"] == __version__


def test_the_script_is_the_program():
    text = (ROOT / "pyproject.toml").read_text()
    assert 'pe-spectra = "pe_spectra.cli:run_process"' in text
    assert callable(run_process)


@pytest.mark.parametrize(
    ("command", "spec"), [("precision", "sinusoidal:d=8 --length 20"), ("compare", "sinusoidal:d=8")]
)
def test_help_shows_how_to_require_two_things(cli, command, spec):
    text = " ".join(cli(f"{command} --help").out.split())
    assert "--require TEXT 'injective'" in text
    assert "give --require again for each" in text
    assert cli(f"{command} {spec} --require injective --require 'separation>=9'").code == 1


def test_help_names_every_default_length(cli):
    text = " ".join(cli("precision --help").out.split())
    assert "[80; 256 lags; 192 of calendar; all rows of a table]" in text


# ----------------------------------------------------------------------------------- words that a shell completes


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pe-spectra inspect sin", ["sinusoidal", "sincos2d"]),
        ("pe-spectra spectrum --encoding rop", ["rope", "rope-axial"]),
        ("pe-spectra spectrum --format j", ["json"]),
        ("pe-spectra spectrum --boundary x", []),
    ],
)
def test_a_shell_is_offered_the_names_that_begin_so(cli, capfd, monkeypatch, line, offered):
    # the program takes Rich away from its process, which ends with the answer; this one goes on
    monkeypatch.setitem(sys.modules, "rich", None)
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    with pytest.raises(SystemExit) as leaving:
        cli("", _PE_SPECTRA_COMPLETE="complete_bash", **words)
    assert leaving.value.code == 0
    assert capfd.readouterr().out.split() == offered
