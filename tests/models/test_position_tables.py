"""Rows of tables of positions: what audits say against what the real models of transformers had."""

import gzip
import json

import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.position_tables import find_table, list_tables
from pe_spectra.models.stated.statement import NEWEST
from tests.models.configurations import audit, find_finding, read
from tests.places import TESTS

#: Models that have biases beside their table.
BIASED = ("mpnet", "udop")
DRAWN = json.loads(gzip.decompress((TESTS / "reference" / "transformers" / "tables-5.24.0.json.gz").read_bytes()))


def test_tables_have_the_rows_of_the_real_models():
    """At lengths, sizes and with defaults that were drawn when the models were built, not those that were measured."""
    assert len({name for name, *_ in DRAWN}) > 190
    wrong, told = [], 0
    for name, keys, rows in DRAWN:
        table = find_table(name)
        if table is None or table.at not in rows:
            continue
        try:
            stated = read({"model_type": name, **keys})
        except FileError as error:
            wrong.append((name, keys, str(error)))
            continue
        if stated.scheme not in ("learned", "sinusoidal"):
            continue
        values, told = stated.values, told + 1
        found = (values["d"], values.get("rows"))
        if found != (rows[table.at][1], None if table.grows else rows[table.at][0]):
            wrong.append((name, keys, found, rows[table.at]))
    assert told > 500
    assert not wrong


def test_a_table_is_audited_where_nothing_turns_or_biases():
    for name in sorted({name for name, *_ in DRAWN}):
        if find_table(name) is not None:
            scheme = read({"model_type": name}).scheme
            beside = "t5" if name in BIASED else "rotary"
            assert scheme in ("learned", "sinusoidal", beside), name


@pytest.mark.parametrize(
    ("keys", "values"),
    [
        ({"model_type": "vit"}, {"d": 768, "unused": 1, "rows": 197, "grid_height": 14, "grid_width": 14}),
        (
            {"model_type": "deit", "image_size": 384, "hidden_size": 192},
            {"d": 192, "unused": 2, "rows": 578, "grid_height": 24, "grid_width": 24},
        ),
        (
            {"model_type": "clip_vision_model", "image_size": [224, 96], "patch_size": [16, 32]},
            {"d": 768, "unused": 1, "rows": 43, "grid_height": 14, "grid_width": 3},
        ),
        ({"model_type": "roberta"}, {"d": 768, "unused": 2, "rows": 512}),
        ({"model_type": "roberta", "pad_token_id": 0}, {"d": 768, "unused": 1, "rows": 512}),
        ({"model_type": "flaubert", "emb_dim": 96}, {"d": 96, "unused": 0, "rows": 512}),
        ({"model_type": "gpt2", "max_position_embeddings": 77}, {"d": 768, "unused": 0, "rows": 77}),
        ({"model_type": "xglm", "max_position_embeddings": 77}, {"d": 1024}),
        ({"model_type": "prophetnet", "hidden_size": 8}, {"d": 8, "unused": 1, "rows": 512}),
    ],
)
def test_the_shape_of_a_table(keys, values):
    assert dict(read(keys).values) == values


SERIES = {"model_type": "patchtst", "context_length": 512, "patch_length": 16, "patch_stride": 8}


@pytest.mark.parametrize(
    ("keys", "scheme", "rows", "unused"),
    [
        ({"context_length": None, "patch_length": None, "patch_stride": None}, "sinusoidal", 32, 0),
        ({"patch_length": 12, "patch_stride": 12}, "sinusoidal", 42, 0),
        ({"positional_encoding_type": "random"}, "learned", 63, 0),
        ({"positional_encoding_type": "random", "use_cls_token": True}, "learned", 64, 1),
        ({"patch_length": 511, "patch_stride": 600}, "sinusoidal", 1, 0),
    ],
)
def test_patches_of_a_series_a_stride_apart(keys, scheme, rows, unused):
    """The rows, and whether training moves them, that PatchTSTModel of transformers 5.24.0 has."""
    found = read(SERIES | keys)
    assert (found.scheme, dict(found.values)) == (scheme, {"d": 128, "unused": unused, "rows": rows})


def test_a_series_no_longer_than_a_patch_is_refused():
    with pytest.raises(FileError, match=r"context_length .*a length above that of a patch, 16, is accepted"):
        read({**SERIES, "context_length": 16})


def test_a_length_that_no_key_gives_is_that_of_the_class():
    found = find_finding({"model_type": "vit"}, "length-defaulted")
    assert found.message == (
        "no key gives the length, so 196 positions are silently assumed, the default of vit; state image_size"
    )
    assert find_finding({"model_type": "bert", "max_position_embeddings": 99}, "length-defaulted") is None


def test_a_table_of_sines_ends_where_its_class_makes_no_more():
    marian = {"model_type": "marian", "d_model": 64, "max_position_embeddings": 512}
    assert [one.code for one in audit(marian, served=513).findings] == ["position-table-short"]
    assert not audit({**marian, "model_type": "xglm"}, served=513).findings


def test_the_table_of_words_goes_before_that_of_pictures():
    assert list_tables("layoutlmv3")[0].picture
    assert find_table("layoutlmv3").keys == ("max_position_embeddings",)


@pytest.mark.parametrize("size", ["224", True, 0, [224], [224, 0], 1.5, None])
def test_a_size_that_is_none_is_refused_by_name(size):
    if size is None:  # null is what a file without the key has
        assert read({"model_type": "vit", "image_size": size}).values["rows"] == 197
        return
    with pytest.raises(FileError, match=r"image_size .*an integer from 1 or a list of two"):
        read({"model_type": "vit", "image_size": size})


def test_a_picture_smaller_than_a_patch_is_refused():
    with pytest.raises(FileError, match=r"image_size .*a size from that of a patch, 16, is accepted"):
        read({"model_type": "vit", "image_size": 8})


def test_sines_without_a_table_are_for_any_number_of_positions():
    assert dict(read({"model_type": "informer", "d_model": 64}).values) == {"d": 64}


@pytest.mark.parametrize(
    ("model", "size", "level", "said"),
    [
        # 1,024 patches of 16, more than 196
        (
            "vit",
            224,
            "error",
            "refuses a larger picture, or with interpolate_pos_encoding makes others of them (bicubic)",
        ),
        ("dinov2", 224, "note", "for a larger picture its class makes others of them (bicubic), at places that were"),
        ("aimv2_vision_model", 224, "error", "its class refuses a larger picture"),
        ("bert", None, "error", "there is no row beyond"),
    ],
)
def test_what_comes_of_a_picture_with_more_patches_than_rows(model, size, level, said):
    keys = {"model_type": model} | ({} if size is None else {"image_size": size})
    (found,) = (one for one in audit(keys, served=1024).findings if one.code == "position-table-short")
    assert found.level == level
    assert said in found.message


def test_every_way_of_resampling_that_was_measured_is_known():
    found = {table.resized for model in load_table(f"{NEWEST}-tables")["tables"] for table in list_tables(model)}
    assert {how[0] for how in found if how} == {"always", "asked", "never"}
    assert {mode for how in found for mode in how[1:]} <= {
        "bicubic",
        "bilinear",
        "bilinear antialiased",
        "bicubic antialiased",
    }
