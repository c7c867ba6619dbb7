"""The real rotary modules of an installed transformers, as the real models build them from a configuration.

Models are built on PyTorch's meta device, where weights have no memory, and their rotary modules on the CPU, so a
model of any size takes some hundredths of a second. Nothing of pe_spectra is imported.
"""

import contextlib
import copy
import importlib
import inspect
import logging
import math
import multiprocessing
import os
import pathlib
import re
import signal
import warnings
from functools import wraps

os.environ |= {"TRANSFORMERS_VERBOSITY": "critical", "HF_HUB_OFFLINE": "1"}
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

import torch  # noqa: E402  (after what keeps them quiet and offline)
import transformers  # noqa: E402  (likewise)
from torch import nn  # noqa: E402  (likewise)
from transformers import PreTrainedModel  # noqa: E402  (likewise)
from transformers.configuration_utils import PretrainedConfig  # noqa: E402  (likewise)

torch.set_num_threads(1)
# Releases 4 give weights their first values even where they have no memory: a model of many experts takes a minute.
transformers.modeling_utils._init_weights = False


def _give_up(*_):
    raise TimeoutError


signal.signal(signal.SIGPROF, _give_up)


@contextlib.contextmanager
def be_patient(seconds):
    """Raise TimeoutError in what takes longer; processor time, so that a busy machine refuses nothing."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def ask_apart(ask, *given):
    """What `ask` finds, in a process of its own: some modules remember what was built before them."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    child = fork.Process(target=lambda: theirs.send(ask(*given)))
    child.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        child.join()


#: Sizes that no angle depends on.
SMALL = {"vocab_size": 32, "intermediate_size": 16, "moe_intermediate_size": 16, "vocab_size_per_layer_input": 32}
SMALL |= dict.fromkeys(("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"), 4)
SMALL |= {"n_group": 1, "topk_group": 1, "num_experts_per_tok": 2, "hidden_size_per_layer_input": 0}
SMALL |= dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"), 1) | {"vocabulary_map": {"<image>": 4}}
#: Of experts a whole model has no more where it is built with so few; some have thousands of parts.
FEW = dict.fromkeys(("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"), 16)
#: How many layers it has, the first of these with which it has every kind of part that its class has by default:
#: hybrid models have attention in every third or fourth.
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
LAYERS = ("num_hidden_layers", "num_layers", "encoder_layers", "decoder_layers")
LAYERS += ("speech_encoder_layers", "t2u_encoder_layers", "t2u_decoder_layers")
#: Some classes have one for each layer.
SMALL_SIZES = tuple(key for key, value in SMALL.items() if isinstance(value, int))
#: Switches of classes that have a rotation only with them.
SWITCHES = ({}, {"alibi": False}, {"position_embedding_type": "rope"}, {"position_embedding_type": "rotary"})
SWITCHES = (*SWITCHES, {"position_embeddings_type": "rotary"}, {"use_mem_rope": True})
#: Of releases 4 GraniteMoeHybrid is not built without types of layers, Phi4Multimodal not without its other parts, and
#: Mllama not without a block.
SWITCHES = (*SWITCHES, {"position_embedding_type": "rope", "layer_types": ["attention"] * 32})
SWITCHES = (*SWITCHES, {"vision_config": {}, "audio_config": {}}, {"rope_scaling": {"rope_type": "default"}})
#: The text part of Cohere Compass is not built without a block for the layers that it has.
SWITCHES = (*SWITCHES, {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000.0}}})
#: Keys that are null in classes whose model needs a number there.
LACKING = ({}, {"head_dim": 128}, {"num_key_value_heads": 4}, {"head_dim": 128, "num_key_value_heads": 4})
#: Modules that have angles, by name.
ROTARY = re.compile(r"Rotary|Rope|RoPE|RoFormerSinusoidal|IdeficsEmbedding$")
#: Models as other code imports them go before those with a head.
ORDER = ("Model", "Encoder", "Decoder", "Transformer", "ForCausalLM")
#: Seconds of processor time for a model; some widths make tables for whole waves of sound, and what takes longer
#: counts as refused.
PATIENCE = 20
#: The rotary modules that were built since it was last emptied.
BUILT = []
#: What each of them was given.
GIVEN = []


