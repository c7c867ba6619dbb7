"""What audits say: the first line about one model or about many, and the facts about one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from pe_spectra.answers.answer import Verdict, Verdicts, gather_notes
from pe_spectra.answers.captions import place_below, write_blur, write_mean
from pe_spectra.findings import Finding
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.model_audit import ModelAudit
from pe_spectra.models.rotation import MANY_TURNS
from pe_spectra.models.stated.statement import CHUNKED
from pe_spectra.vocabulary import RANKS
from pe_spectra.wording import count, join, percent, write_run

VERDICTS = Verdicts({"clean": "ok", "unusable-files": "error"})
#: Files that a sentence names, and numbers of a list that are written out.
_NAMED, _WRITTEN = 4, 4
_FULL = "full_attention"
#: What is said of a model beside the parts of it that have names.
_WHOLE = "the model"
#: A note that says so repeats where the base is from.
_OF_CLASS = "the default of its class"


def find_gravest(findings: Sequence[Finding]) -> Finding | None:
    """Return the gravest finding above a note; None where there is none.

    >>> find_gravest([Finding(level="note", code="precision", message="")]) is None
    True
    """
    return max((one for one in findings if one.level != "note"), key=lambda one: RANKS[one.level], default=None)


def _find_main(audit: ModelAudit) -> LayerAudit:
    """The layer type of the text part that a sentence is about: full attention, else the one that sees farthest."""
    own = [layer for layer in audit.layers if not layer.configuration.part]
    turned = [layer for layer in own if layer.rotation is not None]
    full = [layer for layer in turned if layer.name == _FULL]
    if full or not turned:
        return full[0] if full else own[0]
    return max(turned, key=lambda layer: (layer.reach is None, layer.reach or 0))


def judge_audits(models: Sequence[ModelAudit]) -> Verdict:
    """Say of one model what it has and the gravest thing about it; of several how many have something wrong.

    >>> judge_audits([ModelAudit(file=name, error="cannot be read") for name in ("a.json", "b.json")]).code
    'unusable-files'
    """
    if not models:
        return VERDICTS.say("clean", "No file that was named states a model: nothing is audited.")
    return _judge_one(models[0]) if [one.error for one in models] == [None] else _judge_many(models)


def _say_other(audit: ModelAudit) -> str:
    from pe_spectra.answers.scheme_words import say_other_scheme  # which loads encodings of every such scheme

    return say_other_scheme(audit)


def _judge_one(audit: ModelAudit) -> Verdict:
    main, gravest = _find_main(audit), find_gravest(audit.findings)
    stated = main.configuration
    what = _say_rotary(audit, main) if stated.scheme == "rotary" else _say_other(audit)
    what += f"; beside it {_name_some([one.part for one in stated.parts])}" if stated.parts else ""
    what = what if audit.reader is None else f"Read by {audit.reader.title}. {what}"
    if gravest is None:
        return VERDICTS.say("clean", f"{what}. Nothing wrong found.")
    counts = Counter(finding.level for finding in audit.findings if finding.level != "note")
    parts = join([count(counts[level], level) for level in ("error", "warning") if counts[level]])
    first = ", first" if counts.total() > 1 else ""
    from pe_spectra.models.checks.kinds import KINDS

    text = f"{what}. {parts}{first}: {KINDS[gravest.code].phrase} ({gravest.code})."
    return Verdict(level=gravest.level, code=gravest.code, text=text)


def _judge_many(models: Sequence[ModelAudit]) -> Verdict:
    gravest = [(one.title, find_gravest(one.findings)) for one in models if one.error is None]
    bad = [one.title for one in models if one.error is not None]
    short = leave_out_folder([one.title for one in models])
    parts = []
    for level in ("error", "warning"):
        files = [short[file] for file, finding in gravest if finding is not None and finding.level == level]
        parts += [f"{len(files)} with {level}s ({_name_some(files)})"] if files else []
    parts += [f"{len(bad)} that cannot be used ({_name_some([short[file] for file in bad])})"] if bad else []
    parts += [f"{sum(finding is None for _, finding in gravest)} without anything wrong"]
    text = f"{len(models)} {_name_several(models)[0]}: {', '.join(parts)}"
    worst = find_gravest([finding for _, finding in gravest if finding is not None])
    if bad:
        return VERDICTS.say("unusable-files", f"{text}.")
    return Verdict(level=worst.level if worst else "ok", code=worst.code if worst else "clean", text=f"{text}.")


def count_audits(models: Sequence[ModelAudit]) -> str:
    """Count files by the gravest level of what was found in each.

    >>> count_audits([ModelAudit(file=name, error="cannot be read") for name in ("a.json", "b.json")])
    '2 files: 0 with errors, 0 with warnings, 0 without either, 2 refused'
    """
    good = [one for one in models if one.error is None]
    levels = Counter("" if (found := find_gravest(one.findings)) is None else found.level for one in good)
    parts = [f"{levels['error']} with errors", f"{levels['warning']} with warnings", f"{levels['']} without either"]
    return f"{count(len(models), _name_several(models)[1])}: {', '.join(parts)}, {len(models) - len(good)} refused"


def _name_several(models: Sequence[ModelAudit]) -> tuple[str, str]:
    """What audits are of, as the verdict and the last line call them: files, each read once or by several."""
    return ("readings", "reading") if any(one.reader is not None for one in models) else ("configurations", "file")


def leave_out_folder(files: Sequence[str]) -> dict[str, str]:
    """Give each file the name that it has below the folder of them all.

    >>> leave_out_folder(["models/a/config.json", "models/b/config.json"])
    {'models/a/config.json': 'a/config.json', 'models/b/config.json': 'b/config.json'}
    """
    parts = [file.split("/") for file in files]
    levels = zip(*(names[:-1] for names in parts), strict=False)
    start = sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, levels))
    return {file: "/".join(names[start:]) for file, names in zip(files, parts, strict=True)}


def _name_some(files: Sequence[str]) -> str:
    names = list(dict.fromkeys(files))
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _say_rotary(audit: ModelAudit, layer: LayerAudit) -> str:
    if layer.rotation is None:
        return "Rotary, but no frequencies can be given" if layer.scheme == "rotary" else "No layer is turned"
    partial = f" in {layer.rotary_dim} of {layer.head_dim} channels" if layer.rotary_dim != layer.head_dim else ""
    if axes := layer.configuration.axes:
        over = f"{count(len(axes), 'axis', 'axes')} ({join(axes)})"
        return f"Rotary over {over}, base {_write(layer.base)}{_name_scaling(layer)}"
    others = sum(not one.configuration.part for one in audit.layers) - 1
    beside = f" in {layer.name} layers, and {count(others, 'other layer type')}" if others else ""
    return f"Rotary{partial}, base {_write(layer.base)}{_name_scaling(layer)}{beside}{_say_periods(layer)}"


def _name_scaling(layer: LayerAudit) -> str:
    if layer.scaling in (None, "none"):
        return ""
    factor, original = layer.scaling_parameters.get("factor"), layer.scaling_parameters.get("original")
    words = [f"factor {_write(factor)}"] if isinstance(factor, int | float) else []
    words += [f"from {original:,}"] if isinstance(original, int) else []
    return f" with {layer.scaling} scaling" + (f" ({' '.join(words)})" if words else "")


def _say_periods(layer: LayerAudit) -> str:
    pairs, never, trained = len(layer.pairs), layer.never_turn, layer.trained_length
    if never is None or trained is None:
        why = "no training length is stated" if trained is None else "its window was not measured"
        unknown = f"is not known, since {why}"
        return f": how many periods its {pairs} pairs complete in training {unknown}"
    within = layer.limit(trained)
    window = ", the window" if within < trained else ""
    subject = f"{never} of {pairs} pairs never {'completes' if never == 1 else 'complete'} a period"
    if not never:
        subject = f"each of {pairs} pairs completes a period"
    return f": {subject} within {within:,} positions{window}"


# --------------------------------------------------------------------- facts


def list_facts(audit: ModelAudit) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return what is known about the layers of one model and was found, then what their spectra say, with labels.

    Of several types of layers the notes are among the latter, and their codes stand for them.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> keys = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 2048}
    >>> list_facts(audit_configuration(read_configuration(keys, "config.json")))[0][0]
    ('head width', '64 channels, all of them turned')
    """
    layers = _order_layers(audit)
    facts = _share_facts([(name, _list_layer_facts(layer)) for name, layer in layers])
    details = _share_facts([(name, _list_spectrum(layer)) for name, layer in layers])
    notes = [one for one in audit.findings if one.level == "note"] if len(layers) > 1 else []
    found = [one for one in audit.findings if one not in notes]
    codes = [("notes", join(list(dict.fromkeys(one.code for one in notes))))] if notes else []
    return [*facts, *_list_findings(found), *codes], [*_list_findings(notes), *details]


