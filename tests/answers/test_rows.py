"""What an answer holds: values for JSON, digits, and paths."""

import json
import math

import numpy as np

from pe_spectra.cli.terminal import shorten_paths
from pe_spectra.faces import simplify
from pe_spectra.wording import write_power, write_time

# ----------------------------------------------------------------------------------- commands


def test_paths_lose_their_middle_only_while_they_stay_apart():
    ends = "/llama/checkpoints/config.json"
    far, near = "/models/a" + ends, "/models/b" + ends
    assert shorten_paths([far, near], 24) == (".../a/.../config.json", ".../b/.../config.json")
    assert shorten_paths([far, near], 5) == (".../a/.../config.json", ".../b/.../config.json")
    assert shorten_paths([far, "short.json"], 28) == ("/.../checkpoints/config.json", "short.json")
    assert shorten_paths([far, far], 28) == ("/.../checkpoints/config.json",) * 2
    assert shorten_paths(["a/b/c.json", "b/a/c.json"], 4) == ("a/b/c.json", "b/a/c.json")


# ----------------------------------------------------------------------------------- numbers in words


def test_what_json_cannot_hold_becomes_what_it_can():
    found = simplify(
        {"array": np.arange(2), "pair": (np.float32(0.5), math.inf), 3: {"deep": np.int64(4), "not": math.nan}}
    )
    assert found == {"array": [0, 1], "pair": [0.5, None], "3": {"deep": 4, "not": None}}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_small_times_and_numbers_that_round_up_to_a_power_of_ten():
    assert write_time(0.25) == "0.25 s"
    assert [write_power(math.log(value)) for value in (9.94e5, 9.96e5, 9.96e-5)] == ["9.9e+05", "1.0e+06", "1.0e-04"]
