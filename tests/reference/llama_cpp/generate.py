"""Freeze what llama.cpp turns a query by, converter and library together, and write the table of what it reads.

Each configuration goes through the converter of the release (its keys and its tensors of factors; no other weight is
needed), the library builds the model from the file, and `measure.c` turns the identity by each rotation of the graph.
llama-cpp-python's source has all of it; `tests/reference/measure.py llama.cpp VERSION`, with the version of that,
compiles the library and runs this: a quarter of an hour on one core, most of it to compile.
"""

import functools
import json
import logging
import pathlib
import re
import subprocess
import sys
import tempfile

import conversion
import gguf
import numpy as np
import transformers
from conversion.base import ModelBase

from tests.reference.freezing import freeze, start_choosing, write_date

#: How many configurations are drawn.
COUNT = 420
HERE = pathlib.Path(__file__).parent
TABLE = HERE.parents[2] / "pe_spectra" / "models" / "measured"
#: The architecture of each model_type, as the files have it; none whose first layer is scaled otherwise than others.
MODELS = {
    "llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "mixtral": "MixtralForCausalLM",
    "qwen2": "Qwen2ForCausalLM", "qwen2_moe": "Qwen2MoeForCausalLM", "qwen3": "Qwen3ForCausalLM",
    "qwen3_moe": "Qwen3MoeForCausalLM", "phi": "PhiForCausalLM", "phi3": "Phi3ForCausalLM",
    "stablelm": "StableLmForCausalLM", "gemma": "GemmaForCausalLM", "olmo": "OlmoForCausalLM",
    "olmoe": "OlmoeForCausalLM", "cohere": "CohereForCausalLM",
    "starcoder2": "Starcoder2ForCausalLM", "granite": "GraniteForCausalLM", "granitemoe": "GraniteMoeForCausalLM",
    "glm": "GlmForCausalLM", "glm4": "Glm4ForCausalLM", "gpt_neox": "GPTNeoXForCausalLM",
    "nemotron": "NemotronForCausalLM", "seed_oss": "SeedOssForCausalLM", "arcee": "ArceeForCausalLM",
    "ernie4_5": "Ernie4_5ForCausalLM", "apertus": "ApertusForCausalLM", "hunyuan_v1_dense": "HunYuanDenseV1ForCausalLM",
    "exaone": "ExaoneForCausalLM", "internlm2": "InternLM2ForCausalLM", "deepseek_v2": "DeepseekV2ForCausalLM",
    "deepseek_v3": "DeepseekV3ForCausalLM", "gpt_oss": "GptOssForCausalLM", "smollm3": "SmolLM3ForCausalLM",
    "bitnet": "BitNetForCausalLM", "glm4_moe": "Glm4MoeForCausalLM",
    "minicpm": "MiniCPMForCausalLM", "dots1": "Dots1ForCausalLM",
    "exaone4": "Exaone4ForCausalLM", "olmo2": "Olmo2ForCausalLM", "gemma2": "Gemma2ForCausalLM",
    "lfm2": "Lfm2ForCausalLM", "kimi_k2": "DeepseekV3ForCausalLM", "deepseek_v32": "DeepseekV32ForCausalLM",
    "granitemoeshared": "GraniteMoeSharedForCausalLM", "ernie4_5_moe": "Ernie4_5_MoeForCausalLM",
    "internlm3": "InternLM3ForCausalLM", "xverse": "XverseForCausalLM", "orion": "OrionForCausalLM",
    "falcon": "FalconForCausalLM", "deepseek": "DeepseekForCausalLM",
    "ministral": "MistralForCausalLM", "bailing_moe": "BailingMoeForCausalLM",
    "gemma3_text": "Gemma3ForCausalLM", "cohere2": "Cohere2ForCausalLM", "cohere2_moe": "Cohere2MoeForCausalLM",
    "olmo3": "Olmo3ForCausalLM", "llama4_text": "Llama4ForCausalLM",
    "ministral3": "Ministral3ForCausalLM", "mistral4": "Mistral3ForConditionalGeneration",
    "glm_moe_dsa": "GlmMoeDsaForCausalLM", "granitemoehybrid": "GraniteMoeHybridForCausalLM",
    "baichuan": "BaichuanForCausalLM", "arctic": "ArcticForCausalLM", "chatglm": "ChatGLMModel",
    "llada": "LLaDAModelLM", "nanbeige": "NanbeigeForCausalLM",
}  # fmt: skip
#: Of models with several kinds of layers one of each, the last the one that other kinds are told from.
KINDS = {
    "gemma3_text": {"sliding_attention": 0, "full_attention": 5},
    "cohere2": {"full_attention": 3, "sliding_attention": 0},
    "cohere2_moe": {"full_attention": 3, "sliding_attention": 0},
    "olmo3": {"sliding_attention": 0, "full_attention": 3},
    "llama4_text": {"full_attention": 3, "chunked_attention": 0},
}
_EVERY_FOURTH = 2 * (["sliding_attention"] * 3 + ["full_attention"])
_OF_KINDS = {"sliding_window": 1024, "num_hidden_layers": 8, "layer_types": _EVERY_FOURTH}
#: What the files of some models have besides, and the blocks of their scalings.
BESIDES = {
    "gemma3_text": {
        "sliding_window": 1024, "num_hidden_layers": 6, "sliding_window_pattern": 6, "rope_local_base_freq": 54321.0,
    },
    "baichuan": {"num_hidden_layers": 32},
    "granitemoehybrid": {
        "attn_layer_indices": [0, 1], "position_embedding_type": "rope", "shared_intermediate_size": 32,
        "mamba_d_conv": 4, "mamba_d_state": 16, "mamba_n_groups": 1, "mamba_n_heads": 4, "mamba_d_head": 64,
        "mamba_expand": 2,
    },
    "cohere2": {**_OF_KINDS, "rotary_pct": 1.0},
    "cohere2_moe": _OF_KINDS,
    "olmo3": _OF_KINDS,
    "llama4_text": {
        "num_hidden_layers": 8, "no_rope_layers": 2 * [1, 1, 1, 0], "interleave_moe_layer_step": 1,
        "intermediate_size_mlp": 64, "attention_chunk_size": 8192,
    },
}  # fmt: skip
IN_BLOCKS = {"ministral3": {"mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}}
#: What converters and the library ask for besides; small, since no weight is looked at.
SMALL = {
    "vocab_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
    "intermediate_size": 64, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32, "num_experts": 2,
    "num_local_experts": 2, "num_experts_per_tok": 1, "n_routed_experts": 2, "n_shared_experts": 1,
    "rms_norm_eps": 1e-6, "layer_norm_eps": 1e-5, "layer_norm_epsilon": 1e-5, "norm_epsilon": 1e-5, "norm_eps": 1e-5,
    "first_k_dense_replace": 1, "moe_layer_freq": 1, "n_group": 1, "topk_group": 1,
    "routed_scaling_factor": 1.0, "norm_topk_prob": False, "kv_lora_rank": 32, "q_lora_rank": 32, "v_head_dim": 32,
    "qk_nope_head_dim": 32, "hidden_act": "silu", "use_qkv_bias": True, "decoder_sparse_step": 1, "num_layers": 2,
    "mlp_only_layers": [], "logits_scaling": 1.0, "residual_multiplier": 1.0, "embedding_multiplier": 1.0,
    "attention_multiplier": 0.1, "logit_scale": 0.1, "scale_emb": 1.0, "scale_depth": 1.0, "dim_model_base": 32,
    "attention_bias": False, "tie_word_embeddings": True, "scoring_func": "sigmoid", "activation_function": "silu",
    "index_n_heads": 2, "index_head_dim": 128, "index_topk": 16, "num_shared_experts": 1,
}  # fmt: skip


# --------------------------------------------------------------------- configurations


def make(model, head, base, length, **others):
    """A configuration in the older keys; of latent attention the part that is turned has the width."""
    found = {"model_type": model, "hidden_size": 2 * head, "num_attention_heads": 2, "head_dim": head}
    if model.startswith(("deepseek_v", "kimi", "mistral4", "glm_moe_dsa")):
        found["qk_rope_head_dim"] = head
    if model == "gpt_neox":
        found |= {"rotary_emb_base": base, "rotary_pct": 1.0}
    others = {**BESIDES.get(model, {}), **others}
    if model in IN_BLOCKS and "rope_scaling" in others:
        others["rope_scaling"] = {**IN_BLOCKS[model], **others["rope_scaling"]}
    return {**found, "max_position_embeddings": length, "rope_theta": base, **others}


def draw(rng, models):
    """A configuration of a model, its scaling among the older keys or the newer."""
    choose = start_choosing(rng)
    head, base = choose(64, 96, 128), choose(1e4, 5e5, 1e6, 123456.0)
    kind = choose("default", "default", "linear", "dynamic", "yarn", "yarn", "yarn", "llama3", "llama3", "longrope")
    model, length = choose(*models), choose(4096, 8192)
    block = {"rope_type": kind}
    if kind in ("linear", "dynamic", "yarn", "llama3"):
        block["factor"] = choose(2.0, 4.0, 8.0, 3.5)
    if kind in ("yarn", "llama3", "longrope"):
        block["original_max_position_embeddings"] = choose(1024, 2048, 4096)
    if kind == "yarn":
        optional = {"beta_fast": choose(16.0, 48.0), "beta_slow": choose(0.5, 2.0), "truncate": choose(True, False)}
        optional |= {"attention_factor": 1.25, "mscale": 0.707, "mscale_all_dim": choose(0.5, 1.0)}
        block |= {key: value for key, value in optional.items() if rng.random() < 1 / 3}
    if kind == "llama3":
        block |= {"low_freq_factor": choose(1.0, 2.0), "high_freq_factor": choose(4.0, 8.0)}
    if kind == "longrope":
        block |= {
            key: np.sort(rng.uniform(1, 30, head // 2)).round(3).tolist() for key in ("short_factor", "long_factor")
        }
    share = {"partial_rotary_factor": choose(0.5, 0.25)} if model in ("stablelm", "glm4", "phi", "nemotron") else {}
    if share and kind == "longrope":
        kind, block = "default", {}
    local = {"rope_local_base_freq": choose(1e4, 54321.0)} if model == "gemma3_text" else {}
    if choose("newer", "older") == "newer" and not share:
        found = make(model, head, base, length)
        del found["rope_theta"]
        block = {**IN_BLOCKS.get(model, {}), **block, "rope_theta": base}
        if model in ("gemma3_text", "olmo3"):
            sliding = {"rope_type": "default", "rope_theta": local.get("rope_local_base_freq", base)}
            block = {"full_attention": block, "sliding_attention": sliding}
            found.pop("rope_local_base_freq", None)
        return {**found, "rope_parameters": block}
    scaling = {"rope_scaling": block} if kind != "default" else {}
    return make(model, head, base, length, **share, **local, **scaling)


# --------------------------------------------------------------------- converter and library


def convert(config, folder):
    """Write the GGUF file that the converter makes, without weights; its factors, by name."""
    folder.mkdir()
    whole = {**SMALL, "architectures": [MODELS[config["model_type"]]], **config}
    (folder / "config.json").write_text(json.dumps(whole))
    converter = ModelBase.from_model_architecture(MODELS[config["model_type"]])
    model = converter(folder, gguf.LlamaFileType.ALL_F32, folder / "out.gguf", eager=True)
    model = getattr(model, "impl", model)  # the converter of Mistral 3 hands on to one of two
    model.set_gguf_parameters()
    extra = dict(model.generate_extra_tensors())
    writer = model.gguf_writer
    writer.add_tokenizer_model("none")
    writer.add_vocab_size(32)
    for name, tensor in extra.items():
        writer.add_tensor(name, tensor.numpy())
    writer.write_header_to_file(path=folder / "out.gguf")
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return folder / "out.gguf", sorted(extra), writer.arch


def run(program, configs, layer=None):
    """What each configuration is turned by in a layer, the first of them by default, or the words of what refuses."""
    found = []
    with tempfile.TemporaryDirectory() as root:
        for number, config in enumerate(configs):
            try:
                path, extra, architecture = convert(config, pathlib.Path(root) / str(number))
            except Exception as error:
                found.append({"refused": f"converter: {type(error).__name__}: {error}"[:150]})
                continue
            done = subprocess.run([program], input=f"{path}\n", capture_output=True, text=True, check=False)
            said = done.stderr.strip().splitlines()[-1:]
            answer = {"failed": "it ends", "used": extra} if done.returncode else json.loads(done.stdout)
            found.append({**read(answer, extra, *said, layer=layer), "architecture": architecture})
            path.unlink()
    return found


def read(answer, extra, said="", layer=None):
    """Read the rotation of a layer's first node: frequencies, factor and layout of pairs, from the turned identity."""
    unused = sorted(set(extra) - set(answer["used"]))
    if answer["failed"] or unused:
        words = answer["failed"] or f"{unused} is in no model of the library"
        return {"refused": f"library: {words} {said}"[:150].strip()}
    if all("indexer" in one["name"] for one in answer["rotations"]):
        return {"refused": "library: nothing is turned"}
    nodes = [one for one in answer["rotations"] if "indexer" not in one["name"]]
    of_layer = nodes if layer is None else [one for one in nodes if re.search(rf"-{layer}\b", one["name"])]
    if not of_layer:
        return {"unturned": True}
    node = of_layer[0]
    cosines, pairs = {}, {}
    for row, column, value in node["entries"]:  # row is turned to columns
        if row == column:
            cosines[row] = value
        elif value > 0:
            pairs[row] = (column, value)
    first = sorted(pairs)
    layout = "interleaved" if all(pairs[one][0] == one + 1 for one in first) else "half"
    assert layout == "interleaved" or all(pairs[one][0] == one + len(first) for one in first)
    sines = np.array([pairs[one][1] for one in first])
    kept = np.array([cosines.get(one, 0.0) for one in first])
    attention = float(np.hypot(sines, kept).mean())
    frequencies = [float(f"{one:.8g}") for one in np.arctan2(sines, kept)]
    return {"frequencies": frequencies, "attention": float(f"{attention:.7g}"), "layout": layout}


# --------------------------------------------------------------------- the table


#: Scalings that are probed one at a time; each of them changes the ladder where it is read.
PROBES = {
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 4.0, "alpha": 1000.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 2048},
    "llama3": {
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 2048,
    },
    "longrope": {
        "original_max_position_embeddings": 2048, "short_factor": [1.0 + i / 16 for i in range(32)],
        "long_factor": [1.0 + i / 8 for i in range(32)],
    },
}  # fmt: skip
_BASE = 123456.0


def probe(program, model):
    """What converter and library read for one model, of each kind of its layers."""
    kinds = {name: probe_layer(program, model, layer) for name, layer in KINDS.get(model, {"all": None}).items()}
    *others, found = kinds.values()
    if model not in transformers.CONFIG_MAPPING:  # nobody fills in the defaults of a class
        found["unfilled"] = True
    for one in others:
        if "unturned" not in one and "rope_local_base_freq" not in BESIDES[model]:
            one["shares_base"] = True
    differing = {name: one for name, one in zip(kinds, others, strict=False) if one != found}
    return {**found, **({"layers": differing} if differing else {})}


def probe_layer(program, model, layer):
    """What they read for one kind of layers."""
    ask = functools.partial(run, program, layer=layer)
    keys = {"rope_scaling": {"rope_type": "yarn", **PROBES["yarn"]}}
    scaled = [make(model, 64, _BASE, 8192, rope_scaling={"rope_type": kind, **one}) for kind, one in PROBES.items()]
    betas = {"rope_scaling": {**keys["rope_scaling"], "beta_fast": 16.0, "beta_slow": 2.0}}
    scales = {"rope_scaling": {**keys["rope_scaling"], "mscale": 0.8, "mscale_all_dim": 0.5}}
    plain, half, *kinds, with_betas, with_scales = ask(
        [
            make(model, 64, _BASE, 8192),
            make(model, 64, _BASE, 8192, partial_rotary_factor=0.5, rotary_pct=0.5),
            *scaled,
            make(model, 64, _BASE, 8192, **betas),
            make(model, 64, _BASE, 8192, **scales),
        ],
    )
    yarn = kinds[list(PROBES).index("yarn")]
    taken = [one for one in (plain, half, yarn) if "refused" not in one]
    if not taken or "unturned" in taken[0]:
        return taken[0] if taken else plain
    told = taken[0]
    width = 2 * len(told["frequencies"])
    base = told["frequencies"][1] ** (-width / 2)
    found = {"layout": told["layout"], "architecture": told["architecture"]}
    local = BESIDES.get(model, {}).get("rope_local_base_freq")
    if abs(base / (local if local and layer == 0 else _BASE) - 1) > 1e-3:
        found["base"] = round(base)
    if "refused" in plain and told is half:
        found["needs_share"] = True
    if "refused" in plain and told is yarn:
        found["refuses"] = {"default": plain["refused"]}
    if "refused" not in half and len(half["frequencies"]) != 16:
        found["ignores_share"] = True
    if width not in (64, 32 if told is half else 64):
        found["share"] = width / 64
    plain_ladder = base ** (-np.arange(0, width, 2) / width)
    reads = {}
    for kind, one in zip(PROBES, kinds, strict=True):
        if "refused" in one:
            note_refusal(ask, model, kind, one["refused"], found)
        elif len(one["frequencies"]) == width // 2:
            ratios = plain_ladder / one["frequencies"]
            if abs(ratios / ratios[0] - 1).max() < 1e-4 and one["attention"] == 1:
                is_kept = abs(ratios[0] - 1) < 1e-4
                reads |= {} if is_kept else {kind: "linear"}
            elif kind == "longrope" and one["attention"] == 1:  # without an attention factor
                is_short = abs(ratios / PROBES[kind]["short_factor"] - 1).max() < 1e-4
                reads[kind] = "short" if is_short else "factors"
            else:
                reads[kind] = kind
    if "only" in found:
        reads["dynamic"] = "dynamic"
    found["reads"] = reads
    if "refused" not in with_betas and with_betas["frequencies"] != yarn.get("frequencies"):
        found["reads_betas"] = True
    if "refused" not in with_scales and with_scales["attention"] != yarn.get("attention"):
        found["mscale"] = "equal" if with_scales["attention"] == 1 else "one"
    return found


def note_refusal(ask, model, kind, words, found):
    """Note whether a scaling is refused for want of a key, for some bases and lengths, or always."""
    block = {"rope_type": kind, **PROBES[kind], **IN_BLOCKS.get(model, {})}
    (newer,) = ask([make(model, 64, _BASE, 8192, rope_parameters=block)])
    if "refused" not in newer and "KeyError" in words:  # the class of transformers fills it in
        found.setdefault("needs", {})[kind] = words.split("'")[1]
        return
    pairs = [[base, length] for base in (1e4, _BASE) for length in (8192, 32768, 131072, 262144)]
    block = {"rope_scaling": {"rope_type": kind, "factor": 1.0}}
    answers = ask([make(model, 64, *pair, **block) for pair in pairs]) if kind == "dynamic" else []
    taken = [(pair, one) for pair, one in zip(pairs, answers, strict=False) if "refused" not in one]
    if not taken:
        found.setdefault("refuses", {})[kind] = words
        return
    (base, _), one = taken[0]
    found["only"] = {kind: [pair for pair, _ in taken]}
    # a base that was enlarged once: b' = b alpha**(D/(D-2))
    found["alpha"] = round((one["frequencies"][1] ** (-64 / 2) / base) ** (62 / 64), 2)


def main():
    """Probe, draw, compute and write."""
    version, commit, program = sys.argv[1:4]
    logging.disable(logging.CRITICAL)
    conversion.load_all_models()
    head = {"stack": "llama.cpp", "version": version, "commit": commit, "date": write_date()}
    table = {model: probe(program, model) for model in sorted(MODELS)}
    for model, one in table.items():
        print(model, one)
    models = {model: one for model, one in table.items() if "refused" not in one}
    text = json.dumps({**head, "models": models}, indent=0, sort_keys=True)
    (TABLE / f"llama.cpp-{version}.json").write_text(text + "\n", encoding="utf-8")
    if len(sys.argv) > 4:
        return
    rng = np.random.default_rng(20261127)
    drawn = [draw(rng, list(models)) for _ in range(COUNT)]
    freeze(HERE, head, [one for config in drawn for one in measure(program, config)])


def measure(program, config):
    """A case for each kind of layers of a configuration."""
    for name, layer in KINDS.get(config["model_type"], {"all": None}).items():
        (one,) = run(program, [config], layer)
        one.pop("architecture", None)
        yield {"config": config, "layer": name, **one}


if __name__ == "__main__":
    main()
