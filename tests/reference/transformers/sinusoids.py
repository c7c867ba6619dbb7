"""Measure which sines and cosines the classes of an installed transformers add; write the package's list of it.

`tests/reference/measure.py transformers VERSION` runs it after tables.py and schemes.py, whose tables in
pe_spectra/models/measured say which classes have a fixed table or a module of sines, and where. Each is built with real
numbers and run on a few words, sounds or numbers; what it adds to each position is held against laws that are written
here as papers and code have them: nothing of pe_spectra is imported. Then the width, the word of the padding and the
keys of a base are changed, and the law must follow, and `widths` are those at which it did; `fails` and `fails_at` have
values and widths with which the class cannot be built or run, or gives nan. Where tables.py has no
number of rows, it is told whether rows are made for any position, or else which keys move their number. What follows no
law is listed with the reason.
It writes pe_spectra/models/measured/transformers-VERSION-sinusoids.json, and freezes rows of the real modules into
sinusoids-VERSION.json.gz here. With model_types as arguments it measures these anew and keeps the others. One core,
some minutes.
"""

import contextlib
import datetime
import gzip
import itertools
import json
import pathlib
import re
import sys
from importlib.metadata import version

import numpy as np
import torch
from real_modules import PATIENCE, be_patient
from schemes import find_classes, find_modules, list_default_configs
from tables import FOLDER, double, list_models
from tables import LENGTHS as ROWS
from torch import nn
from torch.overrides import TorchFunctionMode

#: Positions that are asked for, and of whose rows some are frozen.
LENGTH, FROZEN, COLUMNS = 40, (0, 1, 2, 3, 8, 39), 9
#: Bases that classes have where no key gives one, and factors on all entries, as powers of the width.
BASES, POWERS = (10000.0,), (0.0, -0.5, 0.5)
#: Widths that are tried: a law holds at the first two; odd ones and those with one frequency are often refused.
BOTH, OTHERS = (48, 130), (51, 2, 3, 4, 5)
#: Keys that a law may follow: the word of the padding, and what a base or scale could be called.
PADDING = re.compile(r"pad_token_id$")
BASE = re.compile(r"timescale|temperature|theta|max_scale")
#: Keys that make a model small, and those with its heads, which then divide any width.
SMALL = {
    re.compile(r"^(?!.*(conv|feat)).*(^|_)(n_)?layers?$|depth"): 1,
    re.compile(r"ffn_dim|intermediate|d_ff|dff"): 8,
}
HEADS = re.compile(r"heads?$")
WIDTHS = ("d_model", "hidden_size", "embed_dim", "n_embd", "input_size")
#: Switches that add what is measured, by the kind of data that a class needs to be built at all.
NEEDED = ({}, {"prediction_length": 24, "context_length": 48})


# --------------------------------------------------------------------- what the real modules compute


class Watch(TorchFunctionMode):
    """The rows of a table that a model looks up, or adds as they stand."""

    def __init__(self, table):
        super().__init__()
        self.places, self.width, self.found = {table.untyped_storage().data_ptr()}, table.shape[-1], []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result, name = func(*args, **(kwargs or {})), getattr(func, "__name__", "")
        own = [one for one in args if isinstance(one, torch.Tensor) and self._is_of_table(one)]
        if own and name in ("embedding", "index_select", "__getitem__"):
            self.found.append(result.clone())  # some models write into what they looked up
        elif own and name in ("add", "__add__", "__radd__", "add_", "__iadd__"):
            self.found.append(own[0].clone())
        elif own and name in ("to", "type_as", "clone", "expand"):
            self.places.add(result.untyped_storage().data_ptr())
        return result

    def _is_of_table(self, one):
        is_real = one.device.type == "cpu" and one.shape[-1:] == (self.width,)
        return is_real and one.untyped_storage().data_ptr() in self.places


