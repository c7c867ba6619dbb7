"""Write what modules of transformers compute for pictures and for lags, frozen as JSON beside this file.

    python -m venv ENV
    ENV/bin/pip install transformers==5.24.0 torch==2.14.1
    ENV/bin/python tests/reference/packages/modules.py

As generate.py, which has what its files are made of.
"""

import torch
from generate import case, write
from transformers import DabDetrConfig, ParakeetEncoderConfig, XLNetConfig, XLNetModel
from transformers.models.dab_detr.modeling_dab_detr import DabDetrSinePositionEmbedding
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position
from transformers.models.detr.modeling_detr import DetrSinePositionEmbedding
from transformers.models.maskformer.modeling_maskformer import MaskFormerSinePositionEmbedding
from transformers.models.parakeet.modeling_parakeet import ParakeetEncoderRelPositionalEncoding
from transformers.models.rt_detr.modeling_rt_detr import RTDetrSinePositionEmbedding
from transformers.models.sam2.modeling_sam2 import Sam2SinePositionEmbedding

SHAPES = ((2, 5, 8), (3, 3, 16), (7, 4, 4))


def list_normalised_grids():
    for cls in (DetrSinePositionEmbedding, MaskFormerSinePositionEmbedding, Sam2SinePositionEmbedding):
        for normalize in (True, False):
            for height, width, d in SHAPES:
                arguments = {"num_position_features": d // 2, "temperature": 10000, "normalize": normalize}
                found = cls(**arguments)((1, d, height, width), "cpu", torch.float32, None)
                arguments |= {"height": height, "width": width}
                values = found[0].permute(1, 2, 0).flatten(0, 1) if found.dim() == 4 else found[0]
                yield case(f"{cls.__module__}.{cls.__name__}", arguments, values)
    for height, width, d in SHAPES:
        config = DabDetrConfig(hidden_size=d, temperature_height=20, temperature_width=20)
        found = DabDetrSinePositionEmbedding(config)(torch.zeros(1), torch.ones(1, height, width))
        arguments = {"num_position_features": d // 2, "temperature": 20, "normalize": True}
        arguments |= {"height": height, "width": width}
        name = f"{DabDetrSinePositionEmbedding.__module__}.DabDetrSinePositionEmbedding"
        yield case(name, arguments, found[0].permute(1, 2, 0).flatten(0, 1))
        found = RTDetrSinePositionEmbedding(embed_dim=d)(width, height, torch.device("cpu"), torch.float32)
        arguments = {"embed_dim": d, "temperature": 10000, "height": height, "width": width}
        yield case(f"{RTDetrSinePositionEmbedding.__module__}.RTDetrSinePositionEmbedding", arguments, found[0])


def list_relative_sinusoids():
    for d, length in ((8, 4), (16, 3)):
        module = ParakeetEncoderRelPositionalEncoding(ParakeetEncoderConfig(hidden_size=d))
        lags = list(range(length - 1, -length, -1))
        name = f"{ParakeetEncoderRelPositionalEncoding.__module__}.ParakeetEncoderRelPositionalEncoding"
        yield case(name, {"hidden_size": d, "length": length}, module(torch.zeros(1, length, d))[0], lags=lags)
        model = XLNetModel(XLNetConfig(d_model=d, n_head=2, n_layer=1, d_inner=8, vocab_size=8))
        lags = list(range(length, -length, -1))
        values = model.relative_positional_encoding(length, length)[:, 0]
        name = "transformers.models.xlnet.modeling_xlnet.XLNetModel.relative_positional_encoding"
        yield case(name, {"d_model": d, "qlen": length, "klen": length}, values, lags=lags)


def list_log_buckets():
    lags = torch.arange(-2100, 2101)
    for buckets, most in ((256, 512), (32, 128), (8, 64), (64, 2048)):
        found = make_log_bucket_position(lags, buckets, most).long()
        row = torch.clamp(found + buckets, 0, 2 * buckets - 1)
        name = "transformers.models.deberta_v2.modeling_deberta_v2.make_log_bucket_position (+ span, clamped)"
        arguments = {"bucket_size": buckets, "max_position": most, "first": -2100, "last": 2100}
        ends = [0, *(torch.nonzero(row.diff()).flatten() + 1).tolist()]
        yield case(name, arguments, [[int(lags[end]), int(row[end])] for end in ends])


if __name__ == "__main__":
    hugging = ("transformers", "torch")
    write("normalised_grids", "2-D sinusoids of detectors, row by row", hugging, list_normalised_grids())
    write("relative_sinusoids", "sinusoids of lags", hugging, list_relative_sinusoids())
    write("log_buckets", "lags at which DeBERTa's row changes, and that row", hugging, list_log_buckets())
