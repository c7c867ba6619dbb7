"""Write what the real packages compute, frozen as JSON beside this file.

Run once, in an environment of its own; the tests read the files and need none of the packages:

    python -m venv ENV
    ENV/bin/pip install transformers==5.23.0 torch==2.15.0 timm==1.0.31 \\
        positional-encodings==6.0.3 rotary-embedding-torch==0.9.1
    ENV/bin/python tests/reference/packages/generate.py

Nothing of pe_spectra is imported and nothing is computed here: each value is what a function of the
package returned, on the CPU. Every file has a header with the versions, and every case names the
function and the arguments. Floats are float32, in the fewest decimals that read back as the same
float32. A second run with the same versions writes the same bytes.
"""

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
PACKAGES = ("transformers", "torch", "timm", "positional-encodings", "rotary-embedding-torch")
POSITIONS = (0, 1, 2, 3, 10, 100, 1000)
LENGTH = POSITIONS[-1] + 1


def simplify(value):
    """Tensors and arrays as nested lists of numbers."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, list | tuple):
        return [simplify(item) for item in value]
    if not hasattr(value, "dtype"):
        return value
    if value.ndim:
        return [simplify(item) for item in value]
    if value.dtype.kind in "iu":
        return int(value)
    if value.dtype != "float32":
        message = f"a value is {value.dtype}"
        raise TypeError(message)
    number = float(str(value))
    return int(number) if number.is_integer() else number


def write(name, what, packages, cases):
    """One file: a header, and a line for each case."""
    header = {
        "what": what,
        "versions": {package: version(package).partition("+")[0] for package in packages}
        | {"python": platform.python_version()},
        "written by": f"tests/reference/packages/{Path(sys.argv[0]).name}",
    }
    lines = [json.dumps({key: simplify(value) for key, value in case.items()}) for case in cases]
    text = f'{{"header": {json.dumps(header)},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n"
    (HERE / f"{name}.json").write_text(text, encoding="utf-8")
    print(f"{name}.json: {len(lines)} cases, {len(text)} bytes")


def case(function, arguments, values, **more):
    return {"function": function, "arguments": arguments, **more, "values": values}


def rows(table, positions=POSITIONS):
    return table[list(positions)]


# ----------------------------------------------------------------------------------- biases


def list_t5_buckets():
    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    relative = torch.arange(-300, 301)
    for bidirectional in (True, False):
        for buckets, distance in ((32, 128), (8, 20)):
            arguments = {"bidirectional": bidirectional, "num_buckets": buckets, "max_distance": distance}
            values = T5Attention._relative_position_bucket(relative, **arguments)
            function = "transformers.models.t5.modeling_t5.T5Attention._relative_position_bucket"
            yield case(function, arguments, values, relative_positions="-300 .. 300, key minus query")


def list_lag_maps():
    """Biases between 6 queries and 6 keys from tables that hold their own row numbers: which row each pair reads."""
    from types import SimpleNamespace

    import torch
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention
    from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert

    sizes = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 20}
    for is_decoder in (False, True):
        config = T5Config(d_model=4, d_kv=4, num_heads=1, is_decoder=is_decoder, **sizes)
        module = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        module.relative_attention_bias.weight.data[:, 0] = torch.arange(8)
        values = module.compute_bias(6, 6)[0, 0]
        function = "transformers.models.t5.modeling_t5.T5Attention.compute_bias"
        yield case(function, sizes | {"is_decoder": is_decoder, "table": "0 .. 7"}, values)
    table = torch.nn.Embedding(5, 1)
    table.weight.data[:, 0] = torch.arange(5)
    limits = {"left_max_position_embeddings": 2, "right_max_position_embeddings": 2}
    module = SimpleNamespace(**limits, distance_embedding=table, scaling=1.0)
    ones = torch.ones(1, 1, 6, 1)
    _, values = modeling_wav2vec2_bert._apply_relative_key_position_encoding(module, ones, ones)
    function = "transformers.models.wav2vec2_bert.modeling_wav2vec2_bert._apply_relative_key_position_encoding"
    yield case(function, limits | {"table": "0 .. 4", "query": "ones", "scaling": 1}, values[0, 0])


def list_alibi():
    import torch
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    for heads in (1, 2, 8, 12, 40):
        values = build_alibi_tensor(torch.ones(1, 4, dtype=torch.int64), heads, torch.float32)[:, 0]
        arguments = {"num_heads": heads, "attention_mask": "1 x 4 ones"}
        yield case("transformers.models.bloom.modeling_bloom.build_alibi_tensor", arguments, values)
    for heads in (1, 2, 8, 12, 40):
        values = build_mpt_alibi_tensor(heads, 4)[:, 0]
        arguments = {"num_heads": heads, "sequence_length": 4}
        yield case("transformers.models.mpt.modeling_mpt.build_mpt_alibi_tensor", arguments, values)


def list_swin():
    import torch
    from transformers import Swinv2Config
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias
    from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

    for window, pretrained in (((3, 3), (0, 0)), ((8, 8), (0, 0)), ((6, 6), (4, 4))):
        module = Swinv2SelfAttention(Swinv2Config(), 4, 2, window, pretrained)
        function = "transformers.models.swinv2.modeling_swinv2.Swinv2SelfAttention"
        arguments = {"window_size": window, "pretrained_window_size": pretrained}
        yield case(f"{function}.relative_coords_table", arguments, module.relative_coords_table[0])
        if window != (8, 8):
            yield case(f"{function}.relative_position_index", arguments, module.relative_position_index)
    # the table holds its own row numbers, so what comes out is the index
    module = SwinRelativePositionBias(1, (3, 3))
    module.relative_position_bias_table.data[:, 0] = torch.arange(25)
    function = "transformers.models.swin.modeling_swin.SwinRelativePositionBias"
    yield case(function, {"window_size": (3, 3), "table": "0 .. 24"}, module()[0, 0])
    for window, pretrained in ((3, 0), (3, 2)):
        yield freeze_swin_attention(window, pretrained)


def freeze_swin_attention(window, pretrained):
    """Attention between tokens that are all zero, so that nothing but the bias is left, from weights that are given."""
    import numpy as np
    import torch
    from transformers import Swinv2Config
    from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

    draw = np.random.Generator(np.random.PCG64(0))
    config = Swinv2Config(attention_probs_dropout_prob=0.0)
    module = Swinv2SelfAttention(config, 4, 2, (window, window), (pretrained, pretrained)).eval()
    inner, _, outer = module.continuous_position_bias_mlp
    inner.weight.data = torch.from_numpy(0.02 * draw.standard_normal((512, 2))).float()
    inner.bias.data[:] = 0
    outer.weight.data = torch.from_numpy(0.02 * draw.standard_normal((2, 512))).float()
    with torch.no_grad():
        _, attention = module(torch.zeros(1, window * window, 4), output_attentions=True)
    weights = "0.02 times normal numbers of PCG64(0), first 512 x 2, then heads x 512"
    arguments = {"window_size": window, "pretrained_window_size": pretrained, "num_heads": 2, "weights": weights}
    return case("transformers.models.swinv2.modeling_swinv2.Swinv2SelfAttention (of zeros)", arguments, attention[0])


# ----------------------------------------------------------------------------------- absolute


def list_sinusoids():
    import torch
    from positional_encodings.torch_encodings import PositionalEncoding1D
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions
    from transformers.models.informer.modeling_informer import InformerSinusoidalPositionalEmbedding
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
    from transformers.models.whisper.modeling_whisper import sinusoids
    from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings

    given = {"positions": POSITIONS}
    for d in (4, 6, 16, 64):
        function = "transformers.models.whisper.modeling_whisper.sinusoids"
        yield case(function, {"length": LENGTH, "channels": d}, rows(sinusoids(LENGTH, d)), **given)
    for d in (4, 5, 16):
        function = "transformers.models.m2m_100.modeling_m2m_100.M2M100SinusoidalPositionalEmbedding.get_embedding"
        table = M2M100SinusoidalPositionalEmbedding.get_embedding(LENGTH, d)
        yield case(function, {"num_embeddings": LENGTH, "embedding_dim": d}, rows(table), **given)
    for module in (MarianSinusoidalPositionalEmbedding, InformerSinusoidalPositionalEmbedding):
        for d in (4, 5, 16):
            function = f"{module.__module__}.{module.__name__}.create_weight"
            table = module(LENGTH, d).create_weight()
            yield case(function, {"num_positions": LENGTH, "embedding_dim": d}, rows(table), **given)
    for d in (4, 5, 16):
        table = create_sinusoidal_embeddings(LENGTH, d, torch.empty(LENGTH, d))
        function = "transformers.models.xlm.modeling_xlm.create_sinusoidal_embeddings"
        yield case(function, {"n_pos": LENGTH, "dim": d}, rows(table), **given)
    for d in (4, 16):
        function = "transformers.models.gptj.modeling_gptj.create_sinusoidal_positions"
        yield case(function, {"num_pos": LENGTH, "dim": d}, rows(create_sinusoidal_positions(LENGTH, d)), **given)
    for d in (4, 5, 16):
        table = PositionalEncoding1D(d)(torch.zeros(1, LENGTH, d))[0]
        yield case(
            "positional_encodings.torch_encodings.PositionalEncoding1D",
            {"channels": d, "x": LENGTH},
            rows(table),
            **given,
        )


def list_grids():
    import torch
    from positional_encodings.torch_encodings import PositionalEncoding2D
    from timm.layers.pos_embed_sincos import build_sincos2d_pos_embed
    from transformers.models.vit_mae.modeling_vit_mae import build_2d_sinusoidal_position_embedding

    for height, width, d, cls_token in ((2, 5, 8, False), (3, 3, 8, True), (4, 2, 16, True), (1, 6, 4, False)):
        arguments = {"height": height, "width": width, "embed_dim": d, "cls_token": cls_token}
        function = "transformers.models.vit_mae.modeling_vit_mae.build_2d_sinusoidal_position_embedding"
        yield case(function, arguments, build_2d_sinusoidal_position_embedding(**arguments))
    yield freeze_mae_model()
    for shape, d in (((2, 5), 8), ((4, 2), 16)):
        for reverse in (False, True):
            for interleave in (False, True):
                arguments = {"dim": d, "reverse_coord": reverse, "interleave_sin_cos": interleave}
                function = "timm.layers.pos_embed_sincos.build_sincos2d_pos_embed"
                values = build_sincos2d_pos_embed(list(shape), **arguments)
                yield case(function, {"feat_shape": shape, **arguments}, values)
    for height, width, d in ((2, 5, 8), (3, 3, 10)):
        values = PositionalEncoding2D(d)(torch.zeros(1, height, width, d))[0].flatten(0, 1)
        function = "positional_encodings.torch_encodings.PositionalEncoding2D"
        yield case(function, {"channels": d, "x": height, "y": width}, values)


def freeze_mae_model():
    from transformers import ViTMAEConfig
    from transformers.models.vit_mae.modeling_vit_mae import ViTMAEEmbeddings

    sizes = {"hidden_size": 8, "image_size": 12, "patch_size": 4}
    module = ViTMAEEmbeddings(ViTMAEConfig(**sizes))
    module.initialize_weights()  # by hand: ViTMAEModel(config) of this version leaves zeros there
    function = "transformers.models.vit_mae.modeling_vit_mae.ViTMAEEmbeddings.position_embeddings"
    return case(function, sizes, module.position_embeddings[0])


def list_features():
    import torch
    from timm.layers.pos_embed_sincos import FourierEmbed, build_fourier_pos_embed, freq_bands, pixel_freq_bands
    from transformers.models.perceiver.modeling_perceiver import build_linear_positions, generate_fourier_features

    for bands, top, linear in ((4, 10.0, True), (8, 224.0, True), (4, 10.0, False), (8, 224.0, False)):
        arguments = {"num_bands": bands, "max_freq": top, "linear_bands": linear}
        yield case("timm.layers.pos_embed_sincos.pixel_freq_bands", arguments, pixel_freq_bands(**arguments))
    yield case(
        "timm.layers.pos_embed_sincos.FourierEmbed.bands", {"max_res": 10, "num_bands": 4}, FourierEmbed(10, 4).bands
    )
    yield case(
        "timm.layers.pos_embed_sincos.freq_bands",
        {"num_bands": 4, "temperature": 100.0, "step": 1},
        freq_bands(4, temperature=100.0, step=1),
    )
    for linear in (True, False):
        arguments = {"num_bands": 4, "max_res": 10, "linear_bands": linear, "in_pixels": True}
        sine, cosine = build_fourier_pos_embed([5], **arguments)
        function = "timm.layers.pos_embed_sincos.build_fourier_pos_embed"
        yield case(function, {"feat_shape": [5], **arguments}, [sine.reshape(5, -1), cosine.reshape(5, -1)])
    positions = build_linear_positions([5])[None]
    for sine_only in (False, True):
        arguments = {"num_bands": 4, "max_resolution": [10], "concat_pos": False, "sine_only": sine_only}
        values = generate_fourier_features(positions, **arguments)
        function = "transformers.models.perceiver.modeling_perceiver.generate_fourier_features"
        yield case(function, arguments, values.to(torch.float32), pos="build_linear_positions([5])")


def list_offsets():
    import torch
    from transformers import OPTConfig, RobertaConfig
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
    from transformers.models.opt.modeling_opt import OPTLearnedPositionalEmbedding
    from transformers.models.roberta.modeling_roberta import RobertaEmbeddings

    # row r of the table holds r, so what comes out is the row that was looked up
    count = OPTConfig().max_position_embeddings
    module = OPTLearnedPositionalEmbedding(count, 1)
    module.weight.data[:] = torch.arange(count + module.offset)[:, None]
    for mask in ([1, 1, 1, 1], [0, 0, 1, 1]):
        values = module(torch.tensor([mask]))[0, :, 0]
        function = "transformers.models.opt.modeling_opt.OPTLearnedPositionalEmbedding"
        yield case(function, {"num_embeddings": count, "attention_mask": mask}, values, rows=len(module.weight))
    for identifiers in ([5, 6, 7, 8], [5, 6, 1, 1]):
        values = RobertaEmbeddings.create_position_ids_from_input_ids(torch.tensor([identifiers]), 1)[0]
        function = "transformers.models.roberta.modeling_roberta.RobertaEmbeddings.create_position_ids_from_input_ids"
        arguments = {"input_ids": identifiers, "padding_idx": RobertaConfig().pad_token_id}
        yield case(function, arguments, values)
    module = M2M100SinusoidalPositionalEmbedding(8, 4, padding_idx=1)
    for identifiers in ([5, 6, 7, 8], [5, 6, 1, 1]):
        values = module(torch.tensor([identifiers]))[0]
        function = "transformers.models.m2m_100.modeling_m2m_100.M2M100SinusoidalPositionalEmbedding"
        arguments = {"num_positions": 8, "embedding_dim": 4, "padding_idx": 1, "input_ids": identifiers}
        yield case(function, arguments, values)


# ----------------------------------------------------------------------------------- rotary

FACTORS = {
    "short_factor": [1.0, 1.05, 1.1, 1.25, 1.5, 1.8, 2.0, 2.5],
    "long_factor": [1.0, 1.2, 1.8, 3.0, 6.5, 12.0, 25.0, 40.5],
}
#: Rope type, its parameters, head_dim, max_position_embeddings, and the length that is asked for.
SCALINGS = (
    ("default", {"rope_theta": 1e4}, 8, 4096, None),
    ("default", {"rope_theta": 1e4}, 128, 4096, None),
    ("default", {"rope_theta": 5e5}, 128, 8192, None),
    ("linear", {"rope_theta": 1e4, "factor": 4.0}, 16, 8192, None),
    ("linear", {"rope_theta": 1e4, "factor": 2.5, "partial_rotary_factor": 0.25}, 64, 4096, None),
    ("dynamic", {"rope_theta": 1e4, "factor": 2.0}, 16, 2048, None),
    ("dynamic", {"rope_theta": 1e4, "factor": 2.0}, 16, 2048, 1024),
    ("dynamic", {"rope_theta": 1e4, "factor": 2.0}, 16, 2048, 4096),
    ("dynamic", {"rope_theta": 1e4, "factor": 4.0}, 64, 4096, 16384),
    ("dynamic", {"rope_theta": 1e4, "factor": 4.0, "partial_rotary_factor": 0.5}, 32, 4096, 5000),
    ("yarn", {"rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 4096}, 128, 32768, None),
    (
        "yarn",
        {"rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 4096, "truncate": False},
        128,
        32768,
        None,
    ),
    ("yarn", {"rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32768}, 128, 131072, None),
    (
        "yarn",
        {"rope_theta": 1.5e5, "factor": 32.0, "original_max_position_embeddings": 4096, "truncate": False}
        | {"beta_fast": 32.0, "beta_slow": 1.0},
        64,
        131072,
        None,
    ),
    (
        "yarn",
        {"rope_theta": 1e4, "factor": 40.0, "original_max_position_embeddings": 4096, "mscale": 1.0}
        | {"mscale_all_dim": 1.0},
        64,
        163840,
        None,
    ),
    (
        "yarn",
        {"rope_theta": 1e4, "factor": 40.0, "original_max_position_embeddings": 4096, "mscale": 1.0}
        | {"mscale_all_dim": 0.5},
        16,
        163840,
        None,
    ),
    (
        "yarn",
        {"rope_theta": 1e4, "factor": 16.0, "original_max_position_embeddings": 2048, "attention_factor": 1.25},
        16,
        32768,
        None,
    ),
    (
        "yarn",
        {"rope_theta": 1e4, "factor": 16.0, "original_max_position_embeddings": 2048, "beta_fast": 16.0}
        | {"beta_slow": 2.0, "partial_rotary_factor": 0.5},
        64,
        32768,
        None,
    ),
    ("longrope", {"rope_theta": 1e4, "original_max_position_embeddings": 4096} | FACTORS, 16, 131072, 4096),
    ("longrope", {"rope_theta": 1e4, "original_max_position_embeddings": 4096} | FACTORS, 16, 131072, 4097),
    (
        "longrope",
        {"rope_theta": 1e4, "original_max_position_embeddings": 4096, "factor": 8.0, "attention_factor": 1.5} | FACTORS,
        16,
        131072,
        131072,
    ),
    (
        "llama3",
        {"rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
        | {"original_max_position_embeddings": 8192},
        128,
        131072,
        None,
    ),
    (
        "llama3",
        {"rope_theta": 5e5, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
        | {"original_max_position_embeddings": 8192},
        64,
        131072,
        None,
    ),
    ("proportional", {"rope_theta": 1e6, "partial_rotary_factor": 0.25}, 64, 131072, None),
    ("proportional", {"rope_theta": 1e4, "partial_rotary_factor": 0.3}, 32, 131072, None),
    ("proportional", {"rope_theta": 1e6, "partial_rotary_factor": 0.25, "factor": 8.0}, 32, 131072, None),
)


def configure(kind, parameters, head_dim, longest):
    from transformers import LlamaConfig

    return LlamaConfig(
        hidden_size=4 * head_dim,
        num_attention_heads=4,
        head_dim=head_dim,
        max_position_embeddings=longest,
        rope_parameters={"rope_type": kind, **parameters},
    )


def list_frequencies():
    from transformers import GPTNeoXConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    for kind, parameters, head_dim, longest, length in SCALINGS:
        function = f"transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS[{kind!r}]"
        compute = ROPE_INIT_FUNCTIONS.get(kind)
        if compute is None:
            compute = LlamaRotaryEmbedding.compute_default_rope_parameters
            function = "transformers.models.llama.modeling_llama.LlamaRotaryEmbedding.compute_default_rope_parameters"
        values, attention = compute(configure(kind, parameters, head_dim, longest), seq_len=length)
        arguments = {"rope_type": kind, "rope_parameters": parameters, "head_dim": head_dim}
        arguments |= {"max_position_embeddings": longest, "seq_len": length}
        yield case(function, arguments, values, attention_factor=attention)
    parameters = {"rope_theta": 1e4, "partial_rotary_factor": 0.25}
    config = GPTNeoXConfig(
        hidden_size=256, num_attention_heads=4, rope_parameters={"rope_type": "default", **parameters}
    )
    values, attention = GPTNeoXRotaryEmbedding.compute_default_rope_parameters(config)
    function = "transformers.models.gpt_neox.modeling_gpt_neox.GPTNeoXRotaryEmbedding.compute_default_rope_parameters"
    arguments = {"rope_type": "default", "rope_parameters": parameters, "head_dim": 64}
    arguments |= {"max_position_embeddings": config.max_position_embeddings, "seq_len": None}
    yield case(function, arguments, values, attention_factor=attention)


def list_rotations():
    import torch
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    positions = torch.tensor([POSITIONS])
    ones = torch.ones(1, 1, len(POSITIONS), 8)
    given = {"positions": POSITIONS}
    for kind, parameters in (
        ("default", {"rope_theta": 1e4}),
        ("yarn", {"rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 4096}),
    ):
        module = LlamaRotaryEmbedding(configure(kind, parameters, 8, 4096))
        cosine, sine = module(ones, positions)
        rotated, _ = apply_rotary_pos_emb(ones, ones, cosine, sine)
        arguments = {"rope_type": kind, "rope_parameters": parameters, "head_dim": 8, "max_position_embeddings": 4096}
        function = "transformers.models.llama.modeling_llama"
        yield case(f"{function}.LlamaRotaryEmbedding", arguments, [cosine[0], sine[0]], **given)
        yield case(f"{function}.apply_rotary_pos_emb (of ones)", arguments, rotated[0, 0], **given)
    yield from list_interleaved_rotations(ones, given)


def list_interleaved_rotations(ones, given):
    import torch
    from rotary_embedding_torch import RotaryEmbedding
    from rotary_embedding_torch.rotary_embedding_torch import apply_rotary_emb
    from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb, create_sinusoidal_positions

    table = rows(create_sinusoidal_positions(LENGTH, 8))
    sine, cosine = table[None].chunk(2, dim=-1)
    rotated = apply_rotary_pos_emb(ones.transpose(1, 2), sine, cosine)
    yield case(
        "transformers.models.gptj.modeling_gptj.apply_rotary_pos_emb (of ones)", {"dim": 8}, rotated[0, :, 0], **given
    )
    module = RotaryEmbedding(8)
    rotated = apply_rotary_emb(module(torch.tensor(POSITIONS)), ones)
    yield case("rotary_embedding_torch.apply_rotary_emb (of ones)", {"dim": 8}, rotated[0, 0], **given)


def list_rotary_embedding_torch():
    import torch
    from rotary_embedding_torch import RotaryEmbedding

    name = "rotary_embedding_torch.RotaryEmbedding"
    for arguments in (
        {"dim": 16, "freqs_for": "lang"},
        {"dim": 16, "freqs_for": "lang", "theta": 5e5},
        {"dim": 16, "freqs_for": "lang", "theta_rescale_factor": 4.0},
        {"dim": 64, "freqs_for": "lang", "theta_rescale_factor": 8.0},
        {"dim": 16, "freqs_for": "pixel", "max_freq": 10},
        {"dim": 32, "freqs_for": "pixel", "max_freq": 256},
    ):
        yield case(f"{name}.freqs", arguments, RotaryEmbedding(**arguments).freqs)
    arguments = {"dim": 16, "interpolate_factor": 2.0}
    module = RotaryEmbedding(**arguments)
    yield case(f"{name}.get_seq_pos", arguments | {"seq_len": 5}, module.get_seq_pos(5))
    for length in (8, 9):
        arguments = {"dim": 8, "use_xpos": True, "xpos_scale_base": 512}
        module = RotaryEmbedding(**arguments)
        yield case(f"{name}.scale", arguments, module.scale)
        yield case(f"{name}.get_scale", arguments | {"t": length}, module.get_scale(torch.arange(length)))
    for arguments in ({"dim": 8, "freqs_for": "lang"}, {"dim": 8, "freqs_for": "pixel", "max_freq": 10}):
        angles = RotaryEmbedding(**arguments).get_axial_freqs(2, 5).flatten(0, 1)
        yield case(f"{name}.get_axial_freqs", arguments | {"dims": [2, 5]}, angles)


def list_axial():
    import torch
    from timm.layers.pos_embed_sincos import build_rotary_pos_embed, init_random_2d_freqs
    from transformers import DINOv3ViTConfig
    from transformers.models.dinov3_vit.modeling_dinov3_vit import DINOv3ViTRopePositionEmbedding

    sizes = {"hidden_size": 32, "num_attention_heads": 2, "patch_size": 4, "image_size": 16}
    module = DINOv3ViTRopePositionEmbedding(DINOv3ViTConfig(**sizes)).eval()
    arguments = sizes | {"rope_theta": module.base, "pixels": [8, 20]}
    cosine, sine = module(torch.zeros(1, 3, 8, 20))
    function = "transformers.models.dinov3_vit.modeling_dinov3_vit.DINOv3ViTRopePositionEmbedding"
    yield case(f"{function}.inv_freq", arguments, module.inv_freq)
    yield case(f"{function}.forward", arguments, [cosine, sine])
    for indexing in ("ij", "xy"):
        arguments = {"feat_shape": [2, 5], "dim": 16, "temperature": 100.0, "in_pixels": False}
        arguments["grid_indexing"] = indexing
        sine, cosine = build_rotary_pos_embed(**arguments)
        yield case("timm.layers.pos_embed_sincos.build_rotary_pos_embed", arguments, [sine, cosine])
    for rotate in (False, True):
        torch.manual_seed(0)
        arguments = {"head_dim": 16, "depth": 1, "num_heads": 2, "temperature": 10.0, "rotate": rotate}
        values = init_random_2d_freqs(**arguments)[:, 0]
        yield case("timm.layers.pos_embed_sincos.init_random_2d_freqs", arguments, values)


def main():
    hugging = ("transformers", "torch")
    write("t5_buckets", "T5 buckets by relative position", hugging, list_t5_buckets())
    write("lag_maps", "which row of a table each query and key read: query by key", hugging, list_lag_maps())
    write("alibi", "ALiBi as two models add it: head by key, 4 keys", hugging, list_alibi())
    write("swin", "Swin's coordinates of relative positions and indices into the table", hugging, list_swin())
    write("sinusoids", "sinusoidal tables, at a few positions", (*hugging, "positional-encodings"), list_sinusoids())
    write("grids", "2-D sinusoidal tables, row by row", (*hugging, "timm", "positional-encodings"), list_grids())
    write("features", "Fourier bands and features", (*hugging, "timm"), list_features())
    write("offsets", "which row or code each token gets", hugging, list_offsets())
    write("frequencies", "rotary inverse frequencies and attention factors", hugging, list_frequencies())
    write("rotations", "rotary cosines, sines and rotated ones", (*hugging, *PACKAGES[-1:]), list_rotations())
    write("rotary_embedding_torch", "RotaryEmbedding", ("torch", *PACKAGES[-1:]), list_rotary_embedding_torch())
    write("axial", "rotary encodings of grids", (*hugging, "timm"), list_axial())


if __name__ == "__main__":
    main()
