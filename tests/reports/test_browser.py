"""Pages of reports in a real browser, without a network: pip install -e '.[test,browser]', and Chromium on the path.

AXE names the file axe.min.js of the package axe-core, whose rules of accessibility are then asked, too.
"""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.places import MODELS
from tests.program.hostile_files import ALL, CONTENTS, LLAMA

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = os.environ.get("AXE")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.filterwarnings("default"),
]
#: Standards of accessibility whose rules are asked.
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
HOSTILE = [ALL, *(name for name in CONTENTS.values() if name)]
REPORTS = {
    "configuration": ["config.json"],
    "comparison": ["config.json", "other.json"],
    "formula": ["sinusoidal:d=16"],
    "table": ["table.npy"],
    "series": ["load.csv"],
    "folder": ["many"],
    "hostile names": ["hostile"],
}


def run(*words, folder):
    command = [sys.executable, "-m", "pe_spectra", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files to report on."""
    here = tmp_path_factory.mktemp("reports")
    shutil.copy(MODELS / "llama-3.1-8b.json", here / "config.json")
    shutil.copy(MODELS / "codellama-7b.json", here / "other.json")
    np.save(here / "table.npy", np.random.default_rng(0).normal(size=(40, 12)))
    hours = np.datetime64("2024-01-01T00") + np.arange(336)
    waves = zip(hours, np.sin(np.arange(336) * np.pi / 12), strict=True)
    lines = ["date,load", *(f"{hour}:00,{value:.4f}" for hour, value in waves)]
    (here / "load.csv").write_text("\n".join(lines), encoding="utf-8")
    for number in range(30):
        (here / f"many/{number}").mkdir(parents=True)
        changed = {**LLAMA, "rope_theta": 2.5 + number % 7}
        (here / f"many/{number}/config.json").write_text(json.dumps(changed), encoding="utf-8")
    for number, name in enumerate(HOSTILE):
        (here / f"hostile/{number}").mkdir(parents=True)
        changed = {**LLAMA, "model_type": name, "rope_scaling": {"rope_type": name, "factor": 2.0}}
        (here / f"hostile/{number}/config.json").write_text(json.dumps(changed), encoding="utf-8")
    return here


@pytest.fixture(scope="module")
def written(folder):
    """Each report, written when it is first asked for."""
    made = {}

    def write(name):
        if name not in made:
            made[name] = folder / f"{name.replace(' ', '-')}.html"
            run("report", *REPORTS[name], "--output", str(made[name]), folder=folder)
        return made[name]

    return write


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as engine:
        found = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser, written):
    """Open a report; at the end the browser must have said nothing, and asked for the file alone."""
    contexts, said, asked, places = [], [], [], []

    def show(name, width=1000, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            offline=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        places.append(written(name).as_uri())
        page.goto(places[-1])
        return page

    yield show
    assert said == []
    assert asked == places
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_lies_beyond_a_narrow_screen(open_page, name):
    page = open_page(name, width=360)
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.skipif(AXE is None, reason="AXE names no axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", REPORTS)
def test_no_rule_of_accessibility_is_broken(open_page, name, scheme):
    page = open_page(name, scheme=scheme)
    # as a person at the console would: the policy of the page lets no other script in
    page.context.new_cdp_session(page).send("Runtime.evaluate", {"expression": Path(AXE).read_text(encoding="utf-8")})
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", STANDARDS)
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []
    assert {"color-contrast", "svg-img-alt", "scrollable-region-focusable"} - {
        one["id"] for one in found["passes"]
    } <= {"svg-img-alt"}


def read_column(page, table, place):
    return table.evaluate(
        "(table, place) => [...table.tBodies[0].rows].filter(row => !row.hidden).map(row => "
        "(row.cells[place].querySelector('data') ?? {value: row.cells[place].textContent.trim()}).value)",
        place,
    )


def test_rows_are_sorted_by_number_and_by_keyboard(open_page):
    page = open_page("configuration")
    table = page.locator("#part-1 table").last
    names = table.locator("th").all_inner_texts()
    place = names.index("frequency")
    before = [float(value) for value in read_column(page, table, place)]
    table.locator("th button").nth(place).click()
    assert [float(value) for value in read_column(page, table, place)] == sorted(before) != before
    assert table.locator("th").nth(place).get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert [float(value) for value in read_column(page, table, place)] == sorted(before, reverse=True)
    assert table.locator("th").nth(place).get_attribute("aria-sort") == "descending"
    assert page.locator("#said").inner_text() == "Sorted by frequency, descending"


def test_rows_are_filtered(open_page):
    page = open_page("folder")
    rows = page.locator("#part-1 table").last.locator("tbody tr")
    page.locator("#part-1 .tools input").last.fill("MANY/17/")
    assert [row.is_visible() for row in rows.all()].count(True) == 1
    page.locator("#part-1 .tools input").last.fill("")
    assert all(row.is_visible() for row in rows.all())


def test_rows_are_copied_as_the_command_writes_them(open_page, folder):
    page = open_page("configuration")
    page.locator("#part-1 .tools button").last.click()
    page.wait_for_function("document.getElementById('said').textContent === 'Copied'")
    copied = list(csv.DictReader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))
    wanted = json.loads(run("audit", "config.json", "--json", folder=folder))["models"][0]["layer_types"][0]
    assert len(copied) == len(wanted["frequencies"])
    for row, pair in zip(copied, wanted["frequencies"], strict=True):
        assert float(row["frequency"]) == pair["frequency"]
        assert row["state"] == pair["state"]


def test_a_copied_formula_is_not_run(open_page):
    page = open_page("hostile names")
    page.locator("#part-1 .tools button").last.click()
    page.wait_for_function("document.getElementById('said').textContent === 'Copied'")
    rows = list(csv.reader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))
    assert len({len(row) for row in rows}) == 1
    assert any(cell == "'=1+1" for row in rows for cell in row)
    for cell in (cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t"))):
        assert cell == "-" or float(cell)


def test_a_curve_says_its_number_under_the_pointer_and_by_keyboard(open_page):
    page = open_page("configuration")
    values = json.loads(page.locator("#part-1 figure script").text_content())
    x, y, across, up = values[0]["lines"][0]["points"][3]
    svg = page.locator("#part-1 figure svg")
    box = svg.bounding_box()
    scale = box["width"] / svg.evaluate("svg => svg.viewBox.baseVal.width")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    page.mouse.move(box["x"] + x * scale, box["y"] + y * scale)
    hint = page.locator("#part-1 figure .hint")
    assert hint.is_visible()
    assert hint.inner_text().splitlines()[-2:] == [f"pair: {across:g}", f"wavelength (positions): {up:g}"]
    page.mouse.move(0, 0)
    assert not hint.is_visible()
    page.locator("#part-1 .sheet").focus()
    said = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        said.append(hint.inner_text())
    assert len({*said}) == 3
    assert page.locator("#said").inner_text() == said[-1].replace("\n", ", ")
    page.keyboard.press("Escape")
    assert not hint.is_visible()


def test_a_cell_of_a_map_says_its_number(open_page, folder):
    page = open_page("table")
    table = np.load(folder / "table.npy")
    values = json.loads(page.locator("#part-1 figure script").text_content())
    (cells,) = next(one["maps"] for one in values if one["maps"])
    row, column = 7, 5
    svg = page.locator("#part-1 figure svg")
    scale = svg.bounding_box()["width"] / svg.evaluate("svg => svg.viewBox.baseVal.width")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    page.mouse.move(box["x"] + cells["x"][row] * scale, box["y"] + cells["y"][column] * scale)
    said = page.locator("#part-1 figure .hint").inner_text().splitlines()
    assert said == [f"row of the file: {row}", f"column: {column}", f"entry: {float(f'{table[row, column]:.4g}')}"]


@pytest.mark.parametrize("name", REPORTS)
def test_on_paper_all_is_there_and_nothing_to_press(open_page, name):
    page = open_page(name, width=700)
    page.emulate_media(media="print")
    assert not any(one.is_visible() for one in page.locator(".tools").all())
    for frame in page.locator(".rows").all():
        assert frame.evaluate("one => one.scrollHeight <= one.clientHeight + 1")


def test_without_scripts_the_page_is_whole(browser, written):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(written("configuration").as_uri())
    assert page.locator("tbody tr").count() > 64
    assert page.locator("button, input").count() == 0
    context.close()


def test_hostile_names_are_text(open_page):
    page = open_page("hostile names")
    shown = page.locator("main").inner_text()
    for name in HOSTILE:
        if name.isprintable() and "\\" not in name and name.strip() == name and len(name) < 100:
            assert name in shown, name
    assert page.locator("main b:not(.level)").count() == 0
    assert page.locator("script").count() == 1  # its own, for several files have no figure
