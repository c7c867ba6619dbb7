"""Measure the tables of positions of an installed transformers; write the package's list of them.

`tests/reference/measure.py transformers VERSION` runs it, as the others of this folder.
It writes pe_spectra/models/measured/transformers-VERSION-tables.json: for each model_type whose class has tables with
a row for each position, the keys that their number of rows follows, how many rows are there beside, which of them the
first position reads, and whether training moves them. Nothing is read from source: models are built on PyTorch's meta
device and one key at a time is changed; then each is run once, as small as can be, and the rows are watched. One core,
some five minutes; with model_types as arguments it prints what it measures of these and writes nothing. Beside it the
rows that the real models have at other, drawn lengths and sizes are frozen into tables-VERSION.json.gz here.
"""

import contextlib
import datetime
import gzip
import importlib
import itertools
import json
import math
import pathlib
import random
import re
import sys
from importlib.metadata import version

import torch
import transformers
from real_modules import be_patient, find_config, rank
from torch import nn
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

FOLDER = pathlib.Path(__file__).parents[3] / "pe_spectra" / "models" / "measured"
#: The names of what has a row for each position, and of what only sounds like it.
NAMED = re.compile(r"(^|[._])(pos|positions?|positional)_?(emb|enc)|embed_positions|(^|\.)wpe\.|position_embeds_layer")
OTHER = re.compile(r"conv|rel|bias|inv_freq|norm|proj|mlp|linear|pe_k|ids$|alpha|head|window|mid_")
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers", "depth")
#: Keys that a number of rows may follow.
LENGTHS = re.compile(r"position|length|size|patch|ctx|frames|max_|context|seq|pad_token_id")
WIDTHS = re.compile(r"hidden|embedding_size|embed_dim|vocab|intermediate|kernel|head|window|batch|codebook")
#: Keys of a series, of the patches that are cut from it and of how far apart they begin.
SERIES = re.compile(r"length|stride")
#: What says that a table is trained, for classes that have fixed ones too.
WORDS = ({"positional_encoding_type": "random"},)
#: What some classes need before they can be built, or add a table at all.
NEEDED = ({}, {"prediction_length": 24, "context_length": 48}, {"use_qformer_text_input": True})
ALIASES = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")
#: Processor seconds; some classes draw a billion numbers.
PATIENCE = 120
#: Parameters that are drawn at most, 8 GiB: what has more is not run, and where its first row is stays unknown.
MOST_DRAWN = 1 << 31


def list_models():
    """The classes of models by the class of their configuration."""
    found = {}
    for path in sorted((pathlib.Path(transformers.__file__).parent / "models").glob("*/modeling_*.py")):
        if path.stem.startswith(("modeling_tf_", "modeling_flax_")):
            continue
        with contextlib.suppress(ImportError):  # of libraries that are not needed for anything else
            module = importlib.import_module(f"transformers.models.{path.parent.name}.{path.stem}")
            for cls in vars(module).values():
                if isinstance(cls, type) and issubclass(cls, PreTrainedModel) and cls.__module__ == module.__name__:
                    found.setdefault(find_config(cls), []).append(cls)
    return {of: sorted(some, key=lambda cls: (rank(cls), len(cls.__name__))) for of, some in found.items() if of}


def build(cls, of, keys, device="meta"):
    """The model of a configuration with these keys, of one layer and few words; None where it is refused."""
    with contextlib.suppress(Exception), be_patient(PATIENCE):
        config = of.from_dict(dict(keys))
        for key in LAYERS:
            if isinstance(getattr(config, key, None), int):
                setattr(config, key, 1)
        if hasattr(config, "vocab_size"):
            config.vocab_size = max(64, (getattr(config, "pad_token_id", 0) or 0) + 1)
        with torch.device("meta"):
            model = cls(config)
        if device != "meta":
            if sum(value.numel() for value in model.parameters()) > MOST_DRAWN:
                return None
            with torch.device(device):
                model = cls(config)
        return model.eval()
    return None


