"""Write what releases of transformers make of rotary keys in config.json files, frozen as JSON beside this file.

Run once in an environment for each release, in any order; a run replaces the results of its own release:

    python -m venv ENV
    ENV/bin/pip install transformers==5.24.0 torch==2.13.0     # then 4.49.0 and 4.57.6 in its place
    ENV/bin/python tests/reference/transformers/generate.py

Nothing of pe_spectra is imported and nothing is computed here. Each case is written as a config.json and
loaded by AutoConfig.from_pretrained; AutoModel.from_config builds the model (with the sizes in SMALL, which no
angle depends on, and random weights), and the frequencies are the buffers of its own rotary modules, after
a forward pass of theirs over seq_len positions where the case has one. Floats are float32, in the fewest
decimals that read back as the same float32. A second run with the same versions writes the same bytes.
"""

import json
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path

FILE = Path(__file__).with_name("configurations.json")
#: Sizes that no angle depends on.
SMALL = {"vocab_size": 32, "intermediate_size": 16, "moe_intermediate_size": 16, "vocab_size_per_layer_input": 32}
SMALL |= dict.fromkeys(("n_routed_experts", "num_local_experts", "num_experts"), 4)
SMALL |= {"n_group": 1, "topk_group": 1, "num_experts_per_tok": 2, "hidden_size_per_layer_input": 0}
SMALL |= dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"))
HEADS = {"hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 2}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 8192}
LLAMA31 = {"hidden_size": 512, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 1}
#: Divisors as Phi-3's are: near 1 for fast pairs, up to some tens for slow ones.
SHORT = [round(1 + 0.03 * i, 2) for i in range(48)]
LONG = [round(1 + 0.02 * i * i + 0.25 * i, 4) for i in range(48)]
SPLIT = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}
SPLIT |= {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}


def describe(model, length=32768, shape=HEADS, **keys):
    return {"model_type": model, "max_position_embeddings": length, **shape, **keys}


def list_plain():
    yield "default, no base", describe("llama", 2048)
    yield "default", describe("llama", 8192, rope_theta=5e5)
    yield "default, newer keys", describe("llama", 8192, rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    yield "a factor with rope_type default", describe("llama", rope_scaling={"rope_type": "default", "factor": 4.0})
    yield "Gemma 2: head_dim is not hidden / heads", describe("gemma2", 8192, head_dim=128, rope_theta=1e4)
    yield "Qwen2.5", describe("qwen2", rope_theta=1e6, use_sliding_window=False)
    yield "linear", describe("llama", rope_theta=1e4, rope_scaling={"type": "linear", "factor": 4.0})
    contradiction = {"rope_scaling": {"rope_type": "linear", "factor": 2.0}, "rope_theta": 5e5}
    newer = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}
    yield "both generations, in contradiction", describe("llama", **contradiction, rope_parameters=newer)
    inner = {"rope_scaling": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e6}, "rope_theta": 5e5}
    yield "rope_theta in rope_scaling and on top", describe("llama", **inner)
    outer = {"rope_parameters": {"rope_type": "linear", "factor": 2.0}, "rope_theta": 5e5}
    yield "rope_parameters without a base, rope_theta on top", describe("llama", **outer)
    yield "type and rope_type differ", describe("llama", rope_scaling={"type": "linear", "rope_type": "llama3"} | newer)
    dynamic = describe("llama", 2048, rope_theta=1e4, rope_scaling={"rope_type": "dynamic", "factor": 2.0})
    for length in (None, 2048, 8192):
        yield "dynamic", dynamic, length


