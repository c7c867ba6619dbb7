"""Which layers of the models of vLLM see a window, and how long a one, written into the table of the package.

Of the wheel only the Python files of the models are run, with stubs for all that they import of vLLM: no weight is
made, nothing is compiled. The class of each model builds its layers of a small configuration with a window, and what
each of them hands to its attention is kept; where that is nothing, the attention takes the window of the whole run,
which there is where no layer is of another type (engine/arg_utils.py). `tests/reference/measure.py vllm VERSION` runs
it, with the folder of the wheel's files.
"""

import ast
import contextlib
import importlib.abc
import importlib.util
import pathlib
import re
import sys
import types

import torch
from transformers.models.auto import configuration_auto, modeling_auto

from tests.reference.windows import ALIKE, LAYERS, MIXED, SLIDING, TRIED, add_places, join, judge, write_windows

SIZES = {
    "hidden_size": 32, "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 32, "head_dim": 16,
    "vocab_size": 32, "num_hidden_layers": LAYERS, "pad_token_id": 0,
}  # fmt: skip
#: Where the files are whose own code is run.
RUN = "vllm.model_executor.models."
#: Where it stands whether a file has layers of several types.
_SETTINGS = "vllm.transformers_utils.config"
_ONE_DEVICE = {
    "get_tensor_model_parallel_world_size": lambda: 1,
    "get_tensor_model_parallel_rank": lambda: 0,
    "get_pp_indices": lambda count, *_: (0, count),
    "divide": lambda a, b: a // b,
    "cdiv": lambda a, b: -(a // -b),
    "get_ep_group": lambda: _Anything(device_group=_Anything(size=lambda: 1, rank=lambda: 0)),
    "get_current_vllm_config": lambda: _Anything(parallel_config=_ON_ONE),
    "get_offloader": lambda: _Anything(wrap_modules=lambda modules, *_, **__: list(modules)),
}
#: Values of settings, and packages that are not needed.
_VALUES = {"dtype": torch.float32, "num_redundant_experts": 0}
_MISSING = ("cachetools",)
SEEN = {}


class _Stubs(type(torch.nn.Module)):
    """The type of the stubs: any attribute of one is another, and one that is called with a class is a decorator."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return make_stub(name)

    def __getitem__(cls, _):
        return cls

    def __iter__(cls):
        return iter(())

    def __or__(cls, _):
        return cls

    __ror__ = __or__


class _Stub(torch.nn.Module, metaclass=_Stubs):
    """Stands for a class, a function or a value of vLLM."""

    def __new__(cls, *given, **_):
        if cls.__module__ == "stub" and len(given) == 1 and isinstance(given[0], type | types.FunctionType):
            return given[0]
        return super().__new__(cls)

    def __init__(self, *_, **__):
        super().__init__()

    def register_buffer(self, *_, **__):
        """Keep nothing, for every name is taken."""

    register_parameter = register_buffer

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__"):
                raise
            return make_stub(name)

    def __call__(self, *given, **_):
        return given[0] if given else self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __bool__(self):
        return False

    def __iter__(self):
        return iter(())


def make_stub(name):
    """Make a class that stands for a name; the type of numbers is one, and a number of spare experts is 0."""
    if name in _VALUES:
        return _VALUES[name]
    return _Stubs(name, (_Stub,), {"__module__": "stub"})


class _Anything(types.SimpleNamespace):
    """Settings of a run on one device, of which what nobody set is None."""

    is_first_rank = is_last_rank = True
    rank_in_group, world_size, rank = 0, 1, 0

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return


_ON_ONE = _Anything(
    eplb_config=_Anything(num_redundant_experts=0), enable_eplb=False, tensor_parallel_size=1, pipeline_parallel_size=1
)


class _Attention(_Stub):
    """The layer that attends: keeps the window that it is given."""

    def __init__(self, *_, per_layer_sliding_window=None, cache_config=None, prefix="", **__):
        super().__init__()
        whole = None if cache_config is None else cache_config.sliding_window
        SEEN[prefix] = whole if per_layer_sliding_window is None else per_layer_sliding_window


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the models' own files, and stubs for all else of vLLM."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, *_):
        if name.partition(".")[0] not in ("vllm", *_MISSING):
            return None
        file = self.root / (name.replace(".", "/") + ".py")
        if name.startswith(RUN) and file.exists():
            return importlib.util.spec_from_file_location(name, file)
        if name.startswith(RUN) and file.with_suffix("").is_dir():
            package = file.with_suffix("") / "__init__.py"
            return importlib.util.spec_from_file_location(name, package, submodule_search_locations=[str(file)])
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        module.__path__ = []
        if module.__name__ == _SETTINGS:
            tree = ast.parse((self.root / (_SETTINGS.replace(".", "/") + ".py")).read_text())
            own = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "is_interleaved"]
            text = "from __future__ import annotations\n" + "\n".join(map(ast.unparse, own))
            exec(text, module.__dict__)


class _Module(types.ModuleType):
    """A module that has whatever is asked for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == "vllm.envs":
            return 0
        if name in _ONE_DEVICE:
            return _ONE_DEVICE[name]
        if name == "get_pp_group":
            return _Anything
        return _Attention if name.endswith("Attention") and "attention" in self.__name__ else make_stub(name)


# --------------------------------------------------------------------- the models


def list_classes(root):
    """File and class of each architecture, from the lists of the registry."""
    tree = ast.parse((root / RUN.replace(".", "/") / "registry.py").read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            with contextlib.suppress(ValueError):  # joined of others
                found |= {key: value for key, value in ast.literal_eval(node.value).items() if len(value) == 2}
    return found


def make(cls, window, kinds):
    """A small configuration with layers of these types, or with those that its class takes."""
    known = cls().to_dict()
    found = {key: value for key, value in SIZES.items() if key in known}
    first = kinds.index(SLIDING) if kinds else LAYERS // 2
    slides = {
        "sliding_window": window,
        "use_sliding_window": True,
        "max_window_layers": first,
        "layer_types": kinds and [*kinds],
    }
    config = cls(**found, **{key: value for key, value in slides.items() if value is not None and key in known})
    config.allow_global_per_layer_attribute_access = True  # asked for by code that is older than the classes
    return config


def build(place, config):
    """Build a model: the window of each layer that attends, by its number."""
    SEEN.clear()
    kinds = getattr(config, "layer_types", None) or ALIKE
    whole = config.sliding_window if {*kinds} == {SLIDING} else None
    model = _Anything(hf_config=config, hf_text_config=config, dtype=torch.float32, max_model_len=64)
    others = ("scheduler_config", "compilation_config", "device_config", "load_config")
    given = _Anything(
        model_config=model,
        cache_config=_Anything(sliding_window=whole),
        parallel_config=_ON_ONE,
        **{name: _Anything() for name in others},
    )
    getattr(importlib.import_module(RUN + place[0]), place[1])(vllm_config=given, prefix="")
    layers = {int(re.findall(r"\.(\d+)\.", prefix)[0]): window for prefix, window in SEEN.items()}
    return [(kind, layers[number]) for number, kind in enumerate(kinds)]


def measure(place, cls, kinds):
    """What layers of these types see; `refused` where the class of vLLM says that it has no such layers."""
    try:
        return judge({window: build(place, make(cls, window, kinds)) for window in TRIED})
    except AssertionError as error:
        return "refused" if "not supported" in str(error) else None
    except Exception as error:
        print("   ", cls.model_type, f"{type(error).__name__}: {error}"[:150])
        return None


def examine(place, cls):
    """The entry of a model; where the file's types of layers are not read, that for the pattern of the class."""
    takes = "layer_types" in cls().to_dict()
    alike = measure(place, cls, ALIKE if takes else None)
    if not takes:
        return join(alike, alike)
    mixed = measure(place, cls, MIXED)
    if mixed == "others" and len({*make(cls, TRIED[0], None).layer_types}) > 1:
        own = measure(place, cls, None)
        return add_places(join(own, own), make(cls, TRIED[0], None).layer_types)
    return join(alike, mixed)


def main():
    """Measure every model that has windows, and write."""
    version, root, *wanted = sys.argv[1:]
    sys.meta_path.insert(0, _Finder(pathlib.Path(root)))
    places, found, unknown = list_classes(pathlib.Path(root)), {}, []
    for model, names in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items():
        name = names if isinstance(names, str) else names[0]
        cls = configuration_auto.CONFIG_MAPPING[model]
        known = ()
        with contextlib.suppress(Exception):
            known = cls().to_dict()
        if name not in places or "sliding_window" not in known or (wanted and model not in wanted):
            continue
        entry = examine(places[name], cls)
        print(model, entry, flush=True)
        if entry is None:
            unknown.append(model)
        else:
            found[model] = entry
    print("not known:", ", ".join(unknown))
    if not wanted:
        write_windows("vllm", version, found)


if __name__ == "__main__":
    main()
