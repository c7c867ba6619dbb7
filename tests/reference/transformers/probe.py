"""Measure what every rotary class of an installed transformers takes, reads and refuses; write the package's table.

`tests/reference/measure.py transformers VERSION` runs it, as the others of this folder.
It writes pe_spectra/models/measured/transformers-VERSION.json: for each model_type what differs from the defaults of
`KnownModel`. Nothing is read from source: each class is built, one key at a time is changed, and what counts is
whether the frequencies of the real rotary modules move (real_modules.py), whether the class or a module raises, and
where the numbers of a query go in the function that turns it. One core, some ten minutes; with model_types as
arguments it measures these anew, to which the scripts that add to the table then add.
"""

import contextlib
import datetime
import inspect
import itertools
import json
import re
import sys
from importlib.metadata import version
from pathlib import Path

import release_table
import torch
from layouts import find_layout, find_still, run
from real_modules import (
    SWITCHES,
    Release,
    ask,
    ask_apart,
    is_axial,
    is_counting,
    list_rotations,
    measure_turn,
    name_by_path,
)

BASES = ("rope_theta", "global_rope_theta", "rotary_emb_base", "rope_base", "rotary_base")
LOCALS = ("rope_local_base_freq", "local_rope_theta")
SHARES = ("partial_rotary_factor", "rotary_pct", "rotary_percentage", "rope_pct", "rotary_emb_fraction")
HEADS = ("qk_rope_head_dim", "head_dim", "attention_head_dim", "kv_channels", "hidden_size_per_head", "d_kv")
WIDTHS = ("hidden_size", "n_embd", "d_model", "dim", "projection_dim", "embed_dim", "hidden_dim")
WIDTHS += ("encoder_hidden_size", "decoder_hidden_size")
COUNTS = ("num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads")
COUNTS += ("decoder_attention_heads", "encoder_num_attention_heads", "decoder_num_attention_heads")
PERIODS = ("sliding_window_pattern", "global_attn_every_n_layers", "full_attention_interval")
WINDOWS = ("sliding_window", "local_attention", "attention_window_size", "attention_chunk_size")
FULL, SLIDING = "full_attention", "sliding_attention"
LENGTH, ORIGINAL = "max_position_embeddings", "original_max_position_embeddings"
OF_SCALINGS = ("rope_type", "type", "rope_theta", "factor", "original_max_position_embeddings", "partial_rotary_factor")
OF_SCALINGS += ("beta_fast", "beta_slow", "mscale", "mscale_all_dim", "attention_factor", "low_freq_factor", "truncate")
OF_SCALINGS += ("high_freq_factor", "max_position_embeddings", "short_factor", "long_factor")
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 8192}
#: Releases 4 keep the base and the share beside the block.
IS_OLD = int(version("transformers").partition(".")[0]) < 5
BLOCK = "rope_scaling" if IS_OLD else "rope_parameters"
ON_TOP = ("rope_theta", "partial_rotary_factor") if IS_OLD else ()


class Probe:
    """One class under small changes of its configuration."""

    def __init__(self, release, model, cls):
        self.release, self.model, self.cls = release, model, cls
        self.switch = self.find_switch()
        self.default = self.look({}) if self.switch is not None else None
        self.config = self.make({})

    def find_switch(self):
        """The first keys with which it has a rotation, without those that it has one without."""
        found = next((keys for keys in SWITCHES if self.look(keys)), {})
        for key in found:
            rest = {name: value for name, value in found.items() if name != key}
            if rest and self.look(rest):
                return rest
        return found

    def make(self, keys):
        """The configuration with these keys; None where the class refuses them."""
        try:
            return self.cls.from_dict(
                json.loads(json.dumps({"model_type": self.model, **getattr(self, "switch", {}), **keys}))
            )
        except Exception:
            return None

    def switched(self, keys):
        """The same class with these keys in every configuration."""
        other = Probe.__new__(Probe)
        other.__dict__ |= self.__dict__ | {"switch": keys}
        return other

    def look(self, keys):
        """Frequencies and attention factor by layer type; None where something refuses."""
        try:
            config = self.make(keys)
            found = list_rotations(self.release.build_alone(config)) if config is not None else {}
        except Exception:
            return None
        return {
            name: (tuple(sorted(values.tolist(), reverse=True)), factor) for name, (values, factor) in found.items()
        } or None

    def release_model(self, keys):
        """The whole model, which has more to refuse; None where it is refused."""
        try:
            config = self.make(keys)
            return self.release.build(config) if config is not None else None
        except Exception:
            return None

    def runs(self, keys, length=64):
        """Frequencies by layer type where the rotary modules can be run at positions, on grids too; else None."""
        try:
            config = self.make(keys)
            return None if config is None else list_rotations(self.release.build_alone(config), length)
        except Exception:
            return None

    def moves(self, keys):
        """Whether the keys change a frequency, or a number of them."""
        found = self.look(keys)
        return found is not None and found != self.default

    def count(self, keys=None, name=None):
        """The number of pairs of a layer type, of the first where none is named; 0 where the class refuses."""
        found = self.default if keys is None else self.look(keys)
        return 0 if not found else len((found.get(name) or next(iter(found.values())))[0])

    @property
    def labels(self):
        """The layer types that have frequencies of their own, and those that rope_parameters is nested by."""
        return tuple(self.default)

    def nest(self, block):
        """The block as the class reads it: flat, or for each of its layer types."""
        if self.labels == ("all",) or not self.is_nested:
            return block
        stated = ask(self.config, BLOCK)
        return {name: None if name in stated and stated[name] is None else block for name in {**stated}
                if stated[name] is None or isinstance(stated[name], dict)}  # fmt: skip

    def put(self, block):
        """The keys of a file with this block, beside those of the class's own that belong to no scaling."""
        block = self.list_extra() | block
        inside = {key: value for key, value in block.items() if key not in ON_TOP}
        is_plain = IS_OLD and inside == {"rope_type": "default"} and not ask(self.config, BLOCK)
        return {key: block[key] for key in ON_TOP if key in block} | ({} if is_plain else {BLOCK: self.nest(inside)})

    def list_extra(self):
        """The keys of the class's own block that belong to no scaling, as mrope_section."""
        own = {} if self.is_nested else ask(self.config, BLOCK) or {}
        return {key: value for key, value in own.items() if key not in OF_SCALINGS and value is not None}

    @property
    def names(self):
        found = ask(self.config, BLOCK) or {}
        return tuple(name for name, value in found.items() if isinstance(value, dict)) or self.labels

    @property
    def is_nested(self):
        found = ask(self.config, BLOCK) or {}
        return any(isinstance(value, dict) for value in found.values())


