"""Freeze what the rotary modules of a release of vLLM compute of configurations that are drawn by rule.

Of the wheel only the Python files of the rotary modules are run, with stubs for what they register with; nothing is
compiled and no GPU is needed. `tests/reference/measure.py vllm VERSION` runs it, with the folder of the wheel's files.
"""

import importlib
import pathlib
import sys
import types

import numpy as np
import torch

from tests.reference.freezing import freeze, start_choosing

#: How many configurations are drawn; with those that are refused.
COUNT = 220
LISTS = ("short_factor", "long_factor")
HERE = pathlib.Path(__file__).parent


#: What is asked for the length that is served: that of each configuration.
_LENGTH = types.SimpleNamespace(model_config=types.SimpleNamespace(max_model_len=0))


class _Op(torch.nn.Module):
    """What rotary modules derive from: registered with nothing."""

    def __init__(self, *_, **__):
        super().__init__()

    @classmethod
    def register(cls, *_, **__):
        return lambda registered: registered

    @classmethod
    def enabled(cls):
        return False


def put_stubs(root):
    """Put modules in place of all of vLLM but its rotary ones, which are in a folder."""
    platform = types.SimpleNamespace(is_cpu=lambda: True, is_cuda=lambda: False, is_rocm=lambda: False)
    platform.is_xpu = lambda: False
    triton = types.SimpleNamespace(is_triton_rotary_embed_enabled=lambda: False)
    stubs = {
        "vllm": {"_custom_ops": None},
        "vllm._aiter_ops": {"rocm_aiter_ops": triton},
        "vllm.logger": {"init_logger": lambda _: _Any()},
        "vllm.platforms": {"current_platform": platform},
        "vllm.utils": {},
        "vllm.utils.torch_utils": {"direct_register_custom_op": lambda *_, **__: None},
        "vllm.utils.flashinfer": {"has_flashinfer": lambda: False},
        "vllm.utils.math_utils": {"cdiv": _Any()},
        "vllm.triton_utils": {"tl": _Any(), "triton": _Any()},
        "vllm.model_executor": {},
        "vllm.model_executor.custom_op": {"CustomOp": _Op, "PluggableLayer": _Op},
        "vllm.model_executor.layers": {},
        "vllm.config": {"get_current_vllm_config": lambda: _LENGTH},
        "vllm.distributed": {"get_tensor_model_parallel_rank": _Any(), "get_tensor_model_parallel_world_size": _Any()},
        "vllm.model_executor.layers.utils": {},
    }
    for name, values in stubs.items():
        module = types.ModuleType(name)
        module.__path__ = [str(root / name.replace(".", "/"))]
        for key, value in values.items():
            setattr(module, key, value)
        sys.modules[name] = module


class _Any:
    """Stands for anything that is asked for while modules are read."""

    def __getattr__(self, _):
        return _Any()

    def __call__(self, *given, **_):
        return given[0] if given and callable(given[0]) else _Any()


def draw(rng):
    """A configuration of a class that has no part of its own in a rotation."""
    choose = start_choosing(rng)
    head, base = choose(64, 96, 128), choose(1e4, 5e5, 1e6, 123456.0)
    length, factor = choose(4096, 8192, 32768), choose(2.0, 4.0, 8.0, 3.5)
    kind = choose("default", "linear", "dynamic", "dynamic", "yarn", "yarn", "yarn", "llama3", "longrope", "ntk")
    block = {"rope_type": kind, "rope_theta": base}
    if kind in ("linear", "dynamic", "yarn", "llama3", "ntk"):
        block["factor"] = factor
    optional = {
        "dynamic": {"max_trained_positions": choose(1024, 4096), "alpha": 1000.0},
        "ntk": {"mixed_b": choose(0.25, 0.625, 2.0)},
        "yarn": {
            "beta_fast": choose(16.0, 48.0),
            "beta_slow": choose(0.5, 2.0),
            "truncate": choose(True, False),
            "attention_factor": choose(1.0, 1.25),
            "mscale": choose(0.707, 1.0, 0.0),
            "mscale_all_dim": choose(0.5, 1.0),
        },
    }.get(kind, {})
    block |= {key: value for key, value in optional.items() if rng.random() < 1 / 3}
    if kind in ("yarn", "llama3", "longrope"):
        block["original_max_position_embeddings"] = choose(2048, 4096)
        length = int(block["original_max_position_embeddings"] * choose(1, 4, 8))
    if kind == "llama3":
        block |= {"low_freq_factor": choose(1.0, 2.0), "high_freq_factor": choose(4.0, 8.0)}
    if kind == "longrope":
        block |= {
            name: np.sort(rng.uniform(1, 30, head // 2)).round(3).tolist() for name in ("short_factor", "long_factor")
        }
    found = {"model_type": "llama", "hidden_size": 16 * head, "num_attention_heads": 16, "head_dim": head}
    return {**found, "max_position_embeddings": length, "rope_parameters": block}


def write_integers(drawn):
    """The first configuration of each scaling with a factor, and that written without a decimal point."""
    kinds = {}
    for config in drawn:
        block = config["rope_parameters"]
        if "factor" in block:
            kinds.setdefault(block["rope_type"], config | {"rope_parameters": block | {"factor": 4}})
    return list(kinds.values())


def compute(rotary, config):
    """Frequencies and attention factor, from the row of position 1; the words of what refuses."""
    length, block = config["max_position_embeddings"], config["rope_parameters"]
    _LENGTH.model_config.max_model_len = length
    try:
        rotary._ROPE_DICT.clear()  # where 4 and 4.0 are the same
        module = rotary.get_rope(config["head_dim"], length, True, dict(block), torch.float32)
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"[:200]}
    rows = getattr(module, "cos_sin_cache", None)
    if hasattr(module, "long_short_cos_sin_cache"):
        rows = module.long_short_cos_sin_cache
        rows = rows[module.original_max_position_embeddings if module.use_long_rope else 0 :]
    cosine, sine = rows[1].double().numpy().reshape(2, -1)
    frequencies = [float(f"{one:.9g}") for one in np.arctan2(sine, cosine)]
    return {"frequencies": frequencies, "attention": float(f"{np.hypot(cosine, sine).mean():.8g}")}


def main():
    """Draw, compute and write."""
    put_stubs(pathlib.Path.cwd() if len(sys.argv) < 3 else pathlib.Path(sys.argv[2]))
    rotary = importlib.import_module("vllm.model_executor.layers.rotary_embedding")
    rng = np.random.default_rng(20261124)
    drawn = [draw(rng) for _ in range(COUNT)]
    drawn += write_integers(drawn)
    cases = [{"config": config, **compute(rotary, config)} for config in drawn]
    head = {"stack": "vllm", "version": sys.argv[1], "torch": torch.__version__.partition("+")[0]}
    freeze(HERE, head, cases)


if __name__ == "__main__":
    main()
