"""Measure which keys of an installed transformers' classes must have the hidden width of a model, or divide it.

Adds `shared` to the table of what classes refuse, which fields.py has written. In its environment, some minutes:
python tests/reference/transformers/shared_widths.py pe_spectra/models/measured/transformers-5.24.0-refusals.json

Each rotary class is given another hidden width, twice as large or half as large again, beside the heads that it has.
Where it refuses that, the numbers in its configuration, in all of its parts, that are equal to the width are made as
large, and one after the other is left as it was: the class needs those without which it refuses. Where twice the width
is taken such a number "divides" it, else it is "equal".
"""

import json
import pathlib
import sys

from draw import compute
from real_modules import Release, ask
from refusals import list_models

WIDTH = "hidden_size"


def list_paths(value, number, path=()):
    """The keys, from part to part, of every number in a configuration that is equal to `number`."""
    if isinstance(value, dict):
        return [one for key, inner in value.items() for one in list_paths(inner, number, (*path, key))]
    return [path] if value == number and type(value) is int else []


def place(paths, value):
    """The keys of a file with this value at each path."""
    found = {}
    for path in paths:
        inner = found
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = value
    return found


def measure(release, model, cls, config, name):
    """The path of the width, its value, and what must be equal to it or divide it."""
    width = ask(config, WIDTH)
    own, switch = (name, WIDTH) if name else (WIDTH,), release.switches.get(cls) or {}

    def refuses(paths, value):
        return "error" in compute(release, cls, {"model_type": model} | switch | place(paths, value), None)

    wider = [one for one in (2 * width, width // 2 * 3) if refuses([own], one)] if type(width) is int else []
    if not wider:
        return None
    paths = [path for path in list_paths(cls.from_dict(dict(switch)).to_dict(), width) if path != own]
    needed = [path for path in paths if refuses([own, *(one for one in paths if one != path)], wider[0])]
    if not needed or refuses([own, *needed], wider[0]):
        return None
    how = "equal" if wider[0] == 2 * width else "divides"
    return {"width": ".".join(own), "value": width, how: [".".join(path) for path in needed]}


def main():
    path = pathlib.Path(sys.argv[1])
    release, table = Release(), json.loads(path.read_text(encoding="utf-8"))
    found = {}
    for model, *rest in list_models(release):
        if not sys.argv[2:] or model in sys.argv[2:]:
            shared = measure(release, model, *rest)
            if shared is not None:
                found[model] = shared
                print(model, shared, flush=True)
    head = {key: value for key, value in table.items() if key not in ("classes", "shared")} | {"shared": found}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in table["classes"].items()]
    path.write_text(json.dumps(head)[:-1] + ',\n"classes": {\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
