"""Command lines whose answers are JSON documents: one for every kind and for what may be null."""

import json

#: Command lines, each of which gives one document.
LINES = [
    "spectrum",
    "spectrum --d 2",
    "spectrum --d 3 --rho 1",
    "spectrum --d 7 --rho 0.5 --grid 12",
    "spectrum --d 64 --boundary reflect --bandwidth 0.001",
    "spectrum --d 1024 --bandwidth 0.5",
    "spectrum --d 16 --bandwidth 0.25 1 4 1e6",
    "spectrum -e dft --d 8",
    "spectrum -e dft:d=9 --grid 8",
    "spectrum -e dfstrans --d 8",
    "spectrum -e dfstrans:d=2",
    "spectrum -e sinusoidal dft dfstrans --d 6 --bandwidth 1 2",
    "spectrum -e sinusoidal:d=6,layout=concatenated sinusoidal:d=8",
    "spectrum -e sinusoidal:d=64 dft:d=8 --boundary reflect",
    "reconstruct",
    "reconstruct --d 2 --s 0 1",
    "reconstruct --d 5",
    "reconstruct --d 9 --rho 1 --s 0:9:2",
    "reconstruct --d 8 --rho 0.5 --s 3 --grid 31 --boundary reflect",
    "reconstruct --d 16 --bandwidth 0.25 1 4 16 64",
    "reconstruct --d 16 --window-free",
    "reconstruct -e dfstrans --d 16 --window-free --s 1,2,3",
    "reconstruct -e dft:d=8 sinusoidal:d=16 --window-free --s 2",
    "faithfulness",
    "faithfulness --d 2 --length 1",
    "faithfulness --d 2 --length 5",
    "faithfulness --d 7 --length 20 --rho 1 -e sinusoidal",
    "faithfulness --d 8 --rho 0.5 --length 12 -e sinusoidal",
    "faithfulness -e dft --d 9 --length 100 --limit 3",
    "faithfulness -e dfstrans:d=8 dft:d=8 sinusoidal --length 17",
    "faithfulness -e dft --d 4 --length 70000",
    "faithfulness --d 4 --length 9 --require injective rank>=9",
    "count-low-bin",
    "count-low-bin --d 2 3 256 512 --rho 1 100 10000",
    "count-low-bin --rho 0.5 --d 9",
    "count-low-bin -e dft dfstrans sinusoidal --d 6",
    "count-low-bin --d 128 --length 4096",
    "count-low-bin -e dft:d=9 --length 1",
    "spectrum -e alibi:heads=2",
    "spectrum -e alibi:heads=2 sinusoidal:d=16 --boundary none",
    "spectrum -e t5:heads=2,seed=1 shaw:clip=4,d=8 --length 20",
    "spectrum -e sincos2d:d=8,height=4,width=6",
    "spectrum -e tupe:heads=2,width=4,length=16 --length 12",
    "spectrum -e learned:init=normal,length=16,d=1 --bandwidth 0.01",
    "reconstruct -e alibi:heads=1 sinusoidal:d=256 --s 3",
    "reconstruct -e learned:init=normal,length=16,d=4 --s 3 --window-free",
    "reconstruct -e sincos2d:d=8,height=4,width=6 --s 3",
    "faithfulness -e alibi:heads=2 sinusoidal:d=8",
    "faithfulness -e erpe:length=8,heads=2 --length 8",
    "faithfulness -e t5:heads=2 --length 40 --limit 2",
    "faithfulness -e calendar:fields=hour+weekday --length 192",
    "faithfulness -e calendar rnn:d=4 tupe --length 60 --within 0.3",
    "faithfulness -e rnn:d=4 tree:depth=3 --length 12",
    "encodings",
    "encodings rope",
    "encodings calendar:fields=hour+weekday",
    """encodings "hybrid:of='rope:d=64,base=5e5'+'sinusoidal:d=64'" """,
    "stacks",
    "compare sinusoidal:d=8 dft:d=8 --length 24",
    "compare sinusoidal:d=8 alibi sincos2d:d=8,height=3,width=4 fire:heads=2 --length 12 --sort stable_rank",
    "compare calendar:fields=minute+hour sinusoidal:d=8 --step 5min --periods day,90min --length 40",
    "compare learned:init=normal,d=4 --length 1",
    "inspect sinusoidal:d=8 --length 40 --resize 80",
    "inspect sincos2d:d=8,height=4,width=4 --resize 6x8 --method bilinear --align-corners",
    "inspect alibi:heads=2 --length 12",
    "inspect ramp --length 3",
    "spectrum -e sinusoidal:d=8 --positions 0:10:0.25",
    "spectrum -e sinusoidal:d=8 mtan:d=8 --positions 0:10:0.25 --bandwidth 1 2",
    "faithfulness -e sinusoidal:d=8 --positions 0:10:0.25",
    "compare sinusoidal:d=8 mtan:d=8 --positions 0:10:0.25",
    "inspect sinusoidal:d=8 --positions 0:10:0.25",
    "inspect learned:init=normal,length=64,d=16",
    "inspect one-hot:d=8 --length 1",
    "inspect --explain seam",
    "precision sinusoidal:d=8 --length 300 --dtype bfloat16 float32",
    "precision rope:d=8 --length 300 --dtype float16 --recipe all-bf16 --embedding 16",
    "precision alibi:heads=2 --length 20 --dtype bfloat16 float8_e4m3fn --recipe fp32 fp32-then-cast",
    "precision rnn:d=4 --length 12 --dtype float8_e5m2",
    "precision dft:d=8 --length 300 --dtype float64 --require injective",
]
#: Lines about files, which `tables` makes.
FILE_LINES = [
    "spectrum -e grid.npy table.npy",
    "spectrum -e table.npy?rows=3:60 --bandwidth 0.5 2",
    "reconstruct -e table.npy --s 1 --window-free",
    "faithfulness -e copies.npy table.npy --rows 2:60",
    "compare table.npy zeros.npy grid.npy --length 50",
    "inspect table.npy",
    "inspect grid.npy --resize 16x8",
    "inspect copies.npy",
    "inspect padding.npy",
    "inspect seam.npy --rows 1:",
    "inspect tail.npy",
    "inspect zeros.npy",
    "encodings table.npy?rows=0:8",
]

