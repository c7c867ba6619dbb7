"""What CONTRIBUTING.md says of each addition, done: the edits of an encoding, a metric, a finding, a column, a figure.

An edit is a file, a text in it, and what comes before that text. The encoding is the one that CONTRIBUTING.md shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.places import ROOT


@dataclass(frozen=True)
class Edit:
    """A text that is put into a file, before a text that stands there once."""

    file: str
    before: str
    text: str


def read_clock() -> str:
    """The class of CONTRIBUTING.md, without its imports."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return block[block.index("@final") :]


#: Where the class of a ramp begins.
_RAMP = "@final\n@dataclass(frozen=True, kw_only=True)\nclass Ramp("

ADDITIONS: dict[str, tuple[Edit, ...]] = {
    "encoding": (
        Edit("pe_spectra/encodings/absolute.py", _RAMP, f"{read_clock()}\n\n"),
        # what its family does not import already
        Edit(
            "pe_spectra/encodings/absolute.py",
            "from typing import ",
            "from fractions import Fraction\nfrom pe_spectra.encodings.protocol import Frequencies\n"
            "from pe_spectra.exact import lattice_pairs\n",
        ),
        Edit("pe_spectra/names.py", '    "ramp": (', '    "clock": ("absolute", "Clock"),\n'),
        Edit(
            "tests/encodings/reference_values.py",
            '    "swin": (',
            '    "clock": ({"period": 4}, 1, [1.0, 0.0], "Mardia & Jupp 2000: an angle as a unit vector"),\n',
        ),
    ),
    "metric": (
        Edit(
            "pe_spectra/metrics/kernel_shape.py",
            "    kernel_monotonicity: float | None = metric_of_order(",
            "    kernel_at_one: float | None = metric(\n"
            '        "k(1)/k(0), how alike neighbours are", minimum=-1, maximum=1, source="correlation at lag 1"\n'
            "    )\n",
        ),
        Edit(
            "pe_spectra/metrics/kernel_shape.py",
            '            "kernel_monotonicity": or_reason(',
            '            "kernel_at_one": flat or float(values[min(1, len(values) - 1)] / values[0]),\n',
        ),
        Edit(
            "tests/naive_metrics.py",
            "def kernel_monotonicity(",
            "def kernel_at_one(one: Sample) -> float:\n    return float(one.kernel[1] / one.kernel[0])\n\n\n",
        ),
    ),
    "finding": (
        Edit(
            "pe_spectra/models/checks/about_lengths.py",
            "_BASE_BELOW_BOUND = Kind(",
            "_VERY_LONG = Kind(\n"
            '    code="very-long",\n'
            '    levels=("note",),\n'
            '    phrase="the context is very long",\n'
            '    reasoning="Few models were trained at such a length, so that little is known of it.",\n'
            '    formula="the inference context length is above 10**6",\n'
            "    references=(SU,),\n"
            ")\n",
        ),
        Edit(
            "pe_spectra/models/checks/about_lengths.py",
            "CHECKS = (",
            "def _check_long(layer: LayerAudit) -> Iterator[Finding]:\n"
            '    """Say where the context is very long."""\n'
            "    if (layer.served_length or 0) > 10**6:\n"
            '        yield layer.find(_VERY_LONG, f"the context has {layer.served_length:,} positions")\n\n\n',
        ),
        Edit("pe_spectra/models/checks/about_lengths.py", "_check_unseen, _check_base_size", "_check_long, "),
    ),
    "column": (
        Edit(
            "pe_spectra/spectrum/low_bin.py",
            "def count_low_bin(",
            '    @derived("outside over total.", minimum=0, maximum=1)\n'
            "    def share_outside(self) -> float:\n"
            '        """Share of the frequencies outside."""\n'
            "        return self.outside / self.total\n\n\n",
        ),
    ),
    "figure": (
        Edit(
            "pe_spectra/figures/recipes.py",
            "RECIPES: ",
            "def _compute_circle(_: int) -> F64:\n"
            "    return np.linspace(0, 2 * np.pi, 65)\n\n\n"
            "def _tabulate_circle(angles: F64) -> Columns:\n"
            '    return {"x": np.cos(angles), "y": np.sin(angles)}\n\n\n'
            "def _draw_circle(angles: F64) -> Figure:\n"
            "    from matplotlib.figure import Figure\n\n"
            "    figure = Figure()\n"
            "    figure.subplots().plot(np.cos(angles), np.sin(angles))\n"
            "    return figure\n\n\n",
        ),
        Edit(
            "pe_spectra/figures/recipes.py",
            '            "fig1_spectrum": lambda',
            '            "fig9_circle": lambda: _draw_circle(result),\n',
        ),
        Edit(
            "pe_spectra/figures/recipes.py",
            '    FigureRecipe(\n        name="fig8_gram"',
            "    FigureRecipe(\n"
            '        name="fig9_circle",\n'
            '        title="One pair",\n'
            "        parameters={},\n"
            "        compute=_compute_circle,\n"
            "        tabulate=_tabulate_circle,\n"
            "    ),\n",
        ),
    ),
}


def add(place: Path, name: str) -> None:
    """Make an addition to a copy of the tree."""
    for edit in ADDITIONS[name]:
        path = place / edit.file
        text = path.read_text(encoding="utf-8")
        if text.count(edit.before) != 1:
            raise ValueError(f"{edit.file} has {edit.before!r} {text.count(edit.before)} times")
        path.write_text(text.replace(edit.before, edit.text + edit.before), encoding="utf-8")