def list_yarn():
    base = {"rope_theta": 1e6}
    yield "Qwen2.5 with YaRN", describe("qwen2", **base, rope_scaling=YARN | {"type": "yarn"})
    yield "yarn", describe("llama", 16384, **base, rope_scaling=YARN)
    yield "yarn, newer keys", describe("llama", 16384, rope_parameters=YARN | base)
    yield "yarn, truncate false", describe("llama", 16384, **base, rope_scaling=YARN | {"truncate": False})
    scales = {"equal mscale": (1.0, 1.0), "unequal mscale": (1.0, 0.707), "mscale 0": (0.0, 1.0)}
    for name, (one, other) in scales.items():
        block = YARN | {"mscale": one, "mscale_all_dim": other}
        yield f"yarn, {name}", describe("llama", 16384, **base, rope_scaling=block)
    yield "yarn, attention_factor", describe("llama", 16384, **base, rope_scaling=YARN | {"attention_factor": 1.25})
    betas = {"beta_fast": 16.0, "beta_slow": 2.0}
    yield "yarn, betas", describe("llama", 16384, **base, rope_scaling=YARN | betas)
    unset = {"rope_type": "yarn", "factor": 4.0}
    top = {"original_max_position_embeddings": 4096}
    yield "yarn, original on top", describe("llama", 16384, **base, **top, rope_scaling=unset)
    yield "yarn, no original", describe("llama", 16384, **base, rope_scaling=unset)
    yield "yarn, factor null", describe("llama", 16384, **base, rope_scaling=YARN | {"factor": None})
    block = YARN | {"factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
    shape = HEADS | {"head_dim": 64, "rope_theta": 150000.0}
    yield "gpt-oss", describe("gpt_oss", 131072, shape, rope_scaling=block, sliding_window=128)
    yield "gpt-oss, no block", describe("gpt_oss", 131072, shape, sliding_window=128)
    yield "gpt-oss, rope_scaling null", describe("gpt_oss", 131072, shape, rope_scaling=None, sliding_window=128)
    block = {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1}
    ranks = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 32, "v_head_dim": 32, "rope_theta": 1e4}
    for model, one in (("deepseek_v2", 0.707), ("deepseek_v3", 1.0)):
        scales = {"mscale": one, "mscale_all_dim": one}
        yield model, describe(model, 163840, qk_rope_head_dim=64, **ranks, rope_scaling=block | scales)


def list_llama3():
    older = {"rope_theta": 5e5, "rope_scaling": LLAMA3}
    yield "Llama-3.1, older keys", describe("llama", 131072, LLAMA31, **older)
    yield "Llama-3.1, newer keys", describe("llama", 131072, LLAMA31, rope_parameters=LLAMA3 | {"rope_theta": 5e5})
    yield "Llama-3.2", describe("llama", 131072, head_dim=64, rope_theta=5e5, rope_scaling=LLAMA3 | {"factor": 32.0})
    block = LLAMA3 | {"high_freq_factor": 1.0}
    yield "llama3, high_freq_factor = low_freq_factor", describe("llama", 131072, rope_theta=5e5, rope_scaling=block)
    block = {key: value for key, value in LLAMA3.items() if not key.startswith("original")}
    yield "llama3, no original", describe("llama", 131072, rope_theta=5e5, rope_scaling=block)


def list_longrope():
    shape = HEADS | {"hidden_size": 384}
    block = {"type": "longrope", "short_factor": SHORT, "long_factor": LONG}
    phi = describe("phi3", 131072, shape, rope_theta=1e4, rope_scaling=block, original_max_position_embeddings=4096)
    for length in (4096, 4097):
        yield "Phi-3", phi, length
    yield "Phi-3, type su", phi | {"rope_scaling": block | {"type": "su"}}, 4096
    block = {"rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG, "factor": 16.0}
    for length in (4096, 4097):
        yield "longrope, factor", describe("llama", 4096, shape, rope_theta=1e4, rope_scaling=block), length
    block |= {"attention_factor": 1.3, "original_max_position_embeddings": 4096, "rope_theta": 1e4}
    yield "longrope, newer keys, attention_factor", describe("llama", 65536, shape, rope_parameters=block), 8192


def list_shares():
    yield "GPT-NeoX", describe("gpt_neox", 2048, rotary_pct=0.5, rotary_emb_base=2e4)
    yield "GPT-NeoX, rope_theta", describe("gpt_neox", 2048, rope_theta=2e4)
    yield "Phi-2", describe("phi", 2048, HEADS | {"hidden_size": 320}, partial_rotary_factor=0.4, rope_theta=1e4)
    yield "Phi, no share", describe("phi", 2048, rope_theta=1e4)
    newer = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.25}
    yield "share on top and in rope_parameters", describe("phi", partial_rotary_factor=0.5, rope_parameters=newer)
    yield "StableLM", describe("stablelm", 4096, partial_rotary_factor=0.25, rope_theta=1e4)
    yield "GLM-4", describe("glm", 131072, head_dim=64, partial_rotary_factor=0.5, rope_theta=1e4)
    yield "a share, not the class's own", describe("llama", partial_rotary_factor=0.5, rope_theta=1e4)
    block = {"rope_type": "linear", "factor": 2.0}
    yield "a share with linear", describe("llama", partial_rotary_factor=0.5, rope_theta=1e4, rope_scaling=block)


