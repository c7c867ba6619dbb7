"""Measure which formula the schemes of an installed transformers follow; add it to the package's list.

`tests/reference/measure.py transformers VERSION` runs it after schemes.py, as the others of this folder.
Of each scheme in pe_spectra/models/measured/transformers-VERSION-schemes.json that has a law to be found (sines of a
grid or of lags, rows that lags read, what a convolution sees, a window whose bias comes from a network) it runs the
real module on small inputs and finds the law that it follows: written here as the papers have it, nothing of pe_spectra
is imported. Then it changes one key at a time and finds which sizes follow it; a key with which no law fits is held:
what is said is true of its default alone. It adds `made` to each scheme, in the order in which they are tried, and
freezes into formulas-VERSION.json.gz here what the real modules compute with drawn keys. With model_types as arguments
it measures these anew and keeps the others. One core, some minutes.
"""

import contextlib
import gzip
import inspect
import itertools
import json
import math
import pathlib
import random
import re
import sys
from importlib.metadata import version

import numpy as np
import torch
from real_modules import BUILT, GIVEN, _keep_on_cpu
from schemes import build_any, build_first, find_classes, find_modules, list_default_configs
from tables import FOLDER, build, list_models
from torch import nn

#: Rows and columns of the grid on which a module is run, the length of a sequence, and of one for rows of a table.
HEIGHT, WIDTH, LENGTH, LONG = 3, 5, 9, 1000
CPU = torch.device("cpu")
#: Bases that classes have where no key gives one.
BASES = (10000.0, 20.0)
#: Keys that a formula may follow, and those of them that are bases.
FOLLOWED = re.compile(
    r"hidden|d_model|dim|width|size|temperature|scale|num_pos|buckets|distance|relative|max_pos|kernel|conv_pos|window|heads|seq_len|num_patches|clamp"
)
BASE = re.compile("temperature")
#: Modules with sines of lags, by the name of their class.
OF_LAGS = re.compile(r"Rel(ative)?Pos\w*(Encoding|Embedding)$")
#: Keys of which a class has two laws, one with each of these values.
WAYS = {"position_buckets": (256, -1), "clamp_len": (3, -1)}


# --------------------------------------------------------------------- what the real modules compute


def run_grid(model, at):
    """The vectors of a grid in reading order, shape (HEIGHT WIDTH, d)."""
    whole, part = ({*dict(model.named_modules())} & {path} for path in (at, at.partition(".")[2]))  # or a part alone
    module, shape = model.get_submodule((whole or part).pop()), torch.Size((1, 1, HEIGHT, WIDTH))
    mask = torch.ones(1, HEIGHT, WIDTH)
    for given in ((shape, CPU, torch.float32), (torch.zeros(shape), mask), (WIDTH, HEIGHT, CPU, torch.float32)):
        with contextlib.suppress(Exception):
            found = module(*given)
            found = found.flatten(2).transpose(1, 2) if found.dim() == 4 else found
            if found.shape[:2] == (1, HEIGHT * WIDTH):
                return found[0].double().numpy()
    raise ValueError(f"{type(module).__name__} is called otherwise")


def run_lags(model, at):
    """The vectors of lags, shape (L, d), in an order that is not known."""
    if hasattr(model, "relative_positional_encoding"):
        return model.relative_positional_encoding(LENGTH, LENGTH)[:, 0].double().numpy()
    holders = (model, model.get_submodule(at.partition(".")[0]))
    for one in itertools.chain(*(vars(holder).values() for holder in holders), model.modules()):
        if hasattr(one, "get_position_embeds"):
            for dropout in [one, *vars(one).values()]:
                dropout.eval() if isinstance(dropout, nn.Module) else None
            found = one.get_position_embeds(LENGTH, torch.float32, CPU)[0]
            return next(some for some in found if some is not None).double().numpy()
        if OF_LAGS.search(type(one).__name__):
            if hasattr(one, "_get_timing_signal_1d_pos"):
                return one._get_timing_signal_1d_pos(torch.arange(LENGTH), torch.float32)[0].double().numpy()
            found = one(torch.zeros(1, LENGTH, 1))
            return (found[1] if isinstance(found, tuple) else found)[0].double().numpy()
    raise ValueError("no module with sines of lags")


