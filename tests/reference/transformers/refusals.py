"""Draw configurations with something wrong in them, and freeze which of them an installed transformers refuses.

    ENV/bin/python tests/reference/transformers/refusals.py

in the environment that probe.py is run in; it writes refusals-VERSION.json.gz beside this file. Each is a configuration
of a rotary class in which one thing is broken by rule: a key of another type or out of range, a block without a key,
an unknown rope_type, a list of another length, a block of another layer type, layers of no known type, widths that do
not divide, no width of a head under a scaling. What counts is whether the class, its rotary modules or its model as a
whole raise an error, and which. Many are accepted: a release warns of most of what is odd.
"""

import gzip
import json
import random
import sys
from importlib.metadata import version
from pathlib import Path

import release_table
from draw import SEED, compute, find_text_part, tell_error, turns_nothing
from probe import IS_OLD
from real_modules import SWITCHES, Release, ask, list_rotations

KINDS = ("linear", "dynamic", "yarn", "llama3", "longrope", "proportional")
WRONG = (None, "4", 0, -2.0, 0.5, 1, True, [2.0], 3.7)
LAYERS = ("full_attention", "sliding_attention")
SIZES = ("head_dim", "hidden_size", "num_attention_heads", "num_key_value_heads", "max_position_embeddings")
SIZES += ("num_hidden_layers", "qk_rope_head_dim", "sliding_window", "rotary_dim")
WRONG_SIZES = (None, "64", 64.0, 63, 0, -8, True, [64], 6.5)
TOPS = ("rope_theta", "partial_rotary_factor", "original_max_position_embeddings", "rope_interleave", "layer_types")
WRONG_TOPS = (None, "10000", 0, -1.0, 7, [1e4], {}, False, 2.5)


def find_pairs(config):
    """The number of pairs of most classes."""
    head = ask(config, "qk_rope_head_dim") or ask(config, "head_dim")
    if not head:
        hidden, heads = ask(config, "hidden_size"), ask(config, "num_attention_heads")
        head = hidden // heads if isinstance(hidden, int) and isinstance(heads, int) else 128
    share = ask(config, "partial_rotary_factor") or (ask(config, "rope_parameters") or {}).get("partial_rotary_factor")
    return int(head * (share or 1)) // 2


def make_block(draw, config, kind=None):
    """A block with all that its type needs."""
    kind = kind or draw.choice(KINDS)
    block = {"rope_type": kind, "rope_theta": 5e5, "factor": 4.0}
    if kind in ("yarn", "llama3", "longrope"):
        block["original_max_position_embeddings"] = 2048
    if kind == "yarn":
        block |= draw.choice(({}, {"beta_fast": 32.0, "beta_slow": 1.0}, {"attention_factor": 1.2}, {"mscale": 1.0}))
    if kind == "llama3":
        block |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if kind == "longrope":
        pairs = find_pairs(config)
        block |= {"short_factor": [1.0] * pairs, "long_factor": [2.0] * pairs}
    if kind == "proportional":
        block["partial_rotary_factor"] = 0.5
    return block


def put(draw, config, block):
    """The block where a file has it: older or newer, nested by layer type where the class is, one of them or all."""
    own = ask(config, "rope_parameters") or {}
    nested = [name for name, value in own.items() if isinstance(value, dict)]
    if nested and draw.random() < 0.8:
        sound = {"rope_type": "default", "rope_theta": 1e4}
        chosen = draw.choice([*nested, None])
        return {"rope_parameters": {name: block if chosen in (None, name) else sound for name in nested}}
    if draw.random() < 0.4:
        older = {key: value for key, value in block.items() if key != "rope_theta"}
        if draw.random() < 0.3 and "rope_type" in older:
            older["type"] = older.pop("rope_type")
        return {"rope_scaling": older} | ({"rope_theta": block["rope_theta"]} if "rope_theta" in block else {})
    return {"rope_parameters": block}


