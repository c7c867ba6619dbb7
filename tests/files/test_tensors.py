"""Which tensor of a file is its table of positions."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.files.reading import NoTableError
from pe_spectra.files.tables import read_array
from tests.files.forms import TABLE, npy_bytes, refuse, save, write, write_shards


@pytest.mark.parametrize(
    "name",
    [
        "bert.embeddings.position_embeddings.weight",
        "model.decoder.embed_positions.weight",
        "transformer.wpe.weight",
        "wpe.weight",
        "text_model.embeddings.position_embedding.weight",
        "positional_embedding",
        "pos_embed",
        "vit.embeddings.position_embeddings",
        "encoder.pos_embedding",
        "encoder/pos_embed",
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        "layers.0.blocks.0.attn.relative_position_bias_table",
    ],
)
def test_the_known_name_is_found_among_others(tmp_path, name):
    found = read_array(save(tmp_path, "a.weight", "decoder_pos_embed", name, "z.weight"))
    assert found.tensor == name
    assert found.values[0, 0] == 2
    assert found.notes == (f"tensor {name} (3 x 2) was read, one of 4",)


def test_several_known_names_are_listed(tmp_path):
    path = save(tmp_path, "a", "text.positional_embedding", "visual.positional_embedding", "b")
    said = refuse(path)
    assert "several position tables" in said
    assert "text.positional_embedding (3 x 2), visual.positional_embedding (3 x 2); name one" in said
    assert read_array(path, "visual.positional_embedding").values[0, 0] == 2


def test_a_table_of_positions_goes_before_biases(tmp_path):
    found = read_array(save(tmp_path, "0.relative_position_bias_table", "pos_embed", "1.relative_position_bias_table"))
    assert found.tensor == "pos_embed"


#: Names of tables of words in Llama, GPT-2, BERT, CLIP, T5 and others.
VOCABULARIES = [
    "model.embed_tokens.weight", "transformer.wte.weight", "wte.weight", "bert.embeddings.word_embeddings.weight",
    "text_model.embeddings.token_embedding.weight", "tok_embeddings.weight", "shared.weight", "lm_head.weight",
    "gpt_neox.embed_in.weight", "embed_out.weight", "backbone.embeddings.weight", "encoder/embeddings.weight",
]  # fmt: skip


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_table_of_words_is_read_only_where_it_is_named(tmp_path, name):
    path = save(tmp_path, name)
    with pytest.raises(NoTableError, match=r"holds tables of words and none of positions: \S+ \(3 x 2\); name one"):
        read_array(path)
    assert read_array(path, name).tensor == name
    assert read_array(save(tmp_path, name, "wpe.weight")).tensor == "wpe.weight"
    with pytest.raises(NoTableError, match=rf"none of a known name: q.weight \(3 x 2\), {name} \(3 x 2\); name one"):
        read_array(save(tmp_path, name, "q.weight"))
    np.savez(tmp_path / "t.npz", **{name: TABLE})
    with pytest.raises(NoTableError, match="tables of words"):
        read_array(tmp_path / "t.npz")


@pytest.mark.parametrize("name", ["ln", "weight", "pos.embeddings.weight", "my_wte.weight", "embed_tokens.weight.x"])
def test_a_lone_table_of_another_name_is_taken(tmp_path, name):
    path = save(tmp_path, name)
    assert read_array(path).tensor == name
    with pytest.raises(NoTableError, match=f"no table with the known name of one of positions: {name} "):
        read_array(path, only_known=True)
    assert read_array(save(tmp_path, "pos_embed"), only_known=True).tensor == "pos_embed"


def test_shards_with_nothing_but_words_hold_no_table(tmp_path):
    write_shards(tmp_path / "m", {"lm_head.weight": TABLE}, {"model.embed_tokens.weight": TABLE, "norm": TABLE[0]})
    for place in (tmp_path / "m", tmp_path / "m" / "model.safetensors.index.json"):
        with pytest.raises(NoTableError, match="tables of words and none of positions"):
            read_array(place)
    assert_array_equal(read_array(tmp_path / "m", "lm_head.weight").values, TABLE)


def test_names_are_listed_whole_up_to_200_characters(tmp_path):
    said = refuse(save(tmp_path, *[f"{'x' * 198}{n:02}" for n in range(9)]))
    assert f"{'x' * 198}00 (3 x 2), {'x' * 198}01 (3 x 2), " in said
    assert said.count("(3 x 2)") == 8
    assert "and 1 more; name one as FILE::TENSOR" in said
    assert f"{'x' * 200}... (201 characters) (3 x 2), " in refuse(save(tmp_path, "x" * 201, "y"))


def test_without_a_known_name_the_candidates_are_listed(tmp_path):
    said = refuse(save(tmp_path, *[f"{'x' * 100}{n}" for n in range(30)]))
    assert "several tables, none of a known name" in said
    assert "and 22 more; name one as FILE::TENSOR" in said


def test_a_name_that_is_not_there_lists_what_is_near(tmp_path):
    said = refuse(save(tmp_path, "a", "b", "vit.pos_embed"), "pos_embed")
    assert said.startswith("has no tensor pos_embed; it has vit.pos_embed (3 x 2), a")
    assert len(refuse(save(tmp_path, "a"), "n" * 5000)) < 300


def test_a_name_where_there_are_none_is_refused(tmp_path):
    assert "leave ::a out" in refuse(write(tmp_path / "t.npy", npy_bytes(TABLE)), "a")
    assert "leave ::a out" in refuse(write(tmp_path / "t.csv", "1,2\n"), "a")
