"""The rows of the catalogue: fixtures and cases, one JSON object a line.

A later version of the program adds rows, not code. What a field means stands where it is used: here
how fixtures and arguments are built, in `workspace` the steps before a run, in `judge` what is expected.
"""

import base64
import io
import json
import re
import zipfile
from pathlib import Path

CATALOGUE = Path(__file__).with_name("cases.jsonl")


def load(path=CATALOGUE):
    """Give the fixtures by name and the cases in order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    fixtures = {row["name"]: row for row in rows if row["group"] == "fixture"}
    cases = [row for row in rows if row["group"] != "fixture"]
    repeated = {case["id"] for case in cases if sum(case["id"] == other["id"] for other in cases) > 1}
    if repeated:
        raise ValueError(f"ids given twice: {sorted(repeated)}")
    missing = {name for case in cases for name in case.get("fixtures", [])} - set(fixtures)
    if missing:
        raise ValueError(f"fixtures that no row describes: {sorted(missing)}")
    return fixtures, cases


def build_fixture(row):
    """Give the bytes that a fixture's row describes."""
    if "zip" not in row:
        return _join(row["parts"])
    archive = io.BytesIO()
    method = zipfile.ZIP_STORED if row.get("stored") else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(archive, "w", method) as members:
        for member in row["zip"]:
            for number in range(member.get("count", 1)):
                name = member["name"].replace("#", str(number)) if "count" in member else member["name"]
                members.writestr(name, _join(member["parts"]))
    return archive.getvalue()


def _join(parts):
    return b"".join(_build_part(part) for part in parts)


def _build_part(part):
    if isinstance(part, str):
        return part.encode("latin-1")
    if isinstance(part, list):
        text, times = part
        return text.encode("latin-1") * times
    if "b64" in part:
        return base64.b64decode(part["b64"])
    pieces = (part["template"].replace("#", str(number)) for number in range(part["count"]))
    return part["join"].join(pieces).encode("latin-1")


def expand(argument):
    """Write out `%c*n%`, the character c repeated n times; everything else is literal."""
    return re.sub(r"%(.)\*([0-9]+)%", lambda found: found[1] * int(found[2]), argument)