def list_inputs(config, width):
    """What models are run on: words, sounds, numbers, pictures."""
    words = torch.full((1, LENGTH), 41)
    mel = getattr(config, "num_mel_bins", None) or 80
    both = {"input_ids": words, "decoder_input_ids": words}
    yield both
    yield {"input_ids": words}
    if hasattr(config, "num_codebooks"):
        yield {"input_ids": torch.full((config.num_codebooks, LENGTH), 41)}
    if hasattr(config, "lags_sequence"):
        long = config.context_length + max(config.lags_sequence)
        past = {"past_values": torch.rand(1, long), "past_observed_mask": torch.ones(1, long)}
        yield {**past, "past_time_features": torch.zeros(1, long, config.num_time_features)}
    yield {"decoder_input_ids": words, "encoder_outputs": (torch.zeros(1, LENGTH, width),)}
    for shape in ((1, mel, 3000), (1, 3000, mel)):
        yield {"input_features": torch.zeros(shape), "decoder_input_ids": words}
        yield {"input_features": torch.zeros(shape)}
    yield {"input_values": torch.zeros(1, 16000), "decoder_input_ids": words}
    yield {"input_values": torch.zeros(1, 16000)}
    yield {"input_features": torch.zeros(1, LENGTH, width), "attention_mask": torch.ones(1, LENGTH)}
    yield {"input_features": torch.zeros(mel, 800), "feature_lens": torch.tensor([800])}
    yield {
        "past_values": torch.rand(1, 512),
        "past_values_padding": torch.zeros(1, 512),
        "freq": torch.zeros(1, 1).long(),
    }
    yield {"pixel_values": torch.zeros(1, 16, 3, 224, 224)}
    yield {"hidden_states": torch.zeros(1, LENGTH, width)}


def list_calls(width, length=LENGTH):
    """How a module of sines is called by itself."""
    shape, words = torch.Size((1, length)), torch.full((1, length), 41)
    yield shape
    yield words
    yield torch.Size((1, length, width))
    yield torch.zeros(1, length, width)
    yield length


def find_table(model, at):
    """The module at a place, None for what is an attribute, and its table, None where it has none."""
    path, _, last = at.rpartition(".")
    inner = dict(model.named_modules())
    module = inner.get(at)
    held = [getattr(module, name, None) for name in ("weight", "weights")] if module else [getattr(inner[path], last)]
    return module, next((one for one in held if isinstance(one, torch.Tensor)), None)


@torch.no_grad()
def grows(model, at, width):
    """Whether a module makes rows for positions beyond those of its table."""
    module, table = find_table(model, at)
    longer = LENGTH + (0 if table is None else table.shape[-2])
    for given in list_calls(width, longer) if module else ():
        with contextlib.suppress(Exception), be_patient(PATIENCE):
            found = module(given)
            if isinstance(found, torch.Tensor) and found.shape[-2:] == (longer, width):
                return True
    return False


def find_rows(value, width):
    """Rows of positions, shape (S, d), of what a module gave; None where it is something else."""
    if not isinstance(value, torch.Tensor) or value.shape[-1] != width or not value.is_floating_point():
        return None
    rows = value.detach().double().reshape(-1, value.shape[-2], width)[0].numpy() if value.dim() > 1 else None
    return rows[:LENGTH] if rows is not None and len(rows) > 2 else None


@torch.no_grad()
def run(model, at, width, only=None):
    """The rows that a model adds to its first positions, with which input they were had, and whether it failed.

    `only` is the number of the input that is tried, else all are. The number goes over to calls of the module alone. It
    failed where the last input gave no rows but an error.
    """
    path, _, last = at.rpartition(".")
    inner = dict(model.named_modules())
    module = inner.get(at) or inner.get(path)
    table = getattr(inner.get(path), last, None) if at not in inner else getattr(module, "weight", None)
    alone = at in inner or (path and len([*module.parameters(), *module.buffers()]) == 1)
    seen, failed = [], False
    if not isinstance(module, nn.Module):
        return None, None, False
    if alone:
        module.register_forward_hook(lambda _, __, out: seen.append(out.clone()))
    watch = Watch(table if isinstance(table, torch.Tensor) else torch.zeros(1, width))
    calls = [(model, given, {}) for given in list_inputs(model.config, width)]
    calls = [(of, (), given) for of, given, _ in calls] + [
        (module, (given,), {}) for given in list_calls(width) if alone
    ]
    for number, (of, given, named) in enumerate(calls):
        if only not in (None, number):
            continue
        try:
            with be_patient(PATIENCE), watch:
                of(*given, **named)
            failed = False
        except TimeoutError:
            failed = False
        except Exception:
            failed = True  # what comes behind the rows may fail, too
        for one in (*seen, *([] if seen else watch.found)):
            rows = find_rows(one, width)
            if rows is not None:  # also where all are 0: the padding of some is what others take for a position
                return rows, (number, "model" if of is model else "module"), False
    return None, None, failed


