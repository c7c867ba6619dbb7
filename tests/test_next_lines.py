"""The line `next:` of every command runs as it is printed, and is about the encodings that were asked about."""

import json
import shlex

import numpy as np
import pytest

from pe_spectra.cli.next_command import compose_command

#: Commands that take -e, and the inputs that each is tried on: a name, what is typed, and that answers for positions.
FOUR = ("spectrum", "reconstruct", "faithfulness", "count-low-bin")
INPUTS = {
    "default": "",
    "options": "--d 64 --rho 100",
    "spec": "-e rope:d=32,base=5e5",
    "several": "-e sinusoidal:d=16 dft:d=16 rope:d=16 --length 20",
    "bias": "-e alibi:heads=4 --length 40",
    "random": "-e learnable-sinusoid --d 16 --length 20",
    "table": "-e learned.npy --rows 2:18",
    "blank": "-e 'my table.npy' --length 12",
    "grid": "-e 'learned.npy?grid=4x5'",
    "tensor": "-e 'two.npz::b'",
    "reals": "-e mtan:d=16 --positions 'my pos.csv'",
    "range": "-e sinusoidal:d=64 --positions 0:30:0.5",
    "dates": "-e calendar --start 2020-02-28T00:00 --step 1d --length 30",
    "dash": "-e=-dash.npy",
}
ONLY = {
    "reals": ("spectrum", "faithfulness"),
    "range": ("spectrum", "faithfulness"),
    "random": FOUR,
    "default": FOUR,
    "options": FOUR,
    "spec": FOUR,
    "several": FOUR,
}


@pytest.fixture
def cli_on_terminal(cli, monkeypatch, tmp_path):
    """The program in a folder of tables, as it stands on a terminal."""
    for module in ("run", "screen"):
        monkeypatch.setattr(f"pe_spectra.cli.{module}.is_terminal", lambda _: True)
    random = np.random.default_rng(5)
    for name in ("learned.npy", "my table.npy", "-dash.npy"):
        np.save(tmp_path / name, random.normal(size=(20, 8)))
    np.savez(tmp_path / "two.npz", a=random.normal(size=(9, 4)), b=random.normal(size=(12, 6)))
    (tmp_path / "my pos.csv").write_text("".join(f"{n / 7}\n" for n in range(30)))
    return cli


def list_next(done):
    assert done.code == 0, done.err
    return [line.removeprefix("next: ") for line in done.err.splitlines() if line.startswith("next: ")]


