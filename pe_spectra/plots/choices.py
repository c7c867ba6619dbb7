"""What a user may choose of a figure: its style, its size, its resolution, which words stand around the panels."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib.artist
from matplotlib.colors import to_rgb

from pe_spectra.errors import FileError, InputError
from pe_spectra.numbers import RealRange
from pe_spectra.records import dataclass

#: Dots per inch of a bitmap.
RESOLUTION = 200.0
#: The style that is the user's own settings file, as Matplotlib finds it.
OWN_STYLE = "matplotlibrc"
_INCHES = RealRange(minimum=1.0, maximum=60.0)
_DPI = RealRange(minimum=20.0, maximum=1200.0)
#: Settings that stay ours: files stay the same from run to run, text is measured in our font and never run as TeX,
#: and sizes are those of the sheet.
_OURS = ("backend", "font.", "text.", "mathtext.", "savefig.", "svg.", "pdf.", "ps.", "figure.", "path.", "agg.")


@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """How a figure is to be drawn; what is left out is as the sheet has it.

    Attributes
    ----------
    style : settings of Matplotlib by name, laid over ours.
    width, height : inches of the whole figure.
    dpi : dots per inch of a bitmap.
    title, caption : whether the sentence above and the small print below the panels are written.
    """

    style: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    width: float | None = None
    height: float | None = None
    dpi: float = RESOLUTION
    title: bool = True
    caption: bool = True


_USUAL = FigureOptions()
_CHOSEN: ContextVar[FigureOptions] = ContextVar("figure options", default=_USUAL)


def read_figure_options(
    *,
    style: str | None = None,
    width: str | None = None,
    height: str | None = None,
    dpi: str | None = None,
    title: bool = True,
    caption: bool = True,
) -> FigureOptions:
    """Read the options of a figure as they are typed.

    Raises
    ------
    InputError : a number out of range, or a style that Matplotlib does not have.
    FileError : a file of settings that cannot be read.

    >>> read_figure_options(width="5", dpi="300").width
    5.0
    >>> read_figure_options(style="ggplot").style["axes.grid"]
    True
    """
    return FigureOptions(
        style={} if style is None else _read_style(style),
        width=None if width is None else _INCHES.parse(width, "--width"),
        height=None if height is None else _INCHES.parse(height, "--height"),
        dpi=RESOLUTION if dpi is None else _DPI.parse(dpi, "--dpi"),
        title=title,
        caption=caption,
    )


@contextlib.contextmanager
def draw_with(options: FigureOptions) -> Iterator[None]:
    """Draw the figures inside with these options.

    What is loaded of Matplotlib meanwhile goes without the list of properties in the docstring of each artist: to write
    the lists is a quarter of the time that the import takes.

    >>> with draw_with(FigureOptions(dpi=300.0)):
    ...     find_options().dpi
    300.0
    """
    names = vars(matplotlib.artist)
    token, kept = _CHOSEN.set(options), names.get("kwdoc")
    names["kwdoc"] = lambda _: ""
    try:
        yield
    finally:
        names["kwdoc"] = kept
        _CHOSEN.reset(token)


def find_options() -> FigureOptions:
    """Return the options of the figure that is being drawn.

    >>> find_options().dpi
    200.0
    """
    return _CHOSEN.get()


def _read_style(name: str) -> Mapping[str, Any]:
    """The settings of a style that Matplotlib has by name, of a file, or of the user's own settings file."""
    from matplotlib import style

    settings: Mapping[Any, Any]
    if name in style.library:
        settings = style.library[name]
    elif name == OWN_STYLE:
        settings = _read_file(matplotlib.matplotlib_fname())
    elif Path(name).suffix or "/" in name:
        settings = _read_file(name)
    else:
        near = get_close_matches(name, style.library, 1) or ["ggplot"]
        raise InputError("--style is not known", name or "''", f"{near[0]}, {OWN_STYLE} or a file .mplstyle")
    kept = {key: value for key, value in settings.items() if not key.startswith(_OURS)}
    if sum(to_rgb(settings.get("axes.facecolor", "white"))) < 1.5:  # black lines and words would not be seen
        kept = {key: value for key, value in kept.items() if not key.endswith(("color", "prop_cycle"))}
    return MappingProxyType(kept)


def _read_file(name: str) -> Mapping[Any, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", matplotlib.MatplotlibDeprecationWarning)
            return matplotlib.rc_params_from_file(name, fail_on_error=True, use_default_template=False)
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or "it holds no settings of Matplotlib"
        raise FileError(name, f"{reason} (--style)") from error
