"""Which parts every class of a model of several parts has, and what each takes by default there: asked of its class.

Adds `composites` to the table of a release that `probe.py` has written. In its environment, a minute:
ENV/bin/python tests/reference/transformers/composites.py pe_spectra/models/measured/transformers-5.24.0.json

Of each class whose configuration has others in it: the key of each, its model_type, and by the names of `KnownModel`
what it has there by default where its class by itself has something else: where the file gives the part, and under
`silent` where the file leaves it out; there also the `keys` that tables and other schemes go by, of which tables.py
and schemes.py have written what there are. `passed` has the keys on top of the file that the class passes on to the
part, which are few or none. `above` has, of each such class, its `own` keys of those that its parts have, and the types
of scalings that are `refused` in a block on top, where they are not the usual ones; `stated` of a file with its parts.
A part that the file leaves out beside others is read as where it leaves out all; what a class builds otherwise, and
it did so of none when this was written, is printed.
"""

import collections
import contextlib
import json
import sys

import release_table
from probe import find_own
from real_modules import ask
from transformers import AutoConfig
from transformers.configuration_utils import PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

#: Of each model_type what its tables and schemes are written with, and the values that a key of it has in a file.
KEYS = {}
PLAIN = (bool, int, float, str, list)
#: Keys of a rotation, which a part may take without having them by default, with values that no class has.
ROTARY = {
    "rope_theta": 777777.0,
    "rope_scaling": {"type": "linear", "factor": 8.0},
    "rope_parameters": {"rope_type": "linear", "factor": 8.0, "rope_theta": 777777.0},
    "partial_rotary_factor": 0.25,
    "rope_local_base_freq": 777.0,
    "head_dim": 48,
    "original_max_position_embeddings": 1234,
    "sliding_window": 1234,
}
#: What scalings need beside a factor.
ORIGINAL = {"original_max_position_embeddings": 2048}
BLOCKS = {"linear": {}, "dynamic": {}, "yarn": ORIGINAL, "proportional": {"partial_rotary_factor": 0.5}}
BLOCKS |= {"llama3": ORIGINAL | {"low_freq_factor": 1.0, "high_freq_factor": 4.0}}
BLOCKS |= {"longrope": ORIGINAL | {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}}
SIZES = ("hidden_size", "num_attention_heads", "num_key_value_heads", "num_hidden_layers", "layer_types")
SIZES += ("sliding_window",)
#: What keys of positions have in their names.
WORDS = ("rope", "rotary", "theta", "position", "head_dim")
#: Keys that every configuration has, none of them of a size.
NAMES = (*PretrainedConfig().to_dict(), "dtype", "torch_dtype")


def list_composites():
    """Each configuration class by model_type, with those that are in it only."""
    todo = [CONFIG_MAPPING[name] for name in CONFIG_MAPPING]
    seen = set()
    while todo:
        cls = todo.pop()
        config = None
        with contextlib.suppress(Exception):
            config = None if cls in seen else cls()
        seen.add(cls)
        parts = {} if config is None else find_parts(config)
        todo += [type(part) for part in parts.values()]
        if parts and cls.model_type:
            yield cls, parts


def find_parts(config):
    """The configurations in one, by key."""
    return {key: value for key, value in vars(config).items() if isinstance(value, PretrainedConfig)}


def measure_parts(cls, parts):
    """The model_type of each part, with what it takes by default where that is not what its class takes."""
    found = {}
    for key, part in parts.items():
        silent, given = find_own(part) | find_keys(part), None
        with contextlib.suppress(Exception):
            given = find_own(ask(cls.from_dict({key: {"num_hidden_layers": 2}}), key))
        silent |= find_passed(cls, parts, key)
        if "passed" in silent:  # what it passes on to no part that is left out it passes on to none
            given = (given or {}) | find_passed(cls, parts, key, {key: {"num_hidden_layers": 2}})
        own = (given or {}) | ({"silent": silent} if silent != (given or {}) else {})
        if (getattr(cls, "sub_configs", None) or {}).get(key) is AutoConfig:
            own["any"] = True  # the class of the model_type that is stated
        if part.model_type:
            found[key] = [part.model_type, *([own] if own else [])]
    return found