def _share_facts(named: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[tuple[str, str]]:
    """Say label by label what all types of layers have; where they differ, with the names of those that have it."""
    labels = dict.fromkeys(label for _, facts in named for label, _ in facts)
    every = [name for name, _ in named]
    return [
        (label, text)
        for label in labels
        for text in gather_notes(((name, said) for name, facts in named for one, said in facts if one == label), every)
    ]


def _order_layers(audit: ModelAudit) -> list[tuple[str, LayerAudit]]:
    """The types of layers by name, the main one first; one that is alone has no name."""
    main = _find_main(audit) if audit.layers else None
    layers = sorted(audit.layers, key=lambda layer: layer is not main)
    return [((layer.configuration.where or _WHOLE) if layer.name == "all" else layer.name, layer) for layer in layers]


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
    is_turned, facts = layer.rotation is not None, []
    if layer.configuration.part and layer.scheme != "rotary" and layer.statement.turns:
        alone = ModelAudit(configuration=layer.configuration, file="", layers=(layer,))
        facts.append(("encoding", _say_other(alone)))
    if is_turned:
        axes: list[object] = []
        if layer.configuration.findings:
            from pe_spectra.models.stated.position_axes import GRID_ROTATION

            axes += [one.data["axes"] for one in layer.configuration.findings if one.code == GRID_ROTATION.code]
        facts += [
            ("head width", _say_width(layer, axes)),
            ("base", f"{_write(layer.base)}, {_say_origin(layer)}"),
            ("scaling", _say_scaling(layer)),
            ("layout", _say_layout(layer, axes)),
        ]
    elif not layer.statement.turns:
        facts.append(("rotation", "none: these layers are not turned"))
    if not is_turned and layer.spec is not None:
        facts.append(("as a SPEC", layer.spec))
    facts.append(("context", _say_lengths(layer)))
    if is_turned:
        facts += _list_periods(layer)
        facts += [("how it is read", note) for note in layer.notes if _OF_CLASS not in note]
    return facts


def _say_width(layer: LayerAudit, axes: list[object]) -> str:
    moving = 2 * int(np.count_nonzero(layer.frequencies))  # pairs at rest are not turned
    turned = "all" if moving == layer.head_dim else str(moving)
    beside = f"; beside them {layer.statement.beside} that are not" if layer.statement.beside else ""
    grid = f" for each of {axes[0]} axes" if axes else ""
    return f"{layer.head_dim} channels{grid}, {turned} of them turned{beside}"


def _say_origin(layer: LayerAudit) -> str:
    blocks = [block for block in (layer.statement.newer, layer.statement.older) if block is not None]
    read = [block.base_key for block in blocks if block.base == layer.base and block.base_key]
    if read:
        return f"from {read[0]}"
    key = layer.block.find_base_key()
    if key:
        return f"made of {_write(layer.block.base)} from {key} (how it is read)"
    return "from none of the keys: the default of the model's class"


def _say_scaling(layer: LayerAudit) -> str:
    options = sorted(layer.scaling_parameters.items(), key=lambda option: isinstance(option[1], tuple))
    words = ", ".join(f"{name} {_write(value)}" for name, value in options)  # numbers before lists of them
    factor = layer.attention_scaling
    attention = f"; cosines and sines times {factor:.6g}" if factor not in (None, 1.0) else ""
    return f"{layer.scaling}{': ' if words else ''}{words}{attention}"


def _write(value: object) -> str:
    """Write a number of a configuration: integers with all their digits; of a long list how many there are."""
    if isinstance(value, tuple):
        return f"{len(value)} numbers" if len(value) > _WRITTEN else " ".join(map(_write, value))
    if value is None:
        return "unknown"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.9g}"


