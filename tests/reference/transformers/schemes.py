"""Measure what the classes of an installed transformers do about positions; write the package's list of it.

`tests/reference/measure.py transformers VERSION` runs it, as the others of this folder.
It writes pe_spectra/models/measured/transformers-VERSION-schemes.json: for each model_type what its models have for
positions besides the rotations and tables of words that probe.py and tables.py measure: the kind, where it is in the
model, how its sizes follow from keys, and the switch that adds it. Every class of a configuration is built on PyTorch's
meta device; a kind is told by the names and shapes of parameters and buffers and by the classes of modules, and a size
by changing one key at a time. A type without a kind in any class that could be built has an empty list: no position
scheme was found in its classes. Types whose classes were not built are listed as such; what they have was read.
With model_types as arguments it measures these anew and keeps what the file has of others. One core, some ten minutes.
Beside it the default configurations of all types are frozen into defaults-VERSION.json.gz here, and the sizes that real
models have with drawn keys into schemes-VERSION.json.gz.
"""

import ast
import contextlib
import datetime
import gzip
import importlib
import inspect
import json
import pathlib
import random
import re
import sys
import textwrap
from importlib.metadata import version

import torch
import transformers
from real_modules import be_patient, find_config, rank
from tables import FOLDER, PATIENCE, build, list_models
from torch import nn
from transformers.configuration_utils import PretrainedConfig
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