def list_layer_types():
    shape = HEADS | {"head_dim": 64, "num_hidden_layers": 6}
    older = {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    yield "Gemma 3, older keys", describe("gemma3_text", 131072, shape, **older, sliding_window_pattern=6)
    yield "Gemma 3, newer keys", describe("gemma3_text", 131072, shape, rope_parameters=SPLIT)
    yield "Gemma 3, no keys", describe("gemma3_text", 131072, shape)
    flat = {"rope_type": "linear", "factor": 8.0, "rope_theta": 5e5}
    yield "Gemma 3, newer keys not nested", describe("gemma3_text", 131072, shape, rope_parameters=flat)
    block = {"full_attention": YARN | {"rope_theta": 1e6, "truncate": False}}
    yield "Gemma 3, yarn with truncate false", describe("gemma3_text", 16384, shape, rope_parameters=block)
    shape = HEADS | {"num_hidden_layers": 3}
    yield "ModernBERT", describe("modernbert", 8192, shape, global_rope_theta=16e4, local_rope_theta=1e4)
    shape = HEADS | {"num_hidden_layers": 4, "sliding_window": 4096}
    block = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 8192}
    yield "OLMo 3", describe("olmo3", 65536, shape, rope_theta=5e5, rope_scaling=block)
    yield "OLMo 3, another base", describe("olmo3", 65536, shape, rope_theta=1e6)
    full = {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25}
    shape = HEADS | {"head_dim": 64, "global_head_dim": 128, "num_hidden_layers": 6}
    yield "Gemma 4", describe("gemma4_text", 131072, shape, rope_parameters=SPLIT | {"full_attention": full})
    yield "proportional", describe("llama", 131072, rope_parameters=full | {"factor": 2.0})


