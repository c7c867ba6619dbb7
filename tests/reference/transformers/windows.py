"""Which positions a query sees in layers that attend within a window: measured in the models of every rotary class.

Adds `sees` to the table of a release that `probe.py` and `composites.py` have written. In its environment, some
minutes: ENV/bin/python tests/reference/transformers/windows.py pe_spectra/models/measured/transformers-5.24.0.json
With model_types as further arguments it measures these anew and keeps what the table has of others.

A small model of each class is run on equal tokens with an attention that keeps the mask that it is given; a class
that takes no such attention says where its weights are above 0. The key of the window is set to several values, and
what the query in the middle then sees before and after it is fitted: (W + a) // d + b positions for a window of W. A
class that sees W - 1 before it and none after has no entry, and of one that follows no such law, or cannot be run so,
a line is printed. Parts whose class has no model by itself are measured in the model of the whole.
"""

import contextlib
import inspect
import itertools
import sys

import release_table
import torch
from probe import WINDOWS
from query_scales import LARGEST, PATIENCE, SIZES
from real_modules import SMALL, Release, ask, be_patient, rank
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, eager_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

#: Tokens that are run, more than any window sees on both sides, and the windows that are tried.
LENGTH, TRIED = 64, (6, 7, 9, 12)
#: The laws that are tried, the usual one first: (W + a) // d + b.
LAWS = [[0, 1, -1], *map(list, itertools.product((0, -1, 1), (1, 2), (0, 1, -1)))]
#: Keys with the values under which classes let a query see what comes after it.
SWITCHES = (("use_bidirectional_attention", True), ("use_bidirectional_attention", "all"))
#: Sizes of a part that sees pictures beside those that are measured.
TINY = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
TINY |= {"image_size": 28, "patch_size": 14}
SEEN = {}


def look(rows):
    """How many positions before and after the query in the middle it sees."""
    middle = LENGTH // 2
    seen = rows[middle].nonzero().flatten()
    return middle - int(seen.min()), int(seen.max()) - middle


def keep_mask(module, query, key, value, attention_mask=None, *_, **named):
    """Keep what the query in the middle sees, by the module, and attend to nothing."""
    rows = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool)
    if attention_mask is not None:
        shown = attention_mask if attention_mask.dtype == torch.bool else attention_mask > -1
        rows = shown[0, 0].expand(*rows.shape)
    elif getattr(module, "is_causal", True) and named.get("is_causal", True):
        rows = rows.tril()
    if rows.shape[0] == LENGTH:
        SEEN[id(module)] = look(rows[:, :LENGTH])  # behind these are the keys of an encoder
    return torch.ones(query.shape[0], query.shape[2], query.shape[1], value.shape[-1]), None


ALL_ATTENTION_FUNCTIONS.register("keep_mask", keep_mask)
ALL_MASK_ATTENTION_FUNCTIONS.register("keep_mask", eager_mask)


def make(cls, changes, kind):
    """A small configuration, with and without sizes that it may not follow."""
    known = None
    with contextlib.suppress(Exception):  # some need other packages
        known = cls.from_dict({})
    sizes = {key: value for key, value in {**SMALL, **SIZES}.items() if ask(known, key) is not None}
    for left_out in ((), ("head_dim",), ("num_hidden_layers",), ("hidden_size", "num_attention_heads", "head_dim")):
        with contextlib.suppress(Exception):
            config = cls.from_dict({key: value for key, value in sizes.items() if key not in left_out} | changes)
            config._attn_implementation = kind
            yield config


def run(model, kind):
    """What is seen in each layer, by the path of its module, or its number."""
    SEEN.clear()
    tokens = {"input_ids": torch.full((1, LENGTH), 3)}
    if "decoder_input_ids" in model.forward.__code__.co_varnames or hasattr(model, "decoder"):
        tokens["decoder_input_ids"] = tokens["input_ids"]
    with torch.no_grad(), contextlib.suppress(Exception):
        if kind == "eager":
            found = model(**tokens, output_attentions=True).attentions
            return {str(place): look(one[0, 0] > 0) for place, one in enumerate(found or ())}
        model(**tokens)
    names = {id(module): name for name, module in model.named_modules()}
    return {names[one]: seen for one, seen in SEEN.items() if "cross" not in names[one]}


