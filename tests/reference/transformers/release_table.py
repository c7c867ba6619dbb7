"""The table of a release in the package, read and written as a whole.

The file of an older release has what differs from that of the newest, as a merge patch (RFC 7396): what the newest has
and it has not is null. Nothing of pe_spectra is imported.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "pe_spectra" / "models" / "measured"
#: The parts of it that have a line for each class.
SECTIONS = ("classes", "parts", "composites", "above", "query_scales")


def name_file(version):
    """Where the table of a release is."""
    return FOLDER / f"transformers-{version}.json"


def find_newest():
    """The newest release that has a table."""
    versions = [path.stem.split("-")[1] for path in FOLDER.glob("transformers-*.json") if path.stem.count("-") == 1]
    return max(versions, key=lambda version: [int(part) for part in version.split(".")])


def load(path):
    """A table as a whole."""
    found = json.loads(Path(path).read_text(encoding="utf-8"))
    return patch(load(name_file(found["beside"])), found) if "beside" in found else found


def save(table):
    """Write a table, one class on a line; of an older release what differs."""
    path, head = name_file(table["version"]), {key: value for key, value in table.items() if key not in SECTIONS}
    sections = {name: table[name] for name in SECTIONS if name in table}
    if "beside" in table:
        newest = load(name_file(table["beside"]))
        sections = {name: find_changes(newest.get(name, {}), found) for name, found in sections.items()}
        head = {key: value for key, value in head.items() if newest.get(key) != value}
        head |= {"letters": find_changes(newest["letters"], table["letters"])} if "letters" in head else {}
    text = json.dumps(head)[:-1]
    for name, found in sections.items():
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(found.items()))
        text += f',\n"{name}": {{\n' + ",\n".join(lines) + "\n}"
    path.write_text(f"{text}}}\n", encoding="utf-8")
    print(f"{path.name}: {len(table['classes'])} classes, {path.stat().st_size} bytes")


def patch(whole, changes):
    """A table with the changes of a merge patch in it."""
    found = dict(whole)
    for key, value in changes.items():
        if value is None:
            found.pop(key, None)
        else:
            inner = found.get(key) if isinstance(found.get(key), dict) else {}
            found[key] = patch(inner, value) if isinstance(value, dict) else value
    return found


def find_changes(before, after):
    """The merge patch that makes one table of another."""
    found = {key: None for key in before if key not in after}
    for key, value in after.items():
        if isinstance(value, dict) and isinstance(before.get(key), dict):
            inner = find_changes(before[key], value)
            found |= {key: inner} if inner else {}
        elif key not in before or json.loads(json.dumps(value)) != before[key]:
            found[key] = value
    return found
