"""Gather the pages of the site: those that exist, a gallery of every command, and a reference of the library.

    pip install -e '.[test,docs]' && python .ci/site.py && mkdocs build --strict

The pages lie in build/pages as they lie here, so that their links hold; the site is built into build/site. The gallery
is made by running an example of each command, the reference from the docstrings of every public name.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pe_spectra
from pe_spectra.cli.commands import COMMANDS, Declaration

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

# the root is on the path from here on
from tests.pages.readme import run_on_terminal  # noqa: E402
from tests.program.command_line_files import MODELS, READINGS, TABLES  # noqa: E402

PAGES = ROOT / "build" / "pages"
#: What is published as it is; the links of pages lead to these alone.
PUBLISHED = ("*.md", "LICENSE", "CITATION.cff", "docs/*", "figures/*.png")
#: Command -> what its examples need beside the package, an extra that the site does without.
_NEEDED = dict.fromkeys(("experiment run", "experiment check", "experiment data"), "jax")
#: Lines of an answer that the gallery shows.
_LINES = 40


def main() -> None:
    """Write all pages anew."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for pattern in PUBLISHED:
        for path in ROOT.glob(pattern):
            target = PAGES / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    (PAGES / "gallery").mkdir()
    (PAGES / "gallery.md").write_text("\n".join(write_gallery()), encoding="utf-8")
    (PAGES / "reference.md").write_text("\n".join(write_reference()), encoding="utf-8")


def write_gallery() -> Iterator[str]:
    """Give the lines of the page with an example of every command, its answer and its figure."""
    yield "# Gallery\n\nEvery command with an example, as it answers on 80 columns. Long answers are cut.\n"
    folder = ROOT / "build" / "gallery"
    shutil.rmtree(folder, ignore_errors=True)
    study = ROOT / "pe_spectra" / "study" / "results.csv"
    others = {"readings.csv": READINGS, "results.csv": study.read_bytes()}
    for name, content in {**TABLES, **MODELS, **others}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for name, declared in COMMANDS.items():
        yield f"## {name}\n\n{declared.summary}\n"
        yield from _show(name, declared, folder)


def _show(name: str, declared: Declaration, folder: Path) -> Iterator[str]:
    """The first example with its answer and its figure; all examples without, where what they need is not installed.

    An example that fails for another reason fails the whole.
    """
    if name in _NEEDED and importlib.util.find_spec(_NEEDED[name]) is None:
        yield "\n".join(["```console", *(f"$ {example}" for example in declared.examples), "```", ""])
        return
    example, picture = declared.examples[0], f"{name.replace(' ', '-')}.svg"
    is_drawn = declared.figure is not None and "--figure" not in example
    lines = run_on_terminal(f"{example} --figure {picture}" if is_drawn else example, folder).splitlines()
    shown = [*lines[:_LINES], "..."] if len(lines) > _LINES else lines
    yield "\n".join(["```console", f"$ {example}", *shown, "```", ""])
    if (folder / picture).is_file():
        shutil.move(folder / picture, PAGES / "gallery" / picture)
        yield f"![What {name} draws](gallery/{picture})\n"


def write_reference() -> Iterator[str]:
    """Give the lines of the page with every public name: its signature, and its docstring as it stands."""
    yield "# Reference\n\nEvery public name of `pe_spectra`, by the module that defines it, as `help()` shows it.\n"
    homes: dict[str, list[str]] = {}
    for name in sorted(pe_spectra.__all__):
        homes.setdefault(pe_spectra._HOMES[name], []).append(name)  # noqa: SLF001  the one place that has them
    for module, names in sorted(homes.items()):
        yield f"## {module}\n"
        for name in names:
            found = getattr(pe_spectra, name)
            shown = f"{name}{_sign(found)}" if callable(found) else f"{name} = {found!r}"
            text = "" if isinstance(found, str) else inspect.getdoc(found)
            yield f"### {name}\n\n```text\n{textwrap.fill(shown, 100, subsequent_indent='    ')}\n\n{text}\n```\n"


def _sign(found: Callable[..., object]) -> str:
    """What a function or class takes, annotations without their quotes; nothing where it is not known."""
    try:
        return re.sub(r"(:|->) '([^']*)'", r"\1 \2", str(inspect.signature(found)))
    except ValueError:
        return ""


if __name__ == "__main__":
    main()
