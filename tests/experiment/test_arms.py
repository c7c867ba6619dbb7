"""What an arm puts into the network, against the definitions written out."""

import numpy as np
import pytest

from pe_spectra.errors import FileError, InputError
from pe_spectra.experiment.arms import build_arm, compute_rms_norm
from pe_spectra.names import ENCODING_CLASSES
from pe_spectra.vocabulary import ENTRIES
from tests.refusing import catch

LENGTH, WIDTH, HEADS = 32, 32, 4
#: How much a float64 sum of this length may differ.
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
SUM_OF_TWO = "hybrid:of='sinusoidal:d=32'+'dft:d=32'"
#: All but the one that makes magnitudes of queries and keys, which the network does not; it is refused, below.
EVERY = [SUM_OF_TWO if name == "hybrid" else name for name in ENCODING_CLASSES if name != "pope"]


@pytest.mark.parametrize("spec", EVERY)
def test_every_encoding_of_the_catalogue_but_pope_is_an_arm(spec):
    arm = build_arm(spec, length=LENGTH)
    shapes = {"token": (LENGTH, WIDTH), "rotation": (LENGTH, WIDTH // HEADS)}
    assert arm.entry in ENTRIES
    assert np.isfinite(arm.values).all()
    assert arm.values.any()
    if arm.entry in shapes:
        assert arm.values.shape == shapes[arm.entry]
    else:
        assert arm.index.shape == (LENGTH, LENGTH)
        assert set(np.unique(arm.index)) == set(range(len(arm.values)))
        assert arm.values.shape[1] == (HEADS if arm.entry in ("score", "weight") else WIDTH // HEADS)


@pytest.mark.parametrize("spec", EVERY)
def test_the_name_of_an_arm_names_the_same_arm(spec):
    arm = build_arm(spec, length=LENGTH, seed=3)
    again = build_arm(arm.name, length=LENGTH, seed=3)
    assert (again.name, again.spec) == (arm.name, arm.spec)
    np.testing.assert_array_equal(build_arm(arm.spec, length=LENGTH).values, arm.values)


@pytest.mark.parametrize("spec", ["dft", "ramp", "one-hot", "learned", "calendar", "tree", "sinusoidal:d=32", "rnn"])
def test_a_matched_norm_is_that_of_the_sinusoid_and_the_shape_is_kept(spec):
    own, matched = (build_arm(spec, length=LENGTH, norm=norm, seed=1) for norm in ("own", "matched"))
    norms = [sum(x * x for x in row) for row in matched.values.tolist()]
    assert sum(norms) / len(norms) == pytest.approx(WIDTH / 2, rel=1e-12)
    np.testing.assert_allclose(matched.values, own.values * matched.factor, **CLOSE)
    assert own.factor == 1


def test_the_sinusoid_is_its_own_measure():
    own, matched = (build_arm("sinusoidal", length=LENGTH, norm=norm) for norm in ("own", "matched"))
    np.testing.assert_allclose(matched.values, own.values, **CLOSE)
    assert own.rms_norm == pytest.approx((WIDTH / 2) ** 0.5)


def test_a_narrow_table_fills_the_first_columns():
    arm = build_arm("sinusoidal:d=6", length=LENGTH)
    assert arm.values[:, :6].any(axis=0).all()
    assert not arm.values[:, 6:].any()


@pytest.mark.parametrize("spec", ["rope", "rope:layout=interleaved", "rope:base=100"])
def test_a_rotation_is_cosines_then_sines_of_the_ladder(spec):
    base = 100.0 if "base" in spec else 10000.0
    angles = np.outer(np.arange(LENGTH), base ** (-np.arange(0, 8, 2) / 8))
    arm = build_arm(spec, length=LENGTH)
    np.testing.assert_allclose(arm.values, np.hstack([np.cos(angles), np.sin(angles)]), **CLOSE)


@pytest.mark.parametrize("spec", ["alibi", "alibi:causal=no"])
def test_alibi_falls_with_the_distance_in_both_directions(spec):
    arm = build_arm(spec, length=LENGTH)
    for h, slope in enumerate([2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8]):
        for i in (0, 5, 31):
            for j in (0, 7, 30):
                assert arm.values[arm.index[i, j], h] == -slope * abs(i - j)


def test_lags_of_one_bucket_of_t5_share_one_number():
    arm = build_arm("t5", length=LENGTH)
    assert arm.trained
    # 8 and 9 positions before the query are one bucket, 7 is its own; behind the query there are others
    assert arm.index[20, 12] == arm.index[20, 11] != arm.index[20, 13]
    assert arm.index[20, 12] != arm.index[20, 28]


def test_shaw_clips_the_lag():
    arm = build_arm("shaw:clip=4", length=LENGTH)
    assert arm.entry == "key"
    assert arm.values.shape == (9, 8)
    assert arm.index[20, 16] == arm.index[20, 0] != arm.index[20, 17]


def test_a_map_of_a_decoder_is_mirrored():
    arm = build_arm("fire", length=LENGTH)
    map_ = arm.values[arm.index]
    np.testing.assert_array_equal(map_, map_.transpose(1, 0, 2))


def test_what_is_drawn_follows_the_seed_of_the_trial_unless_the_spec_has_one():
    first, second = (build_arm("learned", length=LENGTH, seed=seed) for seed in (1, 2))
    assert (first.values != second.values).all()
    fixed = [build_arm("learned:seed=7", length=LENGTH, seed=seed) for seed in (1, 2)]
    np.testing.assert_array_equal(fixed[0].values, fixed[1].values)
    assert fixed[0].name == "learned:seed=7"


def test_a_table_from_a_file_is_added_as_it_is(tmp_path):
    table = np.random.default_rng(0).normal(size=(40, 32))
    np.save(tmp_path / "table.npy", table)
    arm = build_arm(str(tmp_path / "table.npy"), length=LENGTH)
    np.testing.assert_array_equal(arm.values, table[:LENGTH])
    assert not arm.trained


@pytest.mark.parametrize(
    ("spec", "norm", "words"),
    [
        ("sinusoidal:d=128", "own", "is wider than the network (128); at most 32 columns"),
        ("hybrid", "own", "is wider than the network (256)"),
        ("one-hot:d=16", "own", "one-hot: a position has no row (31)"),
        ("alibi:heads=8", "own", "does not fit the network (8 heads); 4 heads"),
        ("alibi:head=0", "own", "does not fit the network (1 heads); 4 heads"),
        ("rope:d=32", "own", "does not fit the network (32 columns of a head)"),
        ("shaw:d=16", "own", "does not fit the network (16 columns of a head)"),
        ("rope:scaling=xpos", "own", "does more to queries and keys than to turn them"),
        ("pope", "own", "does more to queries and keys than to turn them"),
        ("rope", "matched", "arm rope has no norm to be matched (matched); own is accepted"),
        ("dfft", "own", "arm is not known (dfft)"),
    ],
)
def test_what_cannot_be_an_arm_is_refused_in_one_line(spec, norm, words):
    assert words in catch(build_arm, spec, length=LENGTH, norm=norm, kind=InputError)


def test_a_file_that_is_not_there_is_named():
    assert "missing.npy" in catch(build_arm, "missing.npy", length=LENGTH, kind=FileError)


def test_the_norm_of_rows():
    table = np.random.default_rng(1).normal(size=(7, 5))
    squares = [sum(x * x for x in row) for row in table.tolist()]
    assert compute_rms_norm(table) == pytest.approx((sum(squares) / 7) ** 0.5, rel=1e-14)