class Release:
    """Every configuration class of the installed release that has rotary modules, with its models."""

    def __init__(self):
        self.models, self.rotary, self.beside, self.ways, self.alone = {}, {}, {}, {}, {}
        self.switches = {}  # with what keys a class is rotary
        self.wholes, self.counts = {}, {}
        root = pathlib.Path(transformers.__file__).parent / "models"
        for path in sorted(root.glob("*/modeling_*.py")):
            if path.stem.startswith(("modeling_tf_", "modeling_flax_")):
                continue
            if re.search("rotary|rope|embed_positions", path.read_text(encoding="utf-8"), re.IGNORECASE):
                self._add(importlib.import_module(f"transformers.models.{path.parent.name}.{path.stem}"))
        for wanted in sorted({*self.rotary, *self.models} - {None}, key=lambda cls: cls.__name__):
            for part, modules in self._list_turned_parts(wanted):
                self.rotary.setdefault(part, modules)

    def _add(self, module):
        self.beside[module.__name__] = []
        own = [cls for cls in vars(module).values() if isinstance(cls, type) and cls.__module__ == module.__name__]
        for cls in own:
            if issubclass(cls, PreTrainedModel):
                self.models.setdefault(find_config(cls), []).append(cls)
            elif issubclass(cls, nn.Module) and ROTARY.search(cls.__name__) and "Attention" not in cls.__name__:
                self.rotary.setdefault(find_config(cls), []).append(_keep_on_cpu(cls))
                self.beside[module.__name__].append(cls)
        if hasattr(module, "create_sinusoidal_positions"):  # GPT-J and CodeGen, in each attention
            made = module.create_sinusoidal_positions
            module.create_sinusoidal_positions = lambda *given: _record_table(made, *given)

    def _list_turned_parts(self, whole):
        """The parts of a whole that no model names, with the modules that are made of them: T5Gemma's, CLVP's."""
        modules = [*self.rotary.get(whole, ())]
        modules += [cls for model in self.models.get(whole, ()) for cls in self.beside[model.__module__]]
        with contextlib.suppress(Exception):  # some have no defaults
            for part in vars(whole()).values() if modules else ():
                known = type(part) in self.models or type(part) in self.rotary
                if isinstance(part, PretrainedConfig) and not known and any(_is_built(cls, part) for cls in modules):
                    yield type(part), modules

    def list_classes(self):
        """The configuration classes with a name, each once for a model_type, the one in AutoConfig first."""
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

        found = {}
        for cls in sorted({*self.models, *self.rotary} - {None}, key=lambda cls: cls.__name__):
            if cls.model_type and CONFIG_MAPPING_NAMES.get(cls.model_type, cls.__name__) == cls.__name__:
                found.setdefault(cls.model_type, cls)
        return found

    def build_alone(self, config):
        """The same modules without their model where they take nothing but the configuration, which is quicker."""
        wanted = type(config)
        if wanted not in self.alone:
            self.alone[wanted] = None
            with contextlib.suppress(Exception):  # some are not built without a switch
                self.alone[wanted] = self._find_alone(wanted)
        cls = self.alone[wanted]
        return self.build(config) if cls is None else {path: one(config) for path, one in cls.items()}

    def _find_alone(self, wanted):
        """The classes of the modules that take nothing but the configuration, where all do; else None."""
        default = wanted.from_dict({})
        _shrink(default)
        before = default.to_dict()
        modules = self.build(default)
        is_simple = before == default.to_dict() and len(BUILT) == len(GIVEN)
        is_simple = is_simple and modules and all(_is_alone(*one, default) for one in GIVEN)
        found = {path: type(one) for path, one in modules.items()}
        return found if is_simple and not self.turns_by_base(wanted) else None

    def turns_by_base(self, wanted):
        """Whether the model of a class is built without rotary modules where its block has no base."""
        block = {"rope_parameters": {"rope_type": "default", "rope_theta": None}}
        with contextlib.suppress(Exception):  # nearly all compute with it
            return not self.build(wanted.from_dict((self.switches.get(wanted) or {}) | block))
        return False

    def build(self, config):
        """The rotary modules that the model of a configuration has, by where they are; without a model, alone."""
        _shrink(config)
        wanted = type(config)
        if wanted not in self.ways:
            self.ways[wanted] = self._find_way(wanted)
        BUILT.clear()
        GIVEN.clear()
        way = self.ways[wanted]
        if way is None:
            return {}
        with be_patient(PATIENCE), torch.device("meta"):
            model = way(config)
        named = {id(module): name for name, module in model.named_modules()}
        return {named.get(id(module), f"{index}"): module for index, module in enumerate(BUILT)}

    def build_whole(self, config):
        """The model of a configuration, with FEW parts where it is built with so few; None where it never is."""
        way, _ = self.find_whole(type(config))
        if way is None:
            return None
        few = copy.deepcopy(config)
        with contextlib.suppress(Exception), be_patient(PATIENCE), torch.device("meta"):
            _cut(few, self.count_layers(type(config)))
            return way(few)
        with be_patient(PATIENCE), torch.device("meta"):
            return way(config)

    def count_layers(self, wanted):
        """How many layers the model of a class needs to have every kind of part; 2 where that is not known."""
        if wanted not in self.counts:
            self.counts[wanted] = self._count_layers(wanted)
        return self.counts[wanted]

    def _count_layers(self, wanted):
        way, keys = self.find_whole(wanted)
        more = (self.switches.get(wanted) or {}) | keys

        def list_kinds(count):
            config = wanted.from_dict(dict(more))
            _cut(config, count)
            with be_patient(PATIENCE), torch.device("meta"):
                return {type(module) for module in way(config).modules()}

        with contextlib.suppress(Exception):  # some have too many parts
            kinds = list_kinds(None)
            for count in COUNTS:
                with contextlib.suppress(Exception):  # others are not built with so few layers
                    if list_kinds(count) == kinds:
                        return count
        return COUNTS[0]

    def find_whole(self, wanted):
        """The model of a class as it is loaded, and the keys without which it is not built; None where it never is."""
        if wanted not in self.wholes:
            self.wholes[wanted] = self._find_whole(wanted)
        return self.wholes[wanted]

    def _find_whole(self, wanted):
        from transformers.models.auto.modeling_auto import MODEL_MAPPING

        models = sorted(self.models.get(wanted, ()), key=lambda cls: (rank(cls), len(cls.__name__)))
        with contextlib.suppress(Exception):  # some are listed and not there
            found = MODEL_MAPPING[wanted]
            models = [*(found if isinstance(found, list | tuple) else (found,)), *models]
        for way in (one for one in models if not one.__name__.endswith("PreTrainedModel")):
            for keys in LACKING:
                more = (self.switches.get(wanted) or {}) | keys
                with contextlib.suppress(Exception), be_patient(PATIENCE), torch.device("meta"):
                    way(wanted.from_dict(dict(more)))
                    return way, keys
        return None, {}

    def _find_way(self, wanted):
        """The first model class that can be built with defaults and has rotary modules, else such a module alone."""
        models = sorted(self.models.get(wanted, ()), key=lambda cls: (rank(cls), len(cls.__name__)))
        alone = self.rotary.get(wanted, ())
        beside = [cls for of in self.models.get(wanted, ()) for cls in self.beside[of.__module__] if cls not in alone]
        for way in (*models[:4], *alone, *beside):
            for keys in SWITCHES:
                BUILT.clear()
                try:
                    config = wanted.from_dict(dict(keys))
                    _shrink(config)
                    with torch.device("meta"):
                        way(config)
                except Exception:
                    continue
                self.switches[wanted] = keys
                if BUILT:
                    return way
        return None


