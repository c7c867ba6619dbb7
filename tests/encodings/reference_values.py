"""One value for each encoding of the catalogue, with the source that it comes from."""

import math

import numpy as np

from pe_spectra.encodings import Dft, Sinusoidal
from tests.laws.variants import column

TURN = 2 * math.pi
RNN_WEIGHTS = np.array([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5]])

#: name -> (parameters by keyword, position or lag or (query, key), what is there, source). A new encoding needs a line.
REFERENCES = {
    "sinusoidal": (
        {"d": 4, "rho": 10000.0},
        3,
        [math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)],
        "Vaswani et al. 2017, Sec. 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same",
    ),
    "tensor2tensor": (
        {"d": 7},
        3,
        [math.sin(3), math.sin(0.03), math.sin(0.0003), math.cos(3), math.cos(0.03), math.cos(0.0003), 0.0],
        (
            "tensorflow/tensor2tensor, common_attention.py, get_timing_signal_1d: timescales 1, 100, 10000, "
            "sines first, odd d padded with 0"
        ),
    ),
    "tape": (
        {"d": 4, "length": 8},
        3,
        [math.sin(1.5), math.cos(1.5), math.sin(0.015), math.cos(0.015)],
        (
            "Navidfoumani/ConvTran, Models/AbsolutePositionalEncoding.py, class tAPE: "
            "sin((position * div_term) * (d_model / max_len))"
        ),
    ),
    "learnable-sinusoid": (
        {"d": 4, "start": "decades"},
        3,
        [math.sin(3), math.sin(3e-9), math.cos(3), math.cos(3e-9)],
        "Logan-Lin/CTLE, embed/ctle.py, class TemporalEncoding: omega = 1 / 10 ** linspace(0, 9, size) at the start",
    ),
    "dft": (
        {"d": 4},
        3,
        [0.5, 0.0, -math.sqrt(0.5), -0.5],
        "Ide, Labaien & Chen 2024, Eq. (17)-(21): sqrt(2/4) (1/sqrt 2, cos(3 pi/2), sin(3 pi/2), cos(3 pi)/sqrt 2)",
    ),
    "dfstrans": (
        {"d": 4},
        1,
        [math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0],
        "dfstrans/DFStrans, positional_encodings.py, class DFTEncoding: sqrt(2/4) (1, 0, cos pi, sin pi) in row 1 of 4",
    ),
    "ramp": (
        {"d": 2, "length": 5},
        3,
        [0.75, 0.75],
        "Liu et al. 2018 (CoordConv), arXiv:1807.03247: coordinate / (size - 1), before it is stretched to [-1, 1]",
    ),
    "one-hot": (
        {"d": 4},
        3,
        [0.0, 0.0, 0.0, 1.0],
        "Ide, Labaien & Chen 2024: the one-hot position function, row 3 of the identity",
    ),
    "fourier-features": (
        {"values": np.array([0.5, -2.0])},
        3,
        [math.cos(1.5) / 2, math.cos(6) / 2, math.sin(1.5) / 2, -math.sin(6) / 2],
        "Li et al. 2021, arXiv:2106.02795, Eq. (2): (cos x W^T, sin x W^T)/sqrt(D), W = (0.5, -2), x = 3",
    ),
    "pixel-bands": (
        {"d": 4, "max_freq": 10.0, "length": 4},
        2,
        [math.sqrt(0.75), -math.sqrt(0.75), 0.5, 0.5],
        "lucidrains/rotary-embedding-torch, freqs_for='pixel': linspace(1, 5, 2) pi times linspace(-1, 1, 4)[2] = 1/3",
    ),
    "learned": (
        {"values": np.array([[1.0, 2.0], [3.0, 4.0]])},
        1,
        [3.0, 4.0],
        "Gehring et al. 2017, arXiv:1705.03122: a learned embedding is a table, and a code its row",
    ),
    "hybrid": (
        {"of": (Sinusoidal(d=2), Dft(d=2)), "weights": (2.0, -1.0)},
        1,
        [2 * math.sin(1) - math.sqrt(0.5), 2 * math.cos(1) + math.sqrt(0.5)],
        "a weighted sum by hand: 2 (sin 1, cos 1) of Vaswani et al. 2017 less (1, -1)/sqrt 2 of Ide et al. 2024",
    ),
    "time2vec": (
        {"values": np.array([[0.5, 2.0], [1.0, -0.25]])},
        3,
        [2.5, math.sin(5.75)],
        "Kazemi et al. 2019, arXiv:1907.05321, Eq. (1): w_0 t + phi_0 and sin(w_1 t + phi_1), by hand",
    ),
    "mtan-learned": (
        {"values": np.array([[0.5, 2.0], [1.0, -0.25]]), "unit": 4.0},
        3,
        [1.375, math.sin(1.25)],
        "reml-lab/mTAN, src/models.py, learn_time_embedding: a linear layer of t and sin of another, at t = 3/4",
    ),
    "mtan": (
        {"d": 4, "unit": 48.0},
        3,
        [math.sin(3), math.cos(3), math.sin(3 / math.sqrt(10)), math.cos(3 / math.sqrt(10))],
        "reml-lab/mTAN, src/models.py, time_embedding: 48 t times exp(arange(0, d, 2) * -(log(10) / d)), at t = 3/48",
    ),
    "calendar": (
        {"fields": ("month", "day", "weekday", "hour"), "kind": "fixed", "mode": "sum", "width": 2},
        3,
        [sum(map(math.sin, (7, 1, 4, 3))), sum(map(math.cos, (7, 1, 4, 3)))],
        (
            "zhouhaoyi/Informer2020, models/embed.py, TemporalEmbedding: hour_x + weekday_x + day_x + month_x of one "
            "sinusoid; 03:00 on 1 July 2016, a Friday (4)"
        ),
    ),
    "periods": (
        {"steps": (12.0, 4.0), "harmonics": 2},
        2,
        [math.sin(TURN / 6), 0.5, math.sin(TURN / 3), -0.5, 0.0, -1.0, 0.0, 1.0],
        "Taylor & Letham 2018, Forecasting at Scale, Sec. 3.2: cos(2 pi n t / P), sin(2 pi n t / P), n = 1 .. N",
    ),
    "tree": (
        {"branching": 2, "depth": 2},
        4,
        [0.0, 1.0, 1.0, 0.0],
        "Shiv & Quirk 2019, NeurIPS: the node root/0/1, its last branch (1) first and one-hot, then the one before (0)",
    ),
    "rnn": (
        {"values": RNN_WEIGHTS},
        1,
        [
            math.tanh(0.5 * math.tanh(1) - 0.25 * math.tanh(-0.5) + 1),
            math.tanh(0.125 * math.tanh(1) + 0.75 * math.tanh(-0.5) - 0.5),
        ],
        "Elman 1990, and the equation of PyTorch's nn.RNN: h(t) = tanh(W h(t-1) + constant), two steps by hand",
    ),
    "sincos2d": (
        {"d": 4, "height": 2, "width": 3},
        5,
        [math.sin(2), math.cos(2), math.sin(1), math.cos(1)],
        "facebookresearch/mae, util/pos_embed.py: the first half encodes the column (2 of patch 5 in rows of 3)",
    ),
    "detr-sine": (
        {"d": 4, "height": 2, "width": 3},
        5,
        [wave(TURN * last / (last + 1e-6)) for last in (2, 3) for wave in (math.sin, math.cos)],
        (
            "huggingface/transformers 5.24.0, class DetrSinePositionEmbedding: y_embed / (y_embed[:, -1:] + 1e-6) * "
            "scale, rows first; the last cell of 2 x 3"
        ),
    ),
    "rope": (
        {"d": 4},
        3,
        [math.cos(3), math.cos(0.03), math.sin(3), math.sin(0.03)],
        (
            "Su et al. 2021, arXiv:2104.09864, Eq. (15): theta_i = 10000**(-2i/d); the cache of transformers' "
            "LlamaRotaryEmbedding: all cosines, all sines"
        ),
    ),
    "rope-axial": (
        {"d": 4, "height": 2, "width": 2},
        3,
        [math.cos(1), math.sin(1), math.cos(1), math.sin(1)],
        "naver-ai/rope-vit, models/vit_rope.py, compute_axial_cis: pairs of x = 3 % 2, then of y = 3 // 2, theta_0 = 1",
    ),
    "fope": (
        {"d": 8, "base": 10000.0, "length": 64, "gain": 0.0},
        3,
        [math.cos(3), math.cos(0.3), 1, 1, math.sin(3), math.sin(0.3), 1, 1],
        (
            "TsinghuaC3I/Fourier-Position-Embedding, olmo/model.py, FourierEmbedding: below 2 pi/64 left out, identity "
            "matrices, padded with 1 in both"
        ),
    ),
    "grape": (
        {"d": 4},
        3,
        [math.cos(3), math.cos(0.03), math.sin(3), math.sin(0.03)],
        (
            "model-architectures/GRAPE, model/llama-mha-grape-m-nonctx.py, class MSGRAPECommuting: frequencies start "
            "as 1 / base ** (arange(0, head_dim, 2) / head_dim)"
        ),
    ),
    "pope": (
        {"d": 8, "base": 16.0},
        3,
        [turned(3 * w) for turned in (math.cos, math.sin) for w in (1.0, 0.5, 0.25, 0.125)],
        "x-transformers 2.31.10, class PolarEmbedding(dim=4, base=16): base ** -(arange(0, dim) / dim), cos then sin",
    ),
    "alibi": (
        {"heads": 12},
        3,
        [-3 * 2.0**-h for h in range(1, 9)] + [-3 * 2**-e for e in (0.5, 1.5, 2.5, 3.5)],
        (
            "ofirpress/attention_with_linear_biases, fairseq/models/transformer.py: slopes of 8 heads, then every "
            "other one of 16"
        ),
    ),
    "kerple": (
        {"r1": (1.5, 0.25), "r2": (0.5, 2.0)},
        4,
        [-1.5 * math.log(3), -0.25 * math.log(9)],
        "Chi et al. 2022, arXiv:2205.09921; chijames/KERPLE, megatron/mpu/layers.py: -p log(1 + a lag)",
    ),
    "sandwich": (
        {"heads": 2, "d": 4},
        3,
        [(math.cos(0.03) + math.cos(0.0003) - 2) / r for r in (4, 8)],
        (
            "Chi et al. 2023, arXiv:2212.10356; NVIDIA/NeMo, sandwich_relative_position_embedding.py: "
            "(sum cos - d/2) / (8 h/H), i = 1 .. d/2"
        ),
    ),
    "t5": (
        {"values": column(32)},
        -9,
        [24.0],
        "mesh_tensorflow/transformer/transformer_layers.py: key 9 after its query, bucket 16 + 8 (distances 8 to 11)",
    ),
    "shaw": (
        {"values": column(5)},
        7,
        [0.0],
        "tensor2tensor/layers/common_attention.py: row clip(key - query, -2, 2) + 2 = 0",
    ),
    "transformer-xl": (
        {"d": 4},
        3,
        [math.sin(3), math.sin(0.03), math.cos(3), math.cos(0.03)],
        "Dai et al. 2019; transformers, XLNetModel.positional_embedding: cat([sin(sinusoid_inp), cos(sinusoid_inp)])",
    ),
    "deberta": (
        {"buckets": 8, "max_distance": 64, "values": column(16)},
        6,
        [13.0],
        (
            "huggingface/transformers 5.24.0, make_log_bucket_position(6, 8, 64): ceil(ln(6/4) / ln(63/4) 3) + 4 = 5, "
            "and 8 rows for the other sign"
        ),
    ),
    "erpe": (
        {"values": column(5)},
        2,
        [4.0],
        "Navidfoumani/ConvTran, Models/Attention.py, Attention_Rel_Scl: row lag + L - 1 = 2 + 3 - 1",
    ),
    "fire": (
        {"heads": 2, "threshold": 5},
        (6, 2),
        [-0.1738100770218281, -0.21602949716040798],
        (
            "Li et al. 2024, arXiv:2310.04418: MLP(ln(0.1 x 4 + 1) / ln(0.1 x 6 + 1)), weights from PCG64(0) as "
            "PyTorch starts them, unit by unit"
        ),
    ),
    "tupe": (
        {"heads": 2, "width": 2, "length": 4},
        (3, 1),
        [0.008640191216075802, 0.013430243835613226],
        (
            "guolinke/TUPE, fairseq/modules/transformer_sentence_encoder.py: LN(P_4) W_q . LN(P_2) W_k / sqrt(2 x 4/2) "
            "+ bucket 2, weights from PCG64(0)"
        ),
    ),
    "swin": (
        {"values": column(25)},
        (8, 1),
        [23.0],
        "huggingface/transformers, Swin, window 3: offset (2, 1) is row (2 + 2) x 5 + 1 + 2",
    ),
}
#: Absolute and relative tolerance where sums of several terms are rounded, here or in the reference.
TOLERANCES = {
    "detr-sine": (1e-15, 0),
    "sandwich": (1e-15, 0),
    "fire": (0, 1e-12),
    "tupe": (0, 1e-12),
    "calendar": (1e-15, 0),
}
