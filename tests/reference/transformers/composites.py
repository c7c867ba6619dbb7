"""Which parts every class of a model of several parts has, and what each takes by default there: asked of its class.

Adds `composites` to the table of a release that `probe.py` has written. In its environment, a minute:
ENV/bin/python tests/reference/transformers/composites.py pe_spectra/models/measured/transformers-5.24.0.json

Of each class whose configuration has others in it: the key of each, its model_type, and by the names of `KnownModel`
what it has there by default where its class by itself has something else: where the file gives the part, and under
`silent` where the file leaves it out; there also the `keys` that tables and other schemes go by, of which tables.py
and schemes.py have written what there are.
"""

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
        own = (given or {}) | ({"silent": silent} if silent != (given or {}) else {})
        if (getattr(cls, "sub_configs", None) or {}).get(key) is AutoConfig:
            own["any"] = True  # the class of the model_type that is stated
        if part.model_type:
            found[key] = [part.model_type, *([own] if own else [])]
    return found


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
    table, found = release_table.load(sys.argv[1]), {}
    for cls, parts in list_composites():
        with contextlib.suppress(Exception):
            found[cls.model_type] = measure_parts(cls, parts)
    table |= {"composites": {name: parts for name, parts in found.items() if parts}}
    release_table.save(add_parts(table) if "beside" in table else table)


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
