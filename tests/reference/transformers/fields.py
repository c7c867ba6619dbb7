"""Measure which values of keys every rotary class of an installed transformers refuses; write the package's table.

    ENV/bin/python tests/reference/transformers/fields.py [MODEL_TYPE ...]

in the environment of probe.py; it writes pe_spectra/models/measured/transformers-VERSION-refusals.json, of the classes
that are named, or the whole anew, to which shared_widths.py adds. Each class is given, beside the keys that it is not
built without, one key at a time: null, a list, a text, true, a real number, a negative one, an odd head, types of
layers that there are not or too few of them, no width of a head under each rope_type, blocks of a type that there is
not, without a key, or that are no object. What counts is whether the class, its rotary modules or its model as a whole
raise. A class that turns nothing without a switch is asked with it, and again without it ("unturned").
"""

import contextlib
import datetime
import json
import random
import sys
from importlib.metadata import version

from draw import compute, find_text_part
from probe import BLOCK, IS_OLD, SHARES
from real_modules import Release, ask
from refusals import KINDS, find_error, list_models, load_table, make_block
from release_table import FOLDER
from transformers import configuration_utils

KEYS = {
    "head_dim": "h", "hidden_size": "w", "num_attention_heads": "a", "num_key_value_heads": "k",
    "max_position_embeddings": "m", "num_hidden_layers": "n", "sliding_window": "s", "qk_rope_head_dim": "q",
    "rotary_dim": "r", "layer_types": "t", "rope_theta": "b",
    "max_window_layers": "l", "rope_scaling": "g",
}  # fmt: skip
#: Keys that are asked with null alone: of another type no file can be read.
NULLS = {
    "qk_nope_head_dim": "o", "original_max_position_embeddings": "e", "partial_rotary_factor": "p", "rotary_pct": "c",
    "n_positions": "i", "rope_parameters": "x", "use_sliding_window": "u", "compress_rope_theta": "y",
    "rope_interleave": "v",
}  # fmt: skip
VALUES = {"null": None, "list": [64.5], "text": "64", "true": True, "real": 64.5, "negative": -8}
#: What some classes need beside longrope's usual keys.
OF_CLASSES = {"short_mscale": 1.0, "long_mscale": 1.0}
#: Names that are no rope_type, or an older one.
NO_TYPES = (None, "", "su")
#: What stands for a rope_scaling that is not set.
EMPTY = (None, {}, [])
#: Types of layers of classes that take no others.
OWN_TYPES = ("mamba", "attention", "recurrent", "conv", "mlp", "moe")
SHARE = SHARES[0]
SOUND = {"rope_type": "default", "rope_theta": 1e4}
#: The class that is asked what each scaling needs, and whether a block needs a rope_type to be no block of type null:
#: transformers checks these for all classes at one place.
USUAL = "llama"


class Probe:
    """One class, with the ways to ask it.

    Parameters
    ----------
    is_turned : whether it is asked with the switch without which it turns nothing.
    """

    def __init__(self, release, model, cls, config, *, is_turned=True):
        self.release, self.model, self.cls, self.config = release, model, cls, config
        own = ask(config, BLOCK) or {}
        self.nested = [name for name, value in own.items() if isinstance(value, dict)]
        self.base = {"model_type": model}
        more = (release.switches.get(cls) or {}) | release.find_whole(cls)[1]
        self.needed = [] if not more or not self.refuses({}) else [key for key in more if self.refuses(drop(more, key))]
        self.base |= {key: more[key] for key in self.needed}
        self.switch = {} if self.turns() else drop_all(release.switches.get(cls) or {}, self.needed)
        self.base |= self.switch if is_turned else {}
        other = SOUND | {"rope_type": "other"}
        self.used = [name for name in self.nested if self.refuses({BLOCK: own | {name: other}})] or self.nested

    def refuses(self, keys):
        return find_error(self.release, self.cls, self.base | keys) is not None

    def turns(self):
        """Whether the class turns something with the keys that it is not built without alone."""
        found = compute(self.release, self.cls, self.base, None)
        return bool(found) and "error" not in found

    def put(self, block):
        """A block where the class reads it: for every type of layer where it reads it by type."""
        return {BLOCK: dict.fromkeys(self.nested, block) if self.nested else block}

    def refuses_anywhere(self, block, beside=None):
        """Whether a block is refused, for whichever type of layer it stands that the class has a layer of."""
        own = dict(ask(self.config, BLOCK) or {})
        placed = [own | {name: block} for name in self.used] or [block]
        return all(self.refuses({BLOCK: one} | (beside or {})) for one in placed)

    def make(self, kind):
        return make_block(random.Random(0), self.config, kind)


