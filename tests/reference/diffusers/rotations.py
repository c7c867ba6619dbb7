"""The rotary modules of diffusers as its models build them, and the rotation that each computes at one patch.

A model is built without weights (on the device "meta"), and what it gives its rotary module is recorded; that module is
then made on the processor and called in the way that its arguments ask for. Models that are handed their rotation by a
pipeline are listed with the function that the pipeline calls.
"""

import importlib
import inspect
import pkgutil

import diffusers
import diffusers.models.embeddings as functions
import diffusers.models.transformers as folder
import torch

#: What classes of rotary modules are called.
WORDS = ("Rotary", "RoPE", "Rope", "PosEmbed", "EmbedND")
#: Their other modules for positions, whose names have one of those words too.
OTHERS = ("Learnable", "Sinus", "Patch")
#: What a class needs to be built at all; read in the published files of its model.
NEEDED = {
    "HiDreamImageTransformer2DModel": {
        "patch_size": 2, "in_channels": 16, "num_attention_heads": 20, "attention_head_dim": 128, "num_layers": 1,
        "num_single_layers": 1, "caption_channels": [64, 64], "text_emb_dim": 64, "axes_dims_rope": [64, 32, 32],
        "max_resolution": [128, 128], "llama_layers": [0],
    },
    "EasyAnimateTransformer3DModel": {"patch_size": 2, "num_layers": 1, "in_channels": 16, "out_channels": 16},
    "HunyuanDiT2DModel": {"patch_size": 2, "in_channels": 4},
    "LuminaNextDiT2DModel": {"num_kv_heads": 32, "ffn_dim_multiplier": 1.0},
}  # fmt: skip
#: Sizes of a grid in patches: coordinates that depend on them are told by that.
SIZES = ((3, 4, 4), (3, 30, 45), (1, 256, 256))


def list_modules():
    """Every Python module of the transformers of diffusers."""
    names = [one.name for one in pkgutil.iter_modules(folder.__path__)]
    return [importlib.import_module(f"diffusers.models.transformers.{name}") for name in names]


def list_models():
    """Every class of a model in them, by name."""
    return {
        name: found
        for module in list_modules()
        for name, found in vars(module).items()
        if inspect.isclass(found) and issubclass(found, diffusers.ModelMixin) and found.__module__ == module.__name__
    }


def _is_rotary(name, found):
    return inspect.isclass(found) and any(word in name for word in WORDS) and not any(one in name for one in OTHERS)


class Recorder:
    """Keeps what each rotary module is made with."""

    def __init__(self):
        """Watch every such class."""
        self.made = []
        found = {one for module in list_modules() for name, one in vars(module).items() if _is_rotary(name, one)}
        for cls in sorted((one for one in found if "__init__" in vars(one)), key=lambda one: one.__name__):
            self._watch(cls, cls.__init__)

    def _watch(self, cls, old):
        signature = inspect.signature(old)

        def make(module, *given, **named):
            bound = signature.bind(module, *given, **named)
            bound.apply_defaults()
            self.made.append((cls, dict([*bound.arguments.items()][1:])))
            old(module, *given, **named)

        cls.__init__ = make

    def build(self, model, config):
        """Give the first rotary module that a model of several axes makes, with its arguments; None without one."""
        self.made.clear()
        with torch.device("meta"):
            model(**NEEDED.get(model.__name__, {}) | config)
        return next((one for one in self.made if "1D" not in one[0].__name__), None)


# --------------------------------------------------------------------- how modules are called


def _pick(grid, sizes, points):
    """The rows of a grid in reading order that belong to points (time, height, width)."""
    flat = grid.reshape(-1, *grid.shape[grid.ndim - 1 :])
    return flat[[(int(t) * sizes[1] + int(y)) * sizes[2] + int(x) for t, y, x in points]]


def _call_latent(module, sizes, points):
    """A latent of so many patches; without time where the module takes pictures."""
    patch = getattr(module, "patch_size", 1)
    patch = [getattr(module, "patch_size_t", 1), patch, patch] if isinstance(patch, int) else [1, 1, 1, *patch][-3:]
    shape = [count * side for count, side in zip(sizes, patch, strict=True)]
    try:
        found = module(torch.zeros(1, 1, *shape))
        return tuple(_pick(one, sizes, points) for one in found)
    except ValueError:
        found = module(torch.zeros(1, 1, *shape[1:]))
        return tuple(_pick(one, (1, *sizes[1:]), points) for one in found)


def _call_ids(module, _, points):
    try:
        return module(points)
    except (IndexError, ValueError, RuntimeError, AssertionError):
        return module(points[None])


def _call_sections(module, _, points):
    return module(points.T[:, None], "cpu", torch.float32)


def _call_shapes(module, sizes, points):
    return _pick(module([tuple(sizes)], device=torch.device("cpu"), max_txt_seq_len=1)[0], sizes, points)


def _call_masked(module, sizes, points):
    rows = []
    for point in points:  # a picture stands at the time of the word before it
        words, one = int(point[0]), (1, *sizes[1:])
        mask = torch.tensor([False] * words + [True] * (sizes[1] * sizes[2]))
        found = module([one], mask, torch.device("cpu"))[words:]
        rows.append(_pick(found, one, [(0, *point[1:])]))
    return torch.cat(rows)


def _call_shape_and_places(module, sizes, points):
    return _pick_matrices(module((1, *sizes), [torch.arange(one) for one in sizes]), sizes, points)


def _call_places(module, sizes, points):
    return _pick_matrices(module(tuple(torch.arange(one) for one in sizes)), sizes, points)


