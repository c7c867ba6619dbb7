"""The rows and facts about configurations: pairs of one, layer types of many."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from pe_spectra.findings import Finding
from pe_spectra.models.audit import MANY_TURNS, LayerAudit, ModelAudit
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stated.statement import LayerStatement
from pe_spectra.records.answer import Cell, join, percent
from pe_spectra.records.audit_verdict import find_main, say_number
from pe_spectra.records.findings import RANKS

_Named = Sequence[tuple[str, ModelAudit]]
_PAIR_COLUMNS = ("pair", "frequency_before", "frequency", "wavelength", "turns", "turns_served", "state")
#: Numbers of a list that are written out.
_WRITTEN = 4
#: A note that says so repeats where the base is from.
_OF_CLASS = "the default of its class"


def list_layer_columns(good: _Named) -> Mapping[str, Sequence[Cell]]:
    """Return a row for each layer type of each model.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> audit = audit_configuration(read_configuration({"model_type": "llama", "head_dim": 4}, "config.json"))
    >>> list_layer_columns([("config.json", audit)])["rotary_dim"]
    [4]
    """
    rows = [_list_layer_row(file, audit, layer) for file, audit in good for layer in audit.layers]
    return {name: [row[name] for row in rows] for name in rows[0]}


def put_worst_first(columns: Mapping[str, Sequence[Cell]]) -> Mapping[str, Sequence[Cell]]:
    """Order the rows of layer types by level, the gravest first; of one level they stay as they were.

    >>> put_worst_first({"file": ["a", "b", "c"], "level": ["ok", "error", "ok"]})["file"]
    ['b', 'a', 'c']
    """
    levels = columns["level"]
    order = sorted(range(len(levels)), key=lambda row: -RANKS[str(levels[row])])
    return {name: [column[row] for row in order] for name, column in columns.items()}


def _list_layer_row(file: str, audit: ModelAudit, layer: LayerAudit) -> dict[str, Cell]:
    rotation = layer.rotation or Rotation()
    own = [finding for finding in audit.findings if finding.data.get("layer_type") in (None, layer.name)]
    return {
        "file": file,
        "model": audit.configuration.model,
        "layer": layer.name,
        "scheme": layer.scheme,
        "head_dim": rotation.head_dim,
        "rotary_dim": rotation.rotary_dim,
        "base": rotation.base,
        "scaling": rotation.scaling,
        "attention_scaling": rotation.attention_scaling,
        "layout": rotation.layout,
        "trained_length": layer.trained_length,
        "served_length": layer.served_length,
        "window": layer.reach,
        "never_turn": layer.never_turn,
        "unseen": len(layer.unseen) if layer.rotation is not None else None,
        "level": max(
            (finding.level for finding in own if finding.level != "note"), key=RANKS.__getitem__, default="ok"
        ),
        "findings": " ".join(dict.fromkeys(finding.code for finding in own if finding.level != "note")),
        "notes": " ".join(dict.fromkeys(finding.code for finding in own if finding.level == "note")),
    }


def list_pair_columns(good: _Named, *, named: bool) -> Mapping[str, Sequence[Cell]]:
    """Return a row for each pair of each layer type of each model.

    `named` says whether each row has its file, model and layer type; else the layer type only, where there are several.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> audit = audit_configuration(read_configuration({"model_type": "llama", "head_dim": 4}, "config.json"))
    >>> list_pair_columns([("config.json", audit)], named=False)["frequency"]
    [1.0, 0.01]
    """
    columns: dict[str, list[Cell]] = {name: [] for name in ("file", "model", "layer", *_PAIR_COLUMNS)}
    for file, audit in good:
        for layer in audit.layers:
            _add_pairs(columns, file, audit, layer)
    if named:
        return columns
    several = len(set(columns["layer"])) > 1
    return {name: columns[name] for name in ((*(("layer",) if several else ()), *_PAIR_COLUMNS))}


def _add_pairs(columns: dict[str, list[Cell]], file: str, audit: ModelAudit, layer: LayerAudit) -> None:
    frequencies, count = layer.frequencies, len(layer.frequencies)
    with np.errstate(divide="ignore", over="ignore"):
        wavelengths = (2 * math.pi / frequencies).tolist()
    unknown: list[Cell] = [None] * count
    turns, served = layer.count_turns(layer.trained_length), layer.count_turns(layer.served_length)
    values: dict[str, Sequence[Cell]] = {
        "file": [file] * count,
        "model": [audit.configuration.model] * count,
        "layer": [layer.name] * count,
        "pair": range(count),
        "frequency_before": unknown if layer.unscaled is None else layer.unscaled.tolist(),
        "frequency": frequencies.tolist(),
        "wavelength": [wave if math.isfinite(wave) else None for wave in wavelengths],
        "turns": unknown if turns is None else turns.tolist(),
        "turns_served": unknown if served is None else served.tolist(),
        "state": [state or None for state in layer.states],
    }
    for name, column in columns.items():
        column += values[name]


def list_facts(audit: ModelAudit) -> tuple[tuple[str, str], ...]:
    """Return what is known about one model, then what was found, each with a label.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> audit = audit_configuration(read_configuration({"model_type": "llama", "head_dim": 64}, "config.json"))
    >>> list_facts(audit)[0]
    ('head width', '64 channels, all of them turned')
    """
    facts = []
    first = find_main(audit)
    for layer in (first, *(layer for layer in audit.layers if layer is not first)):
        where = "" if layer.name == "all" else f"{layer.name}: "
        facts += [(f"{where}{label}", text) for label, text in _list_layer_facts(layer)]
    return (*facts, *_list_findings(audit.findings))


def _list_findings(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """Say once what was found in several layer types alike, with their names."""
    layers: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        layer = str(finding.data.get("layer_type") or "")
        message = finding.message.removeprefix(f"{layer}: ")
        where = layers.setdefault((finding.level, finding.code, message), [])
        where += [layer] if message != finding.message else []
    return [
        (level, f"{code}: {join(where)}: {message}" if where else f"{code}: {message}")
        for (level, code, message), where in layers.items()
    ]


def _list_layer_facts(layer: LayerAudit) -> list[tuple[str, str]]:
    rotation, statement = layer.rotation, layer.statement
    facts = []
    if rotation is not None and statement is not None:
        facts += [
            ("head width", _say_width(rotation, statement)),
            ("base", f"{say_number(rotation.base)}, {_say_origin(rotation, statement)}"),
            ("scaling", _say_scaling(rotation)),
            ("layout", _say_layout(rotation)),
        ]
    elif statement is not None and not statement.turns:
        facts.append(("rotation", "none: these layers are not turned"))
    facts += _list_lengths(layer)
    if rotation is not None:
        facts += _list_turns(layer)
        facts += [("how it is read", note) for note in rotation.notes if _OF_CLASS not in note]
    return facts


def _say_width(rotation: Rotation, statement: LayerStatement) -> str:
    turned = "all" if rotation.rotary_dim == rotation.head_dim else str(rotation.rotary_dim)
    beside = f"; beside them {statement.beside} that are not" if statement.beside else ""
    return f"{rotation.head_dim} channels, {turned} of them turned{beside}"


def _say_origin(rotation: Rotation, statement: LayerStatement) -> str:
    blocks = [block for block in (statement.newer, statement.older) if block is not None and block.base is not None]
    read = [block.base_key for block in blocks if block.base == rotation.base and block.base_key]
    if read:
        return f"from {read[0]}"
    return "from none of the keys: the default of the model's class"


def _say_scaling(rotation: Rotation) -> str:
    options = [(name, value) for name, value in rotation.options.items() if name != "share"]
    options.sort(key=lambda option: isinstance(option[1], tuple))  # numbers before lists of them
    words = ", ".join(f"{name} {_write(value)}" for name, value in options)
    factor = rotation.attention_scaling
    attention = f"; cosines and sines times {factor:.6g}" if factor not in (None, 1.0) else ""
    return f"{rotation.scaling}{': ' if words else ''}{words}{attention}"


def _write(value: object) -> str:
    if isinstance(value, tuple) and len(value) > _WRITTEN:
        return f"{len(value)} numbers"
    if isinstance(value, tuple):
        return " ".join(map(_write, value))
    return say_number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _say_layout(rotation: Rotation) -> str:
    half = (rotation.rotary_dim or 0) // 2
    pairs = "channels 2i and 2i + 1" if rotation.layout == "interleaved" else f"channels i and i + {half}"
    return f"{rotation.layout}: a pair is {pairs}"


def _list_lengths(layer: LayerAudit) -> list[tuple[str, str]]:
    trained, served, original = layer.trained_length, layer.served_length, layer.original_length
    if trained is None and served is None:
        return [("length", "not stated (--trained, --served)")]
    words = [f"trained {trained:,}" if trained is not None else "trained is not known"]
    words += [f"served {served:,}"] if served is not None else []
    words += [f"before scaling {original:,}"] if original not in (None, trained) else []
    words += [f"a window of {layer.reach:,} at once"] if layer.reach is not None else []
    return [("positions", ", ".join(words))]


def _list_turns(layer: LayerAudit) -> list[tuple[str, str]]:
    facts = []
    states = Counter(layer.states)
    if layer.trained_length is not None:
        rest = int(np.count_nonzero(layer.frequencies == 0))
        still = f" ({'all' if rest == states['never'] else rest} of them at rest)" if rest else ""
        text = (
            f"{states['many']} turn {MANY_TURNS:g} times or more, {states['few']} fewer, {states['never']} never{still}"
        )
        facts.append(("pairs", f"{text}, within {layer.limit(layer.trained_length):,} positions"))
    if layer.unseen:
        first, last = layer.unseen[0], layer.unseen[-1]
        which = f"{len(layer.unseen)} pairs, {first} to {last}" if first != last else f"1 pair, {first}"
        facts.append(("unseen phases", which))
    spectrum, count = layer.spectrum, layer.low_bin
    if spectrum is not None:
        bins, mass = len(spectrum.weights), spectrum.summary.low_bin_mass
        text = f"the first {min(10, bins)} of {bins} bins hold {percent(mass)} of the weight"
        facts.append(("spectrum", f"{text} (Eq. 15); mean frequency {spectrum.summary.centroid:.4g} rad/position"))
    if count is not None:
        text = f"{count.inside} of {count.total} frequencies below 2 pi/{count.length} rad/position"
        crossing = f"; the ladder crosses it at l* = {count.crossing:.2f}" if count.crossing is not None else ""
        facts.append(("low bin", f"{text} (Eq. 16){crossing}"))
    return facts