def measure(probe):
    """What a class refuses; only what it refuses is named."""
    own = {key: ask(probe.config, key) for key in KEYS}
    found = {"needed": probe.needed}
    found |= {"closed": join(key for key in KEYS if own[key] is not None and probe.refuses({key: own[key]}))}
    asked = [key for key in KEYS if KEYS[key] not in found["closed"]]
    for name, value in VALUES.items():
        found[name] = join(key for key in asked if probe.refuses({key: value}))
    found["null"] += "".join(letter for key, letter in NULLS.items() if probe.refuses({key: None}))
    found["integer"] = join(key for key in ("rope_theta",) if key in asked and probe.refuses({key: 10000}))
    found["beside"] = "rope_theta" in asked and all(
        probe.refuses({"rope_theta": None, place: SOUND}) for place in ("rope_scaling", BLOCK)
    )
    found |= measure_labels(probe)
    found |= measure_layers(probe) if "layer_types" in asked else {}
    if not probe.refuses({"hidden_size": 12 * 32, "num_attention_heads": 12}):
        found["odd"] = probe.refuses({"hidden_size": 12 * 33, "num_attention_heads": 12})
    if not probe.refuses({"head_dim": 66}):
        found["odd_head"] = probe.refuses({"head_dim": 65})
    found |= measure_blocks(probe) | measure_fit(probe) | measure_groups(probe) | measure_window(probe)
    blocks = {"own": {}} | {kind: probe.put(probe.make(kind)) for kind in KINDS}
    sound = {kind: block for kind, block in blocks.items() if not probe.refuses(block)}
    refused = [kind for kind, block in sound.items() if probe.refuses(block | {"head_dim": None})]
    if len(refused) < len(sound):  # it is a scaling that needs the width
        found["null"] = found["null"].replace("h", "")
        found["without_head"] = refused
    return {key: value for key, value in found.items() if value}


def measure_fit(probe):
    """Whether a head of another width than that over the heads is refused, and fewer layers than the class has."""
    refused = [width for width in (32, 64, 80, 96, 128) if probe.refuses({"head_dim": width})]
    found, layers = {"fits": len(refused) == 4}, ask(probe.config, "num_hidden_layers")
    if isinstance(layers, int) and layers > 1:
        few = [{"num_hidden_layers": count} for count in (2, layers - 1)]
        found["fewer"] = not probe.refuses({"num_hidden_layers": layers}) and all(
            probe.refuses(one) and probe.refuses(one | {"layer_types": ["full_attention"] * one["num_hidden_layers"]})
            for one in few
        )
    return found


def measure_groups(probe):
    """How many heads of keys a class has that refuses a number which does not divide the heads; true: it has none."""
    heads, key = ask(probe.config, "num_attention_heads"), "num_key_value_heads"
    if not isinstance(heads, int) or heads < 3 or probe.refuses({key: heads}) or not probe.refuses({key: heads - 1}):
        return {}
    own = getattr(probe.cls, key, None)
    return {"groups": own if isinstance(own, int) else True}


def measure_window(probe):
    """The key that a class is not built without where a file states a window and no types of layers."""
    window, key = {"sliding_window": 64}, "max_window_layers"
    return {"window_needs": key} if probe.refuses(window) and not probe.refuses(window | {key: 2}) else {}


def list_types():
    """The types of layers that there are, older names among them."""
    if IS_OLD:
        return [*configuration_utils.ALLOWED_LAYER_TYPES]
    return [*configuration_utils.ALLOWED_ATTN_LAYER_TYPES, *configuration_utils._LEGACY_LAYER_TYPE_REMAP]


