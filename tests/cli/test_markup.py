"""Answers as documents: Markdown, LaTeX and HTML of every command, in which no name becomes markup or a command."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pe_spectra.answers.answer import Answer, Body, Verdict
from pe_spectra.cli.commands import COMMANDS
from pe_spectra.cli.markup import WRITERS, _let_break, write_document
from pe_spectra.cli.terminal import escape
from pe_spectra.faces import escape_markdown
from pe_spectra.latex import _LATEX, define_lacked, escape_latex, write_latex
from pe_spectra.vocabulary import FORMATS
from tests.cli.paper import COMMANDS as NAMES
from tests.cli.paper import DRAWING, list_options
from tests.documents import read_csv
from tests.program.hostile_files import ALL, CONTENTS

#: What a document of ours is made of, in Markdown as its parser calls it.
TAGS = {"html", "head", "meta", "title", "body", "p", "dl", "dt", "dd", "table", "tr", "th", "td"}
BLOCKS = {"paragraph", "inline", "bullet_list", "list_item", "table", "thead", "tbody", "tr", "th", "td"}
INLINE = {"text", "text_special", "code_inline"}
#: What sites look for in a text that is no code.
LINKED = re.compile(r"@\S|://|#\d|www\.|gh-\d", re.IGNORECASE)
ANSWERING = tuple(name for name, option, _ in list_options() if option == "--format")
TEXTS = {
    **CONTENTS,
    "all": ALL,
    "LaTeX": r"\end{tabular}\input{/etc/passwd}%",
    "HTML": "<!-- x <script y",
    "line": "\\\\[1cm] *x* [y](z) __i__",
    "mention": "@name, (@a/team) me@b.org |@c|`d` `@e",
    "address": "https://a_b.org/<x>&y WWW.c.org|d ftp://$e$ #17 a/b#17 GH-17",
}


class Page(HTMLParser):
    """An HTML page whose elements are closed, and its texts by the name of their element."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS
        assert dict(attrs) in ({}, {"lang": "en"}, {"charset": "utf-8"})
        if tag != "meta":
            self.open.append(tag)
            self.texts.append((tag, ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            tag, before = self.texts[-1]
            assert tag == self.open[-1]
            self.texts[-1] = tag, before + data

    def handle_comment(self, data):
        pytest.fail(data)

    def unknown_decl(self, data):
        pytest.fail(data)


def read_page(text):
    """Rows of cells, and what stands beside them."""
    assert text.startswith("<!DOCTYPE html>\n")
    page = Page(text)
    cells = [one for tag, one in page.texts if tag in ("th", "td")]
    beside = [f"{one}: " if tag == "dt" else f"{one}\0" for tag, one in page.texts if tag in ("p", "dt", "dd")]
    return cells, "".join(beside).split("\0")[:-1]


def read_markdown(text):
    """Cells, and what stands beside them; nothing else than text is within them."""
    cells, beside, in_cell = [], [], False
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        assert token.type.removesuffix("_open").removesuffix("_close") in BLOCKS, token
        in_cell = token.type in ("th_open", "td_open") or (in_cell and token.type == "inline")
        if token.type == "inline":
            assert {one.type for one in token.children} <= INLINE, token
            assert not any(LINKED.search(one.content) for one in token.children if one.type == "text"), token
            (cells if in_cell else beside).append("".join(one.content for one in token.children))
    return cells, beside


def compile_latex(folder, *parts, engine="pdflatex"):
    """Run LaTeX on the parts of a document, where it is installed."""
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    body = "\n\n\\clearpage\n".join(parts)
    head = "\\documentclass{article}\n\\usepackage{booktabs,longtable}\n\\begin{document}\n"
    (folder / "all.tex").write_text(f"{head}{body}\n\\end{{document}}\n", encoding="utf-8")
    line = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "all.pdf").stat().st_size > 1000


def make_answer(text, **more):
    verdict = Verdict(level="ok", code="made", text=text)
    return Answer(body=Body(), verdict=verdict, facts=[(text, text)], table={text: [text, 1.5]}, last=text, **more)


# ----------------------------------------------------------------------------------- every command


def test_every_form_has_its_writer():
    assert set(FORMATS) == {"table", "json", "csv", *WRITERS}
    assert set(ANSWERING) == {name for name in NAMES if "format" in COMMANDS[name].data}


@pytest.mark.few(3)
@pytest.mark.parametrize("command", ANSWERING)
@pytest.mark.usefixtures("quick_claims", "example_files")
def test_examples_in_every_form(cli, tmp_path, command):
    latex = []
    for example in COMMANDS[command].examples:
        words = [word for word in shlex.split(example)[1:] if word not in ("--json", "--check")]
        if command in DRAWING:
            words.append("--no-figure")
        found = {form: cli("", *words, "--format", form) for form in WRITERS}
        first, *others = cli("", *words, "--format", "table").out.splitlines()
        for done in found.values():
            assert done.code in (0, 1), done.err
            assert done.out.endswith("\n")
            assert not done.out.endswith("\n\n")
        cells, beside = read_page(found["html"].out)
        assert read_markdown(found["markdown"].out) == (cells, beside)
        assert beside[0] == first
        assert escape_latex(first) in found["latex"].out
        rows = sum("\t" in line for line in others)  # one with the names
        assert found["markdown"].out.count("\n| ") == rows
        assert (len(cells) % rows == 0) if rows else not cells
        latex.append(found["latex"].out)
    compile_latex(tmp_path, *latex)


def test_columns_and_details_that_a_terminal_leaves_out_are_those_of_full(cli):
    line = "compare sinusoidal:d=8 dft:d=8 --length 12 --format markdown"
    short, whole = cli(line).out, cli(f"{line} --full").out
    names = list(read_csv(cli("compare sinusoidal:d=8 dft:d=8 --length 12 --format csv").out)[0])
    assert set(read_markdown(whole)[0]) > set(names) > {one for one in read_markdown(short)[0] if one in names}
    assert len(whole.split("\n- ")) >= len(short.split("\n- "))


def test_a_file_has_the_form_of_its_ending(cli, tmp_path):
    for name, form in (("a.md", "markdown"), ("a.tex", "latex"), ("a.HTML", "html")):
        assert cli(f"count-low-bin --d 8 --output {name}").err.endswith(f"wrote {name}\n")
        assert (tmp_path / name).read_text() == cli(f"count-low-bin --d 8 --format {form}").out


def test_two_forms_are_refused(refuse):
    assert refuse("count-low-bin --json --format latex") == (
        "--json and --format contradict each other (latex); one of them"
    )
    said = refuse("count-low-bin --format latex --output a.md")
    assert said == "--output contradicts the format (a.md and latex); markdown, or another ending"
    assert refuse("count-low-bin --format xml") == f"--format is not known (xml); accepted: {', '.join(FORMATS)}"


# ----------------------------------------------------------------------------------- hostile names


@pytest.mark.parametrize("what", TEXTS)
def test_names_are_text_in_every_document(what):
    answer, shown = make_answer(TEXTS[what]), escape(TEXTS[what])
    said, cells = [shown, f"{shown}: {shown}", shown], [shown, shown, "1.5"]
    if shown.strip():
        assert read_page(write_document(answer, "html", full=False)) == (cells, said)
        assert read_markdown(write_document(answer, "markdown", full=False)) == (cells, said)
    text = write_document(answer, "latex", full=False)
    assert r"\input" not in text
    assert re.sub(r"\\lacked\{.\}", "", text).isascii()


def test_hostile_names_compile(tmp_path):
    compile_latex(tmp_path, *(write_document(make_answer(text), "latex", full=False) for text in TEXTS.values()))


def test_a_hostile_file_name(cli, tmp_path):
    name = "<b>|*a*_b_ $x$ \\input{y} %.json"
    (tmp_path / name).write_text('{"model_type": "llama", "head_dim": 8}')
    (tmp_path / "plain.json").write_text('{"model_type": "llama", "head_dim": 8}')
    shown = escape(name)
    for form, read in (("html", read_page), ("markdown", read_markdown)):
        assert shown in read(cli("", "audit", name, "plain.json", "--format", form).out)[0]
    compile_latex(tmp_path, cli("", "audit", name, "plain.json", "--format", "latex").out)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f"), min_size=1))
def test_markdown_shows_any_text_as_it_is(text):
    safe = escape(text).strip()
    cells, beside = read_markdown(escape_markdown(safe, starts=True))
    assert (cells, "".join(beside)) == ([], safe)


def test_a_second_table_is_in_every_form(cli):
    line = "compare sinusoidal:d=8 dft:d=8 --length 12 --step 1h --periods 6h --quiet --format"
    named = {form: cli(f"{line} {form}").out for form in WRITERS}
    first, second = named["markdown"].split("| encoding |")[1:]
    assert "| ratio" not in first
    assert second.startswith(" period | lag | ratio |")
    assert read_page(named["html"])[0].count("encoding") == 2
    assert len(read_page(named["html"])[0]) == len(read_markdown(named["markdown"])[0])
    assert named["latex"].count(r"\toprule") >= 2
    assert "encoding & period & lag & ratio" in named["latex"]


# ----------------------------------------------------------------------------------- numbers in LaTeX


def test_long_words_of_facts_may_be_continued_in_latex():
    said = "the spec is hybrid:of=sinusoidal:d=248,scale=1 and no more"
    text = _let_break(said)
    assert text.startswith("the spec is hybrid:\\allowbreak\nof=\\allowbreak\nsinusoidal:")
    assert text.endswith(" and no more")
    assert text.replace("\\allowbreak\n", "") == escape_latex(said)
    assert "allowbreak" not in _let_break("words of a sentence, a=1")


def test_numbers_in_latex_are_those_of_the_table():
    numbers = [-0.5, 1e-12, -2.5e300, None, 7, 1234567.0, True]
    text = write_latex({"x": numbers}, 4)
    rows = text.split("\\midrule\n")[1].split(" \\\\\n")[:-1]
    assert rows == ["$-0.5$", r"$1 \times 10^{-12}$", r"$-2.5 \times 10^{300}$", "-", "7", "1234567", "yes"]


def test_a_long_table_continues_on_further_pages(tmp_path):
    rows = {
        "n": list(range(200)),
        "text": ["a sentence that is longer than what is left of a line by a column of names"] * 200,
    }
    text = write_latex(rows, caption="200 rows")
    assert text.startswith("\\begin{longtable}{rp{0.85\\linewidth}}\n\\caption{200 rows} \\\\\n\\toprule\n")
    assert "\\begin{table}\n\\caption{x}\n" in write_latex({"n": [1]}, caption="x")
    compile_latex(tmp_path, text)


def compile_widely(folder, text):
    """Compile a table; nothing of it stands beyond the margin. Give what the page shows."""
    compile_latex(folder, text)
    log = (folder / "all.log").read_text(errors="replace")
    assert not re.findall(r"Overfull .hbox \((\d\d+\.\d+pt) too wide", log)
    if shutil.which("pdftotext") is None:
        return ""
    line = ["pdftotext", "-layout", "all.pdf", "-"]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.parametrize("rows", [3, 60])
def test_a_wide_table_stays_on_its_page(tmp_path, rows):
    """Twelve columns: parted where they do not fit, and each part has the names of the rows."""
    names = [f"kernel_half_width_{chr(ord('a') + number)}" for number in range(10)]
    columns = {
        "encoding": [f"sinusoidal d={n} rho=10000" for n in range(rows)],
        **{name: [-1.5e-10 * (n + 1) for n in range(rows)] for name in names},
        "notes": ["a sentence that is longer than a column of names may be, models/meta-llama/Llama-3.1-8B/it"] * rows,
    }
    text = write_latex(columns, caption="wide")
    assert text.count(r"\caption") == 1
    tables = text.count(r"\toprule")
    assert tables > 1
    assert text.count("sinusoidal") == rows * tables
    assert text.count(r"\times") == rows * len(names)
    assert text.count("a sentence") == rows
    compile_widely(tmp_path, text)


@pytest.mark.usefixtures("example_files")
def test_wide_answers_stay_on_their_page(cli, tmp_path):
    for number, line in enumerate(("compare sinusoidal:d=16 dft:d=16 rope:d=16 --length 16", "audit config.json")):
        (tmp_path / str(number)).mkdir()
        text = cli(f"{line} --full --no-figure --format latex").out
        table = text[text.index(r"\begin{") : text.rindex(r"\begin{description}")]
        compile_widely(tmp_path / str(number), table)


def test_a_table_that_fits_is_not_parted():
    columns = {"encoding": ["dft"], "kernel_half_width": [1.5], "share": [2.0]}
    assert write_latex(columns, caption="x") == (
        "\\begin{table}\n\\caption{x}\n\\centering\n" + write_latex(columns) + "\n\\end{table}"
    )


def test_letters_beyond_ascii(tmp_path):
    assert escape_latex("Fejér, Müller, Erdős, Łódź, ế") == (
        r"Fej\'{e}r, M\"{u}ller, Erd\H{o}s, \L{}\'{o}d\'{z}, \'{\^{e}}"
    )
    assert escape_latex("Straße, e\u0301") == r"Stra\ss{}e, \'{e}"
    assert escape_latex("π ≤ 2 Α ² →") == r"$\pi$ $\leq$ 2 A $^2$ $\rightarrow$"
    assert escape_latex("位\U00020000\u202e") == r"\lacked{位}{4F4D}\lacked{𠀀}{20000}[U+202E]"
    assert _LATEX.keys() >= {*"ßæÆœŒøØłŁıαωΓΩΑΧ±≤√°¡"}
    table = write_latex({"a": ["Straße Øł", "\n".join(sorted(_LATEX))]}, caption="位")
    shown = compile_widely(tmp_path, define_lacked(table))
    assert not shown or ("Straße" in shown and "[U+4F4D]" in shown)


@pytest.mark.parametrize(("engine", "shown"), [("pdflatex", "[U+0041] [U+4F4D]"), ("lualatex", "A [U+4F4D]")])
def test_letters_that_a_font_lacks_stay_in_the_text(tmp_path, engine, shown):
    """Where an engine can ask, a letter that the font has is set. What an author defines stands."""
    text = write_document(make_answer("位, Привет"), "latex", full=False)
    assert re.sub(r"\\lacked\{(.)\}\{\w+\}", r"\1", text).count("位, Привет") == 6
    assert text.startswith("% a character that a font lacks")
    assert text.count(r"\providecommand") == 1
    letters = rf"\lacked{{A}}{{0041}} {escape_latex('位')}"
    for own, wanted in (("", shown), (r"\newcommand{\lacked}[2]{own#2}", "own0041 own4F4D")):
        compile_latex(tmp_path, own, text, rf"\typeout{{set: {letters}}}", engine=engine)
        assert f"set: {wanted}\n" in (tmp_path / "all.log").read_text(encoding="utf-8", errors="replace")


def test_a_wide_letter_takes_the_room_of_its_number():
    """Eight characters of LaTeX for each: more than eight of them are broken into lines, as any long text is."""
    assert write_latex({"a": ["位" * 5]}).startswith(r"\begin{tabular}{l}")
    assert write_latex({"a": ["位" * 6]}).startswith(r"\begin{tabular}{p")


def test_text_that_plain_latex_would_set_otherwise():
    assert escape_latex("--full ''a'' [b] 'c'") == "-{}-full '{}'a'{}' [b] 'c'"
    assert [escape_latex(text) for text in ("[1cm]", "*", "-")] == ["{}[1cm]", "{}*", "-"]