#: Kinds, each told by the name of a parameter or buffer, with what its axes are from the last one backwards.
#: The first that matches a name is taken.
BY_NAME = (
    ("window-bias", r"relative_position_bias_table$", ("heads", "rows")),
    ("window-bias", r"continuous_position_bias_mlp\.2\.weight$", ("hidden", "heads")),
    ("offset-bias", r"attention_biases$", ("rows", "heads")),
    ("decomposed-bias", r"rel_pos_h$", ("d", "rows")),
    ("bucketed-bias", r"(relative_attention_bias(_layer\.bias_values)?|rel_attn_embed)(\.weight)?$", ("heads", "rows")),
    ("disentangled", r"rel_embeddings\.weight$", ("d", "rows")),
    ("transformer-xl", r"relative_k_proj|(^|\.)pos_proj\.weight$|linear_pos\.weight$|rel_attn\.r$|\br_kernel$", ("d",)),
    ("relative-logits", r"rel_logits_proj|relative_position_bias\.proj$", ("rows", "d")),
    ("shaw", r"rel_pos_emb\.weight$|emb_rel_k$|distance_embedding\.weight$|\bpe_k\.weight$", ("d", "rows")),
    ("convolutional", r"pos_conv_embed.*(weight|original1)$", ("rows", "groups", "d")),
    ("random-fourier", r"positional_embedding$", ("d", "axes")),
    ("axial-tables", r"(row|column)_embed(der|dings)?\.weight$|position_embeddings\.weights\.\d+$", ("d", "rows")),
    ("rotary", r"inv_freq$", ("pairs",)),
    ("learned", r"(^|[._])(pos|positions?|positional)_?emb(ed|eds|edding|eddings)?(_window|_layer)?(\.weight)?$",
     ("d", "rows")),
    ("learned", r"embed_positions\.weight$|position_enc(oder|oding)?(\.position_enc)?$", ("d", "rows")),
)  # fmt: skip
#: Names of what only sounds like it.
NOT = re.compile(r"original_inv_freq|position_ids|post_|norm|query_(pos|embed)|attention_bias_idxs|position_index")
#: Kinds told by the class of a module that has no parameters, or whose parameters have no telling names.
BY_CLASS = (
    ("sine-2d", r"SinePositionEmbedding$|PositionEmbeddingSine$"),
    ("convolutional", r"PositionalConvEmbedding$"),
    ("sinusoidal", r"Sinusoid.*Position|TimesFmPositionalEmbedding$|SinusoidalPositional"),
    ("rotary", r"Ro(tary|pe|PE)(Attention|Embedding|PositionEmbedding)"),
    ("learned-fourier", r"LightGluePositionalEncoder$"),
)
#: What classes need before they can be built without a network or other packages, or add a scheme at all.
RESNET = {"model_type": "resnet", "out_features": ["stage2", "stage3", "stage4"]}
NEEDED = ({}, {"backbone_config": RESNET, "use_timm_backbone": False}, {"prediction_length": 24, "context_length": 48})
#: Counts of layers, which no size follows.
LAYERS = re.compile(r"layers?$|depth|vocab|token_id|num_labels|num_queries")
SIZES = re.compile(
    r"hidden|embed|window|size|head|pos|patch|channel|length|bucket|dist|kernel|dim|d_model|max_|context|filters|left|seq|len"
)
#: Kinds that other scripts measure.
MEASURED = ("rotary", "learned", "sinusoidal")
#: Kinds whose sizes are followed to keys.
#: What every configuration answers for, by whatever name its file has it.
ALWAYS = {"d": "hidden_size", "heads": "num_attention_heads"}
FOLLOWED = {kind for kind, _, axes in BY_NAME if axes} - {"rotary"}
#: Names in source that speak of positions, in words apart.
SPEAKS = re.compile(
    r"(^|_)(pos|positions?|positional|relative|rel|rope|rotary|alibi|sinusoids?|sinusoidal|slopes)(_|$)"
)
#: What classes have that are not built here, or have it in a function or a package of others; read in 5.24.0.
READ = {
    "dinat": [{"kind": "window-bias", "at": "encoder.levels.0.layers.0.attention.self.rpb",
               "heads": ["num_heads", 1, 0, 2], "window": ["kernel_size", 1, 0, 7]}],
    "gemma4_unified_audio": [],
    "gemma4_unified_vision": [{"kind": "axial-tables", "at": "pos_embedding", "d": ["mm_embed_dim", 1, 0, 3840],
                               "rows": ["mm_posemb_size", 1, 0, 1120]}],
    "idefics_perciever": [],
    "idefics_vision": [{"kind": "learned", "at": "embeddings.position_embedding.weight", "d": ["embed_dim", 1, 0, 768],
                        "grid_height": ["image_size", 1, 0, 224, "patch_size", 14],
                        "grid_width": ["image_size", 1, 0, 224, "patch_size", 14]}],
    "layoutxlm": [{"kind": "learned", "at": "embeddings.position_embeddings.weight", "d": ["hidden_size", 1, 0, 768],
                   "rows": ["max_position_embeddings", 1, 0, 512]},
                  {"kind": "axial-tables", "at": "embeddings.x_position_embeddings.weight",
                   "rows": ["max_2d_position_embeddings", 1, 0, 1024]},
                  {"kind": "bucketed-bias", "at": "encoder.rel_pos_bias.weight", "rows": ["rel_pos_bins", 1, 0, 32],
                   "heads": ["num_attention_heads", 1, 0, 12], "unless": [["has_relative_attention_bias", False]]}],
    "pp_chart2table_vision": [{"kind": "learned", "at": "pos_embed", "d": ["hidden_size", 1, 0, 768],
                               "grid_height": ["image_size", 1, 0, 1024, "patch_size", 16],
                               "grid_width": ["image_size", 1, 0, 1024, "patch_size", 16],
                               "unless": [["use_abs_pos", False]]},
                              {"kind": "decomposed-bias", "at": "layers.0.attn.rel_pos_h",
                               "rows": ["window_size", 2, -1, 14], "unless": [["use_rel_pos", False]]}],
    "sapiens2_head": [],
    "videomae": [{"kind": "sinusoidal", "at": "embeddings.position_embeddings", "d": ["hidden_size", 1, 0, 768]}],
    "vit_mae": [{"kind": "sine-2d", "at": "embeddings.position_embeddings", "d": ["hidden_size", 1, 0, 768]}],
    "vjepa2": [{"kind": "axial-rotary", "at": "encoder.layer.0.attention"}],
}  # fmt: skip
#: What only some architectures of a model_type have, and what others have in its place; read in 5.24.0.
SPEECH = ["architectures", ["SpeechT5ForTextToSpeech"]]
READ_BESIDE = {
    ("speecht5", "convolutional"): {"unless": [SPEECH]},
    ("speecht5", "sinusoidal"): {
        "unless": [SPEECH],
        "elsewhere": "SpeechT5ScaledPositionalEncoding, of SpeechT5ForTextToSpeech and SpeechT5ForSpeechToSpeech",
    },
}
READ_MORE = {"speecht5": [{"kind": "sinusoidal", "at": "speecht5.encoder.prenet.encode_positions", "if": SPEECH}]}
#: Keys that add or take away a scheme, and the words that some take.
SWITCH = re.compile(r"pos(ition)?|relative|rel_|use_abs")
WORDS = {
    "position_embeddings_type": ("relative", "relative_key", "rotary", None),
    "position_embedding_type": ("sine", "learned", "absolute", "rotary", "alibi"),
    "positional_encoding_type": ("sincos", "random"),
    "pos_att_type": (["p2c", "c2p"],),
}


