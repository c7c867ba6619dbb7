"""Audits of the public models on the command line."""

import csv
import io

from tests.documents import read_json
from tests.places import MODELS

LLAMA2, LLAMA31 = "llama-2-7b.json", "llama-3.1-8b.json"
GEMMA3, YARN = "gemma-3-4b-it.json", "qwen2.5-7b-instruct-yarn.json"
COLUMNS = [
    *("file", "model", "layer", "scheme", "head_dim", "rotary_dim", "base", "scaling", "attention_scaling", "layout"),
    *("trained_length", "served_length", "window", "never_turn", "unseen", "level", "findings", "notes"),
]
PAIR_COLUMNS = [
    *("file", "model", "layer", "pair", "frequency_before", "frequency", "wavelength", "turns", "turns_served", "state")
]


def at(*names):
    return " ".join(str(MODELS / name) for name in names)


def read_csv(done, code=0):
    assert done.code == code, done.err
    return list(csv.DictReader(io.StringIO(done.out)))


def model_of(cli, name, options=""):
    (model,) = read_json(cli(f"audit {at(name)} --json {options}"))["models"]
    return model