def measure(release, cls, changes, path=""):
    """What a query sees in the layers that see a part alone, below a path; None where there is none, or several."""
    models = sorted(release.models.get(cls, ()), key=lambda one: (rank(one), len(one.__name__)))[:3]
    for kind, model in itertools.product(("keep_mask", "eager"), models):
        for config in make(cls, changes, kind):
            found = {}
            with contextlib.suppress(Exception), be_patient(PATIENCE):
                with torch.device("meta"):
                    size = sum(one.numel() for one in model(config).parameters())
                found = run(model(config).eval(), kind) if size <= LARGEST else {}
            seen = {one for name, one in found.items() if name.startswith(path) and max(one) < LENGTH // 2 - 1}
            if len(seen) == 1:
                return seen.pop()
    return None


def fit(values):
    """The law that numbers by the window follow; None where they follow none."""
    for add, divisor, more in LAWS:
        if all((window + add) // divisor + more == one for window, one in values.items()):
            return [add, divisor, more]
    return None


def follow(release, cls, key, given=(), path="", part="", parts=()):
    """What a query sees by one key of the window: before and after it; None where it is not known.

    Parameters
    ----------
    path : where the modules are that are meant. part : the one of the parts of a whole that has the key.
    """
    seen = {}
    for window in TRIED:
        keys = {key: window, **dict(given)}
        sizes = {name: TINY if "vision" in name else {**SMALL, **SIZES, "dropout_rate": 0.0} for name in parts}
        whole = {**sizes, part: {**sizes[part], **keys}} if part else keys
        seen[window] = measure(release, cls, whole, path)
    if None in seen.values():
        return None
    before, after = (fit({window: one[side] for window, one in seen.items()}) for side in (0, 1))
    if before is None or (after is None and any(one[1] for one in seen.values())):
        return None
    return {"key": key, "before": before, **({"after": after} if any(one[1] for one in seen.values()) else {})}


def examine(release, cls):
    """The entries of a class, one for each key and switch; None where one of them is not known."""
    known = cls.from_dict({})
    taken = {*known.to_dict(), *inspect.signature(cls.__init__).parameters}
    keys = [key for key in WINDOWS if ask(known, key) is not None or key in taken]
    slides = {"use_sliding_window": True, "max_window_layers": 1}
    given = {key: value for key, value in slides.items() if hasattr(known, key)}
    found = []
    for key in keys:
        entry = follow(release, cls, key, given)
        # what follows from another key is no key of a file, and has what the default of it means
        found.append({"key": key, "before": LAWS[0]} if entry is None and len(keys) > 1 else entry)
        for name, value in SWITCHES if found[-1] else ():
            switched = follow(release, cls, key, {**given, name: value}) if hasattr(known, name) else None
            if switched is not None and switched != found[-1]:
                found.insert(0, switched | {"if": [name, value]})
    return found


def list_others(entries):
    """The entries of a class one of which is not the usual law."""
    found = [one for one in entries if one is not None]
    return found if any(one["before"] != LAWS[0] or "after" in one for one in found) else []


def main():
    """Measure every class, or those that are named, and write what was found into the table."""
    path, *wanted = sys.argv[1:]
    table, release, unknown, known = release_table.load(path), Release(), [], []
    classes = {cls.model_type: cls for cls in release.models if cls is not None and cls.model_type}
    classes |= release.list_classes()
    for name in sorted({*(wanted or table["classes"])} & {*table["classes"]} & {*classes}):
        entry, found = table["classes"][name], []
        with contextlib.suppress(Exception):
            found = examine(release, classes[name])
        unknown += [name] if None in found else []
        entry.pop("sees", None)
        if others := list_others(found):
            entry["sees"] = others
            print(name, others, flush=True)
    for whole, parts in sorted(table["composites"].items()):
        for key, (name, *given) in parts.items():
            if name not in unknown or whole not in classes or (wanted and whole not in wanted):
                continue
            part = key.removesuffix("_config").replace("text", "text_model")
            found = follow(release, classes[whole], "sliding_window", path=part, part=key, parts=parts)
            # of a class that is a part here alone the entry is its own
            alone = sum(name == one[0] for others in table["composites"].values() for one in others.values()) == 1
            own = table["classes"][name] if alone else {**(given[0] if given else {})}
            own.pop("sees", None)
            if others := list_others([found]):
                own["sees"] = others
                print(whole, key, others, flush=True)
            if not alone:
                parts[key] = [name, *([own] if own else [])]
            known += [] if found is None else [name]
    release_table.save(table)
    print(f"not known: {', '.join(sorted({*unknown} - {*known}))}")


if __name__ == "__main__":
    main()