def list_default_configs():
    """Every configuration class with a model_type as its defaults, by model_type; None where they are refused."""
    found = {}
    for path in sorted((pathlib.Path(transformers.__file__).parent / "models").glob("*/configuration_*.py")):
        with contextlib.suppress(ImportError):
            module = importlib.import_module(f"transformers.models.{path.parent.name}.{path.stem}")
            for cls in vars(module).values():
                is_own = (
                    isinstance(cls, type) and issubclass(cls, PretrainedConfig) and cls.__module__ == module.__name__
                )
                if is_own and cls.model_type and cls.model_type not in found:
                    found[cls.model_type] = cls
    return found


def find_classes(of, models):
    """The classes of models of a configuration; without one, what AutoModel takes."""
    named = MODEL_MAPPING_NAMES.get(of.model_type)
    named = (named,) if isinstance(named, str) else named or ()
    return models.get(of) or [getattr(transformers, one) for one in named if hasattr(transformers, one)]


def find_modules(of):
    """The classes of modules that are given a configuration without a model of its own."""
    found = []
    for path in pathlib.Path(inspect.getfile(of)).parent.glob("modeling_*.py"):
        with contextlib.suppress(ImportError):
            module = importlib.import_module(f"{of.__module__.rpartition('.')[0]}.{path.stem}")
            own = [cls for cls in vars(module).values() if isinstance(cls, type) and issubclass(cls, nn.Module)]
            found += [cls for cls in own if cls.__module__ == module.__name__ and _is_given(cls, of)]
    return sorted(found, key=lambda cls: (rank(cls), len(cls.__name__)))


def _is_given(cls, of):
    with contextlib.suppress(Exception):
        return find_config(cls) is of
    return False


def look(model):
    """What a model has for positions: kind -> where the first is, its shape, and its class."""
    found = {}
    if model is None:
        return found
    for name, value in (*model.named_parameters(), *model.named_buffers()):
        if NOT.search(".".join(name.split(".")[-2:])):
            continue
        kind = next(((kind, axes) for kind, pattern, axes in BY_NAME if re.search(pattern, name)), None)
        if kind is None or (kind[0] == "random-fourier" and (value.dim() != 2 or value.shape[0] != 2)):
            kind = ("learned", ("d", "rows")) if kind else None
        if kind is not None:
            found.setdefault(kind[0], (name, list(value.shape), kind[1]))
    for name, module in model.named_modules():
        for kind, pattern in BY_CLASS:
            if re.search(pattern, type(module).__name__) and not re.search("RelPos|Relative", type(module).__name__):
                found.setdefault(kind, (name, [], ()))
    if "sinusoidal" in found and found.get("learned", ("",))[0].startswith(found["sinusoidal"][0]):
        found.pop("learned")  # rows by formula
    if "transformer-xl" in found:
        found.pop("rotary", None)  # frequencies of the relative sinusoid
    return found


def build_any(cls, of, keys):
    """The model with one layer, else as it is; None where it is refused."""
    model = build(cls, of, keys)
    if model is None:
        with contextlib.suppress(Exception), be_patient(PATIENCE), torch.device("meta"):
            model = cls(of.from_dict(dict(keys)))
    return model


