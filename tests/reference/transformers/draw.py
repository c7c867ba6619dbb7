"""Draw configurations of every rotary class by rule, and freeze what an installed transformers computes of them.

    ENV/bin/python tests/reference/transformers/draw.py [--each N] [--placed|--above] [--output FILE] [MODEL_TYPE ..]

in the environment that probe.py is run in; it writes drawn-VERSION.json.gz beside this file, of every class where no
model_types are named (4.57.6 in the environment of that release). Each configuration is a model_type with one or two
things changed, drawn from a generator whose seed is SEED and the model_type: the base under one of its names, the width
of a head, the share, a scaling with drawn factors in older or newer keys, the types of layers, a nested block. The
result is what the real rotary modules have (real_modules.py): for each layer type the number of frequencies, six of
them, and the attention factor, in the fewest decimals that read back as the same float32; or the error that the class,
a module or the whole model raises. With --placed every class has the same list, placed-VERSION.json.gz: base, share and
scaling on top, in blocks of either generation and beside them, and scalings that lack a key. With --above each model of
several parts has keys on top, where few classes read them, above-VERSION.json.gz.
"""

import argparse
import gzip
import json
import random
import sys
from importlib.metadata import version
from pathlib import Path

from real_modules import Release, ask, list_rotations

SEED, EACH = "pe-spectra", 9
BASES = (5000.0, 25000, 1e5, 5e5, 3e6)
NAMES = ("rope_theta", "rope_theta", "rotary_emb_base", "global_rope_theta", "rope_local_base_freq")
WIDTHS = ("head_dim", "head_dim", "qk_rope_head_dim", "rotary_dim", "kv_channels", "attention_head_dim")
SHARES = (0.25, 0.4, 0.5, 0.75)
KINDS = ("linear", "dynamic", "yarn", "llama3", "longrope", "proportional", "default")
#: Of these the frequencies depend on the length.
BY_LENGTH = ("dynamic", "longrope")


def find_pairs(draw, config):
    """The number of pairs, as most classes have it."""
    head = ask(config, "qk_rope_head_dim") or ask(config, "head_dim")
    return int(head or 128) // 2


def draw_base(draw, config):
    value = draw.choice(BASES)
    place = draw.choice(("top", "top", "inside", "older"))
    if place == "top":
        return {draw.choice(NAMES): value}
    return {"rope_parameters" if place == "inside" else "rope_scaling": {"rope_type": "default", "rope_theta": value}}


def draw_width(draw, config):
    if draw.random() < 0.3:
        heads = draw.choice((4, 8, 12, 16))
        key = "hidden_size" if ask(config, "hidden_size") else "n_embd"
        return {key: heads * draw.choice((32, 64, 96)), "num_attention_heads": heads}
    names = [name for name in WIDTHS if name == "head_dim" or ask(config, name)]
    return {draw.choice(names): draw.choice((32, 64, 80, 128, 192))}


def draw_share(draw, config):
    share = draw.choice(SHARES)
    if draw.random() < 0.6:
        return {draw.choice(("partial_rotary_factor", "partial_rotary_factor", "rotary_pct")): share}
    return {"rope_parameters": {"rope_type": "default", "rope_theta": 20000.0, "partial_rotary_factor": share}}


def draw_block(draw, config, kind=None):
    kind = kind or draw.choice(KINDS)
    block = {"rope_type": kind, "factor": draw.choice((2.0, 4.0, 10.0))}
    if kind in ("yarn", "llama3", "longrope") and draw.random() < 0.85:
        block["original_max_position_embeddings"] = draw.choice((2048, 4096, 8192))
    if kind == "yarn":
        extra = {"beta_fast": 16.0, "beta_slow": 2.0, "attention_factor": 1.25, "mscale": 0.7, "mscale_all_dim": 1.0}
        block |= {key: extra[key] for key in draw.sample(sorted(extra), 2)}
        block |= {"truncate": False} if draw.random() < 0.3 else {}
    if kind == "llama3":
        block |= {"low_freq_factor": 1.0, "high_freq_factor": draw.choice((4.0, 8.0))}
    if kind == "longrope":
        pairs = find_pairs(draw, config) - (draw.random() < 0.1)
        block |= {"short_factor": [1.0 + 0.5 * (i % 2) for i in range(pairs)]}
        block |= {"long_factor": [1.0 + 0.25 * i for i in range(pairs)]}
    if kind == "proportional":
        block["partial_rotary_factor"] = draw.choice(SHARES)
    if kind == "default":
        del block["factor"]
    return block