def run_rows(model, at):
    """The row of the table that each lag (query minus key) reads, from -L to L, by what the look-up is given."""
    table = at.removesuffix(".weight")
    holder, seen = model.get_submodule(table.rpartition(".")[0]), []
    if hasattr(holder, "get_rel_pos"):
        rows, span = holder.get_rel_pos(torch.zeros(1, LONG + 1, 8))[0], model.get_submodule(table).num_embeddings // 2
        return torch.cat([rows[0].flip(0), rows[1:, 0]]).add(span).clamp(0, 2 * span - 1).numpy()  # as attention does
    model.get_submodule(table).register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    width = getattr(getattr(holder, "linear_q", None), "in_features", 8)
    width, more = (holder.to_q.in_features, [model.attention_dists]) if hasattr(holder, "to_q") else (width, [])
    for run in (
        lambda: holder.compute_bias(LONG + 1, LONG + 1),
        lambda: holder(torch.zeros(1, LONG + 1, width), *more),
    ):
        with contextlib.suppress(Exception):
            run()
    rows = seen[0]
    return torch.cat([rows[0].flip(0), rows[1:, 0]]).numpy()


def run_convolution(model, at):
    """How many positions before and behind one a convolution of positions sees."""
    path = at.partition("pos_conv_embed")
    module, middle = model.get_submodule(path[0] + path[1]), 400
    width = max(one.shape[0] for one in module.parameters() if one.dim() == 3)
    given, reach = torch.randn(1, 2 * middle, width, generator=torch.Generator().manual_seed(1)), []
    for place in (middle, middle + 1):  # some join two positions
        changed = given.clone()
        changed[0, place] += torch.randn(width, generator=torch.Generator().manual_seed(2))
        first, second = (_convolve(module, one) for one in (given, changed))
        step = given.shape[1] // first.shape[1]
        moved = step * (first - second).abs().amax(dim=(0, 2)).nonzero().flatten()
        reach.append((int(moved.max()) - place, place - int(moved.min())))
    return tuple(map(max, zip(*reach, strict=True)))


@torch.no_grad()
def _convolve(module, given):
    try:
        return module(given)
    except RuntimeError:  # channels come first
        return module(given.transpose(1, 2)).transpose(1, 2)


def run_window(model, at):
    """The side of a window whose bias comes from a network, that by which offsets are scaled, and heads."""
    module = model.get_submodule(at.partition(".continuous_position_bias_mlp")[0])
    table = module.relative_coords_table
    window, far = (table.shape[1] + 1) // 2, float(table.abs().max())
    trained = round((window - 1) * 8 / (2 ** (far * math.log2(8)) - 1)) + 1
    return window, trained, module.continuous_position_bias_mlp[2].weight.shape[0]


def run_axes(model, at):
    """The first row of a grid for which a class with a table for each axis has no row, and fails."""
    table = model.get_submodule(at.removesuffix(".weight"))
    holder, rows = model.get_submodule(at.removesuffix(".weight").rpartition(".")[0]), table.num_embeddings

    def call(place):
        if hasattr(holder, "patch_projection"):
            patches = torch.zeros(1, 1, 2 + holder.patch_projection.in_features)
            patches[..., 0] = place
            return holder(patches)
        shape = torch.Size((1, 1, place + 1, 1))
        given = (shape, CPU, torch.float32) if "shape" in inspect.signature(holder.forward).parameters else None
        return holder(*(given or (torch.zeros(shape), None)))

    call(rows - 1)
    with contextlib.suppress(IndexError):
        call(rows)
        raise ValueError("places beyond the table have a row")
    return (rows,)


# --------------------------------------------------------------------- laws


