"""Strict JSON, and what a row expects of a document: paths, tolerances, finite numbers."""

import json
import math
import re

_STEP = re.compile(r"(?P<name>[^.\[\]]+)(?:\[(?P<key>[^=\]]+)=(?P<value>[^\]]*)\])?(?:\.|$)")
_ABSENT = object()


def parse_strictly(data):
    """Give the one document; refuse NaN, infinite numbers, duplicate keys, and anything around it."""

    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    def unique(pairs):
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    return json.loads(data.decode("utf-8"), parse_constant=refuse, object_pairs_hook=unique)


def find(document, path):
    """Follow a path through keys and list positions; `name[key=value]` picks a member of a list."""
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise ValueError(f"no path: {path}")
        position = step.end()
        document = _member(document, step["name"])
        if step["key"] and document is not _ABSENT:
            document = _pick(document, step["key"], step["value"])
        if document is _ABSENT:
            return _ABSENT
    return document


def _member(document, name):
    if isinstance(document, dict):
        return document.get(name, _ABSENT)
    if isinstance(document, list) and name.isdigit() and int(name) < len(document):
        return document[int(name)]
    return _ABSENT


def _pick(document, key, value):
    members = document if isinstance(document, list) else []
    return next((member for member in members if str(find(member, key)) == value), _ABSENT)


def check_json(expect, document):
    """Give what differs from the fields `json`, `json_nonempty` and `finite` of a row."""
    problems = []
    for path, wanted in expect.get("json", {}).items():
        value = find(document, path.removeprefix("?"))
        if value is _ABSENT:
            problems += [] if path.startswith("?") else [f"{path} is not in the document"]
        elif not _agrees(path, value, wanted):
            problems.append(f"{path} is {value!r} where {wanted!r} is expected")
    problems += [
        f"{path} is empty"
        for path in expect.get("json_nonempty", [])
        if find(document, path) in (_ABSENT, [], {}, "", None)
    ]
    if expect.get("finite"):
        problems += [f"{path} is not finite" for path in _unbounded(document, "")]
    return problems


def _agrees(path, value, wanted):
    if isinstance(wanted, dict):
        (lag,) = wanted.values()
        return isinstance(value, list) and len(value) == 2 and value[1] - value[0] == lag
    if isinstance(wanted, list) and path.split(".")[-1] != "closest_pair":
        number, tolerance, *absolute = wanted
        if not _is_number(value):
            return False
        return abs(value - number) <= tolerance * (1 if absolute else abs(number))
    if isinstance(wanted, bool) or wanted is None:
        return value is wanted
    if isinstance(wanted, int):
        return isinstance(value, int) and not isinstance(value, bool) and value == wanted
    return not isinstance(value, bool) and value == wanted


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unbounded(value, path):
    """A number that is not finite, or a hole in a list of numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return [path]
    if isinstance(value, dict):
        return [found for key, member in value.items() for found in _unbounded(member, f"{path}.{key}")]
    if isinstance(value, list):
        holes = [path] if None in value and any(_is_number(member) for member in value) else []
        return holes + [
            found for number, member in enumerate(value) for found in _unbounded(member, f"{path}.{number}")
        ]
    return []