def read_encodings(cli, line):
    """The encodings that a command line is about, as the JSON document has them, and how many positions."""
    done = cli(f"{line} --no-figure --json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    parts = [document] if "encoding" in document else [*document.get("spectra", ()), *document.get("panels", ())]
    parts = parts or document["rows"]
    return [json.dumps(part["encoding"]) for part in parts]


def strip_name(line):
    words = shlex.split(line)
    assert words[0] == "pe-spectra"
    return shlex.join(words[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "kind"), [(command, kind) for kind in INPUTS for command in ONLY.get(kind, FOUR[:3])]
)
def test_the_next_line_runs_and_keeps_the_encodings(cli_on_terminal, command, kind):
    line = f"{command} {INPUTS[kind]}"
    asked = read_encodings(cli_on_terminal, line)
    proposed = list_next(cli_on_terminal(f"{line} --no-figure"))
    if command == "spectrum" and "--positions" in line:
        assert proposed == []  # reconstruct takes none
        return
    then = strip_name(proposed[0])
    if (command, kind) == ("count-low-bin", "default"):
        assert then == "claims"
        return
    found = set(read_encodings(cli_on_terminal, then))
    beside = found - set(asked)
    assert set(asked) <= found
    # the paper's own comparison is with the DFT encoding
    assert not beside or (then.startswith("reconstruct") and kind in ("default", "options"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("faithfulness -e learned.npy", ["pe-spectra spectrum -e learned.npy"]),
        ("faithfulness -e 'my table.npy' --rows 1:9", ["pe-spectra spectrum -e 'my table.npy' --rows 1:9"]),
        ("faithfulness --d 64", ["pe-spectra spectrum -e sinusoidal dft --d 64"]),
        (
            "faithfulness -e mtan:d=16 --positions 'my pos.csv'",
            ["pe-spectra spectrum -e mtan:d=16 --positions 'my pos.csv'"],
        ),
        ("faithfulness -e tree --length 1", []),  # one code, which may be zero, has no spectrum
        ("spectrum", ["pe-spectra reconstruct --s 5 40 75"]),
        ("spectrum -e learned.npy -b 2 8", ["pe-spectra reconstruct -e learned.npy --bandwidth 2 8"]),
        ("spectrum --d 64 --boundary reflect", ["pe-spectra reconstruct --d 64 --boundary reflect"]),
        ("spectrum -e mtan:d=16 --positions 'my pos.csv'", []),  # reconstruct takes no real positions
        ("spectrum -e rope dft", ["pe-spectra reconstruct -e rope dft"]),
        ("reconstruct", ["pe-spectra reconstruct --bandwidth 0.25 1 4 16 64"]),
        (
            "reconstruct -e learned.npy --s 3",
            ["pe-spectra reconstruct -e learned.npy --s 3 --bandwidth 0.25 1 4 16 64"],
        ),
        ("reconstruct -e rope --s 40 --bandwidth 0.25 1 4 16 64", ["pe-spectra faithfulness -e rope"]),
        ("reconstruct -e dft --d 90", ["pe-spectra faithfulness -e dft --d 90"]),  # no bandwidth enters
        ("count-low-bin", ["pe-spectra claims"]),
        (
            "count-low-bin -e dft --d 8 16",
            ["pe-spectra spectrum -e dft:d=8 dft:d=16"],
        ),
        ("count-low-bin -e dft --d 8 8 --length 9", ["pe-spectra spectrum -e dft:d=8"]),
    ],
)
def test_next_lines(cli_on_terminal, line, expected):
    proposed = list_next(cli_on_terminal(f"{line} --no-figure"))
    assert [" ".join(one.split()) for one in proposed] == expected


def test_what_would_be_refused_as_too_much_is_not_proposed(cli_on_terminal, monkeypatch):
    line, sweep = "spectrum -e rope:d=64", "reconstruct -e rope:d=64 --s 3"
    monkeypatch.setattr("pe_spectra.cli.next_command.MAX_PRINTED_NUMBERS", 192)
    assert list_next(cli_on_terminal(f"{line} --no-figure")) == ["pe-spectra reconstruct -e rope:d=64"]
    assert list_next(cli_on_terminal(f"{sweep} --no-figure")) == ["pe-spectra faithfulness -e rope:d=64"]
    monkeypatch.setattr("pe_spectra.cli.next_command.MAX_PRINTED_NUMBERS", 191)
    assert list_next(cli_on_terminal(f"{line} --no-figure")) == []
    monkeypatch.setattr("pe_spectra.cli.inputs.MAX_STREAMED_ENTRIES", 1)
    assert list_next(cli_on_terminal(f"{sweep} --no-figure")) == []
    monkeypatch.setattr("pe_spectra.cli.next_command.MAX_PRINTED_NUMBERS", 1)
    assert list_next(cli_on_terminal("count-low-bin --d 64 --no-figure")) == []


def test_figures_are_checked_where_they_were_written(cli_on_terminal, monkeypatch):
    monkeypatch.setattr("pe_spectra.figures.build_figures", lambda **_: {"a.csv": b"1\n"})
    assert list_next(cli_on_terminal("figures --output 'my place' --grid 64")) == [
        "pe-spectra figures --check --output 'my place' --grid 64"
    ]
    assert list_next(cli_on_terminal("figures")) == ["pe-spectra figures --check"]


def test_what_was_set_elsewhere_is_kept(cli_on_terminal, tmp_path):
    (tmp_path / "s.toml").write_text("d = 32\n")
    done = cli_on_terminal("faithfulness -e rope --no-figure --settings s.toml", PE_SPECTRA_FAITHFULNESS_LENGTH="9")
    assert list_next(done) == ["pe-spectra spectrum -e rope --d 32 --length 9"]


@pytest.mark.parametrize("name", ["a\nb.npy", "a\x1bb.npy", "a\\b.npy", "a\u202eb.npy"])
def test_a_line_that_could_not_be_printed_as_it_is_is_none(name):
    assert compose_command("spectrum", {"encoding": [name]}) == ""


def test_every_value_comes_back_from_the_shell():
    values = ["$(touch made)", "a b", "-x.npy", "it's", "~/a.npy", "*"]
    words = shlex.split(compose_command("spectrum", {"encoding": values, "d": "4", "rho": None, "full": False}))
    assert words == [
        "pe-spectra",
        "spectrum",
        "-e",
        "$(touch made)",
        "a b",
        "-e=-x.npy",
        "it's",
        "~/a.npy",
        "*",
        "--d",
        "4",
    ]


# ----------------------------------------------------------------------------------- other hints


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("faithfulness learned.npy", "unexpected argument (learned.npy); give it with -e: -e learned.npy"),
        ("faithfulness --length 9 'my t.npy'", "give it with -e: -e 'my t.npy'"),
        ("spectrum rope:d=8", "give it with -e: -e rope:d=8"),
        ("spectrum gauss", "unexpected argument (gauss); this command takes options only"),
        ("figures learned.npy", "unexpected argument (learned.npy); this command takes options only"),
        ("precision -e sinusoidal", "no such option (-e); give the SPEC without -e"),
        ("precision -esinusoidal", "give the SPEC without -e"),
        ("inspect --encoding=a.npy", "no such option (--encoding); give the SPEC without -e"),
        ("compare rope -e dft", "give the SPEC without -e"),
        ("claims -e rope", "no such option (-e); accepted: "),
    ],
)
def test_a_spec_in_the_wrong_place(refuse, line, words):
    assert words in refuse(line)