def check_left_out(cls, parts):
    """Print the parts that a class does not make of the same defaults when the file has others, one or all."""
    for key, part in parts.items():
        usual, others = find_own(part) | find_keys(part), [name for name in parts if name != key]
        for named in (*([name] for name in others), others) if part.model_type else ():
            with contextlib.suppress(Exception):  # others of which a file must say more
                made = getattr(cls.from_dict({name: {"num_hidden_layers": 2} for name in named}), key)
                if made is None or find_own(made) | find_keys(made) != usual:
                    print(f"{cls.model_type}: {key} is another beside {', '.join(named)}")


def check_no_objects(cls, parts):
    """Print the parts of which a class is made of what is no object: all are refused."""
    for key in parts:
        for value in ([1], "text", 3, True):
            with contextlib.suppress(Exception):
                cls.from_dict({key: value})
                print(f"{cls.model_type}: {key} may be {value!r}")


def find_passed(cls, parts, key, file=None):
    """The keys on top of a file that change a part when the others of the file are these."""
    file, refused = file or {}, []
    default = parts[key].to_dict()
    left = {name for name in (*default, *ROTARY) if name not in (*NAMES, *parts) and name[0] != "_"}
    values = {name: [ROTARY[name]] if name in ROTARY else list_others(default[name]) for name in left}
    values = {name: tried for name, tried in values.items() if tried}

    def make(more):
        return json.dumps(getattr(cls.from_dict(file | beside | more), key).to_dict(), default=str)

    def search(names):
        """Those of some keys that change the part; all at once first, for most classes pass on nothing."""
        for tried in range(max(map(len, values.values())) if len(names) == 1 else 1):
            with contextlib.suppress(Exception):
                if make({name: values[name][min(tried, len(values[name]) - 1)] for name in names}) == before:
                    return []
                if len(names) == 1:
                    return names
        refused.extend(names[:1] if len(names) == 1 else [])
        half = len(names) // 2
        return search(names[:half]) + search(names[half:]) if half else []

    beside = {}
    try:
        before = make({})
    except Exception:  # a part of which the file must say more
        return {}
    found = search(sorted(values))
    if found:  # a window counts only beside its switch, and some keys are taken only together
        beside = {name: True for name in found if values[name] == [True]}
        before = make({})
        found += search(sorted({*values} - {*found, *refused})) + refused
    return {"passed": sorted({*found})} if found else {}


def list_others(value):
    """Values of a key beside the one that it has."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [2 * value, value + 1, value // 2]
    if isinstance(value, float):
        return [value / 2 + 0.125]
    if isinstance(value, list):
        others = (value[::-1], ["sliding_attention", *value[1:]], ["full_attention", *value[1:]])
        return [other for other in others if other != value]
    return {str: [f"{value}x"], type(None): [2, True, "x"]}.get(type(value), [])


def measure_above(cls, parts):
    """The keys of its parts that a class has itself, and the scalings that it refuses on top of a file."""
    of_parts = {key for part in parts.values() for key in part.to_dict()}
    own = {key for key in vars(cls()) if (key in SIZES and key in of_parts) or any(word in key for word in WORDS)}
    stated = {key: {"num_hidden_layers": 2} for key in parts if "text" in key or "decoder" in key}
    return {"own": sorted(own), "refused": find_refused(cls, {}), "stated": find_refused(cls, stated)}


def find_refused(cls, file):
    """The types of scalings that a class refuses in a block on top which has all that they need."""
    found = []
    for kind, more in ({"default": {}} | BLOCKS).items():
        try:
            cls.from_dict(file | {"rope_scaling": {"rope_type": kind, "rope_theta": 1e4, "factor": 4.0} | more})
        except Exception:
            found.append(kind)
    return [] if "default" in found else found  # a file that is refused for what else it lacks


def leave_usual(above):
    """What most classes refuse on top, and of each class what is not usual."""
    (usual, _), *_ = collections.Counter(tuple(one["refused"]) for one in above.values()).most_common()
    for one in above.values():
        for key in ("own", "refused", "stated"):
            if one[key] == ([] if key == "own" else list(usual)):
                del one[key]
    return {"refused_above": list(usual), "above": {name: one for name, one in above.items() if one}}


def find_keys(part):
    """The keys that positions of a part go by and that its class by itself has otherwise."""
    named = KEYS.get(part.model_type, ())
    own = {}
    with contextlib.suppress(Exception):  # a class that is not made of nothing
        plain = type(part)()
        values = {key: (ask(part, key), ask(plain, key)) for key in named}
        own = {key: here for key, (here, there) in values.items() if here != there and isinstance(here, PLAIN)}
    return {"keys": own} if own else {}


def list_keys(value):
    """The texts in what a table says of a class, which are keys among others."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from list_keys(one)


