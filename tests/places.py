"""Where the tests find what lies beside them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
#: Configurations of public models, and broken ones.
MODELS = TESTS / "models"
#: Frozen values of high precision, and of other packages.
REFERENCE = TESTS / "reference"
