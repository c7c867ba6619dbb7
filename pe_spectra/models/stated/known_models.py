"""What the class of a rotary model takes where its configuration says nothing: base, pairing, types of layers.

A config.json names its model_type; transformers' class of that name fills in what the file leaves out,
and the code decides how channels are paired. Source: transformers 5.23.0, models/*/configuration_*.py
(defaults: each class was built without arguments) and models/*/modeling_*.py (each way to turn, read).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from pe_spectra.models.stated.statement import DEFAULT_BASE

#: A block of rotary keys, as in rope_parameters.
_Block = Mapping[str, float | bool | str]
_QK, _EVERY, _PATTERN = "qk_rope_head_dim", "global_attn_every_n_layers", "sliding_window_pattern"


class KnownModel(NamedTuple):
    """What the class of one rotary model takes where the file says nothing.

    >>> KnownModel().default_base, KnownModel(layout="interleaved").layout
    (10000.0, 'interleaved')
    """

    default_base: float = DEFAULT_BASE
    local_base: float | None = None  #: of sliding-window layers, where it is one of their own
    compressed_base: float | None = None  #: of compressed layers (compress_rope_theta), which alone are scaled
    base_key: str = "rope_theta"  #: the older key of the base that is read; "": none is
    local_key: str = ""
    share: float = 1.0  #: of a head, that is turned
    local_share: float | None = None  #: in sliding-window layers, where it differs
    share_key: str = "partial_rotary_factor"
    width_key: str = ""  #: a key that has the rotary width itself
    rotary_width: int | None = None  #: that width where the file has none
    head_key: str = "head_dim"  #: the key that has the width that is turned
    head_dim: int | None = None  #: that width where the file has none; None: hidden_size over heads
    full_head_dim: int | None = None  #: in full-attention layers, where it differs (key global_head_dim)
    layout: Literal["half", "interleaved"] = "half"  #: pairs (i, i + D/2), or pairs (2i, 2i + 1)
    obeys_interleave: bool = False  #: the key rope_interleave decides the layout; other classes ignore it
    layers: str = ""  #: a letter for each layer, repeated, where no layer_types are given; "": all alike
    period_key: str = ""  #: a key that replaces the length of that pattern, its one F kept first or last
    window: int | None = None  #: longest lag + 1 of sliding layers; of all layers where these are alike
    switched: bool = False  #: the window applies only with use_sliding_window true, from max_window_layers on
    unturned: str = ""  #: the letter of layers that are not turned
    nope_every: int | None = None  #: layer i is not turned where i + 1 is a multiple, unless no_rope_layers say so
    scaling: _Block = MappingProxyType({})  #: the block that is taken where the file has none
    only_if: tuple[str, str | bool] | None = None  #: a key and the value with which the model is rotary at all
    length: int | None = None  #: max_position_embeddings where the file has none
    original: int | None = None  #: original_max_position_embeddings beside the block where the file has none
    by_type: bool = False  #: rope_parameters is read by layer type although all have one base; see `is_layered`
    refuses_flat: bool = False  #: transformers 5 refuses rope_parameters that are not nested by layer type
    model: str = ""  #: model_type as the file has it
    is_known: bool = False  #: whether there is such a class

    @property
    def is_layered(self) -> bool:
        """Whether the class reads rope_parameters by layer type, and rope_scaling for full attention only."""
        return self.by_type or self.local_base is not None or self.compressed_base is not None


def _yarn(factor: float, original: int, **others: float | bool) -> _Block:
    start: dict[str, float | bool | str] = {"rope_type": "yarn", "factor": factor, "beta_fast": 32.0, "beta_slow": 1.0}
    return MappingProxyType(start | {"original_max_position_embeddings": original} | others)


def _llama3(factor: float, original: int, low: float, high: float, base: float) -> _Block:
    ramp: dict[str, float | bool | str] = {"low_freq_factor": low, "high_freq_factor": high, "rope_theta": base}
    return MappingProxyType(
        ramp | {"rope_type": "llama3", "factor": factor, "original_max_position_embeddings": original}
    )


def split_names(*lines: str) -> frozenset[str]:
    """Return the names in lines, which blanks keep apart.

    >>> sorted(split_names("t5 mt5", "umt5"))
    ['mt5', 't5', 'umt5']
    """
    return frozenset(name for line in lines for name in line.split())


_GPT_OSS = _yarn(32.0, 4096, truncate=False)
_MINISTRAL3 = _yarn(16.0, 16384, mscale=1.0, mscale_all_dim=1.0, rope_theta=1e6)
_MISTRAL4 = _yarn(128.0, 8192, mscale=1.0, mscale_all_dim=1.0, rope_theta=1e4)
_LARGE4 = _yarn(2048.0, 512, attention_factor=1.0, rope_theta=1e4)
_PROPORTIONAL: _Block = MappingProxyType({"rope_type": "proportional"})

_MLA = KnownModel(layout="interleaved", head_key=_QK, head_dim=64)
_SPLIT = KnownModel(default_base=1e6, local_base=1e4, head_dim=256, layers="SSSSSF", window=512)
_GEMMA3 = _SPLIT._replace(window=4096, period_key=_PATTERN, local_key="rope_local_base_freq")
_GEMMA4 = _SPLIT._replace(share=0.25, local_share=1.0, full_head_dim=512, base_key="", scaling=_PROPORTIONAL)
_COHERE2 = KnownModel(layers="SSSF", period_key=_PATTERN, window=4096, unturned="F")
_BERT = KnownModel(base_key="global_rope_theta", local_key="local_rope_theta", window=64, period_key=_EVERY)
_MODERNBERT = _BERT._replace(default_base=1.6e5, local_base=1e4, layers="FSS", refuses_flat=True)
_TURNED = KnownModel(default_base=5e5, layout="interleaved")
_TWO = KnownModel(default_base=5e5, local_base=1e4, head_dim=128, base_key="")
_OSS = KnownModel(default_base=1.5e5, head_dim=64, layers="SF", window=128, scaling=_GPT_OSS)
_MUSE = KnownModel(head_dim=128, layers="SSSF", window=2048, unturned="F")

#: Classes that are alike, named by their model_type. Not from transformers, but code that checkpoints bring along:
#: RefinedWeb, RefinedWebModel, baichuan (7B), chatglm, deepseek, exaone, internlm, internlm2, kimi_k2, minicpm, qwen.
_GROUPS: tuple[tuple[str, KnownModel], ...] = (
    ("RefinedWeb RefinedWebModel falcon", KnownModel(only_if=("alibi", False))),
    ("afmoe", _MUSE._replace(period_key=_EVERY, window=1024)),
    ("apertus", KnownModel(default_base=1.2e7, scaling=_llama3(8.0, 8192, 1.0, 4.0, 1.2e7))),
    (
        (
            "arcee aria_text baichuan chameleon dbrx deepseek deepseek_ocr2_text diffllama doge dots1 esmc eurobert "
            "exaone falcon_h1 glm_image_text granite granite4_vision_text granite_docling_text granitemoe "
            "granitemoeshared hunyuan_v1_dense hunyuan_v1_moe hunyuan_vl_text hyperclovax idefics internlm internlm2 "
            "jais2 llama minicpm nanochat olmo olmo2 olmoe qwen3_omni_moe_talker_text "
            "starcoder2"
        ),
        KnownModel(),
    ),
    ("axk1 deepseek_v3 glm4_moe_lite youtu", _MLA._replace(obeys_interleave=True)),
    ("axk2", KnownModel(layout="interleaved", head_key=_QK, head_dim=32)),
    ("bailing_hybrid", _MLA._replace(default_base=6e6, layers="LLLLLF")),
    ("bamba glm4_moe glm4v_moe_text nemotron persimmon phi", KnownModel(share=0.5)),
    ("beam", KnownModel(head_dim=128, layers="SSSSSF", window=512, unturned="F", base_key="", by_type=True)),
    ("bitnet csm csm_depth_decoder_model evolla flex_olmo", KnownModel(default_base=5e5)),
    ("mllama_text_model qwen3_vl_moe_text", KnownModel(default_base=5e5)),
    ("blt blt_global_transformer blt_local_decoder blt_local_encoder cohere", _TURNED),
    ("ernie4_5_moe ernie4_5_vl_moe_text", _TURNED),
    ("blt_patcher", KnownModel(layout="interleaved", window=512)),
    ("chatglm", KnownModel(share=0.5, layout="interleaved")),
    ("codegen gptj", KnownModel(layout="interleaved", width_key="rotary_dim", rotary_width=64, base_key="")),
    ("cohere2", _COHERE2._replace(layout="interleaved")),
    ("cohere2_moe", _COHERE2._replace(layout="interleaved", head_dim=128)),
    ("cosmos3_edge_text", KnownModel(default_base=1e8, head_dim=128, base_key="")),
    (
        "cwm",
        KnownModel(
            default_base=1e6, head_dim=128, layers="FSSS", window=8192, scaling=_llama3(16.0, 8192, 1.0, 4.0, 1e6)
        ),
    ),
    ("deepseek_v2 deepseek_v32 glm_moe_dsa kimi_k2", _MLA),
    ("deepseek_v4", _MLA._replace(compressed_base=1.6e5, window=128)),
    ("dia_decoder dia_encoder hrm_text internlm3 iquestcoder molmo2_text seed_oss", KnownModel(head_dim=128)),
    ("diffusion_gemma_text gemma4_text", _GEMMA4),
    ("mistral voxtral_realtime_text", KnownModel(window=4096)),
    ("dots3_note_text", _MLA._replace(default_base=8e7, local_base=5e4)),
    ("embedding_gemma2_text", _SPLIT._replace(period_key=_PATTERN, base_key="", full_head_dim=512)),
    ("emu3_text_model lfm2 lfm2_moe mixtral phimoe qwen3_omni_moe_text", KnownModel(default_base=1e6)),
    ("ernie4_5", _TURNED._replace(head_dim=128)),
    ("exaone4 exaone_moe", _COHERE2),
    ("flint", KnownModel(head_dim=128, window=513, unturned="F")),
    ("gemma qwen4_exp_text", KnownModel(head_dim=256)),
    ("gemma2 t5_gemma_module vaultgemma", KnownModel(head_dim=256, layers="SF", window=4096)),
    ("gemma3_text t5gemma2_decoder t5gemma2_text", _GEMMA3),
    ("gemma3n_text", _SPLIT._replace(layers="SSSSF", local_key="rope_local_base_freq")),
    ("gemma4_unified_text", _GEMMA4._replace(window=1024)),
    ("glm glm4", KnownModel(share=0.5, layout="interleaved", head_dim=128)),
    ("glm4v_text glm_ocr_text", KnownModel(layout="interleaved")),
    ("gpt_neox", KnownModel(share=0.25, base_key="rotary_emb_base", share_key="rotary_pct")),
    ("gpt_neox_japanese", KnownModel(base_key="rotary_emb_base", share_key="rotary_pct")),
    ("gpt_oss", _OSS),
    ("granite_swa granitemoe_swa", KnownModel(layers="FSSS", window=128)),
    ("granitemoehybrid", KnownModel(only_if=("position_embedding_type", "rope"))),
    ("gte", KnownModel(default_base=1.6e5)),
    ("helium", KnownModel(default_base=1e5, layout="interleaved", head_dim=128)),
    ("higgs_audio_v2", KnownModel(default_base=5e5, head_dim=128, scaling=_llama3(32.0, 1024, 0.125, 0.5, 5e5))),
    ("hy_v3", KnownModel(default_base=11158840.0, head_dim=128)),
    ("hy_v4", KnownModel(head_key=_QK, head_dim=64)),
    ("jetmoe", KnownModel(head_key="kv_channels", head_dim=128)),
    ("jina_embeddings_v3", KnownModel(default_base=2e4)),
    ("kolibri1", KnownModel(head_dim=128, layers="SSSSF", window=513, unturned="F")),
    ("laguna", _TWO._replace(share=0.5, local_share=1.0, window=512)),
    ("lfm3", _GEMMA4._replace(share=0.5, head_dim=128, full_head_dim=None, layers="", window=256)),
    ("llama4_text", KnownModel(default_base=5e5, layout="interleaved", head_dim=128, layers="CCCF", nope_every=4)),
    ("longcat_flash", _MLA._replace(default_base=1e7)),
    ("mellum", _TWO._replace(window=1024)),
    ("mimo_v2_flash", _TWO._replace(default_base=5e6, share=0.334, head_dim=192, window=129)),
    ("minicpm3", KnownModel(head_key=_QK, head_dim=32)),
    ("minimax", KnownModel(default_base=1e6, layers="FL")),
    ("minimax_m2", KnownModel(default_base=5e6, head_dim=128, width_key="rotary_dim")),
    ("minimax_m3_vl_text", KnownModel(default_base=5e6, head_dim=128)),
    ("ministral", KnownModel(layers="S", window=4096)),
    ("ministral3", KnownModel(default_base=1e6, head_dim=128, scaling=_MINISTRAL3)),
    ("mistral4", _MLA._replace(obeys_interleave=True, scaling=_MISTRAL4)),
    ("mistral_large4_text", _MLA._replace(nope_every=4, scaling=_LARGE4)),
    ("modernbert modernbert-decoder", _MODERNBERT),
    ("moonshine", KnownModel(share=0.9, layout="interleaved")),
    ("moonshine_streaming", KnownModel(share=0.8, layout="interleaved", base_key="")),
    ("moshi", KnownModel(window=3000)),
    ("muse_glimmer_assistant", KnownModel(default_base=5e5, head_dim=128, layers="S", window=2048)),
    ("muse_glimmer_text", _MUSE),
    ("muse_spark_text", _MUSE._replace(default_base=5e5, head_dim=64, base_key="")),
    ("neomme", _SPLIT._replace(share=0.25, local_share=1.0, head_dim=64, window=256, refuses_flat=True)),
    ("nomic_bert", KnownModel(default_base=1e3)),
    ("olmo3", KnownModel(default_base=5e5, layers="SSSF", window=4096, by_type=True)),
    ("olmo_hybrid", KnownModel(layers="LLLF")),
    ("openai_privacy_filter", _OSS._replace(layout="interleaved", layers="")),
    ("paddleocr_vl_text qwen3_vl_text", KnownModel(default_base=5e5, head_dim=128)),
    ("phi3 phi4_multimodal", KnownModel(original=4096)),
    ("qwen", KnownModel(head_key="kv_channels", base_key="rotary_emb_base", share_key="rotary_pct")),
    ("qwen2 qwen2_moe qwen3_moe", KnownModel(window=4096, switched=True)),
    ("qwen2_5_omni_talker", KnownModel(default_base=1e6, head_dim=128, window=32768, switched=True)),
    ("qwen2_5_omni_text", KnownModel(default_base=1e6, window=32768, switched=True)),
    ("qwen2_5_vl_text qwen2_vl_text", KnownModel(default_base=1e6, window=4096, switched=True)),
    ("qwen3", KnownModel(head_dim=128, window=4096, switched=True)),
    ("qwen3_5_moe_text qwen3_5_text qwen3_next", KnownModel(share=0.25, head_dim=256, layers="LLLF")),
    ("qwen3_omni_moe_talker_code_predictor", KnownModel(head_dim=128)),
    ("recurrent_gemma", KnownModel(share=0.5, layers="LLS")),
    ("roformer", KnownModel(layout="interleaved", base_key="")),
    ("smollm3", KnownModel(default_base=2e6, switched=True, nope_every=4)),
    ("solar_open", KnownModel(default_base=1e6, head_dim=128)),
    ("stablelm", KnownModel(share=0.25)),
    ("step3p5", KnownModel(head_dim=128, by_type=True)),
    ("ultrabert", KnownModel(default_base=2.56e6, local_base=1e4, layers="SSF", window=128)),
    ("unlimited_ocr_text", KnownModel(window=128)),
    ("zamba2", KnownModel(head_key="attention_head_dim", only_if=("use_mem_rope", True))),
    ("zaya", _TWO._replace(default_base=5e6, share=0.5)),
)


#: max_position_embeddings that a class has by default, with the classes.
_LENGTHS: Mapping[int, str] = MappingProxyType(
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


def _build_rotary() -> dict[str, KnownModel]:
    models = {name: model for names, model in _GROUPS for name in names.split()}
    for length, names in _LENGTHS.items():
        models.update((name, models[name]._replace(length=length)) for name in names.split())
    return {name: model._replace(is_known=True) for name, model in models.items()}


#: Every rotary model_type for text that is known.
ROTARY: Mapping[str, KnownModel] = MappingProxyType(_build_rotary())
#: Classes whose plain ladder is narrowed by partial_rotary_factor; in transformers 5 the others turn all channels.
READS_SHARE = split_names(
    "bamba diffusion_gemma_text glm glm4 glm4_moe glm4v_moe_text glm4v_text glm_image_text glm_ocr_text gpt_neox",
    "gpt_neox_japanese laguna mellum mimo_v2_flash minimax_m2 minimax_m3_vl_text moonshine moonshine_streaming",
    "nemotron neomme persimmon phi phi3 phi4_multimodal qwen3_5_moe_text qwen3_5_text qwen3_next qwen4_exp_text",
    "qwen recurrent_gemma solar_open stablelm step3p5 zaya chatglm gemma4_text gemma4_unified_text lfm3",
)
_PARTS = split_names(
    "aya_vision:cohere2 blt:blt cohere2_vision:cohere2 deepseek_vl:llama dia:dia_decoder emu3:emu3_text_model",
    "exaone4_5:exaone4 fuyu:persimmon glm46v:glm4v_text got_ocr2:qwen2 granite_speech:granite idefics2:mistral",
    "idefics3:llama internvl:qwen2 janus:llama kimi_k25:deepseek_v3 lfm2_vl:lfm2 lfm3_vl:lfm3 lighton_ocr:qwen3",
    "llava:llama llava_next:llama llava_next_video:llama llava_onevision:qwen2 mistral3:mistral",
    "mllama:mllama_text_model ovis2:qwen2 paligemma:gemma perception_lm:llama qwen2_audio:qwen2 qwen3_asr:qwen3",
    "shieldgemma2:gemma3_text smolvlm:llama step3p7:step3p5 t5gemma:t5_gemma_module t5gemma2:t5gemma2_decoder",
    "video_llama_3:qwen2 video_llava:llama vipllava:llama voxtral:llama",
)
#: model_type of the text part where it is not the name of the whole with "_text" added.
TEXT_PARTS: Mapping[str, str] = MappingProxyType({whole: part for whole, _, part in (p.partition(":") for p in _PARTS)})


def find_known(model_type: str) -> KnownModel:
    """Return what the class of a model takes by default; `is_known` says whether it is known as rotary.

    A model of several parts gives its text part's.

    >>> find_known("gemma3").default_base, find_known("gpt2").is_known
    (1000000.0, False)
    """
    names = (model_type, TEXT_PARTS.get(model_type, f"{model_type}_text"))
    found = next((ROTARY[name] for name in names if name in ROTARY), KnownModel())
    return found._replace(model=model_type)
