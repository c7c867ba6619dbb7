"""Figures as a reader sees them: every visible text, the words of a sheet, panels by heading."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from pe_spectra.answers.learning import LearningReport
from pe_spectra.encodings import DfsTrans, Dft, Sinusoidal
from pe_spectra.experiment.comparing import compare_runs
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.metrics.compare import Comparison, compare_encodings
from pe_spectra.plots.accuracies import compose_learning, compose_numbers
from pe_spectra.plots.blur import compose_reconstruction
from pe_spectra.plots.distances import compose_faithfulness
from pe_spectra.plots.spectrum import compose_spectrum
from pe_spectra.plots.strips import compose_low_bin
from pe_spectra.reconstruction import Reconstruction, reconstruct_positions
from pe_spectra.spectrum import Spectrum, compute_spectrum, count_low_bin
from tests.experiment.made_runs import make_runs
from tests.making import make_named


def spectrum_of(d: int = 64, rho: float = 10000.0, **options: float | str) -> Spectrum:
    return compute_spectrum(Sinusoidal(d=d, rho=rho), **options)


def reference_of(d: int = 64) -> Spectrum:
    return compute_spectrum(Dft(d=d))


def reconstructions(d: int, s: list[int], bandwidths: tuple[float, ...] = (4.0,)) -> list[Reconstruction]:
    spectra = [spectrum_of(d, bandwidth=bandwidth) for bandwidth in bandwidths]
    return [reconstruct_positions(spectrum, s) for spectrum in (*spectra, reference_of(d))]


def kernel_of(d: int) -> np.ndarray:
    return Sinusoidal(d=d).kernel(np.arange(d))[0]


def separations(*lengths: int, d: int = 16) -> list:
    return [measure_faithfulness(kind(d=d), length=n) for n in lengths for kind in (Sinusoidal, Dft)]


@cache
def make_report() -> LearningReport:
    """A report on trials that were not trained."""
    return compare_runs(make_runs(tasks=("lag", "period", "bag"), seeds=4), scale=6)


FIGURES: dict[str, Callable[[], Figure]] = {
    "spectrum of the paper": lambda: compose_spectrum(spectrum_of(256), reference=reference_of(256)),
    "spectrum alone": lambda: compose_spectrum(spectrum_of()),
    "spectra at bandwidths": lambda: compose_spectrum(
        *[spectrum_of(bandwidth=b) for b in (1.0, 4.0, 16.0)], reference=reference_of()
    ),
    "spectra on lattices": lambda: compose_spectrum(spectrum_of(64), spectrum_of(512), reference=reference_of()),
    "spectra, many": lambda: compose_spectrum(*[spectrum_of(rho=10.0**k) for k in range(8)]),
    "spectrum, two bins": lambda: compose_spectrum(spectrum_of(2), reference=reference_of(2)),
    "spectrum, far tail": lambda: compose_spectrum(spectrum_of(256, 1e300, bandwidth=1e-6)),
    "reconstruction of the paper": lambda: compose_reconstruction(*reconstructions(256, [5, 40, 75])),
    "reconstruction, window-free": lambda: compose_reconstruction(*reconstructions(64, [5, 40]), kernel=kernel_of(64)),
    "reconstruction, bandwidths": lambda: compose_reconstruction(
        *reconstructions(256, [5, 40, 75], (0.25, 1.0, 4.0, 16.0, 64.0))
    ),
    "reconstruction, crowded": lambda: compose_reconstruction(*reconstructions(64, list(range(16)))),
    "reconstruction, two points": lambda: compose_reconstruction(*reconstructions(2, [0, 1]), kernel=kernel_of(2)),
    "faithfulness": lambda: compose_faithfulness(*separations(80, d=256)),
    "faithfulness, collision": lambda: compose_faithfulness(measure_faithfulness(Dft(d=256), length=300)),
    "faithfulness, many lags": lambda: compose_faithfulness(*separations(5000, d=3)),
    "faithfulness, one position": lambda: compose_faithfulness(*separations(1)),
    "faithfulness, two positions": lambda: compose_faithfulness(*separations(2)),
    "faithfulness, published code": lambda: compose_faithfulness(measure_faithfulness(DfsTrans(d=16), length=50)),
    "low bin": lambda: compose_low_bin(*[count_low_bin(Sinusoidal(d=d)) for d in (256, 512)]),
    "low bin, lattice": lambda: compose_low_bin(count_low_bin(Dft(d=64))),
    "low bin, one frequency": lambda: compose_low_bin(count_low_bin(Sinusoidal(d=2))),
    "learning": lambda: compose_learning(make_report()),
    "learning, by number": lambda: compose_numbers(make_report()),
    "low bin, trained length": lambda: compose_low_bin(count_low_bin(Sinusoidal(d=128), length=4096)),
}


def list_axes(figure: Figure) -> list[Axes]:
    """Every panel, each followed by its colour bar."""
    return [one for axes in figure.axes for one in (axes, *axes.child_axes)]


def visible_texts(figure: Figure) -> list[Text]:
    """Every text that a reader sees: words of the sheet, of panels, titles, axis and tick labels."""
    texts = list(figure.texts)
    for axes in list_axes(figure):
        texts += [*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label]
        texts += [text for text in axes.get_children() if isinstance(text, Text)]  # titles left and right
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            inside = [low - 1e-9 <= place <= high + 1e-9 for place in axis.get_majorticklocs()]
            texts += list(itertools.compress(axis.get_majorticklabels(), inside))
    unique = {id(text): text for text in texts if text.get_visible() and text.get_text().strip()}
    return list(unique.values())


def empty_axes() -> Axes:
    return Figure().add_subplot()


def curves_of(axes: Axes) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in axes.lines]


def compared(*names: str) -> list[Comparison]:
    return list(compare_encodings([make_named(name) for name in names]))


# ----------------------------------------------------------------------------------- portraits


def panel(figure: Figure, heading: str) -> Axes:
    (found,) = [axes for axes in figure.axes if axes.get_title(loc="left").startswith(heading)]
    return found


def first_curve(axes: Axes, number: int = 0) -> tuple[np.ndarray, np.ndarray]:
    x, y = axes.lines[number].get_data()
    return np.asarray(x), np.asarray(y)


def make_weird(factor: float = 5.0) -> np.ndarray:
    """Sinusoids; the first row is longer, and from row 150 on there is noise."""
    table = Sinusoidal(d=64).table(200).copy()
    table[0] *= factor
    table[150:] = np.random.default_rng(0).normal(0, 0.02, (50, 64))
    return table


def labels(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def notes_of(axes: Axes) -> list[str]:
    return [" ".join(text.get_text().split()) for text in axes.texts]


def read_words(figure: Figure) -> str:
    """Title, key and small print, in one line."""
    return " ".join(" ".join(text.get_text() for text in figure.texts).replace("\u00a0", " ").split())


def read_all_words(figure: Figure) -> str:
    """All texts of a figure, those within panels too, in one line."""
    texts = [text.get_text() for text in figure.texts]
    texts += [text.get_text() for axes in figure.axes for text in axes.texts]
    return " ".join(" ".join(texts).split())