def build_first(classes, of):
    """The class whose model has most kinds among those that can be built, and its keys; None where none can."""
    default, best = of().to_dict(), None
    for keys in NEEDED:
        if not keys or any(key in default for key in keys):
            for cls in classes[:6]:
                model = build_any(cls, of, keys)
                has_any = model is not None and next(model.parameters(), None) is not None  # a base class has none
                if has_any and (best is None or len(look(model)) > len(look(best[2]))):
                    best = cls, keys, model
    return best


def belongs(model, name, of):
    """Whether a module of a model is its own, not that of a part with a configuration of another type."""
    path = name.split(".")
    for end in range(len(path), 0, -1):
        with contextlib.suppress(AttributeError):
            kind = getattr(getattr(model.get_submodule(".".join(path[:end])), "config", None), "model_type", "")
            if kind:
                return kind == of.model_type
    return True


def name_sizes(axes, shape):
    """Sizes by name; axes of one are left out, and those of a grid of learned rows are its sides."""
    sizes = [size for size in shape if size != 1]
    if axes == ("d", "rows") and len(sizes) == 3:
        axes = ("grid_width", "grid_height", "d") if sizes[1] == sizes[2] else ("d", "grid_width", "grid_height")
    return dict(zip(axes, reversed(sizes), strict=False)) if len(sizes) >= len(axes) else {}


def double(value):
    return [2 * one for one in value] if isinstance(value, list) else 2 * value


def follow(cls, of, keys, kind, shape, axes):
    """How sizes follow from keys: [key, times, plus, default], for times key + plus, of a list its first number.

    A size that no key changes is a number; one that several change, or not by a rule that is known here, is left out.
    """
    sizes, moved = name_sizes(axes, shape), {}
    for key, value in of.from_dict(dict(keys)).to_dict().items():
        is_list = isinstance(value, list) and value and all(type(one) is int for one in value)
        if sizes and SIZES.search(key) and not LAYERS.search(key) and ((type(value) is int and value > 0) or is_list):
            now = look(build(cls, of, {**keys, key: double(value)})).get(kind)
            now = name_sizes(axes, now[1]) if now is not None else sizes
            moved |= {key: (value[0] if is_list else value, now)} if now.keys() == sizes.keys() else {}
    laws = {}
    for axis, size in sizes.items():
        changed = {key: (value, now[axis]) for key, (value, now) in moved.items() if now[axis] != size}
        law = _explain(size, changed, {key: value for key, (value, _) in moved.items()})
        if kind == "window-bias" and axis == "rows":
            axis, law = "window", _explain_window(size, changed)
        laws |= {axis: law} if law is not None else {}
    return laws


def _explain(size, changed, values):
    if not changed:
        return size
    lines = []
    for key, (value, now) in changed.items():
        times = (now - size) / value
        if times == int(times) and times > 0:
            lines.append([key, int(times), int(size - times * value), value])
    exact = [line for line in lines if line[2] in (0, -1, 1, 2, 3)]
    if len(changed) == 1 and lines:
        return lines[0]
    pictures = [key for key in changed if "patch" not in key]
    patches = [key for key in changed if "patch" in key]
    if len(pictures) == len(patches) == 1:
        picture, patch = values[pictures[0]], values[patches[0]]
        if size == picture // patch and changed[pictures[0]][1] == 2 * picture // patch:
            return [pictures[0], 1, 0, picture, patches[0], patch]
    return exact[0] if len(exact) == 1 and len(lines) == 1 else None


def _explain_window(rows, changed):
    """The side M of a square window that has (2 M - 1)^2 rows, and 3 more for a class token."""
    for extra in (0, 3):
        side = (round((rows - extra) ** 0.5) + 1) // 2
        if (2 * side - 1) ** 2 + extra != rows:
            continue
        for key, (value, now) in changed.items():
            if value == side and now == (4 * side - 1) ** 2 + extra:
                return [key, 1, 0, value]
        sizes = {key: value for key, (value, _) in changed.items()}
        if {"image_size", "patch_size"} <= sizes.keys() and sizes["image_size"] // sizes["patch_size"] == side:
            return ["image_size", 1, 0, sizes["image_size"], "patch_size", sizes["patch_size"]]
    return None