def break_size(draw, config):
    own = [key for key in SIZES if ask(config, key) is not None] or [*SIZES]
    return {draw.choice(own if draw.random() < 0.8 else SIZES): draw.choice(WRONG_SIZES)}


def break_top(draw, config):
    return {draw.choice(TOPS): draw.choice(WRONG_TOPS)}


def lack_key(draw, config):
    block = make_block(draw, config)
    del block[draw.choice([key for key in block if key != "rope_type"])]
    return put(draw, config, block)


def break_value(draw, config):
    block = make_block(draw, config)
    return put(draw, config, block | {draw.choice([key for key in block if key != "rope_type"]): draw.choice(WRONG)})


def break_type(draw, config):
    kind = draw.choice(("unknown", None, 3, "su", "mrope", "ntk", "YaRN", "axial", "", "default"))
    return put(draw, config, make_block(draw, config) | {"rope_type": kind})


def break_list(draw, config):
    block, pairs = make_block(draw, config, "longrope"), find_pairs(config)
    sizes = (pairs - 1, pairs + 1, 2 * pairs, 1, 0)
    values = [[1.0] * draw.choice(sizes), ["1.0"] * pairs, [None] * pairs, [0.0] * pairs, [-1.0] * pairs, 1.0, "list"]
    return put(draw, config, block | {draw.choice(("short_factor", "long_factor")): draw.choice(values[:1] + values)})


def break_ranges(draw, config):
    """Ends in the wrong order, equal ends, factors below 1, an original length above the length."""
    block = make_block(draw, config, draw.choice(("yarn", "llama3", "longrope", "linear", "dynamic")))
    wrong = {"yarn": ({"beta_fast": 1.0, "beta_slow": 32.0}, {"beta_fast": 4.0, "beta_slow": 4.0}, {"beta_fast": "32"}),
             "llama3": ({"low_freq_factor": 8.0}, {"low_freq_factor": 4.0}, {"high_freq_factor": "4"})}  # fmt: skip
    others = ({"factor": 0.5}, {"factor": 1}, {"factor": "8"}, {"factor": None},
              {"original_max_position_embeddings": 10**9}, {"original_max_position_embeddings": 4096.5})  # fmt: skip
    return put(draw, config, block | draw.choice(wrong.get(block["rope_type"], ()) + others))


def break_shape(draw, config):
    """Something else than an object, or nothing in it."""
    value = draw.choice(("yarn", 4.0, [], [{"rope_type": "linear", "factor": 2.0}], {}, None, True, {"factor": 2.0}))
    return {draw.choice(("rope_parameters", "rope_scaling")): value}


def break_nesting(draw, config):
    """Blocks by layer types that the class has not, or one of them lacking, null or flat beside others."""
    own = ask(config, "rope_parameters") or {}
    nested = [name for name, value in own.items() if isinstance(value, dict)] or list(LAYERS)
    blocks = {name: {"rope_type": "default", "rope_theta": 1e4} for name in nested}
    name, way = draw.choice(nested), draw.choice(("lacks", "null", "other", "flat", "text", "no theta"))
    if way == "lacks":
        del blocks[name]
    elif way == "other":
        blocks["other_attention"] = blocks.pop(name)
    elif way == "no theta":
        del blocks[name]["rope_theta"]
    else:
        blocks[name] = {"null": None, "flat": 4.0, "text": "yarn"}[way]
    return {"rope_parameters": blocks}


def break_layers(draw, config):
    names = [*dict.fromkeys(ask(config, "layer_types") or LAYERS)]
    values = ([*names, "other_attention"], names * 2, names[:1], [], "full_attention", [None], list(LAYERS), None)
    found = {"layer_types": draw.choice(values)}
    return found | ({"num_hidden_layers": 4} if draw.random() < 0.7 else {})