def measure_labels(probe):
    """The types of layers by which a class tells blocks by type from others, and whether it takes no other key there.

    Of a class that reads one block for all layers they are named where it refuses blocks by type.
    """
    own = None if IS_OLD else ask(probe.config, "_rope_type_labels") or ask(probe.config, "layer_types")
    labels = list(dict.fromkeys(own or ()))
    nested = probe.nested or [*probe.base.get(BLOCK, ())]
    if not nested:
        return {"labels": labels if labels and probe.refuses({BLOCK: {labels[0]: SOUND}}) else []}
    sound = dict.fromkeys(nested, SOUND)
    more = sound | {"other_attention": SOUND}
    return {"labels": labels, "only_labels": not probe.refuses({BLOCK: sound}) and probe.refuses({BLOCK: more})}


def join(keys):
    return "".join(KEYS[key] for key in keys)


def measure_layers(probe):
    """Whether types of layers that there are not are refused, and too few of them; those that it writes itself."""
    layers = ask(probe.config, "num_hidden_layers")
    found = {"layers": layers} if isinstance(layers, int) else {}
    written = () if isinstance(probe.config, type) else probe.config.to_dict().get("layer_types") or ()
    found["written"] = sorted({*written} - {*list_types()})
    names = list(ask(probe.config, "layer_types") or probe.base.get("layer_types") or ("full_attention",))
    for count in (layers, 4):
        whole = {"num_hidden_layers": count, "layer_types": (names * (count or 1))[:count]}
        if isinstance(count, int) and count > 1 and not probe.refuses(whole):
            found["names"] = probe.refuses(whole | {"layer_types": ["other_attention"] * count})
            found["count"] = all(
                probe.refuses(whole | {"layer_types": (names * count)[:number]}) for number in (count // 2, 2 * count)
            )
            if probe.refuses(whole | {"layer_types": ["full_attention"] * count}):  # it has types of its own
                types = (*list_types(), *OWN_TYPES)
                found["types"] = [one for one in types if not probe.refuses(whole | {"layer_types": [one] * count})]
            # one that does not count them looks for that of each layer, of which a whole model is given two
            found["each"] = not found["count"] and probe.refuses(whole | {"layer_types": whole["layer_types"][:1]})
            break
    return found


def measure_blocks(probe):
    """Types that there are not, keys that lack, and entries of blocks by layer type that are no blocks."""
    whole = probe.make("longrope")
    older = {key: value for key, value in whole.items() if key != "original_max_position_embeddings"}
    beside = {"original_max_position_embeddings": 2048}
    lists = {key: whole[key] for key in ("short_factor", "long_factor")}  # all that Phi-3 of releases 4 takes
    found = {"lacking": find_lacking(probe), "own_keys": find_own_keys(probe)}
    # where a block must have its base, that on top of the file goes into rope_scaling in most classes
    bare = drop(probe.make("proportional"), "rope_theta")
    is_needed = "rope_theta" in found["lacking"].get("proportional", ())
    found["base_inside"] = is_needed and probe.refuses({"rope_scaling": bare, "rope_theta": 25000.0})
    lone = {"rope_scaling": {"rope_type": "linear"}}  # refused, for it lacks a factor
    found["last_block"] = probe.refuses({BLOCK: None} | lone) and not probe.refuses(lone | {BLOCK: None})
    found["empty"] = [value for value in EMPTY if probe.refuses({"rope_scaling": value})]
    found["no_share"] = probe.refuses(probe.put(SOUND | {SHARE: None})) and not probe.refuses(probe.put(SOUND))
    linear, other = ({"rope_scaling": {key: "linear", "factor": 2.0}} for key in ("rope_type", "type"))
    # of releases 4 those that do not read the other name for it take it for none
    by_type = IS_OLD and (probe.refuses(linear) or not probe.refuses(other))
    found["no_types"] = [
        kind
        for kind in NO_TYPES
        if probe.refuses_anywhere(whole | {"rope_type": kind})
        and probe.refuses_anywhere(older | {"rope_type": kind}, beside)
        and (not by_type or probe.refuses_anywhere(lists | {"type": kind}, beside))
    ]
    sound = dict.fromkeys(probe.nested, SOUND)
    if probe.nested and not probe.refuses({BLOCK: sound}):
        found["no_blocks"] = [
            value
            for value in (None, "yarn", 4.0)
            if all(probe.refuses({BLOCK: sound | {name: value}}) for name in probe.used)
        ]
        found["used"] = probe.used if len(probe.used) < len(probe.nested) else []
        bare = {"rope_type": "default"}
        found["bases"] = [name for name in probe.nested if probe.refuses({BLOCK: sound | {name: bare}})]
    return found


def find_lacking(probe):
    """The keys of each scaling without which a flat block is refused."""
    found = {}
    for kind in KINDS:
        block = probe.make(kind)
        beside = {"max_position_embeddings": 4096} if probe.refuses({BLOCK: block}) else {}  # some build none without
        if not probe.refuses({BLOCK: block} | beside):
            found[kind] = [
                key for key in block if key != "rope_type" and probe.refuses({BLOCK: drop(block, key)} | beside)
            ]
    return {kind: keys for kind, keys in found.items() if keys}


def find_own_keys(probe):
    """The keys without which the class refuses a block that others take: of longrope, a base, a factor beside none."""
    found, block = {}, probe.make("longrope") | OF_CLASSES
    if not probe.refuses(probe.put(block)):
        found["longrope"] = [key for key in OF_CLASSES if probe.refuses(probe.put(drop(block, key)))]
    blocks = {"default": SOUND} | {kind: probe.make(kind) for kind in KINDS}
    for kind, block in () if probe.nested else blocks.items():
        if not probe.refuses({BLOCK: block}) and probe.refuses({BLOCK: drop(block, "rope_theta")}):
            found[kind] = [*found.get(kind, ()), "rope_theta"]
    if probe.refuses(probe.put(SOUND)) and not probe.refuses(probe.put(SOUND | {"factor": 1.0})):
        found["default"] = ["factor"]
    return {kind: keys for kind, keys in found.items() if keys}


def find_null(probe):
    """The keys of each scaling that cannot be null."""
    blocks = {kind: probe.make(kind) | {SHARE: 1.0} for kind in KINDS}
    return {
        kind: [key for key in block if key != "rope_type" and probe.refuses({BLOCK: block | {key: None}})]
        for kind, block in blocks.items()
    }


def explain(cls):
    """Why a rotary class could not be asked."""
    with contextlib.suppress(Exception):
        part = find_text_part(cls.from_dict({})).model_type
        return f"no key of its own is read: what it turns is {part}" if part != cls.model_type else "turns nothing"
    return "is not made of its defaults, nor with a switch"


def drop(block, key):
    return drop_all(block, (key,))


def drop_all(block, keys):
    return {name: value for name, value in block.items() if name not in keys}


def main():
    release, only, found = Release(), sys.argv[1:], {}
    head = {"stack": "transformers", "version": version("transformers")}
    path = FOLDER / f"transformers-{head['version']}-refusals.json"
    head |= {"date": datetime.datetime.now(tz=datetime.UTC).date().isoformat()}
    head |= {
        "written by": "tests/reference/transformers/fields.py",
        "keys": {one: key for key, one in (KEYS | NULLS).items()},
    }
    head["layer_types"] = list_types()
    if only:
        known = json.loads(path.read_text(encoding="utf-8"))
        found, head = known.pop("classes"), known | {"date": head["date"], "keys": head["keys"]}
        found = {model: value for model, value in found.items() if model not in only}
    for model, cls, config, name in list_models(release, only):
        if name is None:  # a part is measured in its own class
            probe = Probe(release, model, cls, config)
            found[model] = measure(probe)
            if probe.switch:
                found[model]["unturned"] = measure(Probe(release, model, cls, config, is_turned=False))
            print(model, json.dumps(found[model]), flush=True)
            if model == USUAL:
                head |= {"lacking": found[model]["lacking"], "null": find_null(probe)}
                head["untyped"] = probe.refuses(probe.put(drop(probe.make("linear"), "rope_type")))
    head["unmeasured"] = {
        model: explain(cls)
        for model, cls in release.list_classes().items()
        if model in load_table()["classes"].keys() - found.keys()
    }
    for one in (part for own in found.values() for part in (own, own.get("unturned", {}))):
        if one.get("lacking") == head["lacking"]:
            one["lacking"] = True
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(found.items())]
    path.write_text(json.dumps(head)[:-1] + ',\n"classes": {\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(f"{path.name}: {len(found)} classes, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