def find_base(values, numbers):
    """The base of a plain ladder: a number of the configuration where one gives it, else as it is computed."""
    if len(values) < 2 or not 0 < values[1] < 1:
        return None
    for width in (2 * len(values), 2 * len(values) - 1):  # an odd width has half a pair more
        found = values[1] ** (-width / 2)
        near = [one for one in numbers if abs(one / found - 1) < 1e-4]
        if near:
            return min(near, key=lambda one: abs(one / found - 1))
    return float(f"{values[1] ** -len(values):.4g}")


def is_strided(probe):
    """Whether every second frequency comes first and the others behind them, as on a grid whose axes share them."""
    values = next(iter(list_rotations(probe.release.build_alone(probe.make({}))).values()))[0].tolist()
    ladder = sorted(values, reverse=True)
    return values != ladder and values == ladder[::2] + ladder[1::2]


def is_plain(values):
    """Whether every frequency has the same ratio to the next."""
    return all(abs(one * values[1] / other - 1) < 1e-4 for one, other in itertools.pairwise(values) if other)


def list_numbers(value):
    """Every number above 1 in a configuration."""
    if isinstance(value, dict):
        return [one for inner in value.values() for one in list_numbers(inner)]
    return [float(value)] if isinstance(value, int | float) and not isinstance(value, bool) and value > 1 else []


def measure_bases(probe):
    """The base where a block has none, by layer type, and the keys on top that are read for it."""
    numbers = [1e4, *list_numbers(probe.config.to_dict()), *list_numbers(getattr(probe.cls, "default_theta", 1e4))]
    bare = probe.look(probe.put({"rope_type": "default"})) or probe.default
    bases = {name: find_base(values, numbers) for name, (values, _) in bare.items()}
    full = next((name for name in bases if "sliding" not in name and name != "compress"), next(iter(bases)))
    found = {"default_base": bases[full] or 1e4}
    if probe.is_nested and SLIDING in probe.names + tuple(bases):
        found["by_type"] = True
    own = find_base(probe.default[full][0], numbers)
    for name, base in bases.items():
        if name != full and (base != bases[full]):
            found["compressed_base" if name == "compress" else "local_base"] = base
    beside = probe.put({"rope_type": "default"})
    plain = probe.look(beside)
    keys = [key for key in BASES if (plain and probe.look(beside | {key: 12345.0}) not in (plain, None))
            or probe.moves({key: 12345.0})]  # fmt: skip
    found["base_key"] = keys[0] if keys else find_base_inside(probe)
    found["fixed_base"] = bool(keys) and not probe.moves({keys[0]: 12345.0})
    found["local_key"] = next((key for key in LOCALS if probe.moves({key: 12345.0})), "")
    return found, own


def find_base_inside(probe):
    """The key of the base in another object of the configuration, as in attn_config; empty where there is none."""
    inside = (name for name in probe.config.to_dict() if hasattr(ask(probe.config, name), "rope_theta"))
    return next((f"{name}.rope_theta" for name in inside if probe.moves({name: {"rope_theta": 12345.0}})), "")