def draw_scaling(draw, config):
    if draw.random() < 0.45:
        found = {"rope_scaling": draw_block(draw, config)}
        if draw.random() < 0.3:
            block = found["rope_scaling"]
            block["type"] = block.pop("rope_type")
        return found | ({"rope_theta": draw.choice(BASES)} if draw.random() < 0.6 else {})
    block = draw_block(draw, config) | {"rope_theta": draw.choice(BASES)}
    default = ask(config, "rope_parameters") or {}
    nested = [name for name, value in default.items() if isinstance(value, dict)]
    if nested and draw.random() < 0.8:
        return {"rope_parameters": {name: draw_block(draw, config) | {"rope_theta": draw.choice(BASES)}
                                    for name in nested}}  # fmt: skip
    return {"rope_parameters": block}


def draw_types(draw, config):
    names = sorted(set(ask(config, "layer_types") or ("full_attention", "sliding_attention")))
    count = draw.choice((4, 6))
    found = {"num_hidden_layers": count, "layer_types": [draw.choice(names) for _ in range(count)]}
    return found if draw.random() < 0.6 else {"num_hidden_layers": draw.choice((2, 4, 6, 12)), "sliding_window": 512}


def draw_length(draw, config):
    return {"max_position_embeddings": draw.choice((4096, 16384, 65536))}


WAYS = (draw_base, draw_width, draw_share, draw_scaling, draw_scaling, draw_types)


def draw_configurations(model, config, each=EACH):
    """The configurations of one class: its defaults, each change by itself, and two at once."""
    draw = random.Random(f"{SEED} {model}")
    yield {}
    for index in range(each):
        found = WAYS[index](draw, config) if index < len(WAYS) else {}
        if index >= len(WAYS):
            for way in draw.sample(WAYS, 2):
                found |= way(draw, config)
        if draw.random() < 0.4:
            found |= draw_length(draw, config)
        yield found