def _say_layout(layer: LayerAudit, axes: list[object]) -> str:
    whole = layer.configuration.axes and layer.rotary_dim != layer.head_dim  # an axis takes pairs of the whole head
    half = ((layer.head_dim if whole else layer.rotary_dim) or 0) // 2
    pairs = "channels 2i and 2i + 1" if layer.layout == "interleaved" else f"channels i and i + {half}"
    if layer.layout == "half" and axes:
        return "half: a pair is channels of two halves, of a head or of each axis, which is not told here"
    return f"{layer.layout}: a pair is {pairs}"


def _say_lengths(layer: LayerAudit) -> str:
    trained, served, original = layer.trained_length, layer.served_length, layer.original_length
    if trained is None and served is None:
        return "not stated (--trained, --served)"
    words = [f"training {trained:,}" if trained is not None else "training is not known"]
    words += [f"inference {served:,}"] if served is not None else []
    words += [f"before scaling {original:,}"] if original not in (None, trained) else []
    if layer.reach is None or layer.reach >= (served or math.inf):  # a window as long as the context is none
        return f"{', '.join(words)} positions"
    kind = "attention in chunks" if layer.statement.name == CHUNKED else "sliding window"
    window = f", at most {layer.reach:,} of them at once ({kind})"
    if layer.statement.sides is not None:
        before, after = layer.statement.sides
        sides = f"{before:,} on either side of" if before == after else f"{before:,} before and {after:,} after"
        window = f", at most {sides} a query (sliding window)"
    return f"{', '.join(words)} positions{window}"


