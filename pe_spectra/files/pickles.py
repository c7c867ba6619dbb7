"""Pickles, which can run code when they are read: known by their names, and refused."""

from __future__ import annotations

import re
from pathlib import Path

PICKLE_SUFFIXES = (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt")
_PLAIN_NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,60}"


def explain_pickle(path: Path) -> str:
    """Say why a pickle is refused, and the one line that converts it.

    >>> explain_pickle(Path("a/model.bin"))[:74]
    'is a pickle, which can run code when it is read; where you trust it, conve'
    """
    is_plain = re.fullmatch(_PLAIN_NAME, path.name) is not None and path.suffix != ".json"
    name = path.name if is_plain else "FILE.pt"
    line = (
        "import torch, safetensors.torch as s; "
        f"t = torch.load('{name}', map_location='cpu', weights_only=True); "
        "s.save_file({k: v.clone().contiguous() for k, v in t.items() if torch.is_tensor(v)}, 'model.safetensors')"
    )
    return f'is a pickle, which can run code when it is read; where you trust it, convert it: python -c "{line}"'