def _is_built(cls, *given):
    """Whether a module is made of what it is given."""
    with contextlib.suppress(Exception):
        return cls(*given) is not None
    return False


def ask(config, key):
    """An attribute of a configuration; None where it has none, and where layers have several."""
    with contextlib.suppress(Exception):
        return getattr(config, key, None)
    return None


def _shrink(config):
    for key, value in SMALL.items():
        with contextlib.suppress(Exception):  # strict classes refuse some
            if hasattr(config, key) and not (key in SMALL_SIZES and isinstance(getattr(config, key), list)):
                setattr(config, key, value)


def _cut(config, count):
    """Leave no more experts than FEW, and no more layers than a count; None for all layers."""
    few = FEW | (dict.fromkeys(LAYERS, count) if count else {})
    for key in [key for key in few if isinstance(ask(config, key), int)]:
        setattr(config, key, min(few[key], getattr(config, key)))


def _is_alone(given, named, config):
    values = (*given, *(value for key, value in named.items() if key != "device"))
    return len([one for one in values if one is not None]) == 1 and (*values,)[0] is config


def rank(cls):
    return next((place for place, end in enumerate(ORDER) if cls.__name__.endswith(end)), len(ORDER))


def find_config(cls):
    init = vars(cls).get("__init__")
    given = inspect.signature(getattr(init, "__wrapped__", init)).parameters.get("config") if init else None
    found = given.annotation if given is not None else None
    if isinstance(found, str):
        found = getattr(importlib.import_module(cls.__module__), found, None)
    if not _is_config(found):
        found = getattr(cls, "config_class", None)
    return found if _is_config(found) else None