def list_tables(model):
    """What has a row for each position, by where it is."""
    found = {}
    for name, value in (*model.named_parameters(), *model.named_buffers()) if model is not None else ():
        last = name.split(".")
        if NAMED.search(".".join(last[-3:])) and not OTHER.search(".".join(last[-2:])):
            shape = [size for size in value.shape if size != 1]
            found |= {name: value} if len(shape) == 2 else {}
    return found


def count(cls, of, keys, name):
    value = list_tables(build(cls, of, keys)).get(name)
    return None if value is None else max(value.shape[:-1])


def list_keys(of):
    """Each key that may be a length or the size of a picture, with its default."""
    for key, value in of().to_dict().items():
        many = isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value)
        if (type(value) is int or many) and LENGTHS.search(key) and not WIDTHS.search(key):
            yield key, value


def double(value):
    return [2 * one for one in value] if isinstance(value, list) else 2 * value if value else 7


def explain(cls, of, name, keys):
    """How the number of rows follows from keys; None where no rule that is known here gives it."""
    rows, moved = count(cls, of, keys, name), {}
    for key, value in list_keys(of):
        now = count(cls, of, {**keys, key: double(value)}, name)
        if now is not None and now != rows:
            moved[key] = value, now - rows
    lengths = [key for key, (value, more) in moved.items() if type(value) is int and more == double(value) - value]
    if len(lengths) == 1 and set(moved) <= {lengths[0], "pad_token_id"}:
        (key,) = lengths
        if "pad_token_id" in moved:
            return None
        extra = rows - moved[key][0]
        others = [one for one in ALIASES if one != key]
        others = [one for one in others if count(cls, of, {**keys, one: 2 * rows}, name) == 2 * rows + extra]
        return {"keys": [key, *others], "default": moved[key][0], "extra": extra}
    pictures = [key for key in moved if "patch" not in key]
    patches = [key for key in moved if "patch" in key]
    if len(pictures) == 1 and len(patches) <= 1:
        grid = explain_grid(cls, of, name, rows, keys, pictures[0], *patches)
        return grid or explain_series(cls, of, name, keys)
    return {"rows": rows} if not moved else explain_series(cls, of, name, keys)


