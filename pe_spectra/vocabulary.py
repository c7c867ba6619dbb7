"""Every closed list of words, once: names that options accept, answers contain and completion offers.

Standard library only, so that the command line may load it before anything else.
"""

from __future__ import annotations

from typing import Literal

Level = Literal["ok", "note", "warning", "error"]
#: How much a verdict should worry a reader, the gravest last; findings have those above "ok".
LEVELS: tuple[Level, ...] = ("ok", "note", "warning", "error")
FINDING_LEVELS: tuple[Level, ...] = LEVELS[1:]
#: Level -> its rank, the gravest highest.
RANKS: dict[str, int] = {level: rank for rank, level in enumerate(LEVELS)}

# --------------------------------------------------------------------- what an encoding is

DOMAINS = ("positions", "lags")
#: What Definition 1 comes to, the gravest first -> what is said of an encoding that it does not hold for.
OUTCOMES = {
    "not-injective": "not injective",
    "distinct-by-rounding": "distinct, but by no more than float64 rounds off",
    "undecided": "not decided",
    "injective": "injective",
}
#: The same as one cell of a table: yes, no, nothing where it is not decided.
OUTCOME_CELLS: dict[str, bool | str | None] = {
    "not-injective": False,
    "distinct-by-rounding": "by rounding",
    "undecided": None,
    "injective": True,
}
#: Directions of lags on a grid.
AXES = ("vertical", "horizontal")
FAMILIES = ("absolute", "rotary", "relative", "temporal", "structural", "learned", "combined")
#: What can be exported of an encoding, in the order in which one is chosen.
EXPORTED = ("table", "frequencies", "kernel", "bias", "cos-sin")

# --------------------------------------------------------------------- spectra

#: What happens to a kernel at 0 and pi; the paper's first.
BOUNDARIES = ("none", "reflect")
ESTIMATORS = ("kde", "lattice", "lag-window", "nudft")
KERNEL_SOURCES = ("exact", "exp-bias", "bias-map", "lag-rows", "gram-diagonals")

# --------------------------------------------------------------------- tables

#: How a table is resized; those after the first three blur before they shrink.
RESIZE_METHODS = ("bicubic", "bilinear", "nearest", "bicubic-antialias", "bilinear-antialias")
#: Of these, the methods that know `align_corners`.
CORNER_METHODS = ("bicubic", "bilinear")

# --------------------------------------------------------------------- number types

#: Number types, the same ones of eight bits with casts that saturate last; the common ones are looked at unless others
#: are named.
DTYPES = (
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e4m3fn-saturating",
    "float8_e5m2-saturating",
    "float8_e4m3fnuz-saturating",
    "float8_e5m2fnuz-saturating",
)
COMMON_DTYPES = ("bfloat16", "float16", "float32", "float8_e4m3fn")
#: Where rounding happens on the way to a position vector.
RECIPES = ("fp32", "narrow-frequencies", "fp32-then-cast", "bf16-positions", "all-bf16")
#: Those that are looked at unless others are named.
COMMON_RECIPES = ("fp32", "fp32-then-cast", "bf16-positions", "all-bf16")
#: What people call them: bf16 stood for any narrow type.
RECIPE_TITLES = {
    "fp32": "fp32",
    "narrow-frequencies": "narrow-frequencies",
    "fp32-then-cast": "fp32-then-cast",
    "bf16-positions": "narrow-positions",
    "all-bf16": "all-narrow",
}
#: The steps of that way, in order.
STAGES = ("positions", "frequencies", "phases", "sines", "code", "sum")

# --------------------------------------------------------------------- models

#: Implementations that read a configuration.
STACKS = (
    "transformers-5",
    "transformers-4",
    "vllm",
    "llama.cpp",
    "keras-hub",
    "torchtune",
    "x-transformers",
    "rotary-embedding-torch",
    "meta",
    "yarn-paper",
    "diffusers",
    "timm",
)

#: Ends of the names of arrays in a file that holds every kind of layers, behind that of the kind: what export and
#: captures write; cosines and sines as a module gave them when it was called, and the frequencies that it holds beside.
FREQUENCIES, CACHED, CALLED, LISTED = ".frequencies", ".cos-sin", ".called", ".inv_freq"
#: End behind one of these, of the rows at positions behind a gap.
FURTHER = "-further"
#: Where what was captured of a module is from: a call, or what it holds.
CAPTURED_FROM = ("call", "cache", "frequencies", "table")
#: What the rows of a captured table are.
CAPTURED_ROWS = ("positions", "buckets", "offsets")

# --------------------------------------------------------------------- claims

Grade = Literal["ok", "partly", "wrong", "not tested"]
#: What a statement of a text turns out to be.
GRADES: tuple[Grade, ...] = ("ok", "partly", "wrong", "not tested")
Weight = Literal["substantive", "strengthens", "nit-pick"]
#: How much it matters that a statement does not hold as it stands.
WEIGHTS: tuple[Weight, ...] = ("substantive", "strengthens", "nit-pick")
#: Short name of each text that claims are from -> its label.
CLAIM_SOURCES = {
    "paper": "Ide, Labaien & Chen, arXiv:2405.09061",
    "article": "All about positional encoding",
    "reference": "Positional Encoding (reference article)",
    "series": "Positional Encodings for Time Series",
}

# --------------------------------------------------------------------- answers

#: Of stable names, in lower case with hyphens.
CODE_PATTERN = "^[a-z0-9]+(-[a-z0-9]+)*$"
#: Forms of an answer -> the ending of a file that holds one.
FORMAT_SUFFIXES = {
    "table": ".txt",
    "json": ".json",
    "csv": ".csv",
    "markdown": ".md",
    "latex": ".tex",
    "html": ".html",
}
FORMATS = tuple(FORMAT_SUFFIXES)
#: Forms of findings about files alone: for code hosts, which show each at its line.
ANNOTATION_FORMATS = ("sarif", "github")
FINDING_FORMATS = (*FORMATS, *ANNOTATION_FORMATS)
COLOURS = ("auto", "always", "never")
#: What a figure may be written as.
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")

# --------------------------------------------------------------------- experiments

#: What a network is taught: five that need the order; a control that position cannot help; the same with weaker bumps,
#: where what is added can drown them; and the form of the paper.
TASKS = ("where", "lag", "period", "order", "trend-change", "bag", "faint", "anomaly")
#: Those of the small form: a strong effect, and the control.
QUICK_TASKS = ("lag", "bag")
#: The encodings that are compared unless others are named, in full and in the small form.
ARMS = (
    "none",
    "sinusoidal",
    "sinusoidal:rho=100",
    "tensor2tensor",
    "tape",
    "learnable-sinusoid",
    "dft",
    "dfstrans",
    "ramp",
    "one-hot",
    "fourier-features",
    "pixel-bands",
    "learned",
    "time2vec",
    "mtan",
    "rnn",
    "rope",
    "alibi",
    "kerple",
    "sandwich",
    "t5",
    "shaw",
    "erpe",
    "fire",
)
QUICK_ARMS = ("none", "sinusoidal", "dft")
#: Those that are compared on a data set: of any length of window.
DATA_ARMS = ("none", "sinusoidal", "dft", "learned", "tape", "rope", "alibi", "t5")
#: How long the vectors of an arm are: as the encoding has them, or scaled to the root mean square norm of the sinusoid.
NORMS = ("own", "matched")
#: Where an encoding enters the network: nowhere, added to tokens, turning queries and keys, added to the scores of
#: attention, added to its weights, added to keys or to values by lag.
ENTRIES = ("none", "token", "rotation", "score", "weight", "key", "value")