#: Lines about models, which `models` makes, and the exit code of each.
MODEL_LINES = {
    "audit llama-3.1-8b.json": 0,
    "audit llama-3.1-8b.json --trained 4096 --served 1000000": 0,
    "audit gemma-3-1b-it.json bloom-560m.json bert-base-uncased.json flan-t5-base.json mamba-130m-hf.json": 0,
    "audit opus-mt-en-de.json deepseek-v2-lite.json phi-3.5-mini-instruct.json gpt-j-6b.json": 0,
    "audit broken.json --fail-on warning": 1,
    "audit refused.json": 0,
    "audit small.json": 0,
    "audit llama-3.1-8b.json missing.json": 2,
    "audit params.json": 0,
    "diff llama-3.1-8b.json llama-3-8b.json": 0,
    "diff llama-3.1-8b.json llama-3-8b.json --check": 1,
    "diff llama-3.1-8b.json params.json": 0,
    "diff llama-3.1-8b.json llama-3-8b.json inv_freq.npy": 0,
    "diff llama-3.1-8b.json inv_freq.npy": 0,
    "diff llama-3.1-8b.json cache.npz": 0,
    "diff inv_freq.npy cache.npz": 0,
    "diff gemma-3-1b-it.json gemma-3-1b-newer-keys.json": 0,
    "diff gemma-3-1b-it.json inv_freq.npy": 0,
    "diff phi-3.5-mini-instruct.json --stack transformers-5,keras-hub": 0,
    "diff llama-3.1-8b.json --stack meta": 0,
    "diff llama-3.1-8b.json --all-stacks": 0,
    "diff gemma-3-1b-it.json --all-stacks --full": 0,
    "diff table.npy table.npy": 0,
    "diff table.npy shifted.npy": 0,
    "diff table.npy narrow.npy": 0,
    "diff table.npy noise.npy --check": 1,
    "context --d 64 --base 500000 --trained 8192 --target 65536": 0,
    "context --d 4 --base 10000 --trained 8 --target 9": 0,
    "context --d 1024 --base 1e18 --trained 1000 --target 200000": 0,
    "context --target 8192": 0,
    "context --d 256 --target 1000000000": 0,
}


def read_strictly(text):
    """Read one document; NaN and Infinity are none of JSON's words."""

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    assert text.endswith("}\n")
    assert text.count("\n") == 1
    return json.loads(text, parse_constant=refuse)


def draw_nothing(line):
    """Where a command may draw, say that it shall not."""
    drawing = line.split()[0] in ("spectrum", "reconstruct", "faithfulness", "count-low-bin", "compare", "inspect")
    return f"{line} --no-figure" if drawing else line


def list_nulls(value, path=()):
    if value is None:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield from list_nulls(member, (*path, key))


# ----------------------------------------------------------------------------------- the schema itself


def list_objects(node, path="$"):
    """Every schema of an object, with where it stands."""
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield path, node
        for key, member in node.items():
            yield from list_objects(member, f"{path}.{key}")
    if isinstance(node, list):
        for key, member in enumerate(node):
            yield from list_objects(member, f"{path}[{key}]")
