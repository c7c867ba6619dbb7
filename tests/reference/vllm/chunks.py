"""Measure what dual chunk attention does to positions in a release of vLLM, and who else reads the key.

`tests/reference/measure.py vllm VERSION` runs it, as generate.py; other packages are folders that are searched, each
with a name, as transformers-5.24.0=ENV/lib/python3.11/site-packages/transformers.

It adds to dual-chunk.json the places by which the real rotary module turns keys and queries, the models whose files
ask a configuration for the key, and in how many files of attention, and of each other package, the words occur.
"""

import ast
import importlib
import json
import pathlib
import re
import sys
import types

import numpy as np
import torch

from tests.reference.freezing import write_date
from tests.reference.vllm.generate import HERE, put_stubs

KEY = "dual_chunk_attention_config"
WORDS = re.compile(r"dual_?chunk", re.IGNORECASE)
#: Sizes of chunks, and what is local of them: less than half, half, more.
SIZES = [(100, 20), (64, 32), (50, 40), (512, 16), (33, 1)]
#: Caches of the module, by what they turn: a query for keys of its own chunk, of the one before, and keys.
CACHES = {"own": "cos_sin_q_cache", "before": "cos_sin_qc_cache", "keys": "cos_sin_k_cache"}


def build(size, local, length):
    """The real module, on the CPU."""
    module = importlib.import_module("vllm.model_executor.layers.rotary_embedding.dual_chunk_rope")
    module.torch = types.SimpleNamespace(**vars(torch))
    module.torch.accelerator = types.SimpleNamespace(current_device_index=lambda: 0)
    module.torch.device = lambda _: torch.device("cpu")
    return module.DualChunkRotaryEmbedding(8, 8, length, 1e6, True, torch.float64, size, local)


def find_places(rows):
    """The places that rows of cosines and sines were turned by, from their slowest pair."""
    cosine, sine = rows.numpy().reshape(len(rows), 2, -1).transpose(1, 0, 2)
    slowest = np.arctan2(sine, cosine)[:, -1] / 1e6 ** (-6 / 8)
    places = np.rint(slowest).astype(int)
    assert np.abs(slowest - places).max() < 1e-3
    return places.tolist()


def measure(size, local):
    """The places of a query for each kind of key, and of keys, at every position."""
    length = 4 * (size - local)
    module = build(size, local, length)
    places = {name: find_places(getattr(module, cache)) for name, cache in CACHES.items()}
    places["earlier"] = places["before"][-1]  # what forward_native takes for all chunks before
    return {"chunk_size": size, "local_size": local, "length": length, **places}


def list_models(root):
    """The models whose files ask a configuration for the key."""
    paths = (root / "vllm" / "model_executor" / "models").glob("*.py")
    return sorted(path.stem for path in paths if asks(path.read_text(encoding="utf-8")))


def asks(text):
    calls = (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)) if KEY in text else ()
    return any(isinstance(one, ast.Constant) and one.value == KEY for call in calls for one in call.args)


def count_files(folder, words):
    return sum(bool(words.search(path.read_text(encoding="utf-8", errors="replace"))) for path in folder.rglob("*.py"))


def main():
    version, root, *folders = sys.argv[1:]
    root = pathlib.Path(root)
    put_stubs(root)
    path = HERE / "dual-chunk.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"releases": {}, "searched": {}}
    known["written by"] = "tests/reference/vllm/chunks.py"
    attention = [root / "vllm" / "attention", root / "vllm" / "v1" / "attention"]
    known["releases"][version] = {
        "date": write_date(),
        "models": list_models(root),
        "attention": sum(count_files(folder, WORDS) for folder in attention),
        "cases": [measure(*sizes) for sizes in SIZES],
    }
    for name, _, folder in (one.partition("=") for one in folders):
        known["searched"][name] = {"date": write_date(), "files": count_files(pathlib.Path(folder), WORDS)}
    path.write_text(json.dumps(known) + "\n", encoding="utf-8")
    print({name: one["models"] for name, one in known["releases"].items()}, known["searched"])


if __name__ == "__main__":
    main()