def _list_periods(layer: LayerAudit) -> list[tuple[str, str]]:
    facts = []
    states = Counter(layer.states)
    if layer.trained_length is not None and not states[""]:
        rest = int(np.count_nonzero(layer.frequencies == 0))
        still = f" ({'all' if rest == states['never'] else rest} of them at rest)" if rest else ""
        text = (
            f"{states['many']} complete {MANY_TURNS:g} periods or more, {states['few']} fewer, {states['never']} none"
        )
        facts.append(("pairs", f"{text}{still}, within {layer.limit(layer.trained_length):,} positions"))
    if layer.unseen:
        which = f"{count(len(layer.unseen), 'pair')}, {write_run(layer.unseen)}"
        facts.append(("phases", f"out of range (not covered in training) of {which}"))
    return facts


def _list_spectrum(layer: LayerAudit) -> list[tuple[str, str]]:
    facts = []
    spectrum, found = layer.spectrum, layer.low_bin
    if spectrum is not None:
        bins, mass = len(spectrum.weights), spectrum.summary.low_bin_mass
        text = f"the first {min(10, bins)} of {bins} bins hold {percent(mass)} of the weight"
        facts.append(("spectrum", f"{text} (Eq. 15{write_blur(spectrum)}); {write_mean(spectrum)}"))
    if found is not None:
        edge = place_below(found.zero, f"2 pi/{found.length} rad/position")
        text = f"{found.inside} of {found.total} frequencies {edge}"
        crossing = f"; the ladder crosses it at l* = {found.crossing:.2f}" if found.crossing is not None else ""
        facts.append(("low bin", f"{text} (Eq. 16){crossing}"))
    return facts