def break_widths(draw, config):
    """Heads that do not divide, that are odd, or that cannot share keys and values."""
    hidden = "hidden_size" if ask(config, "hidden_size") else "n_embd"
    return draw.choice((
        {hidden: 1000, "num_attention_heads": 12}, {hidden: 12 * 33, "num_attention_heads": 12},
        {"num_attention_heads": 12, "num_key_value_heads": 5}, {"head_dim": 65}, {"head_dim": 3}, {"head_dim": 2},
        {"num_attention_heads": 7}, {"partial_rotary_factor": 0.01}, {"partial_rotary_factor": 1.5},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 1.5}},
    ))  # fmt: skip


def lack_head(draw, config):
    return {"head_dim": None} | put(draw, config, make_block(draw, config))


WAYS = (break_size, break_size, break_top, lack_key, break_value, break_value, break_type, break_list, break_ranges)
WAYS += (break_shape, break_nesting, break_layers, break_widths, lack_head)


def load_table():
    """The table of the release that is installed, which probe.py has written."""
    return release_table.load(release_table.name_file(version("transformers")))


def list_rotary():
    """The names of an older release's classes that probe.py has found to be rotary, or to have a part that is.

    Of each of the others four models would be made in full, with every switch; of the newest, all are asked.
    """
    table = load_table() if IS_OLD else {}
    return {*table.get("classes", ()), *table.get("parts", ())}


def find_switch(release, cls, model):
    """The first keys with which a class turns something that turns nothing, or is not made, by itself; else None."""
    for keys in SWITCHES[1:]:
        found = compute(release, cls, {"model_type": model} | keys, None)
        if found and "error" not in found:
            return keys
    return None


def list_models(release, only=()):
    """Each rotary class that can be drawn for: its name, its class, its text part, and the key of that part or None.

    Parameters
    ----------
    only : the names that are asked for; empty for all.
    """
    only = only or list_rotary()
    for model, cls in sorted(release.list_classes().items()):
        if only and model not in only:
            continue
        base = compute(release, cls, {"model_type": model}, None)
        default = cls.from_dict({}) if "error" not in base else None
        if turns_nothing(base):
            continue
        if not base or (default is None and not release.ways.get(cls)):
            switch = find_switch(release, cls, model)
            if switch is None:
                continue
            default = cls.from_dict(dict(switch))
        config = find_text_part(default) if default is not None else cls
        if default is None or config is default:
            yield model, cls, config, None
            continue
        keys = ("text_config", "thinker_config", "decoder")
        name = next((key for key in keys if isinstance(getattr(default, key, None), type(config))), None)
        if name is not None:
            yield model, cls, config, name


def write_cases(cases, name, program, seed=SEED):
    """Write configurations with what was computed of them, one on a line, and say how many there are."""
    head = {"transformers": version("transformers"), "seed": seed, "written by": program}
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    text = f'{{"header": {json.dumps(head)},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n"
    named = Path(__file__).with_name(f"{name}-{head['transformers']}.json.gz")
    path = Path(sys.argv[-1]) if sys.argv[-1].endswith(".json.gz") else named
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes")


def find_error(release, cls, keys):
    """The error that the class, its rotary modules or its whole model raise; None where they are built.

    Types of layers are looked at by each layer, and whole models are made with few, so with those all are made.
    """
    build = release.build if '"layer_types"' in json.dumps(keys) else release.build_alone
    try:
        list_rotations(build(find_text_part(cls.from_dict(json.loads(json.dumps(keys))))))
        release.build_whole(find_text_part(cls.from_dict(json.loads(json.dumps(keys)))))
    except Exception as error:
        return tell_error(error)["error"]
    return None


def main():
    release, cases = Release(), []
    for model, cls, config, name in list_models(release):
        draw = random.Random(f"{SEED} refusals {model}")
        for found in (way(draw, config) for way in WAYS):
            keys = {"model_type": model} | ({name: found} if name else found)
            cases.append([keys, find_error(release, cls, keys)])
        print(model, len(cases), sum(error is not None for _, error in cases), file=sys.stderr, flush=True)
    write_cases(cases, "refusals", "tests/reference/transformers/refusals.py")


if __name__ == "__main__":
    main()