def read_keys():
    """Of each model_type what its tables and schemes are written with."""
    found = {}
    newest = release_table.name_file(release_table.find_newest())
    for suffix, name in (("tables", "tables"), ("schemes", "types")):
        path = newest.with_name(f"{newest.stem}-{suffix}.json")
        table = json.loads(path.read_text(encoding="utf-8"))
        for model, entry in table[name].items():
            found.setdefault(model, set()).update(list_keys(entry))
    return found


def main():
    """Write the parts into the table, a line for each class."""
    KEYS.update(read_keys())
    table, found, own = release_table.load(sys.argv[1]), {}, {}
    for cls, parts in list_composites():
        with contextlib.suppress(Exception):
            found[cls.model_type] = measure_parts(cls, parts)
            own[cls.model_type] = measure_above(cls, parts)
        check_left_out(cls, parts)
        check_no_objects(cls, parts)
    refused = list_refused(table)  # of which a run of probe.py before this one told
    table |= {"composites": {name: parts for name, parts in found.items() if parts}}
    for model, key in refused:
        refuse_unnamed(table["composites"][model][key])
    table |= leave_usual({name: own[name] for name in table["composites"]})
    table = shorten_parts(table)
    release_table.save(add_parts(table) if "beside" in table else table)


def shorten_parts(table):
    """A table that names of each model the part that reads text, of which its composite has what probe.py found.

    Both scripts measure it, and must agree.
    """
    for model, (key, name, *given) in [one for one in table["parts"].items() if not isinstance(one[1], str)]:
        part, found = table["composites"][model][key], dict(*given)
        is_refused, silent = found.pop("unnamed_refused", False), found.pop("silent", found)
        own = dict(*part[1:])
        others = {one: value for one, value in own.get("silent", own).items() if one not in ("any", "passed", "keys")}
        taken = {one: value for one, value in own.items() if one not in ("any", "passed", "silent")}
        if (part[0], taken, others) != (name, found, silent):
            raise SystemExit(f"{model}: probe.py found {name} {given}, and here is {part}")
        if is_refused:
            refuse_unnamed(part)
        table["parts"][model] = key
    return table


def list_refused(table):
    """The models, and their parts, of which a table that is shortened says that they are refused without their type."""
    short = ((model, key) for model, key in table["parts"].items() if isinstance(key, str))
    return [one for one in short if "unnamed_refused" in dict(*table["composites"][one[0]][one[1]][1:])]


def refuse_unnamed(part):
    """Say of a part that it is refused without its model_type."""
    part[1:] = [dict(*part[1:]) | {"unnamed_refused": True}]


def add_parts(table):
    """A table of an older release with the classes of parts that are no model_type of a file, taken from the newest."""
    newest = release_table.load(release_table.name_file(table["beside"]))["classes"]
    named = {part[0] for parts in table["composites"].values() for part in parts.values()}
    left = {name: newest[name] for name in sorted(named) if name in newest and name not in table["classes"]}
    return table | {
        "classes": table["classes"] | left,
        "unmeasured": sorted({*table["unmeasured"], *left}),
    }


if __name__ == "__main__":
    main()