def explain_series(cls, of, name, keys):
    """Rows of patches that are cut from a series, a stride apart; None where the number of rows is another.

    A class is known by this that refuses a series no longer than a patch.
    """
    sizes = {key: value for key, value in of().to_dict().items() if type(value) is int and SERIES.search(key)}

    def holds(names, values):
        length, patch, stride = values
        rows = count(cls, of, {**keys, **dict(zip(names, values, strict=True))}, name)
        return rows == ((length - patch) // stride + 1 if length > patch else None)

    for names in itertools.permutations(sizes, 3):
        if all(holds(names, values) for values in ((97, 12, 5), (60, 7, 11), (96, 12, 12), (9, 12, 4), (12, 12, 4))):
            fact = {"series": list(names), "defaults": [sizes[key] for key in names], "extra": 0}
            return fact | find_switches(cls, of, name, keys)
    return None


def find_switches(cls, of, name, keys):
    """The switch that adds a row, and the word with which training moves what else is fixed."""
    found, table = {}, list_tables(build(cls, of, keys))[name]
    for key, value in of().to_dict().items():
        if type(value) is bool and count(cls, of, {**keys, key: not value}, name) == table.shape[-2] + 1:
            found["one_more"] = [key, not value]
    for word in WORDS:
        other = list_tables(build(cls, of, {**keys, **word})).get(name)
        if not table.requires_grad and other is not None and other.requires_grad:
            found["trained_if"] = list(*word.items())
    return found


def explain_grid(cls, of, name, rows, keys, picture, patch=None):
    """Rows of a grid of patches, and some beside; None where another size of picture has another number of them."""
    default = of().to_dict()
    whole, side = default[picture], default.get(patch, 1) if patch else 1
    sides = [side, side] if type(side) is int else side

    def expect(size, sides):
        high, wide = (size, size) if type(size) is int else size
        return (high // sides[0]) * (wide // sides[1])

    extra = rows - expect(whole, sides)
    tried = [({picture: double(whole)}, expect(double(whole), sides))]
    if patch:
        tried += [({patch: double(side)}, expect(whole, [2 * one for one in sides]))]
    if extra < 0 or any(count(cls, of, {**keys, **more}, name) != wanted + extra for more, wanted in tried):
        return None
    return {"picture": picture, "patch": patch or side, "defaults": [whole, side], "extra": extra}


class Watch(TorchFunctionMode):
    """The first row that is read of each table while a model runs."""

    def __init__(self, tables):
        super().__init__()
        self.names, self.first = {value.data_ptr(): name for name, value in tables.items()}, {}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        tensors = [one for one in args if isinstance(one, torch.Tensor)]
        table = next((one for one in tensors if one.data_ptr() in self.names), None)
        if table is not None and getattr(func, "__name__", "") in ("embedding", "index_select", "__getitem__"):
            places = [one for one in tensors if one is not table and not one.is_floating_point() and one.numel()]
            if places:
                self.first.setdefault(self.names[table.data_ptr()], int(places[0].flatten()[0]))
            elif func.__name__ == "__getitem__" and isinstance(args[1], slice):
                self.first.setdefault(self.names[table.data_ptr()], args[1].start or 0)
        return func(*args, **(kwargs or {}))


def watch(cls, of, keys):
    """The row that the first position reads, by table; of tables of words only, which a few numbers run."""
    model = build(cls, of, keys, device="cpu")
    if model is None:
        return {}
    words = torch.tensor([[41, 42, 43, 44]])
    sound = {"input_features": torch.zeros(1, getattr(model.config, "num_mel_bins", 80), 3000)}
    with Watch(list_tables(model)) as seen, torch.no_grad():
        for given in ({"input_ids": words}, {"input_ids": words, "decoder_input_ids": words},
                      {**sound, "decoder_input_ids": words}):  # fmt: skip
            with contextlib.suppress(Exception), be_patient(PATIENCE):
                model(**given)
    return seen.first


def place(cls, of, keys):
    """What says where the first position is, by table: a number of rows, or that it follows the row of the padding."""
    padded = [watch(cls, of, {**keys, "default_language": "en_XX", "pad_token_id": pad}) for pad in (1, 5)]
    found = {}
    for name in {*padded[0]} & {*padded[1]}:
        first, other = (one[name] for one in padded)
        found[name] = (
            {"after_padding": True, "padding": of().pad_token_id} if (first, other) == (2, 6) else {"first": first}
        )
    return found


def grows(cls, of, name, keys):
    """Whether the table is made longer when a position beyond its rows is asked for."""
    model = build(cls, of, keys, "cpu")
    module = model.get_submodule(name.rpartition(".")[0])
    if isinstance(module, nn.Embedding) or not hasattr(module, "make_weights"):
        return False
    longer = max(list_tables(model)[name].shape[:-1]) + 10
    for shape in ((1, longer), (1, 1, longer), (1, longer, 1)):
        with contextlib.suppress(Exception), be_patient(PATIENCE):
            if longer in module(torch.arange(longer).reshape(shape)).shape:
                return True
    return False


def measure(cls, of, keys):
    """The tables of a class, those that are alike once; `keys` are what it needs to have them."""
    found, first = [], None
    for name, value in list_tables(build(cls, of, keys)).items():
        fact = explain(cls, of, name, keys)
        if fact is None:
            found.append({"at": name})
            continue
        fixed = not (isinstance(value, nn.Parameter) and value.requires_grad)
        fact |= {"columns": find_width(cls, of, name, keys, value.shape[-1])}
        fact |= {"fixed": True} if fixed else {}
        fact |= {"grows": True} if fixed and grows(cls, of, name, keys) else {}
        if "keys" in fact:
            first = place(cls, of, keys) if first is None else first
            fact |= first.get(name, {})
        known = next((one for one in found if {**one, "at": ""} == {**fact, "at": ""}), None)
        found += [] if known else [{"at": name, **fact}]
    return found


def find_width(cls, of, name, keys, columns):
    """The key that has the number of columns, with its default, or two that it is the product of; else that number."""
    for key, value in of().to_dict().items():
        if value == columns and type(value) is int and not LENGTHS.search(key.replace("size", "")):
            now = list_tables(build(cls, of, {**keys, key: 2 * value})).get(name)
            if now is not None and now.shape[-1] == 2 * columns:
                return [key, value]
    # two keys whose product it is
    moving = []
    for key, value in of().to_dict().items():
        if type(value) is int and 1 < value < columns and columns % value == 0:
            now = list_tables(build(cls, of, {**keys, key: 2 * value})).get(name)
            moving += [key, value] if now is not None and now.shape[-1] == 2 * columns else []
    return moving if moving[1::2] and math.prod(moving[1::2]) == columns else columns


def measure_release(wanted=()):
    """What each class has whose tables are its own, not those of its parts."""
    found = {}
    for of, classes in sorted(list_models().items(), key=lambda one: one[0].model_type or ""):
        if not of.model_type or (wanted and of.model_type not in wanted):
            continue
        with contextlib.suppress(Exception):
            ways = ((cls, keys) for keys in NEEDED for cls in classes[:6] if list_tables(build(cls, of, keys)))
            best = next(ways, None)
            tables = measure(best[0], of, best[1]) if best else []
            own = [one for one in tables if "rows" not in one or not of.sub_configs]
            if own:
                found[of.model_type] = own
    return found


def draw_rows(measured, draws=3):
    """Rows and columns of real models at drawn lengths, sizes and widths, by model_type; none where one is refused."""
    models, found = {of.model_type: (of, classes) for of, classes in list_models().items()}, []
    for name, tables in measured.items():
        of, classes = models[name]
        generator, wanted = random.Random(name), {table["at"] for table in tables}
        for _ in range(draws):
            keys = {}
            for table in tables:
                if "keys" in table:
                    keys[generator.choice(table["keys"][:1])] = generator.randrange(40, 3000)
                elif isinstance(table.get("patch"), str):
                    patch = generator.choice([8, 14, 16, 30])
                    keys |= {table["patch"]: patch, table["picture"]: patch * generator.randrange(2, 40)}
                elif "series" in table:
                    sizes = (generator.randrange(*ends) for ends in ((80, 600), (2, 40), (1, 40)))
                    keys |= dict(zip(table["series"], sizes, strict=True))
                    keys |= dict(
                        [table[one] for one in ("one_more", "trained_if") if one in table and generator.randrange(2)]
                    )
            ways = ((cls, needed | keys) for needed in NEEDED for cls in classes[:6])
            tried = (list_tables(build(cls, of, asked)) for cls, asked in ways)
            rows = next(filter(None, tried), {})
            found.append([name, keys, {at: value.shape[-2:] for at, value in rows.items() if at in wanted}])
    return found


if __name__ == "__main__":
    chosen = sys.argv[1:]
    measured = measure_release(chosen)
    if chosen:
        print(json.dumps(measured, indent=1))
        sys.exit()
    name = version("transformers")
    head = {"stack": "transformers", "version": name, "torch": version("torch").partition("+")[0]}
    head |= {"date": datetime.datetime.now(tz=datetime.UTC).date().isoformat()}
    head |= {"written by": "tests/reference/transformers/tables.py"}
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(measured.items()))
    text = json.dumps(head, indent=1).rstrip("\n}") + ',\n "tables": {\n' + lines + "\n }\n}\n"
    (FOLDER / f"transformers-{name}-tables.json").write_text(text, encoding="utf-8")
    drawn = gzip.compress(json.dumps(draw_rows(measured)).encode(), mtime=0)
    (pathlib.Path(__file__).parent / f"tables-{name}.json.gz").write_bytes(drawn)
    print(f"{len(measured)} classes with tables")
