"""The JSON Schema as a file of the package, which the command prints: run this file to write it anew.

.venv/bin/python -m tests.pages.schema
"""

import json

from pe_spectra.answers.documents import build_schema
from tests.places import ROOT

SCHEMA = ROOT / "pe_spectra" / "answers" / "schema.json"


def write_schema() -> str:
    """What is declared, as the text of the file."""
    return json.dumps(build_schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(write_schema(), encoding="utf-8")
