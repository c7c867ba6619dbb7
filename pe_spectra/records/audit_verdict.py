"""The first line about configurations: what the encoding is, and whether something is wrong with it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from pe_spectra.encodings.biases import compute_slopes
from pe_spectra.encodings.buckets import compute_buckets
from pe_spectra.findings import Finding
from pe_spectra.models.audit import LayerAudit, ModelAudit
from pe_spectra.models.checks import KINDS
from pe_spectra.records.answer import Verdict, join
from pe_spectra.records.findings import RANKS

_NAMED = 4
_FULL = "full_attention"


def find_gravest(findings: Sequence[Finding]) -> Finding | None:
    """Return the gravest finding above a note; None where there is none.

    >>> from pe_spectra.findings import Finding
    >>> find_gravest([Finding(level="note", code="precision", message="")]) is None
    True
    >>> find_gravest([Finding(level="warning", code="aliasing", message="")]).code
    'aliasing'
    """
    wrong = [finding for finding in findings if finding.level != "note"]
    return max(wrong, key=lambda finding: RANKS[finding.level]) if wrong else None


def find_main(audit: ModelAudit) -> LayerAudit:
    """Return the layer type that a sentence is about: full attention, else the one that sees farthest.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> audit = audit_configuration(read_configuration({"model_type": "llama", "head_dim": 64}, "config.json"))
    >>> find_main(audit).name
    'all'
    """
    turned = [layer for layer in audit.layers if layer.rotation is not None]
    full = [layer for layer in turned if layer.name == _FULL]
    if full or not turned:
        return full[0] if full else audit.layers[0]
    return max(turned, key=lambda layer: (layer.reach is None, layer.reach or 0))


def judge_one(audit: ModelAudit) -> Verdict:
    """Say what one model has, and the gravest thing about it.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 2048}
    >>> judge_one(audit_configuration(read_configuration(config, "config.json"))).level
    'ok'
    """
    gravest = find_gravest(audit.findings)
    if gravest is None:
        return Verdict(level="ok", code="clean", text=f"{_say_scheme(audit)}. Nothing wrong found.")
    counts = Counter(finding.level for finding in audit.findings if finding.level != "note")
    parts = [_count(counts[level], level) for level in ("error", "warning") if counts[level]]
    first = ", first" if counts.total() > 1 else ""
    text = f"{_say_scheme(audit)}. {join(parts)}{first}: {KINDS[gravest.code].phrase} ({gravest.code})."
    return Verdict(level=gravest.level, code=gravest.code, text=text)


def judge_many(good: Sequence[tuple[str, ModelAudit]], bad: Sequence[str]) -> Verdict:
    """Say how many of several files have something wrong, and which.

    >>> judge_many([], ["config.json"]).code
    'unusable-files'
    """
    by_level: dict[str, list[str]] = {"error": [], "warning": []}
    gravest = {file: find_gravest(audit.findings) for file, audit in good}
    for file, finding in gravest.items():
        if finding is not None:
            by_level[finding.level].append(file)
    clean = sum(find_gravest(audit.findings) is None for _, audit in good)
    short = _leave_out_folder([*(file for file, _ in good), *bad])
    parts = [
        f"{len(files)} with {level}s ({_name_some([short[file] for file in files])})"
        for level, files in by_level.items()
        if files
    ]
    parts += [f"{len(bad)} that cannot be used ({_name_some([short[file] for file in bad])})"] if bad else []
    parts += [f"{clean} without anything wrong"]
    text = f"{len(good) + len(bad)} configurations: {', '.join(parts)}."
    worst = find_gravest([finding for finding in gravest.values() if finding is not None])
    if bad:
        return Verdict(level="error", code="unusable-files", text=text)
    return Verdict(level=worst.level if worst else "ok", code=worst.code if worst else "clean", text=text)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number > 1 else ''}"


def _leave_out_folder(files: Sequence[str]) -> dict[str, str]:
    """Give each file the name that it has below the folder of them all."""
    parts = [file.split("/") for file in files]
    levels = zip(*(names[:-1] for names in parts), strict=False)
    start = sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, levels))
    return {file: "/".join(names[start:]) for file, names in zip(files, parts, strict=True)}


def _name_some(files: Sequence[str]) -> str:
    names = list(dict.fromkeys(files))
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _say_scheme(audit: ModelAudit) -> str:
    says = {"alibi": _say_alibi, "t5": _say_t5, "learned": _say_learned, "sinusoidal": _say_sinusoidal}
    scheme = audit.configuration.scheme
    if scheme == "rotary":
        return _say_rotary(audit)
    if scheme in says:
        return says[scheme](audit)
    return "No positional encoding: order is in the recurrence"


def _say_rotary(audit: ModelAudit) -> str:
    layer = find_main(audit)
    rotation = layer.rotation
    if rotation is None:
        return "Rotary, but no frequencies can be given" if layer.scheme == "rotary" else "No layer is turned"
    width = f" in {rotation.rotary_dim} of {rotation.head_dim} channels"
    partial = width if rotation.rotary_dim != rotation.head_dim else ""
    what = f"Rotary{partial}, base {say_number(rotation.base)}{_say_scaling(layer)}"
    return f"{what}{_say_others(audit, layer)}{_say_turns(layer)}"


def _say_scaling(layer: LayerAudit) -> str:
    rotation = layer.rotation
    if rotation is None or rotation.scaling in (None, "none"):
        return ""
    factor, original = rotation.options.get("factor"), rotation.options.get("original")
    words = [f"factor {say_number(factor)}"] if isinstance(factor, int | float) else []
    words += [f"from {original:,}"] if isinstance(original, int) else []
    return f" with {rotation.scaling} scaling" + (f" ({' '.join(words)})" if words else "")


def _say_others(audit: ModelAudit, layer: LayerAudit) -> str:
    others = len(audit.layers) - 1
    if not others:
        return ""
    return f" in {layer.name} layers, and {_count(others, 'other layer type')}"


def _say_turns(layer: LayerAudit) -> str:
    pairs, never, trained = len(layer.frequencies), layer.never_turn, layer.trained_length
    if never is None or trained is None:
        return f": how often its {pairs} pairs turn in training is not known, since no length is stated (--trained)"
    within = layer.limit(trained)
    window = ", the window" if within < trained else ""
    subject = f"{never} of {pairs} pairs never {'completes' if never == 1 else 'complete'} a turn"
    if not never:
        subject = f"each of {pairs} pairs completes a turn"
    return f": {subject} within {within:,} positions{window}"


def _say_alibi(audit: ModelAudit) -> str:
    slopes = compute_slopes(int(audit.configuration.values["heads"]))
    return f"ALiBi: {_count(slopes.size, 'head')}, slopes from {slopes.max():.6g} to {slopes.min():.6g}"


def _say_t5(audit: ModelAudit) -> str:
    values = audit.configuration.values
    buckets, most = int(values["buckets"]), int(values["max_distance"])
    ends = [find_last_bucket(buckets, most, bidirectional=way) for way in (True, False)]
    shared = f"distances from {ends[0]} on share one in an encoder, from {ends[1]} on in a decoder"
    return f"T5: {buckets} buckets, {_count(int(values['heads']), 'head')}; {shared}"


def find_last_bucket(buckets: int, max_distance: int, *, bidirectional: bool) -> int:
    """Return the smallest distance of those that share the last bucket of T5.

    >>> find_last_bucket(32, 128, bidirectional=False)
    113
    """

    def place(distance: int) -> int:
        found = compute_buckets([-distance], buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
        return int(found[0])

    return bisect_left(range(max_distance + 1), place(max_distance), key=place)


def _say_learned(audit: ModelAudit) -> str:
    values, layer = audit.configuration.values, audit.layers[0]
    if "rows" not in values:
        return "Learned: a table of positions whose number of rows is not stated"
    rows, unused = int(values["rows"]), int(values.get("unused", 0))
    kept = f", {unused} of which are no positions," if unused else ""
    length = layer.served_length
    return f"Learned: {rows:,} rows{kept}" + (f" for {length:,} positions" if length is not None else "")


def _say_sinusoidal(audit: ModelAudit) -> str:
    return f"Sinusoidal: {audit.configuration.values['d']} columns by formula, for any number of positions"


def say_number(value: float | None) -> str:
    """Write a base or a factor: integers with all their digits.

    >>> say_number(1000000.0), say_number(999999.4420358813), say_number(None)
    ('1000000', '999999.442', 'unknown')
    """
    if value is None:
        return "unknown"
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.9g}"
