"""What the rows of a table are, by its name and its model."""

import pytest

from pe_spectra.files.known_tables import describe_known_table


@pytest.mark.parametrize(
    ("tensor", "config", "rows", "kind", "prefix"),
    [
        ("model.decoder.embed_positions.weight", {"model_type": "opt"}, 2050, "positions", 2),
        ("decoder.embed_positions.weight", {"model_type": "bart"}, 1026, "positions", 2),
        ("decoder.embed_positions.weight", {"model_type": "whisper"}, 448, "positions", 0),
        ("decoder.embed_positions.weight", None, 2050, "positions", 2),
        ("encoder.embed_positions.weight", None, 1500, "positions", 0),
        (
            "roberta.embeddings.position_embeddings.weight",
            {"model_type": "roberta", "pad_token_id": 1},
            514,
            "positions",
            2,
        ),
        ("embeddings.position_embeddings.weight", {"model_type": "esm", "pad_token_id": 4}, 1026, "positions", 5),
        ("roberta.embeddings.position_embeddings.weight", None, 514, "positions", 2),
        ("embeddings.position_embeddings.weight", None, 514, "positions", 2),
        ("bert.embeddings.position_embeddings.weight", {"model_type": "bert", "pad_token_id": 0}, 512, "positions", 0),
        ("bert.embeddings.position_embeddings.weight", None, 512, "positions", 0),
        ("wpe.weight", None, 1025, "positions", 0),
        ("pos_embed", None, 197, "positions", 1),
        ("pos_embed", None, 198, "positions", 2),
        ("pos_embed", None, 196, "positions", 0),
        ("pos_embed", {"image_size": 224, "patch_size": 16}, 201, "positions", 5),
        (
            "vision_model.embeddings.position_embedding.weight",
            {"vision_config": {"image_size": 224, "patch_size": 32}},
            50,
            "positions",
            1,
        ),
        ("text_model.embeddings.position_embedding.weight", {"vision_config": {"image_size": 224}}, 77, "positions", 0),
        ("visual.positional_embedding", None, 50, "positions", 1),
        ("positional_embedding", None, 77, "positions", 0),
        ("pos_embed", None, None, "positions", 0),
        ("pos_embed", None, 2, "positions", 0),
        ("b.relative_attention_bias.weight", None, 32, "buckets", 0),
        ("b.relative_position_bias_table", None, 169, "offsets", 0),
        ("something.weight", None, 197, "unknown", 0),
        (None, None, 197, "unknown", 0),
        ("pos_embed", {"image_size": True, "patch_size": 0}, 197, "positions", 1),
        ("a.position_embeddings.weight", {"model_type": "roberta", "pad_token_id": 10**9}, 514, "positions", 0),
    ],
)
def test_what_is_known_about_a_table(tensor, config, rows, kind, prefix):
    found = describe_known_table(tensor, config, rows)
    assert (found.kind, found.prefix) == (kind, prefix)
    assert bool(found.notes) == (prefix > 0 or kind in ("buckets", "offsets"))