def list_switches(of, keys):
    """Other values of the keys that may add a scheme, each with what it has."""
    for key, value in of.from_dict(dict(keys)).to_dict().items():
        if key in WORDS:
            yield from ((key, one) for one in WORDS[key] if one != value)
        elif type(value) is bool and SWITCH.search(key):
            yield key, not value


def measure(of, classes, followed):
    """What the models of a configuration have of their own; None where none could be built."""
    best = build_first(classes, of)
    if best is None:
        return None
    cls, keys, model = best
    has = {kind: one for kind, one in look(model).items() if belongs(model, one[0], of)}
    facts = [_state(cls, of, keys, kind, one, followed) for kind, one in has.items()]
    for key, value in list_switches(of, keys):
        other = build_any(cls, of, {**keys, key: value})
        if other is None:
            continue
        now = {kind: one for kind, one in look(other).items() if belongs(other, one[0], of)}
        for fact in facts:
            if fact["kind"] in has and fact["kind"] not in now:
                fact.setdefault("unless", []).append([key, value])
        for kind in now.keys() - has.keys():
            fact = _state(cls, of, {**keys, key: value}, kind, now[kind], followed)
            facts.append(fact | {"if": [key, value]})
    return facts


def _state(cls, of, keys, kind, found, followed):
    name, shape, axes = found
    return {"kind": kind, "at": name} | (follow(cls, of, keys, kind, shape, axes) if kind in followed else {})


def measure_in_whole(name, configs, models):
    """What a part without a model of its own has in the model that it is a part of; None where there is none."""
    for of in configs.values():
        keys = [key for key, part in of.sub_configs.items() if part is configs[name]]
        best = build_first(find_classes(of, models), of) if keys else None
        for key in keys if best else ():
            root = key.removesuffix("_config")
            inside = [at for at, _ in best[2].named_modules() if at.rpartition(".")[2] == root]
            if inside:
                found = look(best[2].get_submodule(inside[0]))
                return [{"kind": kind, "at": f"{inside[0]}.{one[0]}"} for kind, one in found.items()]
    return None


def list_words(classes):
    """Names that speak of positions in the source of classes and of what they use of their modules."""
    found, waiting, seen = set(), list(classes), set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        with contextlib.suppress(OSError, TypeError, SyntaxError):
            tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
            names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            found |= {name for name in names if SPEAKS.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())}
            module = sys.modules[one.__module__]
            used = [getattr(module, name, None) for name in names] + list(getattr(one, "__bases__", ()))
            waiting += [other for other in used if getattr(other, "__module__", None) == one.__module__]
    return sorted(found)


def list_measured():
    """Types whose rotation or table of words the other scripts have measured, and those of several parts they read."""
    name, found = version("transformers"), set()
    classes = json.loads((FOLDER / f"transformers-{name}.json").read_text())
    tables = json.loads((FOLDER / f"transformers-{name}-tables.json").read_text())["tables"]
    found |= {of for of, what in classes["classes"].items() if "only_if" not in what} | {*classes["parts"]}
    return found | {
        of
        for of, some in tables.items()
        if any({"keys", "series"} & one.keys() or ("picture" in one and not one.get("fixed")) for one in some)
    }


def measure_release(wanted=()):
    """What the classes of each model_type have, by model_type; None where none could be built."""
    models, configs, known, found = list_models(), list_default_configs(), list_measured(), {}
    for name, of in sorted(configs.items()):
        if wanted and name not in wanted:
            continue
        facts = None
        with contextlib.suppress(Exception):
            if name in known and not any(key in WORDS or SWITCH.search(key) for key in of().to_dict()):
                continue
            followed = FOLLOWED - ({"learned"} if name in known else set())
            facts = measure(of, find_classes(of, models), followed)
            facts = measure_in_whole(name, configs, models) if facts is None else facts
            facts = measure(of, find_modules(of), followed) if facts is None else facts
        if name in known:
            facts = [fact for fact in facts or () if fact["kind"] not in MEASURED or "unless" in fact]
        if facts or name not in known:
            found[name] = {"has": facts}
            words = list_words((find_classes(of, models) or find_modules(of))[:6]) if not facts else ()
            found[name] |= {"words": words} if words else {}
            print(name, json.dumps(found[name]), file=sys.stderr, flush=True)
    return found


