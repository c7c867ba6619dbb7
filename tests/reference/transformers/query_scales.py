"""Which rotary classes multiply queries by a factor that grows with the position, and how: measured in their models.

Adds `query_scales` to the table of a release that `probe.py` has written. In its environment, some minutes:
ENV/bin/python tests/reference/transformers/query_scales.py pe_spectra/models/measured/transformers-5.24.0.json
With model_types as further arguments it measures these anew and keeps what the table has of others.

A small model of each class is run on two equal tokens at chosen positions with an attention that returns ones and
keeps the queries: a rotation keeps their norm, so the ratio of the norms to those at position 0 is the factor. Where
there is one, each number of the configuration is changed in turn to see by which keys it goes, and the forms that are
known are compared with it at many positions.
"""

import contextlib
import itertools
import json
import math
import pathlib
import re
import sys
from importlib.metadata import version

import release_table
import torch
from real_modules import SMALL, Release, ask, be_patient, rank
from transformers import DynamicCache
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

#: Sizes of the models that are run.
SIZES = {"hidden_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32, "num_hidden_layers": 6}
FAR, PATIENCE = 999_999, 20
#: Parameters of a model that is run; one whose sizes go by other keys has more.
LARGEST = 20_000_000
#: Positions whose factors are frozen, beside those near multiples of a length.
DRAWN = (0, 1, 4095, 8191, 131_071, FAR)
FOLDER = pathlib.Path(__file__).parent
#: Keys that may be None by default and switch a factor on; they are tried with a number.
MAY_SCALE = re.compile("floor|scal|temper|log")
#: The factor of a query at position s by its strength a and its length n, by the name of its form.
FORMS = {
    "steps": lambda s, a, n: 1 + a * math.log1p(s // n),
    "beyond": lambda s, a, n: 1 + a * math.log(max(s / n, 1)),
    "power": lambda s, a, n: (1 + s / n) ** a,
}
#: How close a form comes to what float32 shows.
CLOSE = 1e-6
#: Lengths in positions, and strengths, that are tried where no key has them.
LENGTHS, STRENGTHS = [2**power for power in range(6, 19)], (0.05, 0.1, 0.2, 0.5)
#: A value of each type that a key may be of, by the names that the package has for them.
VALUES = {"null": None, "true": True, "integer": 64, "real": 64.5, "text": "64", "list": [64]}
SEEN, KEPT = {}, {}


class Cache(DynamicCache):
    """A cache that says that so many positions went before, and holds none of them."""

    def __init__(self, config, before):
        super().__init__(config=config)
        self.before = before

    def get_seq_length(self, *_, **__):
        return self.before

    def update(self, keys, values, *_, **__):
        return keys, values


def keep_queries(module, query, key, value, *_, **__):
    """Keep the norms of queries, by the number of the layer, and attend to nothing."""
    SEEN[getattr(module, "layer_idx", len(SEEN))] = query.double().norm(dim=-1)[0].amax(dim=0)
    return torch.ones(query.shape[0], query.shape[2], query.shape[1], value.shape[-1]), None


ALL_ATTENTION_FUNCTIONS.register("keep_queries", keep_queries)


def make(cls, changes=()):
    """A small configuration, with and without a width of heads that it does not follow from others."""
    known = None
    with contextlib.suppress(Exception):  # some need other packages
        known = cls.from_dict({})
    sizes = {key: value for key, value in {**SMALL, **SIZES}.items() if ask(known, key) is not None}
    for left_out in ((), ("head_dim",)):
        given = {key: value for key, value in sizes.items() if key not in left_out}
        with contextlib.suppress(Exception):
            config = cls.from_dict({**given, **dict(changes)})
            config._attn_implementation = "keep_queries"
            yield config


def list_norms(model, position):
    """The norm of the queries of each layer at a position."""
    SEEN.clear()
    with torch.no_grad():
        model(input_ids=torch.tensor([[3, 3]]), past_key_values=Cache(model.config, position), use_cache=True)
    return {layer: norms[0].item() for layer, norms in SEEN.items()}


def measure(release, cls, changes=(), position=FAR):
    """The factor of each layer at a position; None where no model of the class can be run so."""
    models = sorted(release.models.get(cls, ()), key=lambda one: (rank(one), len(one.__name__)))[:3]
    for config, model in itertools.product(make(cls, changes), models):
        with contextlib.suppress(Exception), be_patient(PATIENCE):
            torch.manual_seed(1)
            with torch.device("meta"):
                size = sum(one.numel() for one in model(config).parameters())
            if size > LARGEST:
                continue
            built = model(config).eval()
            start = list_norms(built, 0)
            if any(start.values()):
                after = list_norms(built, position)
                return {layer: after[layer] / norm for layer, norm in start.items() if norm > 0}
    return None


def list_numbers(cls):
    """Every number of a configuration by the path of its key, at the top and in the block of the rotation."""
    known = next(make(cls)).to_dict()
    found = {(key,): value for key, value in known.items()}
    for block in ("rope_parameters", "rope_scaling"):
        found |= {(block, key): value for key, value in (known.get(block) or {}).items()}
    return {path: value for path, value in found.items() if type(value) in (bool, int, float)}


def change(cls, path, value):
    """A change of one key, with the block around it."""
    if len(path) == 1:
        return {path[0]: value}
    return {path[0]: {**getattr(next(make(cls)), path[0]), path[1]: value}}


def find_factor(found):
    """The layers that have a factor, and the factor."""
    layers = sorted(layer for layer, value in (found or {}).items() if abs(value - 1) > 1e-4)
    return layers, found[layers[0]] if layers else 1.0


def follow(release, cls, changes):
    """The keys by which the factor goes, each with its value, and the switches that end it."""
    _, before = find_factor(measure(release, cls, changes))
    keys, switches = {}, []
    for path, value in {**list_numbers(cls), **{(key,): value for key, value in changes.items()}}.items():
        if path[0] in SIZES or path[0] in SMALL:
            continue
        other = (not value) if isinstance(value, bool) else value * 2
        found = measure(release, cls, {**changes, **change(cls, path, other)})
        if found is None:
            continue
        layers, after = find_factor(found)
        if isinstance(value, bool) and not layers:
            switches.append(".".join(path))
        elif not isinstance(value, bool) and abs(after - before) > 1e-4:
            keys[".".join(path)] = value
    return keys, switches


def fit(release, cls, changes, layer, keys):
    """The form that has the factor at many positions, its offset, and where its strength and length are from."""
    lengths = [(key, value) for key, value in keys.items() if value >= 16] or [("", value) for value in LENGTHS]
    strengths = [(key, value) for key, value in keys.items() if value < 16] or [("", value) for value in STRENGTHS]
    found = {}
    for (length_key, n), (strength_key, a), offset in itertools.product(lengths, strengths, (0, 1)):
        for form, factor in FORMS.items():
            if abs(factor(FAR + offset, a, n) - measure_once(release, cls, changes, layer, FAR)) > 1e-4:
                continue
            positions = sorted({max(0, n * k + by) for k in (1, 2, 5) for by in (-2, -1, 0, 1)} | {n // 3, 11 * n // 4})
            seen = [measure_once(release, cls, changes, layer, s) for s in positions]
            # what is seen is over the factor at 0
            expected = [factor(s + offset, a, n) / factor(offset, a, n) for s in positions]
            error = max(abs(one - two) for one, two in zip(seen, expected, strict=True))
            found[error] = {
                "form": form,
                "offset": offset,
                "length": [length_key, n],
                "strength": [strength_key, a],
            }
    return found[min(found)] if found and min(found) < CLOSE else None


def measure_once(release, cls, changes, layer, position):
    kept = KEPT.setdefault((cls, str(changes)), {})
    if position not in kept:
        kept[position] = measure(release, cls, changes, position)[layer]
    return kept[position]


def name_layers(cls, changes, layers):
    """Which layers have it: all, or those of one type, or those that are not turned."""
    config = next(make(cls, changes))
    if len(layers) == config.num_hidden_layers:
        return "all"
    turned = ask(config, "no_rope_layers")
    if turned and layers == [layer for layer, turns in enumerate(turned) if not turns]:
        return "unturned"
    types = {kind for layer, kind in enumerate(ask(config, "layer_types") or ()) if layer in layers}
    return types.pop() if len(types) == 1 else f"of {layers}"


def state(cls, values):
    """The keys of a configuration that states values by the paths of their keys; a block is stated whole."""
    keys = {"model_type": cls.model_type}
    for path, value in values.items():
        if path:
            *block, key = path.split(".")
            inside = keys.setdefault(block[0], dict(getattr(next(make(cls)), block[0]))) if block else keys
            inside[key] = value
    return keys


def freeze(release, cls, form, layer):
    """Factors over that at position 0, of the class as it is and with other numbers, with the keys that say so."""
    (length_key, n), (strength_key, a) = form["length"], form["strength"]
    for length, strength in ((n, a), (5000, 0.25)) if length_key else ((n, a),):
        keys = state(cls, {length_key: length, strength_key: strength})
        positions = sorted(
            {*DRAWN, *(length * k + by for k, by in ((1, -2), (1, -1), (1, 0), (1, 1), (3, -1), (7, 5)))}
        )
        yield {
            "keys": keys,
            "factors": {s: round(measure_once(release, cls, keys, layer, s), 6) for s in positions},
        }


def list_needed(release, cls, paths):
    """The keys of a block without which a pass of the model fails."""
    for path in paths:
        *block, key = path.split(".")
        if block:
            rest = {name: value for name, value in getattr(next(make(cls)), block[0]).items() if name != key}
            if measure(release, cls, {block[0]: rest}) is None:
                yield path


def list_refused(cls, keys):
    """The types of values that the class refuses to be made of, by key."""
    for key in keys:
        refused = []
        for name, value in VALUES.items():
            try:
                cls.from_dict({key: value})
            except Exception:
                refused.append(name)
        if refused:
            yield key, refused


def examine(release, cls):
    """The entry of a class, and its frozen factors; empty where it has no factor, None where it is not known."""
    if measure(release, cls) is None:
        return None, []
    known = cls.from_dict({}).to_dict()
    empty = [key for key, value in known.items() if value is None and MAY_SCALE.search(key)]
    for changes in ({}, *({key: 4096} for key in empty)):
        layers, _ = find_factor(measure(release, cls, changes))
        if layers:
            keys, switches = follow(release, cls, changes)
            form = fit(release, cls, changes, layers[0], keys)
            print(cls.model_type, changes, layers, keys, switches, form, flush=True)
            if form is None:  # positions are in queries in another way: added, or by a recurrence
                return None, []
            form |= {"switch": switches} if switches else {}
            form |= {"off": min(changes)} if changes else {}
            paths = [form[name][0] for name in ("length", "strength") if form[name][0]]
            needed = [*list_needed(release, cls, paths)]
            refused = dict(list_refused(cls, [path for path in (*paths, *switches) if "." not in path]))
            form |= {name: one for name, one in (("needed", needed), ("refused", refused)) if one}
            entry = {"layers": name_layers(cls, changes, layers), **form}
            return entry, [*freeze(release, cls, form, layers[0])]
    return {}, []


def main():
    """Measure every class, or those that are named, and write what was found into the table."""
    path, *wanted = sys.argv[1:]
    release = Release()
    classes = {cls.model_type: cls for cls in release.models if cls is not None and cls.model_type}
    classes |= release.list_classes()
    measured = {name: examine(release, classes[name]) for name in wanted or sorted(classes)}
    table, file = release_table.load(path), FOLDER / f"query-scales-{version('transformers')}.json"
    kept = {name: one for name, one in table.get("query_scales", {}).items() if wanted and name not in wanted}
    found = kept | {name: one for name, (one, _) in measured.items() if one}
    unknown = [name for name in table.get("scales_unknown", ()) if wanted and name not in wanted]
    unknown = sorted({*unknown, *(name for name, (one, _) in measured.items() if one is None)})
    before = json.loads(file.read_text(encoding="utf-8")) if kept else []
    frozen = [case for case in before if case["keys"]["model_type"] in kept]
    frozen += [case for _, cases in measured.values() for case in cases]
    frozen.sort(key=lambda case: case["keys"]["model_type"])
    release_table.save(table | {"query_scales": found, "scales_unknown": unknown})
    file.write_text("[" + ",\n".join(map(json.dumps, frozen)) + "]\n", encoding="utf-8")
    print(f"{path}: {len(found)} classes multiply queries by a factor; of {len(unknown)} it is not known")


if __name__ == "__main__":
    main()