def _is_config(cls):
    return isinstance(cls, type) and issubclass(cls, PretrainedConfig) and cls is not PretrainedConfig


def _keep_on_cpu(cls):
    init = cls.__init__
    if not hasattr(init, "kept"):

        @wraps(init)
        def build(self, *given, **named):
            with torch.device("cpu"):
                init(self, *given, **named)
            BUILT.append(self)
            GIVEN.append((given, named))

        build.kept = True
        cls.__init__ = build
    return cls


class Table:
    """GPT-J's table of sines and cosines, as a module with frequencies."""

    def __init__(self, rows):
        half = rows.shape[1] // 2
        self.inv_freq = torch.atan2(rows[1, :half].double(), rows[1, half:].double()).float()


def _record_table(made, *given):
    with torch.device("cpu"):
        rows = made(*given)
    BUILT.append(Table(rows))
    return rows


def is_axial(modules):
    """Whether a rotary module takes no list of positions: it turns each axis of a grid by itself."""
    found = []
    for module in modules.values():
        if isinstance(module, Table) or not (hasattr(module, "inv_freq") or hasattr(module, "freqs_ci")):
            continue
        tried = []
        for positions in (torch.zeros(1, 1), torch.zeros(3, 1, 1), torch.zeros(1)):
            with contextlib.suppress(Exception):
                module(torch.zeros(1, 1, 1), positions.long())
                tried.append(positions)
        found.append(not tried)
    return bool(found) and all(found)


def is_counting(modules):
    """Whether a rotary module is given a sequence and counts its rows, as CLVP's: it has one axis all the same."""
    with contextlib.suppress(Exception):
        return next(iter(modules.values()))(torch.zeros(1, 4, 8)).shape[:2] == (1, 4)
    return False


def list_rotations(modules, length=None):
    """Frequencies and attention factor of each rotary module by layer type ("all" where it has no name).

    Parameters
    ----------
    length : positions that it is asked for first; None for as it is built.
    """
    found = {}
    for path, module in sorted(modules.items(), key=lambda one: one[0].count(".")):
        if isinstance(module, Table) or hasattr(module, "weight"):
            found["all"] = (_read_table(module), 1.0)
            continue
        if (angles := _find_grid(module)) is not None:
            found.setdefault("all", (_read_patch(angles), 1.0))
            continue
        names = [name for name, _ in module.named_buffers(recurse=False) if name.endswith("inv_freq")]
        if not names and "seq_len" in inspect.signature(module.forward).parameters:  # Phimoe of releases 4
            found["all"] = _run_to(module, length or 2)
        for name in [name for name in names if "original" not in name]:
            label = name.removesuffix("inv_freq").rstrip("_") or name_by_path(path)
            if length is not None and hasattr(module, "rope_type"):
                _ask_for(module, length, label if name != "inv_freq" else None)
            factor = getattr(module, name.replace("inv_freq", "attention_scaling"), 1.0)
            found.setdefault(label, (_order(module, getattr(module, name).float().flatten()), float(factor)))
    return found