# --------------------------------------------------------------------- laws


def make_columns(places, w, layout, d):
    """Sines and cosines of places (S,) in d columns; behind a sine or a pair less than d columns hold come zeros."""
    sines, cosines = np.sin(np.outer(places, w)), np.cos(np.outer(places, w))
    if layout == "interleaved":
        found = np.stack([sines, cosines], axis=-1).reshape(len(sines), -1)[:, :d]
    else:
        found = np.hstack([cosines, sines] if layout == "cosines-first" else [sines, cosines])[:, :d]
    return np.hstack([found, np.zeros((len(found), d - found.shape[1]))])


def list_laws(d, bases):
    """Every law of a ladder by its name and parameters, with its frequencies."""
    half = d // 2
    for base in bases:
        for layout in ("interleaved", "concatenated"):
            yield {"name": "sinusoidal", "layout": layout, "rho": base}, base ** (-2 * np.arange((d + 1) // 2) / d)
        for layout in ("concatenated", "cosines-first") if half > 1 else ():
            law = {"name": "tensor2tensor", "layout": layout, "max_timescale": base}
            yield law, base ** (-np.arange(half) / (half - 1))


def list_fits(rows, bases, offsets):
    """The laws that rows follow, each with the power of the width that scales it."""
    count, d = rows.shape
    for (law, w), offset, power in itertools.product(list_laws(d, bases), offsets, POWERS):
        places = offset + np.arange(count)
        made = d**power * make_columns(places, w, law["layout"], d)
        # angles are products of float32 numbers
        if (np.abs(made - rows) <= d**power * (1e-6 + 3e-7 * places[:, None])).all():
            yield law | {"offset": offset, "power": power}


# --------------------------------------------------------------------- one class


class Asked:
    """The sines of a class with any keys."""

    def __init__(self, of, classes, at, needed, columns):
        self.of, self.classes, self.at, self.needed = of, classes, at, needed
        self.default, self.cls = of().to_dict(), None
        self.form, self.failed = None, False  # the input with which rows were had first, and whether the class failed
        self.key, self.width = columns[:2] if isinstance(columns, list) else (None, columns)
        self.times = 1
        if isinstance(columns, list):  # a key with its default, and some times another
            self.times = columns[3] if len(columns) > 2 else 1
        elif columns is None:
            self.key = next((one for one in WIDTHS if one in self.default), None)
            self.width = self.default.get(self.key)
        self.heads = {key: 1 for key, value in self.default.items() if type(value) is int and HEADS.search(key)}

    def build(self, keys, seed=1):
        """The model, small; None where no class that has the module can be built, which `self.failed` is True of.

        It is not True of what takes too long.
        """
        self.failed = True
        small = {
            key: size
            for key, value in self.default.items()
            for name, size in SMALL.items()
            if type(value) is int and name.search(key)
        }
        for cls, more in itertools.product([self.cls] if self.cls else self.classes[:8], NEEDED):
            with contextlib.suppress(Exception), self._watch_time():
                config = self.of.from_dict({**small, **self.needed, **more, **keys})
                pads = [value for key, value in config.to_dict().items() if PADDING.search(key) and type(value) is int]
                if hasattr(config, "vocab_size"):
                    config.vocab_size = max(64, *[one + 1 for one in pads], 0)
                torch.manual_seed(seed)
                model, inner = cls(config).eval(), self.at.rpartition(".")
                modules = dict(model.named_modules())
                if self.at in modules or hasattr(modules.get(inner[0]), inner[2]):
                    self.cls = cls
                    return model
        return None

    @contextlib.contextmanager
    def _watch_time(self):
        try:
            with be_patient(PATIENCE):
                yield
        except TimeoutError:
            self.failed = False
            raise

    def run(self, keys, seed=1):
        """The rows with these keys; None where there are none, and `self.failed` is True where the class failed."""
        model = self.build(keys, seed)
        if model is None:
            return None
        rows, form, self.failed = run(model, self.at, self.find_width(keys), self.form and self.form[0])
        self.form = self.form or form
        return rows

    def fails(self, rows):
        """Whether a class failed, or what it gave are no numbers."""
        return self.failed or (rows is not None and not np.isfinite(rows).all())

    def find_width(self, keys):
        size = keys.get(self.key, self.width)
        return size if size is None else size * self.times

    def fit(self, keys):
        """The first law with these keys, the rows, and whether the class fails."""
        laws, rows = self.list_fits(keys)
        return next(iter(laws), None), rows, self.fails(rows)

    def list_fits(self, keys):
        """The laws with these keys, and the rows."""
        rows, config = self.run(keys), {**self.default, **self.needed, **keys}
        asked = [float(value) for key, value in config.items() if BASE.search(key) and value and value > 1]
        pads = [value + 1 for key, value in config.items() if PADDING.search(key) and type(value) is int]
        bases, offsets = sorted({*BASES, *asked}), sorted({0, 1, 2, 3, *pads})
        return [] if rows is None else [*list_fits(rows, bases, offsets)], rows

    def measure(self):
        """The law of a class with what it follows, and the rows of all that was tried; else why there is none."""
        law, rows, _ = self.fit({})
        if law is None:
            return {"unknown": self.explain(rows)}, []
        cases, found, widths, fails = [[{}, rows]], {**law, "run": self.form[1]}, [], []
        for size in (*BOTH, *OTHERS) if self.key else ():
            keys = {**self.heads, self.key: size}
            laws, rows = self.list_fits(keys)
            fails += [size * self.times] if self.fails(rows) else []
            if law in laws:
                widths, cases = [*widths, size * self.times], [*cases, [keys, rows]]
            elif rows is not None and size in BOTH:
                return {"unknown": f"its law is another at a width of {size}"}, []
        for key, value in self.default.items():
            if PADDING.search(key) or (BASE.search(key) and value):
                change, more = self.change(key, value, law)
                found, cases = {**found, **change}, cases + more
        # where one of the first two fails other keys have a part in it
        fails = [] if {size * self.times for size in BOTH} & {*fails} else fails
        return {**found, "widths": widths} | ({"fails_at": [self.key, fails]} if fails else {}), cases

    def change(self, key, value, law):
        """What of a law follows a key, or with which of its values the law holds; and the rows of those tried."""
        tried = [0, 1, 2, 3, 5, None] if PADDING.search(key) else [2 * value]
        found = {one: self.fit({key: one}) for one in tried}
        fails = [one for one, (_, _, failed) in found.items() if failed]
        found = {one: fitted for one, fitted in found.items() if fitted[1] is not None or one is None}
        cases = [[{key: one}, rows] for one, (_, rows, _) in found.items() if rows is not None]
        laws = {one: other for one, (other, _, _) in found.items() if other is not None}
        silent = [one for one, (_, rows, _) in found.items() if rows is not None and not rows.any()]
        more = {"silent": [key, silent]} if silent else {}
        more |= {"fails": [key, fails]} if fails else {}
        for size, plus in (("offset", 1), ("rho", 0), ("max_timescale", 0)):
            stated = {one: other for one, other in laws.items() if one is not None}
            follows = size in law and all(other == law | {size: one + plus} for one, other in stated.items())
            if follows and any(other != law for other in stated.values()):
                refused = [one for one in found if one not in stated]
                return {size: [key, plus, value]} | ({"unless": [key, refused]} if refused else {}) | more, cases
        same = [one for one, other in laws.items() if other == law]
        held = [*same, *([value] if type(value) is int and value not in same else [])]
        return ({"held": [key, held]} if len(same) < len(found) else {}) | more, cases

    def count_rows(self):
        """Whether rows are made for any position; else which keys with which defaults add up to the number of rows, or
        move it in another way."""
        model = self.build({})
        if grows(model, self.at, self.width):
            return {"grows": True}

        def count(keys):
            model = self.build(keys)
            return None if model is None else find_table(model, self.at)[1].shape[-2]

        rows, moved = count({}), {}
        for key, value in {**self.default, **NEEDED[1]}.items():
            if type(value) is int and ROWS.search(key):
                more = count({key: double(value)})
                moved |= {key: (value, more - rows)} if more not in (None, rows) else {}
        adds = all(value == more for value, more in moved.values()) and rows == sum(one for one, _ in moved.values())
        return {"rows" if adds else "moved_by": [[key, self.default.get(key)] for key in moved]}

    def explain(self, rows):
        if rows is None:
            return "it could not be run"
        other = self.run({}, seed=2)
        if other is not None and np.abs(other - rows).max() > 1e-3:
            return "its class starts from random numbers"
        return "it follows no law that is known here"


def shorten(law):
    """A law without what is the default of the catalogue."""
    defaults = {"offset": 0, "power": 0.0}
    return {key: value for key, value in law.items() if key not in defaults or value != defaults[key]}


def list_places(tables, schemes):
    """Where a class has sines, as the tables of the package have it: model_type, place, switch, width."""
    for of, found in tables.items():
        for one in found:
            if one.get("fixed") and {"keys", "series"} & one.keys() and "rotary" not in one["at"]:
                yield of, one["at"], {}, one["columns"]
    for of, one in schemes.items():
        for fact in one.get("has") or ():
            # what some architectures alone have was read: SpeechT5's are times a number that is learned
            if fact["kind"] == "sinusoidal" and fact.get("if", [""])[0] != "architectures":
                yield of, fact["at"], dict([fact["if"]] if "if" in fact else []), None


def freeze(cases):
    """Some rows and columns of what real modules gave, with the keys."""
    for keys, rows in cases:
        places = [one for one in FROZEN if one < len(rows)]
        columns = sorted({round(one) for one in np.linspace(0, rows.shape[1] - 1, COLUMNS)})
        yield [keys, rows.shape[1], places, columns, np.round(rows[np.ix_(places, columns)], 8).tolist()]


def main(chosen):
    name, here = version("transformers"), pathlib.Path(__file__).parent
    models, configs = list_models(), list_default_configs()
    tables, schemes = (
        json.loads((FOLDER / f"transformers-{name}-{one}.json").read_text(encoding="utf-8"))
        for one in ("tables", "schemes")
    )
    file, frozen = FOLDER / f"transformers-{name}-sinusoids.json", here / f"sinusoids-{name}.json.gz"
    types = json.loads(file.read_text(encoding="utf-8"))["types"] if chosen else {}
    drawn = json.loads(gzip.decompress(frozen.read_bytes())) if chosen else {}
    for of, at, needed, columns in sorted(list_places(tables["tables"], schemes["types"]), key=lambda one: one[:2]):
        if chosen and of not in chosen:
            continue
        classes = find_classes(configs[of], models) or find_modules(configs[of])
        asked = Asked(configs[of], classes, at, needed, columns)
        law, cases = asked.measure()
        if "name" in law and not any(one["at"] == at and "keys" in one for one in tables["tables"].get(of, ())):
            law |= asked.count_rows()
        print(of, at, json.dumps(law), flush=True)
        types[of] = {**types.get(of, {}), at: shorten(law)}
        drawn[f"{of} {at}"] = list(freeze(cases))
    head = {"stack": "transformers", "version": name, "torch": version("torch").partition("+")[0]}
    head |= {"date": datetime.datetime.now(tz=datetime.UTC).date().isoformat()}
    head |= {"written by": "tests/reference/transformers/sinusoids.py"}
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(types.items()))
    text = json.dumps(head, indent=1).rstrip("\n}") + ',\n "types": {\n' + lines + "\n }\n}\n"
    file.write_text(text, encoding="utf-8")
    frozen.write_bytes(gzip.compress(json.dumps(drawn, sort_keys=True).encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