def _pick_matrices(found, sizes, points):
    flat = found.reshape(-1, *found.shape[-3:])
    return flat[[(int(t) * sizes[1] + int(y)) * sizes[2] + int(x) for t, y, x in points]]


def _call_frames(module, sizes, points):
    frames, patch = torch.arange(sizes[0]) + 0.0, getattr(module, "patch_size", 1)
    area = sizes[1] * patch, sizes[2] * patch, torch.device("cpu")
    try:
        found = module(frames[None], *area)
    except RuntimeError:
        return tuple(_pick(one, sizes, points) for one in module(frames, *area))
    halves = found[0].permute(1, 2, 3, 0).chunk(2, dim=-1)  # cosines, then sines, of each frame
    return tuple(_pick(one, sizes, points) for one in halves)


def _call_sizes(module, sizes, points):
    return _pick(module(tuple(sizes), torch.device("cpu")), sizes, points)


def _call_layout(module, sizes, points):
    found = module({"total_frames": sizes[0], "full_frame_shape": sizes[1:], "compressed_frame_shape": (1, 1),
                    "num_compressed_frames": 0}, torch.device("cpu"))  # fmt: skip
    return _pick(found["query"], sizes, points)


def _call_line(module, _, points):
    found = module(2, torch.device("cpu"))
    rows = found if isinstance(found, tuple) else (found.cos(), found.sin())  # angles, of which the model takes both
    return tuple(one[points[:, 0]] for one in rows)


def _call_sequence(module, _, points):
    return tuple(one[points[:, 0]] for one in module(torch.zeros(1, 2, 1)))


def _call_captioned(module, sizes, points):
    side = module.patch_size
    latent = torch.zeros(1, 1, *(count * side for count in sizes[1:]))
    rows = module(latent, torch.ones(1, 2, dtype=torch.int64))
    captions, picture = rows[1][0], rows[2][0]
    found = _pick(picture, (1, *sizes[1:]), [(0, y, x) for _, y, x in points])
    found[[int(t) == 1 for t, _, _ in points]] = found[0] * (captions[1] / captions[0])  # time counts words
    return found


#: How to call a rotary module, by the names of the arguments of its forward.
CALLS = {
    ("ids",): _call_ids,
    ("hidden_states",): _call_latent,
    ("hidden_states", "fps"): _call_latent,
    ("position_ids",): _call_ids,
    ("position_ids", "device", "dtype"): _call_sections,
    ("video_fhw", "device", "max_txt_seq_len"): _call_shapes,
    ("img_shapes", "image_pad_mask", "device"): _call_masked,
    ("shape", "pos", "scale_factor"): _call_shape_and_places,
    ("pos", "scale_factor"): _call_places,
    ("frame_indices", "height", "width", "device"): _call_frames,
    ("fhw", "device"): _call_sizes,
    ("layout_cfg", "device"): _call_layout,
    ("far_cfg", "device", "clean_hidden_states"): _call_layout,
    ("hidden_states", "attention_mask"): _call_captioned,
    ("seq_len", "device"): _call_line,
    ("hidden_states", "seq_len"): _call_sequence,
}


def name_forward(cls):
    """The names of the arguments of its forward."""
    forward = vars(cls).get("forward") or vars(cls)["__call__"]
    return tuple(inspect.signature(forward).parameters)[1:]


# --------------------------------------------------------------------- functions that pipelines call


def _turn_3d(config, points):
    size = (2, 4, 4)
    found = functions.get_3d_rotary_pos_embed(config["attention_head_dim"], ((0, 0), size[1:]), size[1:], size[0])
    return tuple(_pick(one, size, points) for one in found)


def _turn_2d(config, points):
    head = config.get("attention_head_dim") or config["hidden_size"] // config["num_attention_heads"]
    size = (1, 4, 4)
    found = functions.get_2d_rotary_pos_embed(head, ((0, 0), size[1:]), size[1:])
    return tuple(_pick(one, size, points) for one in found)


def _turn_lumina(config, points):
    head = config["hidden_size"] // config["num_attention_heads"]
    return _pick(functions.get_2d_rotary_pos_embed_lumina(head, 4, 4), (1, 4, 4), points)


def _turn_allegro(config, points):
    found = functions.get_3d_rotary_pos_embed_allegro(config["attention_head_dim"], ((0, 0), (4, 4)), (4, 4), 2)
    rows = [[found[axis][part][points[:, axis].long()] for axis in range(3)] for part in (0, 1)]
    return tuple(torch.cat(one, dim=1) for one in rows)


def _turn_line(width, **others):
    def turn(config, points):
        found = functions.get_1d_rotary_pos_embed(width(config), 2, use_real=True, repeat_interleave_real=False,
                                                  **{key: config[own] for key, own in others.items()})  # fmt: skip
        return tuple(one[points[:, 0]] for one in found)

    return turn


#: Models that a pipeline hands the rotation, and the function that it calls, as read in the pipelines.
FUNCTIONS = {
    "CogVideoXTransformer3DModel": _turn_3d,
    "ConsisIDTransformer3DModel": _turn_3d,
    "HunyuanDiT2DModel": _turn_2d,
    "LuminaNextDiT2DModel": _turn_lumina,
    "AllegroTransformer3DModel": _turn_allegro,
    "StableAudioDiTModel": _turn_line(lambda config: config["attention_head_dim"] // 2),
    "AceStepTransformer1DModel": _turn_line(lambda config: config["head_dim"], theta="rope_theta"),
}