def _find_grid(module):
    """The angles of every patch of a grid where a module keeps these, or their cosines and sines; else None."""
    if hasattr(module, "freqs_ci"):  # Llama 4's tower, whose first patch is at 1 on both axes
        return module.freqs_ci[:1].flatten(1).angle()
    kept = {name.rpartition("_")[2]: rows for name, rows in module.named_buffers(recurse=False)}
    if {"cos", "sin"} <= kept.keys():  # SAM 2 of releases 4
        return torch.atan2(kept["sin"], kept["cos"])
    rows = getattr(module, "inv_freq", None)
    return rows if isinstance(rows, torch.Tensor) and rows.dim() == 2 else None  # Pixtral of releases 4


def _read_patch(angles):
    """Frequencies of the axes of a grid, from the patch that is at 1 on both; once where the axes share them."""
    row = angles[math.isqrt(len(angles)) + 1 if len(angles) > 1 else 0]
    row = row[::2] if torch.equal(row[::2], row[1::2]) else row
    for _ in range(2):  # what each axis has is there twice, or both have the same
        one, other = row.chunk(2)
        row = one if torch.equal(one, other) else row
    return row


def _run_to(module, length):
    """Frequencies and attention factor of a module that makes rows up to a length whenever it is run."""
    cos, sin = (rows[1, : rows.shape[1] // 2].double() for rows in module(torch.zeros(1), seq_len=length))
    return torch.atan2(sin, cos).float(), float(torch.hypot(sin, cos)[0])


def _order(module, values):
    """Frequencies as pairs have them, where a module keeps them in another order than it turns by."""
    ladder = values.sort(descending=True).values
    if torch.equal(values, ladder) or bool((values < 0).any()):  # the sign of a frequency is in no cosine
        return values
    with contextlib.suppress(Exception):
        cos, _ = module(torch.zeros(1), torch.ones(3, 1, 1, dtype=torch.long))
        turned, expected = cos.flatten() / getattr(module, "attention_scaling", 1.0), torch.cos(ladder)
        if any(torch.allclose(one, expected, atol=1e-5) for one in (turned[: len(values)], turned[::2])):
            return ladder
    return values


def measure_turn(module, length):
    """Angles per position of pairs in halves, and the factor of their cosines, as a module of this length has them."""
    cos, sin = (one[0, 0].double() for one in module(torch.zeros(1), torch.tensor([[1, length - 1]])))
    return torch.atan2(sin, cos), float(torch.hypot(sin, cos)[0])


def _ask_for(module, length, layer):
    """Run it at the last of so many positions, which some have for each axis of a grid."""
    positions = torch.tensor([[length - 1]])
    for given in (positions, positions.expand(3, 1, 1), positions.expand(1, 2)):
        with contextlib.suppress(TypeError, RuntimeError, IndexError):
            return module(torch.zeros(1), given, *((layer,) if layer else ()))
    return module(torch.zeros(1), positions)


def _read_table(module):
    if isinstance(module, Table):
        return module.inv_freq
    rows = module.weight
    if rows.is_meta or rows.shape[0] < 2:
        module.num_positions = rows.shape[0]
        rows = torch.zeros_like(rows, device="cpu")
    if hasattr(module, "create_weight"):  # RoFormer
        rows = module.create_weight()
    elif hasattr(module, "_init_weight"):  # of releases 4
        module.weight = nn.Parameter(torch.zeros(2, rows.shape[1]))
        module._init_weight()
        rows = module.weight.detach()
    return Table(rows).inv_freq


def name_by_path(path):
    """Releases 4 have one module for each base, not one for each layer type."""
    if re.fullmatch(r"layers\.\d+\.attn\.rotary_emb", path):  # ModernBERT
        return ("full_attention", *("sliding_attention",) * 2)[int(path.split(".")[1]) % 3]
    last = path.rpartition(".")[2]  # OLMo 3 has one for each type of layer
    return "sliding_attention" if last.endswith("_local") else last if last.endswith("_attention") else "all"