def list_other_shapes():
    """Keys that are right in another class, or in another place."""
    base = {"rope_type": "default", "rope_theta": 5e5}
    yield "nested by layer type, read flat", describe("llama", 8192, rope_parameters={"full_attention": base})
    yield "yarn, no factor", describe("llama", 131072, rope_theta=5e5, rope_scaling=drop(YARN, "factor"))
    shape = HEADS | {"head_dim": 64, "num_hidden_layers": 6}
    block = {"type": "linear", "factor": 8.0}
    older = {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": block}
    yield "Gemma 3, type", describe("gemma3_text", 131072, shape, **older)
    shape = HEADS | {"num_hidden_layers": 4, "sliding_window": 4096}
    yield "OLMo 3, type", describe("olmo3", 65536, shape, rope_theta=5e5, rope_scaling=drop(YARN, "rope_type") | block)
    flat = YARN | {"rope_theta": 2.5e5}
    yield "OLMo 3, newer keys not nested", describe("olmo3", 65536, shape, rope_parameters=flat)
    shape = HEADS | {"hidden_size": 384}
    block = {"rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG}
    block |= {"original_max_position_embeddings": 8192}
    yield "Phi-3, original in the block only", describe("phi3", 16384, shape, rope_theta=1e4, rope_scaling=block), 4096
    yield "Phi-3 with YaRN", describe("phi3", 16384, shape, rope_theta=1e4, rope_scaling=YARN)
    shape = HEADS | {"num_hidden_layers": 2, "head_dim": 128, "qk_rope_head_dim": 32, "sliding_window": 128}
    shape |= {"q_lora_rank": 16, "o_lora_rank": 16, "o_groups": 2, "index_n_heads": 2, "index_head_dim": 64}
    shape |= {"num_key_value_heads": 1, "compress_ratios": [0, 4]}
    bases = {"rope_theta": 1e4, "compress_rope_theta": 16e4}
    block = {"type": "yarn", "factor": 16, "original_max_position_embeddings": 65536}
    yield "DeepSeek V4", describe("deepseek_v4", 1048576, shape, **bases, rope_scaling=block)


def drop(block, key):
    return {one: value for one, value in block.items() if one != key}


def list_cases():
    steps = (list_plain, list_yarn, list_llama3, list_longrope, list_shares, list_layer_types, list_other_shapes)
    for found in steps:
        for name, config, *length in found():
            yield name, config, length[0] if length else None


def load(config):
    """The configuration as transformers reads it from a folder, with small sizes."""
    from transformers import AutoConfig

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(config), encoding="utf-8")
        found = AutoConfig.from_pretrained(folder)
    for key, value in SMALL.items():
        if hasattr(found, key):
            setattr(found, key, value)
    return found


def name_layers(path, name):
    """The layer type that a buffer serves, from its name and where its module is in the model."""
    if name != "inv_freq":
        return name.removesuffix("_inv_freq")
    if path in ("layers.0.attn.rotary_emb", "layers.1.attn.rotary_emb"):  # ModernBERT of releases 4
        return ("full_attention", "sliding_attention")[int(path[7])]
    names = {"rotary_emb": "full_attention", "rotary_emb_local": "sliding_attention"}  # Gemma 3 of releases 4
    return names.get(path, path.rpartition(".")[2])


def find_frequencies(config, length):
    """Every rotary module's frequencies and attention factor, alike ones once, by layer type."""
    import torch
    from transformers import AutoModel

    found = {}
    for path, module in AutoModel.from_config(load(config)).named_modules():
        names = [name for name, _ in module.named_buffers(recurse=False) if name.endswith("inv_freq")]
        for name in [name for name in names if "original" not in name]:
            if length is not None:
                module(torch.zeros(1), torch.arange(length)[None])
            factor = getattr(module, name.replace("inv_freq", "attention_scaling"), None)
            values = [simplify(value) for value in getattr(module, name).numpy()]
            about = {"class": type(module).__name__, "rotary_width": 2 * len(values), "attention_scaling": factor}
            result = {"layer_type": name_layers(path, name)} | about | {"inv_freq": values}
            found.setdefault(json.dumps(about | {"inv_freq": values}), result)
    if len(found) == 1:
        return [result | {"layer_type": "all"} for result in found.values()]
    return list(found.values())


def simplify(value):
    number = float(str(value))
    return int(number) if number.is_integer() else number


def run(config, length):
    """What this release makes of a configuration; None where it has no such model."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if config["model_type"] not in CONFIG_MAPPING_NAMES:
        return None
    try:
        return find_frequencies(config, length)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        return [{"error": type(error).__name__, "message": " ".join(str(error).split())[:120]}]


def merge(before, case, mine, release):
    """A case's results with those of this release in place of older ones; releases that agree are listed once."""
    kept = {}
    for result in before:
        releases = [one for one in result["releases"] if one != release]
        kept[json.dumps({key: value for key, value in result.items() if key != "releases"})] = releases
    for result in mine or []:
        kept.setdefault(json.dumps(result), []).append(release)
    results = [{"releases": sorted(releases), **json.loads(text)} for text, releases in kept.items() if releases]
    return case | {"results": sorted(results, key=lambda result: (result["releases"], result.get("layer_type", "")))}


def main():
    older = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"header": {}, "cases": []}
    release = version("transformers")
    before = {(case["name"], case.get("seq_len")): case["results"] for case in older["cases"]}
    lines = []
    for name, config, length in list_cases():
        case = {"name": name, "config": config} | ({"seq_len": length} if length else {})
        lines.append(json.dumps(merge(before.get((name, length), []), case, run(config, length), release)))
    releases = sorted({*older["header"].get("versions", {}).get("transformers", []), release})
    header = {
        "what": "rotary frequencies that releases of transformers read from a config.json",
        "versions": {
            "transformers": releases,
            "torch": version("torch").partition("+")[0],
            "python": platform.python_version(),
        },
        "written by": "tests/reference/transformers/generate.py",
    }
    text = f'{{"header": {json.dumps(header)},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n"
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name}: {len(lines)} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
