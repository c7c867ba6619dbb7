"""Where the numbers of a query go when a real model turns it: which channels are a pair, and in which layers."""

import contextlib
import inspect
import re
import sys

import torch
from real_modules import ask

MIXING = re.compile(r"MoE|Moe|MOE|Experts|MLP|Mlp|FeedForward|GatedDelta|Mamba|ShortConv")
APPLY = re.compile(r"^(_?apply_\w*(rot|rope)\w*|rotate_queries_or_keys)$")


class Alone:
    """In the place of an attention of one head of eight channels whose method turns a query."""

    num_heads = num_attention_heads = 1
    head_size = head_dim = attention_head_size = 8


def list_places(module):
    """Where a modeling module has functions that turn a query: itself and its classes, with the name of each."""
    own = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == module.__name__]
    for owner in (module, *own):
        for name, one in vars(owner).items():
            if APPLY.match(name) and inspect.isfunction(inspect.unwrap(getattr(one, "__func__", one))):
                yield owner, name, one


def list_functions(module):
    """The functions of a modeling module, and methods of its classes, that turn a query."""
    return {name: getattr(one, "__func__", one) for _, name, one in list_places(module)}


class Passed(torch.nn.Module):
    """In the place of layers that mix channels, some of which cannot be run without memory."""

    def __init__(self, double):
        super().__init__()
        self.double = double

    def forward(self, hidden, *_, **__):
        return (hidden, None) if self.double else hidden


def run(probe):
    """Run four tokens through the real model without memory: what turns them, and each call with its layer."""
    way = probe.release.ways.get(probe.cls)
    module = sys.modules[way.__module__]
    functions, best, model = list_functions(module), [], None
    places = list(list_places(module))

    def record(name, one):
        function = getattr(one, "__func__", one)

        def call(*given, **named):
            owner = sys._getframe(1).f_locals.get("self")
            if "Indexer" not in type(owner).__name__:  # it chooses tokens, with a rotation of its own
                calls.append((name, getattr(owner, "layer_idx", None)))
            return function(*given, **named)

        call.__signature__ = inspect.signature(function)
        return staticmethod(call) if isinstance(one, staticmethod) else call

    for passed in (None, Passed(double=False), Passed(double=True)):
        calls = []
        try:
            for owner, name, one in places:
                setattr(owner, name, record(name, one))
            config = probe.make({})
            config._attn_implementation = "eager"
            probe.release.build(config)
            with torch.device("meta"), leave_types():
                model = way(config).eval()
                for layer in model.modules() if passed is not None else ():
                    for name, inner in list(layer.named_children()):
                        if MIXING.search(type(inner).__name__) and not isinstance(inner, torch.nn.ModuleList):
                            setattr(layer, name, passed)
                model(torch.zeros(1, 4, dtype=torch.long))
                return functions, calls
        except Exception:
            best = max(best, calls, key=len)
        finally:
            for owner, name, one in places:
                setattr(owner, name, one)
    return functions, best or [(name, None) for name in list_named(model, functions)]


def list_named(model, functions):
    """Those of the functions that the layers of a model which did not run name in their code, once for each."""
    for layer in () if model is None else model.modules():
        forward = getattr(inspect.unwrap(type(layer).forward), "__code__", None)
        yield from (name for name in functions if forward is not None and name in forward.co_names)


@contextlib.contextmanager
def leave_types():
    """Without autocast, which releases 4 ask for and which the meta device has not."""
    kept = torch.autocast
    torch.autocast = lambda *_, **__: contextlib.nullcontext()
    try:
        yield
    finally:
        torch.autocast = kept


def find_still(probe, calls, types):
    """The types of layers that are not turned, and every how many layers one is not whatever its type."""
    turned = {index for _, index in calls if index is not None}
    count = ask(probe.config, "num_hidden_layers")
    listed = ask(probe.config, "no_rope_layers")
    if isinstance(listed, list) and 0 in listed and 1 in listed:
        return {"nope_every": listed.index(0) + 1}
    if not turned or not types or max(turned) < count - 2:
        return {}
    still = {types[i] for i in range(count)} - {types[i] for i in turned}
    return {"unturned": tuple(sorted(still))} if still else {}


def find_pairing(function):
    """half or interleaved, from where a function puts the numbers of a query of eight channels."""
    found = []
    for cos, sin in ((1.0, 0.0), (0.0, 1.0)):
        given, names = {}, inspect.signature(function).parameters
        axes = (3,) if "mrope_section" in names else ()
        for name, one in names.items():
            if name in ("cos", "sin"):
                given[name] = torch.full((*axes, 1, 8, 8), cos if name == "cos" else sin)
            elif name == "mrope_section":
                given[name] = [2, 1, 1]
            elif name == "self":
                given[name] = Alone()
            elif name == "position_ids":
                given[name] = torch.arange(8)[None]
            elif name == "relative_position_embeddings":
                given[name] = torch.stack([torch.full((8, 1, 1, 8), one) for one in (cos, sin)])
            elif name == "hidden_states":
                given[name] = torch.eye(8)[None]
            elif name in ("freqs_cis", "freqs_ci"):
                given[name] = torch.full((1, 8, 4), complex(cos, sin))
            elif name == "sinusoidal_pos":
                given[name] = torch.cat((torch.full((1, 1, 8, 4), sin), torch.full((1, 1, 8, 4), cos)), -1)
            elif one.default is inspect.Parameter.empty:
                given[name] = torch.eye(8)[None, None]
        found.append(_find_sources(function, given))
    first, second = found
    pair = {first[0], second[0]}
    return {(0, 4): "half", (0, 1): "interleaved"}.get(tuple(sorted(pair)))


def _find_sources(function, given):
    """For each channel that comes out, the channel of the query that it has."""
    for change in (lambda one: one, lambda one: one[..., :4] if one.shape[-1] == 8 else one, lambda one: one[0]):
        try:
            named = {name: change(one) if name in ("cos", "sin") else one for name, one in given.items()}
            found = function(**named)
            turned = found[0] if isinstance(found, tuple) else found
            return turned.reshape(-1, 8)[:8].abs().argmax(0).tolist()
        except Exception:
            continue
    return [0]


def find_layout(functions, calls, model, asked=None):
    """The layout of the function that the model calls, else of those beside it, by name where that tells them apart."""
    names = [name for name, _ in calls] or list(functions)
    for word, wanted in (("vision", "vision" in model), ("interleave", asked)):
        if not calls and wanted is not None:
            names = [name for name in names if (word in name) == wanted] or names
    found = [pairing for name in names if (pairing := find_pairing(functions[name]))]
    return max(dict.fromkeys(found), key=found.count) if found else None
