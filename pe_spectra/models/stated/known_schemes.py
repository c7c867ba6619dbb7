"""Which models have positional encodings without a rotation, by model_type; and the lengths that classes have.

Source: transformers 5.23.0, models/*/configuration_*.py and models/*/modeling_*.py, read. What rotates is in
known_models.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class LearnedTable(NamedTuple):
    """A learned table of positions.

    Attributes
    ----------
    key : the key with its number of rows.
    extra : rows beyond that number.
    first : the row of position 0.

    >>> LEARNED["opt"]
    LearnedTable(key='max_position_embeddings', extra=2, first=2)
    """

    key: str = "max_position_embeddings"
    extra: int = 0
    first: int = 0


def _split(*lines: str) -> frozenset[str]:
    return frozenset(name for line in lines for name in line.split())


#: Linear biases, with the key and value that ask for them (None: always).
ALIBI: Mapping[str, tuple[str, bool] | None] = MappingProxyType(
    {"bloom": None, "mpt": None, "falcon": ("alibi", True), "RefinedWeb": ("alibi", True)}
)
#: Learned biases by bucket of distance: whether the encoder's and the decoder's are bidirectional (None: no such part).
#: mpnet takes 128 for the largest distance whatever the file says.
T5: Mapping[str, tuple[bool | None, bool | None]] = MappingProxyType(
    {
        **dict.fromkeys(("t5", "mt5", "umt5", "longt5", "pop2piano", "switch_transformers", "udop"), (True, False)),
        "pix2struct_text_model": (None, False),
        "mpnet": (True, None),
    }
)
_TABLES: tuple[tuple[str, LearnedTable], ...] = (
    (
        (
            "albert align_text_model bert bert-generation big_bird bigbird_pegasus blenderbot blenderbot-small "
            "blip_2_qformer blip_text_model bros chinese_clip_text_model clip_text_model clipseg_text_model cohere_asr "
            "convbert distilbert electra ernie flaubert flava_text_model fnet git gpt_neo groupvit_text_model "
            "instructblip_qformer layoutlm layoutlmv2 lxmert megatron-bert mobilebert perceiver rembert roc_bert "
            "siglip2_text_model siglip_text_model splinter squeezebert tapas tvp vilt visual_bert xclip_text_model xlm"
        ),
        LearnedTable(),
    ),
    (
        "decision_transformer gpt2 gpt_bigcode imagegpt openai-gpt",
        LearnedTable(key="n_positions"),
    ),
    # rows are counted from pad_token_id + 1, which is 2; the first two are not used
    (
        (
            "altclip_text_model bridgetower_text_model camembert clap_text_model data2vec-text esm ibert layoutlmv3 "
            "lilt longformer luke markuplm mpnet roberta roberta-prelayernorm xlm-roberta xlm-roberta-xl xmod"
        ),
        LearnedTable(first=2),
    ),
    (
        "bart biogpt mbart mra mvp nystromformer opt plbart pp_formulanet_text trocr yoso",
        LearnedTable(extra=2, first=2),
    ),
    ("prophetnet", LearnedTable(first=1)),
    ("led", LearnedTable(key="max_decoder_position_embeddings")),
    ("whisper", LearnedTable(key="max_target_positions")),
)
#: Learned tables, one row for each position.
LEARNED: Mapping[str, LearnedTable] = MappingProxyType(
    {name: table for names, table in _TABLES for name in names.split()}
)
_ALL_KINDS = (
    "albert altclip_text_model bert blip_2_qformer blip_text_model bridgetower_text_model bros camembert "
    "data2vec-text electra ernie git instructblip_qformer lilt megatron-bert roberta roberta-prelayernorm roc_bert "
    "xlm-roberta xlm-roberta-xl xmod"
)
#: Of these, classes that in transformers 4.57.6 add their table only where position_embedding_type is absolute.
BY_TYPE = _split(
    _ALL_KINDS,
    "align_text_model chinese_clip_text_model clap_text_model flava_text_model mra nystromformer splinter vilt yoso",
)
#: Classes that there have a table of distances in each attention where it is relative_key or relative_key_query.
WITH_DISTANCES = _split(_ALL_KINDS, "bert-generation")
#: Fixed tables of sines and cosines. whisper's encoder has one too.
SINUSOIDAL = _split(
    "autoformer canary_decoder ctrl fastspeech2_conformer fsmt informer kosmos_2_5_text_model kosmos_2_text_model",
    "m2m_100 marian musicgen_decoder musicgen_melody_decoder nllb-moe pegasus pegasus_x seamless_m4t seamless_m4t_v2",
    "speech_to_text speecht5 time_series_transformer xglm",
)
#: No encoding of positions: the order is in a recurrence.
WITHOUT = _split("falcon_mamba jamba kimi_linear mamba mamba2 nemotron_h rwkv xlstm zamba")
#: max_position_embeddings that a class has by default, with the classes.
LENGTHS: Mapping[int, str] = MappingProxyType(
    {
        512: "moonshine",
        1024: "dia_encoder",
        1536: "roformer",
        2048: (
            "aria_text bitnet codegen csm dbrx deepseek_ocr2_text deepseek_v2 diffllama doge dots1 esmc exaone4 "
            "exaone_moe falcon gpt_neox gpt_neox_japanese gptj granite granite4_vision_text granitemoe "
            "granitemoe_swa granitemoehybrid granitemoeshared higgs_audio_v2 hrm_text hunyuan_v1_dense "
            "hunyuan_v1_moe hunyuan_vl_text hyperclovax idefics llama nanochat nomic_bert olmo olmo2 olmo3 phi"
        ),
        3000: "moshi",
        3072: "dia_decoder",
        4096: (
            "arcee blt blt_global_transformer chameleon deepseek_v3 flex_olmo helium jetmoe moonshine_streaming "
            "nemotron olmoe phi3 stablelm starcoder2 zamba2"
        ),
        8192: (
            "beam blt_patcher cohere cohere2 cohere2_moe eurobert evolla falcon_h1 gemma gemma2 granite_swa gte "
            "jais2 modernbert modernbert-decoder t5_gemma_module vaultgemma"
        ),
        8194: "jina_embeddings_v3",
        9216: "emu3_text_model",
        16384: "afmoe neomme persimmon",
        24576: "blt_local_decoder blt_local_encoder",
        32768: (
            "axk1 gemma3n_text glm4v_text granite_docling_text internlm3 minicpm3 qwen2 qwen2_5_omni_talker "
            "qwen2_5_omni_text qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_5_moe_text qwen3_5_text "
            "qwen3_moe qwen3_next qwen3_omni_moe_talker_code_predictor qwen3_omni_moe_talker_text "
            "qwen3_omni_moe_text qwen4_exp_text smollm3 ultrabert unlimited_ocr_text"
        ),
        36864: "molmo2_text",
        65536: "apertus glm4v_moe_text olmo_hybrid",
        128000: "lfm2 lfm2_moe lfm3 qwen3_vl_moe_text qwen3_vl_text step3p5",
        131072: (
            "axk2 cosmos3_edge_text cwm diffusion_gemma_text ernie4_5 ernie4_5_moe ernie4_5_vl_moe_text "
            "gemma3_text gemma4_text glm glm4 glm4_moe glm_image_text glm_ocr_text gpt_oss hy_v3 iquestcoder "
            "laguna llama4_text longcat_flash mellum mimo_v2_flash minimax ministral mistral mixtral "
            "mllama_text_model muse_glimmer_assistant muse_glimmer_text openai_privacy_filter paddleocr_vl_text "
            "phi4_multimodal phimoe solar_open t5gemma2_decoder t5gemma2_text voxtral_realtime_text youtu zaya"
        ),
        163840: "deepseek_v32",
        196608: "minimax_m2",
        202752: "glm4_moe_lite glm_moe_dsa",
        262144: "bailing_hybrid bamba embedding_gemma2_text flint gemma4_unified_text hy_v4 kolibri1 ministral3",
        524288: "dots3_note_text minimax_m3_vl_text seed_oss",
        1048576: "deepseek_v4 mistral4 mistral_large4_text muse_spark_text",
    }
)
