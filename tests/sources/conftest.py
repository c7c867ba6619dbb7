"""A working directory with a table."""

import numpy as np
import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a table of 40 x 6."""
    monkeypatch.chdir(tmp_path)
    np.save("t.npy", np.random.default_rng(0).normal(size=(40, 6)))
    return tmp_path