def draw_sizes(measured, draws=3):
    """Sizes of real models with drawn keys: [model_type, keys, kind -> sizes]; none where a draw is refused."""
    models, configs, found = list_models(), list_default_configs(), []
    for name, one in sorted(measured.items()):
        facts = [fact for fact in one["has"] or () if any(isinstance(law, list) for law in _list_laws(fact))]
        generator = random.Random(name)
        for _ in range(draws if facts and not one.get("read") else 0):
            fact = generator.choice(facts)
            keys = {law[0]: law[3] * generator.randint(1, 3) for law in _list_laws(fact) if isinstance(law, list)}
            defaults = configs[name]().to_dict()
            keys = {key: [size] * len(defaults[key]) if isinstance(defaults[key], list) else size
                    for key, size in keys.items()}  # fmt: skip
            keys |= dict([fact["if"]]) if "if" in fact else {}
            ways = ((cls, needed | keys) for needed in NEEDED for cls in find_classes(configs[name], models)[:4])
            tried = (look(build_any(cls, configs[name], asked)).get(fact["kind"]) for cls, asked in ways)
            model = next(filter(None, tried), None)
            if model is not None:
                found.append([name, keys, fact["kind"], name_sizes(model[2], model[1])])
    return found


def _list_laws(fact):
    return [law for axis, law in fact.items() if axis not in ("kind", "at", "if", "unless")]


def measure_sizes(measured):
    """Add the width and the heads that the class of each type takes where a file has neither."""
    configs = list_default_configs()
    for name in measured:
        with contextlib.suppress(Exception):
            config = configs[name]()
            asked = {axis: getattr(config, key, None) for axis, key in ALWAYS.items()}
            measured[name] |= {"sizes": {axis: size for axis, size in asked.items() if type(size) is int}}


def freeze_defaults():
    """The default configuration of every type, as its class writes it."""
    found = {}
    for name, of in list_default_configs().items():
        with contextlib.suppress(Exception):
            found[name] = json.loads(of().to_json_string(use_diff=False))
    return found


if __name__ == "__main__":
    chosen, name = sys.argv[1:], version("transformers")
    file = FOLDER / f"transformers-{name}-schemes.json"
    measured = json.loads(file.read_text(encoding="utf-8"))["types"] if chosen else {}
    measured |= measure_release(chosen) | {of: {"has": has, "read": True} for of, has in READ.items()}
    for of in READ_MORE if not chosen else {*READ_MORE} & {*chosen}:
        has = [fact | READ_BESIDE.get((of, fact["kind"]), {}) for fact in measured[of]["has"]]
        measured[of]["has"] = has + READ_MORE[of]
    measure_sizes(measured)
    head = {"stack": "transformers", "version": name, "torch": version("torch").partition("+")[0]}
    head |= {"date": datetime.datetime.now(tz=datetime.UTC).date().isoformat()}
    head |= {"written by": "tests/reference/transformers/schemes.py"}
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(measured.items()))
    text = json.dumps(head, indent=1).rstrip("\n}") + ',\n "types": {\n' + lines + "\n }\n}\n"
    file.write_text(text, encoding="utf-8")
    drawn = gzip.compress(json.dumps(draw_sizes(measured)).encode(), mtime=0)
    (pathlib.Path(__file__).parent / f"schemes-{name}.json.gz").write_bytes(drawn)
    frozen = gzip.compress(json.dumps(freeze_defaults()).encode(), mtime=0)
    (pathlib.Path(__file__).parent / f"defaults-{name}.json.gz").write_bytes(frozen)
    print(f"{len(measured)} types, {sum(one['has'] is None for one in measured.values())} not built")
