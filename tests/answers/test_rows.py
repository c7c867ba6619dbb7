"""What an answer holds: values for JSON, digits, and paths."""

import json
import math
from decimal import Decimal

import mpmath
import numpy as np
import pytest

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


@pytest.mark.parametrize("seed", range(4))
def test_no_digit_is_written_that_the_error_of_a_logarithm_leaves_open(seed):
    """Whatever the true logarithm is, within its error, the number is as written but for a unit of the last digit."""
    generator, shortest, longest = np.random.default_rng(seed), 9, 0
    for _ in range(500):
        logarithm = -(10 ** generator.uniform(-3, 17))
        error = 10 ** generator.uniform(-16, -1) * abs(logarithm)
        text = write_power(logarithm, error)
        for true in (logarithm - error, logarithm, logarithm + error):
            with mpmath.workdps(40):
                power = mpmath.mpf(true) / mpmath.log(10)
                if text.startswith("10^"):
                    mantissa, said, found = text.removeprefix("10^"), mpmath.mpf(text.removeprefix("10^")), power
                else:
                    mantissa, _, exponent = text.partition("e")
                    said, found = mpmath.mpf(mantissa), mpmath.power(10, power - int(exponent or 0))
                unit = Decimal(1).scaleb(Decimal(mantissa).as_tuple().exponent)
                assert abs(found - said) <= 1.51 * float(unit), (text, logarithm, error)
        digits = len(Decimal(mantissa).as_tuple().digits)
        shortest, longest = min(shortest, digits), max(longest, digits)
    assert (shortest, longest) == (1, 6)


def test_a_power_of_ten_has_no_digit_more_than_its_error_leaves():
    assert write_power(-1e14, 0.05) == "7e-43429448190326"
    assert write_power(-1e14, 0.051) == "10^-4.34294e+13"
    assert write_power(-1e6, 0.0049).count(".") == 1
    assert write_power(math.log(9.96e-50), 0.01) == "1e-49"