def list_placed(config):
    """The configurations of --placed: each key in the places where a class may read it, or not."""
    default = ask(config, "rope_parameters") or {}
    nested = [name for name, value in default.items() if isinstance(value, dict)]
    plain, linear = {"rope_type": "default"}, {"rope_type": "linear", "factor": 4.0}
    top, share = {"rope_theta": 7000.0}, {"partial_rotary_factor": 0.5}
    theta = {"rope_theta": 25000.0}
    yield from ({"rope_scaling": linear}, {"rope_scaling": {"type": "linear", "factor": 4.0}} | top)
    yield from ({"rope_scaling": plain | theta}, {"rope_parameters": linear | theta})
    yield from ({"rope_parameters": plain | theta | share}, {"rope_parameters": plain} | top)
    yield from (share, share | {"rope_scaling": linear}, share | {"rope_parameters": plain | theta}, share | theta)
    if nested:
        yield from (
            {"rope_parameters": dict.fromkeys(nested, block)} for block in (plain | theta, plain, linear | share)
        )
        yield {"rope_parameters": {nested[0]: plain | theta}}
        yield {"rope_parameters": dict.fromkeys(nested, linear | theta)} | share
    yield from ({"qk_rope_head_dim": width} for width in (32, 128) if ask(config, "qk_rope_head_dim"))
    yield {"head_dim": 96}
    pairs = find_pairs(None, config)
    lists = {"short_factor": [1.0] * pairs, "long_factor": [2.0] * pairs}
    yarn, llama3 = {"rope_type": "yarn", "factor": 4.0}, {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    for block in (yarn, yarn | {"rope_type": "llama3"} | llama3, yarn | {"rope_type": "longrope"} | lists):
        block |= theta
        yield {"rope_parameters": dict.fromkeys(nested, block) if nested else block}
        if nested:
            yield {"rope_parameters": default | {nested[0]: default[nested[0]] | block}}
        yield {"rope_scaling": block}
    original = {"original_max_position_embeddings": 2048}
    yield {"rope_scaling": yarn | original, "original_max_position_embeddings": 4096}
    yield {"rope_scaling": yarn | original | {"rope_type": "dynamic"}}


def list_above(part):
    """The configurations of --above: keys beside the part that reads text, which a file leaves out or has little in."""
    linear, theta = {"rope_type": "linear", "factor": 8.0}, {"rope_theta": 777777.0}
    yield from (theta, {"rope_scaling": linear}, {"rope_parameters": linear | theta}, {"head_dim": 48})
    yield {"max_position_embeddings": 12345, "partial_rotary_factor": 0.5}
    yield {"hidden_size": 1024, "num_attention_heads": 8} | theta
    yield theta | {"rope_scaling": linear, part: {"num_hidden_layers": 8}}


def draw_asked(draw, found):
    """The length that the frequencies are asked for, where they depend on it."""
    kinds = json.dumps(found)
    return draw.choice((64, 40000)) if any(f'"{kind}"' in kinds for kind in BY_LENGTH) else None


def find_text_part(config):
    """The text part of a model of several parts; itself where there is one part."""
    found = config.get_text_config() if hasattr(config, "get_text_config") else config
    return found if type(found) is not type(config) else config


def compute(release, cls, keys, length):
    """What the real modules have, by layer type; the error where they cannot be built."""
    try:
        config = find_text_part(cls.from_dict(json.loads(json.dumps(keys))))
        found = list_rotations(release.build(config), length)
    except Exception as error:
        return tell_error(error)
    return {name: [len(values), [simplify(one) for one in pick(values)], round(factor, 7)]
            for name, (values, factor) in found.items()}  # fmt: skip


def compute_whole(release, cls, keys, length):
    """The same; the error of the model as a whole where it alone cannot be built."""
    found = compute(release, cls, keys, length)
    try:
        if "error" not in found:
            release.build_whole(find_text_part(cls.from_dict(json.loads(json.dumps(keys)))))
    except Exception as error:
        return tell_error(error)
    return found


def tell_error(error):
    """What is kept of an error."""
    return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"[:90]}


def turns_nothing(computed):
    """Whether a class turns nothing by itself, so that its modules are those of another class in its file."""
    return "no attribute 'rope_parameters" in str(computed.get("error"))


def pick(values):
    """The first two, the last, and three between, of those that there are."""
    last = len(values) - 1
    places = {0, min(1, last), last // 4, last // 2, 3 * last // 4, last} & {*range(len(values))}
    return values[sorted(places)].numpy()


def simplify(value):
    number = float(str(value))
    return int(number) if number.is_integer() else number


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=EACH)
    parser.add_argument("--placed", action="store_true")
    parser.add_argument("--above", action="store_true")
    parser.add_argument("--output", type=Path)
    parser.add_argument("models", nargs="*")
    asked_for = parser.parse_args()
    release, cases = Release(), []
    for model, cls in sorted(release.list_classes().items()):
        if asked_for.models and model not in asked_for.models:
            continue
        base = compute(release, cls, {"model_type": model}, None)
        default = cls.from_dict({}) if "error" not in base else None
        if turns_nothing(base):
            continue
        if not base or (default is None and not release.ways.get(cls)):
            continue
        if default is None and {"position_embedding_type", "vision_config"} & {*release.switches[cls]}:
            continue  # it is not rotary, or no model, by itself
        config = find_text_part(default) if default is not None else cls
        whole = default is not None and config is not default
        name = next((key for key in ("text_config", "thinker_config", "decoder")
                     if whole and isinstance(getattr(default, key, None), type(config))), None)  # fmt: skip
        if name is None and (whole or asked_for.above):
            continue
        listed = list_placed(config) if asked_for.placed else draw_configurations(model, config, asked_for.each)
        for index, found in enumerate(list_above(name) if asked_for.above else listed):
            keys = {"model_type": model} | ({name: found} if whole and found and not asked_for.above else found)
            asked = draw_asked(random.Random(f"{SEED} {model} {index}"), found)
            result = compute_whole(release, cls, keys, asked)
            cases.append([keys, asked, result])
        print(model, len(cases), file=sys.stderr)
    head = {"transformers": version("transformers"), "seed": SEED}
    kind = "placed" if asked_for.placed else "above" if asked_for.above else "drawn"
    head |= {"each": asked_for.each} if kind == "drawn" else {}
    head |= {"written by": "tests/reference/transformers/draw.py"}
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    text = f'{{"header": {json.dumps(head)},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n"
    path = asked_for.output or Path(__file__).with_name(f"{kind}-{head['transformers']}.json.gz")
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