def make_sines(places, d, rho):
    """Sines and cosines of places (S,) in d columns in all, at frequencies rho**(-2i/d)."""
    w = rho ** (-2 * np.arange(d // 2) / d)
    return np.sin(np.outer(places, w)), np.cos(np.outer(places, w))


def in_turns(sines, cosines):
    return np.stack([sines, cosines], axis=-1).reshape(len(sines), -1)


def list_grid_laws(d, rho):
    """Every law of a grid by its name and parameters, with its vectors."""
    y, x = (one.ravel() for one in np.meshgrid(np.arange(HEIGHT), np.arange(WIDTH), indexing="ij"))
    for normalise, centred in itertools.product(("yes", "no"), repeat=2):
        places = [one + (0.5 if centred == "yes" else 1.0) for one in (y, x)]
        if normalise == "yes":
            places = [2 * math.pi * one / (side + 1e-6) for one, side in zip(places, (HEIGHT, WIDTH), strict=True)]
        halves = [in_turns(*make_sines(one, d // 2, rho)) for one in places]
        law = {"name": "detr-sine", "normalise": normalise} | ({"centred": "yes"} if centred == "yes" else {})
        yield law, np.concatenate(halves, axis=1)
    (sin_y, cos_y), (sin_x, cos_x) = (make_sines(one, d // 2, rho) for one in (y, x))
    orders = {
        "mae": (sin_x, cos_x, sin_y, cos_y),
        "timm": (sin_y, sin_x, cos_y, cos_x),
        "timm-interleaved": (sin_y, cos_y, sin_x, cos_x),
    }
    for order, parts in orders.items():
        yield {"name": "sincos2d", "order": order}, np.concatenate(parts, axis=1)


def list_lag_laws(rows, d, rho):
    """Every law of lags, with its vectors in the orders that modules have."""
    for first, step in itertools.product(range(-LENGTH, LENGTH + 1), (-1, 1)):
        lags = first + step * np.arange(rows)
        pair = make_sines(lags, d, rho)
        yield {"name": "transformer-xl", "layout": "concatenated"}, np.hstack(pair)
        yield {"name": "transformer-xl", "layout": "interleaved"}, in_turns(*pair)
        for last in range(1, LENGTH):  # lags beyond it have its code
            yield {"max_lag": last}, np.hstack(make_sines(lags.clip(-last, last), d, rho))


def find_sines(codes, laws, bases):
    """The law that vectors follow, with d and rho; None where they follow none."""
    d = codes.shape[1]
    for rho in bases:
        for law, made in laws(d, rho) if d % 4 == 0 else ():
            if np.abs(made - codes).max() < 1e-5:
                return law | {"d": d, "rho": rho}
    return None


def find_rows(rows, table, numbers):
    """The law by which lags read rows: buckets of DeBERTa or T5, or a row for each up to some; None without one.

    `before` and `behind`: so many positions before and behind a query have a row each, of a table of so many rows.
    """
    long = len(rows) // 2
    lags = np.arange(-long, long + 1)
    n = np.abs(lags)
    for sign in (1, -1):
        offset = int(rows[long])
        moved = sign * (rows - offset)
        if np.array_equal(moved, np.clip(lags, moved[0], moved[-1])):
            ends = sorted((sign * (0 - offset), sign * (table - 1 - offset)))
            return {"before": min(ends[1], int(moved[-1])) if moved[-1] < long else ends[1],
                    "behind": -(max(ends[0], int(moved[0])) if -moved[0] < long else ends[0])}  # fmt: skip
    for buckets, most in itertools.product(numbers, repeat=2):
        for name, exact, half in (("deberta", buckets // 2, buckets), ("t5", buckets // 4, buckets // 2)):
            if exact < 2 or most - 1 <= exact:
                continue
            far = np.log(np.maximum(n, exact) / exact)
            if name == "deberta":
                far = exact + np.ceil(far / math.log((most - 1) / exact) * (half - exact - 1))
                made = np.clip(half + np.sign(lags) * np.where(n <= exact, n, far), 0, 2 * half - 1)
            else:
                far = exact + np.floor(far / math.log(most / exact) * (half - exact) + 1e-9)
                made = np.where(lags < 0, half, 0) + np.where(n < exact, n, np.minimum(far, half - 1))
            if np.count_nonzero(made != rows) <= 2:  # logarithms in float32 round at a border
                return {"name": name, "buckets": buckets, "max_distance": most}
    return None


# --------------------------------------------------------------------- one class


def compute(kind, model, at):
    """What the module of a scheme computes."""
    if kind in ("sine-2d", "transformer-xl"):
        return {"sine-2d": run_grid, "transformer-xl": run_lags}[kind](model, at)
    if kind in ("convolutional", "axial-tables"):
        return {"convolutional": run_convolution, "axial-tables": run_axes}[kind](model, at)
    return run_window(model, at) if "continuous" in at else run_rows(model, at)


def fit(kind, model, at, keys):
    """The law of a scheme in a model that is built; None where it follows none that is known here."""
    found = compute(kind, model, at)
    if kind in ("sine-2d", "transformer-xl"):
        bases = sorted({*BASES, *(float(one) for key, one in keys.items() if BASE.search(key))}, reverse=True)
        laws = list_grid_laws if kind == "sine-2d" else lambda d, rho: list_lag_laws(len(found), d, rho)
        return find_sines(found, laws, bases)
    if kind == "convolutional":
        return dict(zip(("before", "behind"), found, strict=True))
    if kind == "axial-tables":
        return {"fails_from": found[0]}
    if kind == "window-bias":
        return {"name": "swin", "mode": "cpb"} | dict(zip(("window", "trained", "heads"), found, strict=True))
    numbers = sorted({one for key, one in keys.items() if type(one) is int and FOLLOWED.search(key) and 7 < one < 8192})
    shape = model.get_submodule(at.removesuffix(".weight")).weight.shape
    law = find_rows(found, shape[0], numbers)
    if law is None:
        return None
    law |= {"heads" if kind == "bucketed-bias" else "d": shape[1]}
    if kind == "shaw" and law["before"] == law["behind"]:
        return {"name": "shaw", "clip": law["before"], "d": law["d"]}
    return law


def build_both(cls, of, keys, kind, at):
    """The model with the module of a scheme on the CPU, where it has real numbers."""
    model = build_any(cls, of, keys)
    if model is None:
        return None
    kept = [one for one in model.modules() if OF_LAGS.search(type(one).__name__)]
    name = at.partition("pos_conv_embed")[0] + "pos_conv_embed" if "pos_conv" in at else at
    name = name.partition(".continuous_position_bias_mlp")[0]
    if kind in ("bucketed-bias", "shaw", "axial-tables"):
        name = name.removesuffix(".weight").rpartition(".")[0]
    if kind in ("bucketed-bias", "shaw", "axial-tables", "convolutional", "window-bias"):
        kept += [model.get_submodule(name)]
    for one in kept:
        _keep_on_cpu(type(one))
    BUILT.clear()
    GIVEN.clear()
    if hasattr(model, "attention_dists"):
        return build(cls, of, keys, device="cpu")
    return build_any(cls, of, keys) if kept else model


class Asked:
    """A scheme of a class: what it computes, and which law it follows, with any keys."""

    def __init__(self, of, classes, fact):
        self.of, self.kind, self.at = of, fact["kind"], fact["at"]
        self.cls, needed, _ = build_first(classes, of)
        self.needed = {**needed, **dict([fact["if"]] if "if" in fact else [])}
        self.default = of.from_dict(dict(self.needed)).to_dict()
        if self.kind == "disentangled":  # which classes ask for whether they have them or not
            self.default = {"position_buckets": -1, "max_relative_positions": -1} | self.default

    def build(self, keys):
        with contextlib.suppress(Exception):
            return build_both(self.cls, self.of, {**self.needed, **keys}, self.kind, self.at)
        return None

    def fit(self, keys):
        model = self.build(keys)
        with contextlib.suppress(Exception):
            return fit(self.kind, model, self.at, {**self.default, **keys})
        return None

    def measure(self, way):
        """The law with each size as it follows a key; None where none fits the class with the keys of this way."""
        law = self.fit(way)
        if law is None:
            return None
        moved, held, later = {}, [], {}
        for key, default in self.default.items():
            value = way.get(key, read_first(default))
            is_number = type(value) in (int, float)
            if not FOLLOWED.search(key) or not (is_number or (value is None and "scale" in key)):
                continue
            if key in way and value < 1:
                continue
            tried = [2 * value] if value and value > 0 else [384 if is_number else 1.0]
            tried += [2 * value + 1] if self.kind == "convolutional" else []
            given = {one: {**way, key: [one] * len(default) if isinstance(default, list) else one} for one in tried}
            laws = {one: self.fit(keys) for one, keys in given.items() if self.build(keys) is not None}
            if self.kind == "convolutional":  # some fail with an odd kernel
                laws = {one: found for one, found in laws.items() if found is not None or one % 2 == 0}
            if any(one is None for one in laws.values()):
                held.append([key, default])
            elif is_number and value < 1:
                later |= {key: laws}
            elif any(one != law for one in laws.values()):
                moved[key] = {value: law, **laws}
        return self.follow(law, moved, held, later)

    def follow(self, law, moved, held, later):
        """Put in place of each size the key that it follows: [key, times, plus, default], rounded down.

        A list of such: the first whose value is above 0. A size that is made of several keys is left out, or they are
        held where a formula needs it.
        """
        found, held = dict(law), list(held)
        for size, value in law.items():
            changed = {key: laws for key, laws in moved.items() if any(one[size] != value for one in laws.values())}
            if not isinstance(value, int | float) or not changed:
                continue
            lines = [self._explain(key, {was: one[size] for was, one in laws.items()}) for key, laws in changed.items()]
            found[size] = lines[0]
            if len(lines) > 1 or lines[0] is None:
                needed = "name" in law or size not in ("d", "heads")
                found |= {size: value if needed else None}
                held += [[key, self.default[key]] for key in changed if needed]
        for key, laws in later.items():
            for size, value in law.items():
                first = [self._explain(key, {was: one[size]}) for was, one in laws.items() if one[size] != value]
                found[size] = [*first, found[size]] if first else found[size]
        held = [one for place, one in enumerate(held) if one not in held[:place]]
        return {size: one for size, one in found.items() if one is not None} | ({"held": held} if held else {})

    def _explain(self, key, values):
        """times key + plus, rounded down, with its default; None where that is not the law."""
        for times, plus in itertools.product((1, 2, 0.5), (0, -1, -0.5)):
            if all(math.floor(times * key_value + plus) == size for key_value, size in values.items()):
                return [key, times, plus, read_first(self.default[key])]
        return None


def read_first(value):
    """The first of a list."""
    return value[0] if isinstance(value, list) and value else value


def list_ways(asked):
    """The keys with each of which a law is looked for."""
    for key, values in WAYS.items():
        if key in asked.default and asked.kind in ("disentangled", "transformer-xl"):
            return [{key: value} for value in values]
    return [{}]


def draw(asked, made, generator):
    """What the real module computes with drawn keys: [keys, numbers]; None where they are refused."""
    laws = [law for law in made.values() if isinstance(law, list)]
    flat = [one for law in laws for one in (law if law and isinstance(law[0], list) else [law]) if len(one) == 4]
    keys = {key: default * generator.randint(1, 2) if default > 0 else 256 for key, _, _, default in flat}
    keys = {key: [size] * len(asked.default[key]) if isinstance(asked.default[key], list) else size
            for key, size in keys.items()}  # fmt: skip
    model = asked.build(keys)
    with contextlib.suppress(Exception):
        found = np.asarray(compute(asked.kind, model, asked.at))
        if found.ndim == 2:  # some columns of all places
            columns = np.unique(np.linspace(0, found.shape[1] - 1, 12).astype(int)).tolist()
            return [keys, {"d": found.shape[1], "columns": columns, "codes": np.round(found[:, columns], 6).tolist()}]
        if found.size > 8:  # where lags begin to read another row
            return [
                keys,
                {"reach": len(found) // 2, "first": int(found[0]), "steps": np.flatnonzero(np.diff(found)).tolist()},
            ]
        return [keys, found.tolist()]
    return None


def main(chosen):
    name = version("transformers")
    file, here = FOLDER / f"transformers-{name}-schemes.json", pathlib.Path(__file__).parent
    whole = json.loads(file.read_text(encoding="utf-8"))
    frozen = here / f"formulas-{name}.json.gz"
    drawn = json.loads(gzip.decompress(frozen.read_bytes())) if chosen else {}
    models, configs = list_models(), list_default_configs()
    for of, one in sorted(whole["types"].items()):
        for fact in one["has"] or () if not one.get("read") and (not chosen or of in chosen) else ():
            if fact["kind"] not in KINDS and "hidden" not in fact:
                continue
            fact.pop("made", None)
            made = []
            with contextlib.suppress(Exception):
                asked = Asked(configs[of], find_classes(configs[of], models) or find_modules(configs[of]), fact)
                laws = [asked.measure(way) for way in list_ways(asked)]
                made = [law for place, law in enumerate(laws) if law is not None and law not in laws[:place]]
            print(of, fact["kind"], json.dumps(made), flush=True)
            if made:
                fact["made"] = made
                generator = random.Random(of)
                drawn_from = next((law for law in made if "name" in law), made[0])
                cases = [draw(asked, drawn_from, generator) for _ in range(2)]
                drawn[f"{of} {fact['kind']}"] = [case for case in cases if case]
    head = {key: value for key, value in whole.items() if key != "types"}
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(whole["types"].items()))
    text = json.dumps(head, indent=1).rstrip("\n}") + ',\n "types": {\n' + lines + "\n }\n}\n"
    file.write_text(text, encoding="utf-8")
    frozen.write_bytes(gzip.compress(json.dumps(drawn, sort_keys=True).encode(), mtime=0))


#: Kinds whose law is looked for.
KINDS = ("sine-2d", "transformer-xl", "disentangled", "bucketed-bias", "shaw", "convolutional", "axial-tables")


if __name__ == "__main__":
    main(sys.argv[1:])