QUIET = "spectrum -e rope:d=4 --no-figure"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("PE_SPECTRA_SPECTRUM_RHOO", "; did you mean PE_SPECTRA_SPECTRUM_RHO?"),
        ("PE_SPECTRA_SPECTRM_D", "; did you mean PE_SPECTRA_SPECTRUM_D?"),
        ("PE_SPECTRA_HOME", ""),
    ],
)
def test_a_variable_that_sets_nothing_is_noted(cli, name, hint):
    plain = cli(QUIET)
    done = cli(QUIET, **{name: "5"})
    assert done.out == plain.out
    assert done.err == f"note: {name} is not known and sets nothing{hint}\n{plain.err}"
    assert cli(f"{QUIET} --quiet", **{name: "5"}).err == ""
    assert cli("export rope:d=4 --what frequencies --output -", **{name: "5"}).err.startswith(f"note: {name}") is (
        "SPECTRUM_" not in name
    )


@pytest.mark.parametrize(
    "name", ["PE_SPECTRA_DEBUG", "PE_SPECTRA_RECONSTRUCT_FOO", "PE_SPECTRA_SPECTRUM_RHO", "PE_SPECTRUM_RHO"]
)
def test_other_variables_are_left_alone(cli, name):
    plain = cli("spectrum --no-figure --d 4 --rho 5").err
    assert cli("spectrum --no-figure --d 4 --rho 5", **{name: "5"}).err == plain
    assert cli("spectrum --no-figure --d 4 --rho 5", PE_SPECTRA_SPECTRUM_RHOO="").err == plain


def test_real_positions_are_named_as_such(cli, tmp_path):
    (tmp_path / "pos.csv").write_text("".join(f"{n / 7}\n" for n in range(30)))
    line = "faithfulness -e sinusoidal:d=64 --no-figure"
    assert "Injective on these 30 positions: " in cli(f"{line} --positions pos.csv").out
    assert "Injective on this one position: " in cli(f"{line} --positions 0:1:1").out
    assert "Injective on 0 .. 29: " in cli(f"{line} --length 30").out
