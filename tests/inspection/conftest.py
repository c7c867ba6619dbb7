"""The table and the seed of a test that is asked for each kind of table."""

import pytest

from tests.inspection.tables import BASES


@pytest.fixture
def seed(made):
    return made[-1]


@pytest.fixture
def table(made):
    base, rows, width, seed = made
    return BASES[base](rows, width, seed)
