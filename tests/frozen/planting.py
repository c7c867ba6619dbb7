"""What the tests of frozen files share: entries of configurations, and what a file makes of them."""

import json

from pe_spectra.frozen.changes import compare_entries
from pe_spectra.frozen.entries import read_entry, take_side, write_entry
from pe_spectra.model_sources import Side
from tests.models.configurations import read
from tests.places import MODELS

#: The configurations of published models.
CONFIGURATIONS = sorted(path.stem for path in MODELS.glob("*.json") if path.stem != "EXPECTED")


def load(name):
    """The object of a published configuration."""
    return json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))


def take(config):
    """What is frozen of a configuration, as a file has it."""
    return json.loads(json.dumps(write_entry(take_side(Side(shown="config.json", configuration=read(config))))))


def compare(frozen, now, **options):
    """Compare what two files have."""
    return compare_entries(read_entry(frozen, "A"), read_entry(now, "B"), frozen, **options)


def name_changes(frozen, now, **options):
    """The names of what changed."""
    return [one.what for one in compare(frozen, now, **options).changes]
