"""Sines, features and grids of the catalogue against what the real packages returned."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.lag_vectors import compute_log_buckets
from tests.making import make_named
from tests.reference.frozen_packages import FREQUENCY, assert_close, assert_rows, cases, read

# ----------------------------------------------------------------------------------- sines and cosines


def compare_rows(case, name, **parameters):
    """The table of an encoding of the same width at the positions of the case."""
    s = np.array(case["positions"])
    assert_rows(make_named(name, d=len(case["values"][0]), **parameters).table(s), case, s)


@cases("sinusoids", "whisper")
def test_whisper(case):
    compare_rows(case, "tensor2tensor")


@cases("sinusoids", "m2m_100")
def test_fairseq_as_in_m2m_100(case):
    compare_rows(case, "tensor2tensor")


@cases("sinusoids", "marian")
def test_marian(case):
    compare_rows(case, "sinusoidal", layout="concatenated")


@cases("sinusoids", "informer")
def test_informer(case):
    compare_rows(case, "sinusoidal", layout="concatenated")


@cases("sinusoids", "xlm")
def test_xlm(case):
    compare_rows(case, "sinusoidal")


@cases("sinusoids", "gptj")
def test_sines_and_cosines_of_gptj(case):
    compare_rows(case, "sinusoidal", layout="concatenated")


@cases("sinusoids", "positional_encodings")
def test_positional_encodings_1d(case):
    # an odd width is the next even one without its last column
    s, d = np.array(case["positions"]), case["arguments"]["channels"]
    assert_rows(make_named("sinusoidal", d=d + d % 2).table(s)[:, :d], case, s)


def test_the_packages_disagree_about_an_odd_width():
    """Marian and XLM divide exponents by d, as the paper; positional-encodings by d + 1."""
    odd = {
        word: next(c for c in read("sinusoids")["cases"] if word in c["function"] and 5 in c["arguments"].values())
        for word in ("xlm", "positional_encodings")
    }
    xlm, other = (np.array(case["values"], dtype=float) for case in odd.values())
    assert np.abs(xlm[:, :2] - other[:, :2]).max() < 1e-3
    assert np.abs(xlm[:, 2:] - other[:, 2:]).max() > 0.1


# ----------------------------------------------------------------------------------- offsets


@cases("offsets", "m2m_100")
def test_fairseq_starts_after_the_padding_index(case):
    # and what is padding has zeros
    identifiers, padding = case["arguments"]["input_ids"], case["arguments"]["padding_idx"]
    ours = make_named("tensor2tensor", d=4, offset=padding + 1).table(len(identifiers))
    ours[np.equal(identifiers, padding)] = 0.0
    assert_rows(ours, case, np.arange(len(identifiers)) + padding + 1)


@cases("offsets", "Roberta")
def test_roberta_starts_after_the_padding_index(case):
    identifiers, padding = np.array(case["arguments"]["input_ids"]), case["arguments"]["padding_idx"]
    expected = np.where(identifiers == padding, padding, np.arange(len(identifiers)) + padding + 1)
    assert_array_equal(case["values"], expected)


@cases("offsets", "OPT")
def test_opt_has_two_rows_before_the_first_position(case):
    mask = np.array(case["arguments"]["attention_mask"])
    assert case["rows"] - case["arguments"]["num_embeddings"] == 2
    assert_array_equal(case["values"], np.cumsum(mask) * mask - 1 + 2)


# ----------------------------------------------------------------------------------- rotary


def interleave(first, second):
    return np.stack([first, second], axis=2).reshape(len(first), -1)


# ----------------------------------------------------------------------------------- bands and features


@cases("features", "pixel_freq_bands")
def test_pixel_bands_of_timm(case):
    asked = case["arguments"]
    check_bands(case, asked["max_freq"], "linear" if asked["linear_bands"] else "octave")


@cases("rotary_embedding_torch", ".freqs", freqs_for="pixel")
def test_pixel_bands_of_rotary_embedding_torch(case):
    check_bands(case, float(case["arguments"]["max_freq"]), "linear")


@cases("features", "FourierEmbed")
def test_bands_of_fourier_embed_in_timm(case):
    check_bands(case, float(case["arguments"]["max_res"]), "linear")


def check_bands(case, max_freq, bands):
    # theirs are in rad per unit of a coordinate from -1 to 1
    theirs = np.array(case["values"], dtype=float)
    ours = make_named("pixel-bands", d=2 * len(theirs), max_freq=max_freq, bands=bands, length=33).frequencies()
    assert_allclose(ours.values * 16, theirs, rtol=FREQUENCY, atol=0)


@cases("features", "build_fourier_pos_embed")
def test_fourier_features_of_timm(case):
    sine, cosine = np.array(case["values"], dtype=float)
    asked = case["arguments"]
    bands = "linear" if asked["linear_bands"] else "octave"
    check_bands_table(np.concatenate([sine, cosine], axis=1), float(asked["max_res"]), bands)


@cases("features", "perceiver", sine_only=False)
def test_fourier_features_of_perceiver(case):
    check_bands_table(np.array(case["values"], dtype=float), float(case["arguments"]["max_resolution"][0]), "linear")


@cases("features", "perceiver", sine_only=True)
def test_sines_of_perceiver(case):
    sine = np.array(case["values"], dtype=float)
    rows = make_named("pixel-bands", d=2 * sine.shape[1], max_freq=10.0, length=len(sine)).table(len(sine))
    assert_close(rows[:, : sine.shape[1]], sine, 4 * np.pi * 5)


def check_bands_table(theirs, max_freq, bands):
    length, d = theirs.shape
    ours = make_named("pixel-bands", d=d, max_freq=max_freq, bands=bands, length=length).table(length)
    assert_close(ours, theirs, 4 * np.pi * max_freq / 2)


# ----------------------------------------------------------------------------------- grids


def compare_grid(case, height, width, **parameters):
    """The table of `sincos2d`, cell by cell; no index is above 6."""
    theirs = np.array(case["values"], dtype=float)
    ours = make_named("sincos2d", d=theirs.shape[1], height=height, width=width, **parameters)
    assert_close(ours.table(ours.rows), theirs, 6)


@cases("grids", "build_2d_sinusoidal_position_embedding")
def test_rows_first_as_transformers_build_them(case):
    asked = case["arguments"]
    cls = "yes" if asked["cls_token"] else "no"
    compare_grid(case, asked["height"], asked["width"], cls=cls, order="timm-interleaved")


@cases("grids", "ViTMAEEmbeddings")
def test_mae_has_columns_first(case):
    side = case["arguments"]["image_size"] // case["arguments"]["patch_size"]
    compare_grid(case, side, side, cls="yes", order="mae")


@cases("grids", "timm", reverse_coord=False)
def test_grid_of_timm(case):
    height, width = case["arguments"]["feat_shape"]
    compare_grid(case, height, width, order="timm-interleaved" if case["arguments"]["interleave_sin_cos"] else "timm")


@cases("grids", "timm", reverse_coord=True)
def test_reversed_grid_of_timm_is_that_of_the_turned_shape(case):
    # not the same cells with columns first: on 2 x 5 its third row is that of cell (1, 0) of 5 x 2
    height, width = case["arguments"]["feat_shape"]
    compare_grid(case, width, height, order="timm-interleaved" if case["arguments"]["interleave_sin_cos"] else "timm")


@cases("grids", "positional_encodings")
def test_positional_encodings_2d(case):
    # sine and cosine in turns along each axis; the widths of both are rounded up, and the last columns cut off
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    height, width, d = asked["x"], asked["y"], -(-asked["channels"] // 4) * 4
    ours = make_named("sincos2d", d=d, height=height, width=width, order="timm-interleaved").table(height * width)
    half, quarter = d // 2, d // 4
    parts = [interleave(ours[:, a : a + quarter], ours[:, a + quarter : a + half]) for a in (0, half)]
    assert_close(np.concatenate(parts, axis=1)[:, : asked["channels"]], theirs, 6)


def compare_detector(case, normalise):
    """The table of `detr-sine`, cell by cell; an angle is at most a turn, or the number of a row."""
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    shape = {"height": asked["height"], "width": asked["width"], "rho": asked["temperature"]}
    ours = make_named("detr-sine", d=theirs.shape[1], normalise=normalise, **shape)
    assert_close(ours.table(ours.rows), theirs, 4 * np.pi)


@cases("normalised_grids", normalize=True)
def test_normalised_grids_of_detectors(case):
    compare_detector(case, "yes")


@cases("normalised_grids", normalize=False)
def test_detectors_count_rows_from_one(case):
    compare_detector(case, "no")


@cases("normalised_grids", "RTDetr")
def test_rt_detr_counts_from_zero_without_normalisation(case):
    compare_grid(case, case["arguments"]["height"], case["arguments"]["width"], order="timm-interleaved")


# ----------------------------------------------------------------------------------- lags


@cases("relative_sinusoids", "Parakeet")
def test_relative_sinusoid_of_parakeet(case):
    compare_lags(case, "interleaved")


@cases("relative_sinusoids", "XLNet")
def test_relative_sinusoid_of_xlnet(case):
    compare_lags(case, "concatenated")


def compare_lags(case, layout):
    theirs, lags = np.array(case["values"], dtype=float), np.array(case["lags"])
    ours = make_named("transformer-xl", d=theirs.shape[1], layout=layout).lag_table(lags)
    assert_close(ours, theirs, np.abs(lags)[:, None])


@cases("log_buckets", "make_log_bucket_position")
def test_log_buckets_of_deberta(case):
    asked, changes = case["arguments"], np.array(case["values"])
    lags = np.arange(asked["first"], asked["last"] + 1)
    theirs = changes[np.searchsorted(changes[:, 0], lags, side="right") - 1, 1]
    span, most = asked["bucket_size"], asked["max_position"]
    assert_array_equal(compute_log_buckets(lags, buckets=span, max_distance=most) + span, theirs)