def list_widened(probe, key, pairs):
    """Keys with other widths of a head, by themselves and with sections of mrope that fit."""
    sections = find_sections(probe)
    for width in (6 * pairs, 10 * pairs):
        yield {key: width}
        if sections:
            yield {key: width} | probe.put({"rope_type": "default", "mrope_section": stretch(sections, width // 2)})


def find_sections(probe):
    """The sections of mrope in the block of the class, or in its rotary module."""
    modules = probe.release.build_alone(probe.make({})).values()
    found = next((one.mrope_section for one in modules if hasattr(one, "mrope_section")),
                 probe.list_extra().get("mrope_section"))  # fmt: skip
    return next(iter(found.values())) if isinstance(found, dict) else found  # by type of layer


def stretch(sections, pairs):
    """Sections of the same kind that add up to another number of pairs."""
    rest = pairs - 2 * (pairs // 3)
    return [rest, pairs // 3, pairs // 3] if sections[1] == sections[2] else [pairs // 3, pairs // 3, rest]


def measure_width(probe):
    """The keys that give the width that is turned, its default, and what it is computed from without them."""
    pairs, found = probe.count(), {}
    keys = [key for key in HEADS if any(probe.count(one) not in (pairs, 0) for one in list_widened(probe, key, pairs))]
    found["head_keys"] = tuple(keys)
    if probe.count({"rotary_dim": 2 * max(2, pairs // 2)}) not in (pairs, 0):
        found["width_key"] = "rotary_dim"
        found["rotary_width"] = ask(probe.config, "rotary_dim")
    if "global_head_dim" in probe.config.to_dict() or probe.count({"global_head_dim": 96}, FULL) == 48:
        found["full_head_dim"] = ask(probe.config, "global_head_dim")
    if {"qk_rope_head_dim", "head_dim"} <= {*keys}:
        part, whole = ask(probe.config, "qk_rope_head_dim"), ask(probe.config, "head_dim")
        seen = probe.count(probe.put({"rope_type": "default", "rope_theta": 1e4}) | {"qk_rope_head_dim": 2 * part})
        found |= {"whole": whole, "beside": whole - part if 2 * seen == whole + part else None}
    heads = ask(probe.config, "num_attention_heads")
    if isinstance(heads, int) and (ask(probe.config, "hidden_size") or 0) % heads == 0:  # else its own would not do
        found["divides"] = probe.release_model({"hidden_size": 12 * 32 + 1, "num_attention_heads": 12}) is None
    stated = ask(probe.config, keys[0]) if keys else None
    raw = find_given(probe.cls, keys[0]) if keys else None
    for part, names in (("hidden", WIDTHS), ("heads", COUNTS)):
        for key in names:
            value = ask(probe.config, key)
            if isinstance(value, int) and value > 1:
                found.setdefault(part, value)
                found.setdefault(f"{part}_key", key)
                tried = [{key: 2 * value}, {key: value // 2 or 1}]
                tried += [{key: 2 * value, keys[0]: None}] if keys and raw is None else []
                if any(probe.count(one) not in (pairs, 0) for one in tried):
                    found |= {part: value, f"{part}_key": key, "derived": True}
                    break
    if not found.get("derived") and "head_dim" in keys and raw is None and {"hidden", "heads"} <= {*found}:
        # sections of fixed sizes fit no other width: built where both keys grow, and refused where one does
        sizes = [{found[f"{part}_key"]: 2 * found[part]} for part in ("hidden", "heads")]
        refused = [not probe.count(one) for one in sizes]
        found |= {"derived": True} if all(refused) and probe.count(sizes[0] | sizes[1]) == pairs else {}
    if isinstance(stated, int) and not (
        raw is None and found.get("hidden") and found["hidden"] // found["heads"] == stated
    ):
        found["head_dim"] = stated
    return found


def find_given(cls, key):
    """What a class is given for a key by default: of releases 4 in the parameters of its making."""
    parameter = inspect.signature(cls.__init__).parameters.get(key)
    given = None if parameter is None or parameter.default is inspect.Parameter.empty else parameter.default
    return getattr(cls, key, given)


def measure_share(probe):
    """The share that is turned where nothing says another, and whether a plain ladder is narrowed by one."""
    found = {}
    block = {"rope_type": "default", "rope_theta": 1e4}
    linear = probe.put(block | {"rope_type": "linear", "factor": 2.0})
    whole, half = (probe.count(probe.put(block | {"partial_rotary_factor": share})) for share in (1.0, 0.5))
    found["reads_share"] = bool(whole and half and half < whole)
    bare = probe.look(linear)
    for name, key in (("share", None), ("local_share", SLIDING)):
        here = len(bare[key][0]) if bare and key in bare else probe.count() if not bare else None
        if here is None and key is None and bare:
            here = len(next(values for one, (values, _) in bare.items() if one != SLIDING or len(bare) == 1))
        if here is not None and (key is None or (bare and key in bare)):
            found[name] = (here, key)
    for key in SHARES[1:]:
        if probe.moves({key: 0.5 if probe.count({key: 0.5}) != probe.count() else 0.25}):
            found["share_key"] = key
    tops = [probe.look(keys | {SHARES[0]: 0.3}) for keys in ({}, linear)]
    inside = probe.look(probe.put(block | {"rope_type": "linear", "factor": 2.0, SHARES[0]: 0.3}))
    if tops == [probe.default, bare] and bare and inside not in (None, bare) and "share_key" not in found:
        found["share_key"] = ""
    return found


def measure_refusals(probe, stated):
    """The rope_types that the class or its modules refuse although the block has what they need.

    Parameters
    ----------
    stated : keys that stand beside the block.
    """
    pairs = probe.count()
    lists = {"short_factor": [1.0] * pairs, "long_factor": [2.0] * pairs, "factor": 2.0}
    lists |= {"original_max_position_embeddings": 4096, "short_mscale": 1.0, "long_mscale": 1.0}
    is_run = probe.runs(stated) is not None
    tried = {"default": {}, "linear": {"factor": 2.0}, "dynamic": {"factor": 2.0}, "yarn": YARN, "llama3": LLAMA3}
    tried |= {"longrope": lists, "su": lists, "proportional": {"factor": 2.0}, "mrope": {}}
    found, extra = [], probe.list_extra()
    linear = {
        "rope_theta": 1e4,
        "rope_type": "linear",
        "factor": 2.0,
    }  # its own block may have a share, and it has none
    for kind, keys in tried.items():
        block = {"rope_theta": 1e4} | extra | keys | {"rope_type": kind}
        if kind == "longrope" or kind == "su":
            sizes = {pairs, 2 * pairs, 4 * pairs, pairs * 3 // 2, probe.count(probe.put(linear))}
            blocks = [block | dict.fromkeys(("short_factor", "long_factor"), [1.0] * size) for size in sizes]
            blocks += [{"type": kind, "short_factor": [1.0] * size, "long_factor": [1.0] * size} for size in sizes]
            seen = [probe.look(probe.put(one) | stated) for one in blocks]
            if not any(seen):
                found.append(kind)
            continue
        keys = ({BLOCK: {"rope_type": kind}} if IS_OLD and kind == "default" else probe.put(block)) | stated
        if probe.look(keys) is None or (is_run and probe.runs(keys) is None):
            found.append(kind)
    return found


def measure_lists(probe):
    """Of longrope: a key that has the attention factor, and whether the short list serves every length."""
    pairs, found = probe.count(), {}
    block = {"rope_type": "longrope", "rope_theta": 1e4, "factor": 2.0, "original_max_position_embeddings": 4096}
    block |= {"short_factor": [1.0] * pairs, "long_factor": [2.0] * pairs, "short_mscale": 1.0, "long_mscale": 1.75}
    with contextlib.suppress(Exception):
        beside = {ORIGINAL: block[ORIGINAL]} if IS_OLD else {}  # where those look for it alone
        modules = probe.release.build_alone(probe.make(probe.put(block) | beside))
        turning = (path for path in modules if name_by_path(path) != SLIDING)
        module = modules[min(turning, key=lambda path: path.count("."))]  # of the model itself, not of an encoder in it
        (short, _), (long, factor) = (measure_turn(module, length) for length in (64, 40000))
        is_read = probe.moves(probe.put(block | {"short_factor": [3.0] * pairs}))
        found["short_only"] = is_read and bool(torch.allclose(short[:pairs], long[:pairs], rtol=1e-4))
        found["factor_key"] = "long_mscale" if abs(factor - 1.75) < 1e-6 else ""
    return found


def measure_checks(probe):
    """What the class compares: sections of mrope with the pairs, blocks with the types of layers, windows."""
    found, sections = {}, find_sections(probe)
    if sections:
        widths = ({key: width} for key in HEADS for width in (2 * sum(sections), 4 * sum(sections)))
        fits, others = set(), set()
        for keys in ({}, *widths):
            (fits if probe.count(keys) == sum(sections) else others).add(probe.runs(keys) is not None)
        if True in fits and others == {False}:
            found["sections"] = list(sections)
    if probe.is_nested:
        own = ask(probe.config, BLOCK)
        others = ({key: value for key, value in own.items() if key != name} for name in own)
        found["needs"] = sorted(name for name, one in zip(own, others, strict=True) if probe.look({BLOCK: one}) is None)
    types = ask(probe.config, "layer_types")
    if not types or SLIDING not in types:
        full, sliding = ({"num_hidden_layers": 2, "layer_types": [name] * 2} for name in (FULL, SLIDING))
        if probe.release_model(full) is not None and probe.release_model(sliding) is None:
            found["needs_window"] = probe.release_model(sliding | {"sliding_window": 512}) is not None
    if types and FULL in types and len({*types}) > 1:
        short = [ask(probe.make({"num_hidden_layers": count}), "layer_types") for count in (2, 3, 4)]
        if all(one and one[-1] == FULL for one in short):
            found["last_full"] = True
    return found


def measure_names(probe):
    """Whether a block whose scaling is named by type alone is refused, and by rope_type is not."""
    named = ({"rope_scaling": {key: "linear", "factor": 2.0}} for key in ("rope_type", "type"))
    return {"refuses_type": [probe.look(keys) is None for keys in named] == [False, True]}


def measure_sharing(probe):
    """How many layers at the end take keys of an earlier layer of their type, where one without such is refused."""
    shared = ask(probe.config, "num_kv_shared_layers")
    few = {"num_hidden_layers": 2, "layer_types": [SLIDING] * 2}
    if not shared or probe.release_model(few) or not probe.release_model(few | {"num_kv_shared_layers": 0}):
        return {}
    return {"shared": shared}


def find_period(types):
    """The shortest pattern that repeats, of at most 12 layers; None where there is none."""
    lengths = range(1, min(12, len(types)) + 1)
    return next((tuple(types[:n]) for n in lengths if all(one == types[i % n] for i, one in enumerate(types))), None)


def measure_layers(probe):
    """The types of layers that the class has where none are stated, their windows, and those that are not turned."""
    found, types = {}, ask(probe.config, "layer_types")
    if not types and len(probe.labels) > 1:  # releases 4: each layer has a module of its own
        places = {path: re.search(r"layers\.(\d+)\.", path) for path in probe.release.build(probe.make({}))}
        inside = {int(place[1]): name_by_path(path) for path, place in places.items() if place}
        found["layers"] = find_period([name for _, name in sorted(inside.items())]) or ()
    if types:
        longer = ask(probe.make({"num_hidden_layers": 2 * len(types) + 1}), "layer_types") or types
        found["layers"] = find_period(longer) or find_period(types[:-1]) or tuple(types)
        for key in PERIODS:
            changed = [ask(probe.make({key: period}), "layer_types") for period in (2, 3)]  # one may be its own
            if any(one and list(one) != list(types) for one in changed):
                found["period_key"] = key
    asked = probe.make({"use_sliding_window": True})
    for key in WINDOWS:
        window, switched = ask(probe.config, key), ask(asked, key)
        if isinstance(switched, int) and switched and not window:
            found |= {"switched": True, "window": switched}
        elif isinstance(window, int) and window:
            found["window"] = window
        if "window" in found:
            break
    if "window" not in found and not any(key in read_source(probe.cls) for key in WINDOWS):
        found["reads_window"] = False
    return found | find_first_sliding(probe)


def read_source(cls):
    """The code of the models of a class of configurations."""
    folder = Path(inspect.getfile(cls)).parent
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("modeling_*.py")))


def find_first_sliding(probe):
    """The first layer that slides where no types are stated, for classes that count layers by max_window_layers.

    Or the one from which on none does, where every second one before it slides.
    """
    laws = {
        "from": lambda layer, count: layer >= count,
        "before": lambda layer, count: layer < count and layer % 2 == 0,
    }
    for count in (2, 3, 5):
        keys = {"use_sliding_window": True, "num_hidden_layers": 6, "max_window_layers": count}
        types = list(ask(probe.make(keys), "layer_types") or ())
        laws = {
            name: slides
            for name, slides in laws.items()
            if types == [SLIDING if slides(layer, count) else FULL for layer in range(6)]
        }
    if not laws:
        return {}
    first = probe.make({"use_sliding_window": True}).max_window_layers
    return {"window_from": first, "slides_before": "before" in laws}


def measure_blocks(probe, base):
    """The block or blocks that the class takes where the file has none, beside a plain ladder with its base."""
    found, blocks = {}, ask(probe.config, BLOCK)
    linear = probe.look({"rope_scaling": {"rope_type": "linear", "factor": 2.0}}) or {}
    if blocks is None:
        everywhere = SLIDING in linear and linear[SLIDING][0][0] == 0.5
        return {"by_type": SLIDING in probe.labels and FULL in probe.labels, "older_everywhere": everywhere}
    if not probe.is_nested:
        blocks = {key: value for key, value in blocks.items() if not (key == "rope_theta" and value == base)}
        if blocks.get("rope_type", "default") != "default" or "partial_rotary_factor" in blocks:
            found["scaling"] = {key: value for key, value in blocks.items() if value is not None}
        found["theta"] = find_theta(probe.config)
        return found
    found["by_type"] = True
    found["scaling"] = {name: {key: value for key, value in (block or {}).items() if value is not None}
                        for name, block in blocks.items() if isinstance(block, dict)}  # fmt: skip
    flat = {"rope_type": "linear", "factor": 2.0, "rope_theta": 12345.0}
    found["refuses_older"] = probe.look({"rope_scaling": flat}) is None
    older = probe.look({"rope_scaling": flat}) or {}
    found["older_everywhere"] = SLIDING in older and older[SLIDING][0][0] == 0.5
    found["refuses_flat"] = probe.look({"rope_parameters": flat}) is None
    found["takes_flat"] = probe.moves({"rope_parameters": flat})
    return found


def measure(release, model, cls):
    """What differs from a class with nothing of its own."""
    probe = Probe(release, model, cls)
    if not probe.default:
        return None
    bases, own = measure_bases(probe)
    width = measure_width(probe)
    blocks = measure_blocks(probe, bases["default_base"])
    share = measure_share(probe)
    found = {**bases, **width, **blocks, **share, **measure_layers(probe), **measure_lists(probe)}
    found["own"] = own
    blocks_own = ask(probe.config, BLOCK) or {}
    found["factor"] = ask(probe.config, "partial_rotary_factor") or (
        None if probe.is_nested else blocks_own.get("partial_rotary_factor")
    )
    found["pairs"] = {name: len(values) for name, (values, _) in probe.default.items()}
    found["refused"] = measure_refusals(probe, {})
    if "yarn" in found["refused"] and "linear" not in found["refused"]:
        head = {"head_dim": 2 * next(iter(found["pairs"].values()))}
        found["refused_without_head"], found["refused"] = found["refused"], measure_refusals(probe, head)
    found["takes_axial"] = blocks_own.get("rope_type") == "axial" and probe.count(probe.put({"rope_type": "axial"})) > 0
    extra, bare = probe.list_extra(), {"rope_type": "default", "rope_theta": 1e4}
    found["needs"] = []
    for key in extra if not IS_OLD and probe.look({BLOCK: bare | extra}) else ():
        others = {one: value for one, value in extra.items() if one != key}
        if not probe.look({BLOCK: bare | others}):
            found["needs"].append(key)
    found |= measure_checks(probe) | measure_names(probe) | measure_sharing(probe)
    linear = {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}
    plain = probe.look(probe.put({"rope_type": "default"})) or probe.default
    beside = probe.look({key: linear[key] for key in ON_TOP if key in linear}) or probe.default
    found["reads_blocks"] = "linear" in found["refused"] or probe.look(probe.put(linear)) not in (None, beside)
    based = probe.put({"rope_type": "default", "rope_theta": 12345.0})
    reads_base = not IS_OLD and probe.look(based) not in (None, probe.default)  # which older blocks do not have
    found["base_only"] = reads_base and not found["reads_blocks"]
    found["reads_blocks"] |= found["base_only"]
    found["plain"] = all(is_plain(values) for values, _ in plain.values())
    found["strided"] = is_strided(probe)
    sections, pairs = found.get("sections") or [], probe.count()
    fitting = probe
    if sections and sum(sections) != pairs:
        block = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": stretch(sections, pairs)}
        fitting = probe.switched(probe.switch | probe.put(block))
    functions, calls = run(fitting)
    asked = ask(probe.config, "rope_interleave")
    found["layout"] = find_layout(functions, calls, model, asked)
    found |= find_still(probe, calls, ask(probe.config, "layer_types"))
    if "rope_interleave" in probe.config.to_dict():
        other = probe.switched({"rope_interleave": not asked})
        found["obeys_interleave"] = find_layout(*run(other), model, not asked) != found["layout"]
    found["axial"] = is_axial(release.build_alone(probe.make({})))
    found["one_axis"] = is_counting(release.build_alone(probe.make({})))
    found["axis_step"] = 2 if has_even_axes(probe, found) else 1
    found["length"] = ask(probe.config, "max_position_embeddings")
    found["original"] = ask(probe.config, "original_max_position_embeddings")
    found["needs_block"] = "rope_scaling" in probe.switch
    if told := [(key, value) for key, value in probe.switch.items() if isinstance(value, str | bool)]:
        found["only_if"] = told[0]
    elif not probe.switch:
        for key, value in (("alibi", True), ("position_embedding_type", "none"), ("use_mem_rope", False)):
            if key in probe.config.to_dict() and not probe.look({key: value}):
                found["only_if"] = (key, ask(probe.config, key))
    return found


def has_even_axes(probe, found):
    """Whether a channel rests where heads give each axis an odd number of them; else it has a pair for itself."""
    if not found.get("hidden") or not found.get("heads"):
        return False
    keys = [found.get("hidden_key", "hidden_size"), found.get("heads_key", "num_attention_heads")]
    axes = found["hidden"] // found["heads"] // (2 * probe.count())
    for each in (21, 13, 9) if axes > 1 else ():
        head = axes * each + axes * each % 2
        pairs = probe.count(dict(zip(keys, (4 * head, 4), strict=True)))
        if pairs in (each // 2, each // 2 + 1):
            return pairs == each // 2
    return False


def measure_part(release, model, cls):
    """Of a model of several parts the keys that lead to the one that reads text, outermost first, and its type."""
    try:
        config, path = cls.from_dict({}), []
        while True:
            text = config.get_text_config()
            if text is config:
                break
            path.append(next(key for key, value in vars(config).items() if value is text))
            config = text
    except Exception:
        return None
    if not path:
        return None
    found, silent = {}, find_own(config)
    try:
        given = cls.from_dict({path[0]: {"num_hidden_layers": 2}})
        for key in path:
            given = getattr(given, key)
        found = find_own(given)
    except Exception:
        found |= {"unnamed_refused": True} if is_refused(cls, path[0]) else silent
    if silent != {key: value for key, value in found.items() if key != "unnamed_refused"}:
        found["silent"] = silent
    return [*path, config.model_type, *([found] if found else [])]


def is_refused(cls, part):
    """Whether a part that says nothing is refused."""
    try:
        cls.from_dict({part: {}})
    except Exception:
        return True
    return False


def find_own(config):
    """What a part has by default in a model of several parts where its class by itself has something else."""
    if config is None:
        return {}
    default, found = type(config)(), {}
    base, own = find_theta(config), find_theta(default)
    found |= {"default_base": base} if base and base != own else {}
    for name, key in (("hidden", WIDTHS[0]), ("heads", COUNTS[0]), ("head_dim", "head_dim"), ("length", LENGTH)):
        if ask(config, key) != ask(default, key):
            found[name] = ask(config, key)
    if {"hidden", "heads"} & {*found}:  # head_dim may follow from those in the class, and not here
        (hidden, heads, own), (width, count, head) = ([ask(one, key) for key in (WIDTHS[0], COUNTS[0], "head_dim")]
                                                      for one in (config, default))  # fmt: skip
        if own and head and width // count == head and hidden // heads != own:
            found["head_dim"] = own
    return found


def find_theta(config):
    """The base of a flat block."""
    return ask(config, "rope_theta") if IS_OLD else (ask(config, BLOCK) or {}).get("rope_theta")


def simplify(raw):
    """What of the measurements differs from a class with nothing of its own, by the names of `KnownModel`."""
    found = {key: raw[key] for key in SAME if raw.get(key) not in (None, DEFAULTS.get(key))}
    found |= simplify_width(raw) | simplify_layers(raw)
    if found.get("axes", 1) > 1:  # it counts patches, not how far coordinates on an axis go
        found.pop("length", None)
    scaling = raw.get("scaling") or {}
    nested = {key: value for key, value in scaling.items() if isinstance(value, dict)}
    told = [block for block in nested.values() if block.get("rope_type", "default") != "default"]
    told += [block for block in nested.values() if set(block) - {"rope_type", "rope_theta"}]
    told += [block for name, block in nested.items() if block.get("rope_theta") != find_bare(raw, name)]
    if raw.get("fixed_base") and not nested:
        scaling = {"rope_type": "default"} | scaling | {"rope_theta": raw["theta"]}
    if not nested:
        if raw["share"][0] == next(iter(raw["pairs"].values())):
            scaling = {key: value for key, value in scaling.items() if key != "partial_rotary_factor"}
        scaling = {} if set(scaling) <= {"rope_type"} and scaling.get("rope_type", "default") == "default" else scaling
    if scaling and scaling.get("rope_type") != "axial" and "main" not in nested and (told or not nested):
        found["scaling"] = scaling
    odd = raw.get("hidden") and raw.get("heads") and int(raw["hidden"] // raw["heads"] * found.get("share", 1)) % 2
    # those that are refused for an odd width are refused for that wherever it is odd
    refused = [kind for kind in raw["refused"] if kind != "su" and not (odd and kind in ("yarn", "longrope"))]
    if "compress" in nested:  # one ladder is scaled, the other never
        found |= {"compressed_base": nested["compress"]["rope_theta"]}
        found = {key: found[key] for key in found if key not in ("layers", "by_type", "local_share")}
    factor = next((block[SHARES[0]] for block in (raw.get("scaling") or {}, *nested.values()) if SHARES[0] in block), 1)
    if raw.get("whole") and factor < 1 and round(raw["whole"] * factor) == 2 * next(iter(raw["pairs"].values())):
        found |= {"part_key": "qk_rope_head_dim", "head_keys": ["head_dim"], "head_dim": raw["whole"], "share": factor}
        found |= {"beside": raw["beside"]} if raw["beside"] else {}
        del found["head_keys"]
    if refused != ["mrope"]:
        found["refused"] = refused
    without = [kind for kind in raw.get("refused_without_head", ()) if kind not in raw["refused"]]
    return found | ({"refused_without_head": without} if without and not odd else {})


def find_bare(raw, name):
    """The base of a block that has none."""
    local = raw.get("local_base")
    return local if local is not None and "sliding" in name else raw["default_base"]


def simplify_width(raw):
    """Widths: a head's, what it is computed from, and the share of it that is turned."""
    found, pairs = {}, raw["pairs"]
    if list(raw["head_keys"]) != ["head_dim"]:
        found["head_keys"] = raw["head_keys"]
    for part, key in (("hidden", "hidden_size"), ("heads", "num_attention_heads")):
        if raw.get(f"{part}_key", key) != key:
            found[f"{part}_key"] = raw[f"{part}_key"]
    whole, local = (raw.get(key, (None,))[0] for key in ("share", "local_share"))
    if local and whole and local != whole and FULL in pairs and "full_head_dim" in raw:
        found |= {"full_head_dim": 2 * whole, "head_keys": ["head_dim"], "head_dim": 2 * local}
        return found
    fixed = not raw.get("derived") and not raw.get("head_dim") and not raw.get("width_key")
    if not raw.get("hidden") or not raw.get("heads") or fixed:
        return found | {"head_dim": raw.get("head_dim") or 2 * (whole or 0) or 2 * next(iter(pairs.values()))}
    whole = whole or next(iter(pairs.values()))
    derived = raw["hidden"] // raw["heads"]
    head = raw.get("head_dim") or derived
    if (raw.get("axial") and not raw["reads_share"]) or (raw.get("scaling") or {}).get("rope_type") == "axial":
        return found | ({"axes": head // (2 * whole)} if whole and head // (2 * whole) > 1 else {})
    width = raw.get("rotary_width")
    if head and whole and whole != head // 2 and not width:
        tried = (raw.get("factor"), 1.0, 0.25, 0.5, 0.75, 0.8, 0.9, round(2 * whole / head, 3), 2 * whole / head)
        share = next(one for one in tried if one and (int(head * one) + 1) // 2 == whole)
        found["share"] = share
    return found


def simplify_layers(raw):
    """The pattern of layer types and what belongs to it."""
    layers = raw.get("layers") or []
    # of one type a pattern tells nothing, unless that type sees all where the class has a window for others
    is_told = len(set(layers)) > 1 or (set(layers) == {FULL} and raw.get("window") and not raw.get("window_from"))
    return {"layers": sorted(set(layers)) if len(set(layers)) == 1 else list(layers)} if is_told else {}


#: What is taken over as it was measured, and what it is for a class with nothing of its own.
SAME = ("default_base", "local_base", "compressed_base", "base_key", "local_key", "share_key", "reads_share")
SAME += ("width_key", "rotary_width", "head_dim", "hidden", "heads", "layout", "obeys_interleave", "period_key")
SAME += (
    "window",
    "switched",
    "window_from",
    "slides_before",
    "unturned",
    "nope_every",
    "only_if",
    "length",
    "original",
    "by_type",
)
SAME += ("strided", "short_only", "factor_key", "sections", "needs_window", "last_full", "one_axis", "axis_step")
SAME += ("divides", "refuses_flat", "refuses_older", "older_everywhere", "takes_flat", "reads_blocks", "needs")
SAME += ("refuses_type", "shared", "needs_block", "takes_axial", "reads_window", "base_only")
DEFAULTS = {"default_base": 1e4, "base_key": "rope_theta", "local_key": "", "reads_share": False, "layout": "half"}
DEFAULTS |= {"obeys_interleave": False, "refuses_flat": False, "refuses_older": False, "reads_blocks": True}
DEFAULTS |= {
    "reads_window": True,
    "by_type": False,
    "switched": False,
    "needs": [],
    "takes_flat": False,
    "older_everywhere": False,
    "divides": False,
}
DEFAULTS |= dict.fromkeys(
    (
        "refuses_type",
        "needs_block",
        "takes_axial",
        "strided",
        "short_only",
        "needs_window",
        "last_full",
        "one_axis",
        "base_only",
        "slides_before",
    ),
    False,
) | {"factor_key": "", "axis_step": 1}


def main():
    release, classes, parts, only = Release(), {}, {}, sys.argv[1:]
    names = release.list_classes()
    if only:
        known = release_table.load(release_table.name_file(version("transformers")))
        classes, parts = ({name: found for name, found in known[kind].items() if name not in only}
                          for kind in ("classes", "parts"))  # fmt: skip
        classes = {name: spell_layers(known, found) for name, found in classes.items()}
        names = {*names} - {*known.get("unmeasured", ())} | {*only}
    for model, cls in sorted(release.list_classes().items()):
        if only and model not in only:
            continue
        part, found = ask_apart(look, release, model, cls)
        if part is not None:
            parts[model] = part
            print(model, json.dumps(part), flush=True)
        elif found:
            print(model, json.dumps(found), flush=True)
            if found["plain"]:
                classes[model] = simplify(found)
    write(classes, parts, names, known if only else {})


def look(release, model, cls):
    """What a class is a whole of, or what is measured of it."""
    part = measure_part(release, model, cls)
    return part, None if part is not None else measure(release, model, cls)


def write(classes, parts, names, beside):
    """Write the table; that of an older release with what differs from the newest.

    Of classes that it could not be asked about, of all the `names` that there are, the newest is taken. What a table
    has `beside` the classes is kept where some of them are measured anew.
    """
    head = {"stack": "transformers", "version": version("transformers"), "torch": version("torch").partition("+")[0]}
    head |= {"date": datetime.datetime.now(tz=datetime.UTC).date().isoformat()}
    head |= {"written by": "tests/reference/transformers/probe.py"}
    newest = release_table.load(release_table.name_file(release_table.find_newest()))
    if IS_OLD:
        known = newest["classes"] | newest["parts"]
        left = sorted(name for name in names if name in known and name not in classes | parts)
        whole = {*newest["composites"]} - {*newest["classes"]}  # what was measured of these is a part's
        classes = {name: found for name, found in classes.items() if name not in whole}
        head |= {"beside": newest["version"], "unknown": ["rope_parameters"], "unmeasured": left}
        classes |= {name: spell_layers(newest, newest["classes"][name]) for name in left if name in newest["classes"]}
        parts |= {name: newest["parts"][name] for name in left if name in newest["parts"]}
    # of those that composites.py has shortened, the key of the part is left
    parts = {whole: part for whole, part in parts.items()
             if isinstance(part, str) or {one for one in part if isinstance(one, str)} & {*classes}}  # fmt: skip
    letters = name_letters(classes, newest["letters"] if IS_OLD else {})
    named = {name: letter for letter, name in letters.items()}
    for found in classes.values():
        if "layers" in found:
            found["layers"] = "".join(named[name] for name in found["layers"])
    release_table.save(beside | head | {"letters": letters, "classes": classes, "parts": parts})


def spell_layers(table, found):
    """A class of a table with the types of its layers by name."""
    return found | {key: [table["letters"][one] for one in found[key]] for key in ("layers",) if key in found}


def name_letters(classes, known):
    """A letter for each type of layer, those that are known first."""
    types = sorted({name for found in classes.values() for name in found.get("layers", ())} - {*known.values()})
    return known | {chr(ord("A") + len(known) + index): name for index, name in enumerate(types)}


if __name__ == "__main__":
    main()
