"""Views of results: artists on given Axes, and the figures that the commands write.

Importing this package imports Matplotlib, so nothing else imports it before a figure is drawn.
Colours, sizes and fixed parameters stand in `style`, the arrangement on the sheet and the bytes of a file in
`sheet`; each kind of result has a module of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def _without_variable(name: str, stand_in: str | None = None) -> Iterator[str | None]:
    """Take one environment variable away (or replace it) for a while, and give it back."""
    kept = os.environ.pop(name, None)
    if stand_in is not None:
        os.environ[name] = stand_in
    try:
        yield kept
    finally:
        os.environ.pop(name, None)
        if kept is not None:
            os.environ[name] = kept


@contextlib.contextmanager
def _inside(directory: Path) -> Iterator[None]:
    """Work in another directory for a while; come back by descriptor, for the path may be gone."""
    descriptor = os.open(os.curdir, os.O_RDONLY)
    try:
        os.chdir(directory)
        yield
    finally:
        os.fchdir(descriptor)
        os.close(descriptor)


@contextlib.contextmanager
def _without_complaints() -> Iterator[None]:
    """Keep Matplotlib from telling stderr of its cache and its settings: no drawing depends on either."""
    logger = logging.getLogger("matplotlib")
    kept = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(kept)


def _import_past_broken_settings() -> None:
    """Import Matplotlib although a matplotlibrc that it finds cannot be read at all."""
    package = importlib.util.find_spec("matplotlib")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("matplotlib is not installed", name="matplotlib")
    bundled = Path(package.origin).parent / "mpl-data"
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        del sys.modules[name]  # half imported
    with _without_variable("MATPLOTLIBRC", str(bundled / "matplotlibrc")), _inside(bundled):
        importlib.import_module("matplotlib")


def _import_matplotlib() -> None:
    """Import Matplotlib with MPLBACKEND out of its sight: an unknown name there ends the import.

    A host program that set the variable still finds it, and its backend, afterwards.
    """
    with _without_variable("MPLBACKEND") as backend, _without_complaints():
        try:
            matplotlib = importlib.import_module("matplotlib")
        except ValueError:  # UnicodeDecodeError: a matplotlibrc that is not UTF-8
            _import_past_broken_settings()
            matplotlib = importlib.import_module("matplotlib")
        if backend is not None:
            with contextlib.suppress(ValueError):
                matplotlib.rcParams["backend"] = backend
        importlib.import_module("matplotlib.font_manager")  # which opens the cache


if "matplotlib" not in sys.modules:
    _import_matplotlib()
