"""Names that models give their position tables, and what is special about each.

Sources: the modelling code of Hugging Face transformers 4 and 5, timm, fairseq and OpenAI's CLIP;
for T5 Raffel et al. 2020 (JMLR 21), for Swin Liu et al. 2021 (ICCV).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from pe_spectra.errors import shorten
from pe_spectra.records import dataclass

Kind = Literal["positions", "buckets", "offsets"]

#: Ends of tensors' names, and what their rows are.
KNOWN_NAMES: dict[str, Kind] = {
    "position_embeddings.weight": "positions",  # BERT, RoBERTa
    "embed_positions.weight": "positions",  # OPT, BART, Whisper
    "wpe.weight": "positions",  # GPT-2
    "position_embedding.weight": "positions",  # CLIP and SigLIP in transformers
    "positional_embedding": "positions",  # CLIP of OpenAI
    "pos_embed": "positions",  # ViT in timm, MAE, DINO
    "position_embeddings": "positions",  # ViT in transformers
    "absolute_pos_embed": "positions",  # Swin with ape
    "pos_embedding": "positions",  # ViT in torchvision
    "pos_emb": "positions",  # minGPT
    "relative_attention_bias.weight": "buckets",  # T5
    "relative_position_bias_table": "offsets",  # Swin, BEiT
}
_ENDINGS = tuple(KNOWN_NAMES)
#: model_type of those whose rows begin behind two that stand for padding.
_OFFSET_2 = {"opt", "bart", "mbart", "plbart", "mvp", "trocr", "biogpt", "xglm"}
#: model_type of those that begin at pad_token_id + 1.
_BEHIND_PADDING = {
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
    "camembert",
    "longformer",
    "data2vec-text",
    "ibert",
    "mpnet",
    "luke",
    "mluke",
    "lilt",
    "layoutlmv3",
    "esm",
}
#: Tables of other things: whose they are, and what their rows are.
_BIASES: Mapping[Kind, tuple[str, str]] = {"buckets": ("T5", "buckets of lags"), "offsets": ("Swin", "2-D offsets")}


@dataclass(frozen=True, kw_only=True)
class TableKind:
    """What a table with a known name is.

    Attributes
    ----------
    kind : `positions`: a row for each position; `buckets`: T5's, a row for each bucket of lags and a
        column for each head; `offsets`: Swin's, a row for each 2-D offset (first axis slower) and a
        column for each head; `unknown`: no known name.
    prefix : rows before position 0, which stand for padding or for class tokens.
    notes : why, each a sentence.
    """

    kind: Kind | Literal["unknown"]
    prefix: int = 0
    notes: tuple[str, ...] = ()


def find_known_name(tensor: str) -> str | None:
    """Give the known name that a tensor's name ends with; None if there is none.

    >>> find_known_name("bert.embeddings.position_embeddings.weight"), find_known_name("decoder_pos_embed")
    ('position_embeddings.weight', None)
    """
    if not tensor.endswith(_ENDINGS):  # an index may list hundreds of thousands of names
        return None
    for name in KNOWN_NAMES:
        if tensor == name or tensor.endswith((f".{name}", f"/{name}")):
            return name
    return None


def describe_known_table(
    tensor: str | None, config: Mapping[str, object] | None = None, rows: int | None = None
) -> TableKind:
    """Say what the rows of a table are, from its name, its model's configuration and its length.

    Rows before position 0 hide in learned tables: two for padding in OPT and BART (their position s
    is row s + 2), `pad_token_id` + 1 in RoBERTa and its kin, the class token of ViT and CLIP. Each
    is another population than the rest; one outlier row puts a white floor under a spectrum.

    Parameters
    ----------
    tensor : the tensor's name; None where the file has none.
    config : the model's configuration as in config.json; None if it is not known.
    rows : rows of the table; None if they are not known.

    Returns
    -------
    The kind, the rows to leave out at the start, and notes that say why.

    >>> describe_known_table("model.decoder.embed_positions.weight", {"model_type": "opt"}).prefix
    2
    """
    known = find_known_name(tensor or "")
    if known is None or tensor is None:
        return TableKind(kind="unknown")
    kind = KNOWN_NAMES[known]
    if kind in _BIASES:
        model, rows_are = _BIASES[kind]
        note = f"{shorten(tensor)} is a bias of {model}: its rows are {rows_are}, its columns heads, not positions"
        return TableKind(kind=kind, notes=(note,))
    prefix, why = _count_prefix(known, tensor, _find_part(tensor, config or {}), rows)
    if prefix == 0:
        return TableKind(kind="positions")
    few = "row 0 is" if prefix == 1 else f"rows 0 to {prefix - 1} are"
    return TableKind(kind="positions", prefix=prefix, notes=(f"{few} no position: {why}",))


def _count_prefix(known: str, tensor: str, config: Mapping[str, object], rows: int | None) -> tuple[int, str]:
    """Count the rows before position 0, and say why they are there."""
    if known in ("wpe.weight", "pos_emb"):
        return 0, ""
    if known == "embed_positions.weight":
        return _count_leading(config, rows, _OFFSET_2, 2, "position s is in row s + 2, as in OPT and BART", least=4)
    if known == "position_embeddings.weight":
        return _count_padding_rows(tensor, config, rows)
    return _count_class_rows(tensor, config, rows)


def _find_part(tensor: str, config: Mapping[str, object]) -> Mapping[str, object]:
    """Give the part of a configuration that is about this tensor, where a model has several parts."""
    parts = ("vision_config", "text_config") if "vision" in tensor or "visual" in tensor else ("text_config",)
    for part in parts:
        inner = config.get(part)
        if isinstance(inner, dict) and inner:
            return inner
    return config


def _integer(config: Mapping[str, object], key: str) -> int | None:
    value = config.get(key)
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def _count_padding_rows(tensor: str, config: Mapping[str, object], rows: int | None) -> tuple[int, str]:
    why = "positions begin at pad_token_id + 1, as in RoBERTa"
    if not isinstance(config.get("model_type"), str) and "roberta" in tensor.lower():
        return 2, why
    padding = _integer(config, "pad_token_id")
    return _count_leading(config, rows, _BEHIND_PADDING, 2 if padding is None else padding + 1, why, least=130)


def _count_leading(
    config: Mapping[str, object], rows: int | None, models: set[str], first: int, why: str, least: int
) -> tuple[int, str]:
    """Count the rows before the first position of some models; without a configuration by the number of rows."""
    model = config.get("model_type")
    if isinstance(model, str):
        return (first, why) if model in models and (rows is None or first < rows) else (0, "")
    if rows is not None and rows >= least and (rows - 2) & (rows - 3) == 0:
        return 2, f"{why} ({rows} rows are a power of two and 2; there is no config.json to ask)"
    return 0, ""


def _count_class_rows(tensor: str, config: Mapping[str, object], rows: int | None) -> tuple[int, str]:
    if rows is None or tensor == "positional_embedding" or "text_model" in tensor:
        return 0, ""
    image, patch = _integer(config, "image_size"), _integer(config, "patch_size")
    patches = (image // patch) ** 2 if image and patch else None
    candidates = [rows - patches] if patches and 0 <= rows - patches <= 16 else []
    # without a configuration: 1 row (class) or 2 (class and distillation) that leave a square
    squares = [prefix for prefix in (0, 1, 2) if rows - prefix >= 4 and math.isqrt(rows - prefix) ** 2 == rows - prefix]
    prefix = (candidates or squares or [0])[0]
    side = math.isqrt(rows - prefix)
    return prefix, f"class tokens before a grid of {side} x {side} patches"
