"""The reasoning behind each finding about a model, for `audit --explain CODE`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pe_spectra.findings import Explanation

_ROPE = "Su et al. 2021, arXiv:2104.09864"
_YARN = "Peng et al. 2023, arXiv:2309.00071"
_HF = "huggingface/transformers, src/transformers/modeling_rope_utils.py (5.23.0, 4.57.6)"
_MEN = "Men et al. 2024, arXiv:2405.14591 (the base bounds the context length)"
_LIU = "Liu et al. 2023, arXiv:2310.05209 (scaling laws of RoPE-based extrapolation; critical dimension)"

EXPLANATIONS: Mapping[str, Explanation] = MappingProxyType(
    {
        "nested-config": Explanation(
            reasoning="A model of several parts, for instance one that also sees images, keeps the keys of the part "
            "that reads text in an object of their own. Keys of the same name on top belong to the whole and are not "
            "read. The encoder of Whisper and that of LED have an encoding of their own beside the decoder's.",
            formula="thinker_config, text_config, language_config and llm_config are followed, the outermost first; "
            "model_type whisper or led: the decoder is audited",
            references=(_HF,),
        ),
        "unknown-key": Explanation(
            reasoning="A misspelt key is ignored in silence by every reader, and a default takes its place: a "
            "rope_thetha of 500000 gives base 10000. A warning is made where a known key is spelled nearly so, or "
            "where "
            "the key stands in a rotary block; a note where a key only looks as if it were about rotation.",
            formula="similarity of spelling at least 0.85 on top of the file (difflib), any unknown key inside "
            "rope_parameters or rope_scaling",
            references=(_HF,),
        ),
        "key-not-read": Explanation(
            reasoning="Each class of models reads the keys that its authors gave it. A key that is right for another "
            "class is ignored without a word, and a default stands in its place. An error where the file means a "
            "rotation with it that nothing else states: rope_parameters nested by layer type for a class that reads it "
            "flat, or a scaling that is named by type alone for one that reads rope_type. An error too for "
            "position_embedding_type relative_key: transformers 5 removed these tables of distances from BERT and its "
            "like, and adds the table of positions, which was not trained.",
            formula="a key for the base, the layout, the share or the scaling that the class of this model_type in "
            "transformers 5.23.0 does not read, where reading it would change the answer; position_embedding_type "
            "other than absolute beside a learned table",
            references=(_HF, "huggingface/transformers, pull request 41170"),
        ),
        "older-name": Explanation(
            reasoning="Early files of Phi-3 call LongRoPE su. Newer releases read longrope, and some refuse the older "
            "name.",
            formula="rope_type or type is su",
            references=(_HF,),
        ),
        "original-length-twice": Explanation(
            reasoning="The length before scaling may stand beside the rotary block or in it. transformers 5 takes "
            "the one "
            "beside it, transformers 4.57 the one in it for yarn and llama3, so the two should agree.",
            formula="original_max_position_embeddings is given in both places with other values; beside the block the "
            "class of Phi-3 has 4096 where the file has none",
            references=(_HF,),
        ),
        "scaling-in-tensor": Explanation(
            reasoning="A GGUF file of a Llama 3 model names no scaling among its keys: the divisor of each pair is "
            "in the "
            "tensor rope_freqs.weight. A reader of the keys alone takes the plain ladder.",
            formula="the divisors of rope_freqs.weight are those of llama3 scaling within float32",
            references=("ggml-org/llama.cpp, convert_hf_to_gguf.py",),
        ),
        "scaling-in-code": Explanation(
            reasoning="Some checkpoints bring their own code along, which changes the base with the length that it is "
            "given. What the configuration states then holds up to the trained length only.",
            formula="use_dynamic_ntk is true and model_type is qwen: base times "
            "(2**ceil(log2(l / seq_length) + 1) - 1)**(D/(D-2)) for l above seq_length",
            references=("Qwen/Qwen-7B, modeling_qwen.py",),
        ),
        "unknown-architecture": Explanation(
            reasoning="The keys of a GGUF file do not say how channels are paired; llama.cpp knows it by "
            "architecture. For "
            "one that is not known here the layout is a guess.",
            formula="general.architecture is not in the list of llama_model_rope_type",
            references=("ggml-org/llama.cpp, src/llama-model.cpp",),
        ),
        "factor-by-width": Explanation(
            reasoning="Meta's params.json asks for scaling, but does not give its factor. In transformers "
            "Llama 3.2 models of 1B and 3B have 32, and Llama 3.1 has 8; Meta's own code has 8 for all, and for a "
            "params.json the answer is that of Meta's code.",
            formula="use_scaled_rope without rope_scaling_factor, dim 2048 or 3072",
            references=("meta-llama/llama-models, models/llama3/model.py",),
        ),
        "scaling-not-used": Explanation(
            reasoning="A factor is given, but what turns scaling on is not: for Meta's code the switch, for "
            "transformers the name of the scaling. Nothing is scaled, in silence.",
            formula="params.json: rope_scaling_factor is given and use_scaled_rope is not true; config.json: factor, "
            "low_freq_factor, short_factor or their like without rope_type",
            references=("meta-llama/llama-models, models/llama3/model.py", _HF),
        ),
        "rope-type-twice": Explanation(
            reasoning="Older files name the scaling under type, newer ones under rope_type. A file with both that "
            "differ is read otherwise by readers of either key.",
            formula="type != rope_type in one block; rope_type is read",
            references=(_HF,),
        ),
        "base-defaulted": Explanation(
            reasoning="Where no key gives the base, readers take 10000 without a word. That is right for early models "
            "and wrong for nearly all of those with a long context: the base decides the frequency of every pair but "
            "the first.",
            formula="a warning where the default is 10000 and the length is above 8,192, or before a scaling above "
            "4,096, or the scaling is llama3, which no model with this base has; else a note",
            references=(_ROPE, _HF),
        ),
        "length-defaulted": Explanation(
            reasoning="Where no key gives the length, the class of the model has one, 2,048 for many. All that is "
            "said about turns, windows and phases then holds up to a length that nobody wrote down.",
            formula="a warning where the scaling is computed from it (dynamic; yarn, llama3 and longrope without "
            "factor or original_max_position_embeddings) or original_max_position_embeddings is above it (llama3: "
            "not below); else a note",
            references=(_HF,),
        ),
        "keys-contradict": Explanation(
            reasoning="transformers 5 keeps the rotation in rope_parameters, older releases in rope_theta and "
            "rope_scaling. A file that holds both, of which one was edited, gives each reader another model. So does a "
            "share of the head that stands in rope_parameters and beside it: transformers 5 reads the one inside.",
            formula="rope_theta, rope_type, partial_rotary_factor or a parameter of the scaling is given by both "
            "generations with other values",
            references=(_HF,),
        ),
        "newer-keys-only": Explanation(
            reasoning="Releases before transformers 5, and other readers of the older keys, do not know "
            "rope_parameters: they take base 10000 and no scaling without a word. For a model of base 500000 the "
            "perplexity rises by orders of magnitude. Nothing is wrong with the file for readers of today.",
            formula="rope_parameters without rope_theta and rope_scaling, where the older reading gives other "
            "frequencies",
            references=(_HF,),
        ),
        "releases-differ": Explanation(
            reasoning="Two releases of one library can make other frequencies of the same keys, for instance because "
            "the older one does not know truncate, or places a ramp by another length. The answer is that of the "
            "newest "
            "major release.",
            formula="some frequency or the attention factor differs by more than 2e-6 between transformers 5.23.0 "
            "and 4.57.6",
            references=(_HF,),
        ),
        "unknown-scaling": Explanation(
            reasoning="A scaling that is not known is never replaced by another: no frequencies are given. Some "
            "readers "
            "fall back to none in silence, which gives other numbers than the model was trained with.",
            formula="rope_type is none of those that transformers 5 has",
            references=(_HF,),
        ),
        "list-length": Explanation(
            reasoning="LongRoPE divides each pair by a number of its own, so its lists have one number for each pair, "
            "half the rotary width.",
            formula="len(short_factor) = len(long_factor) = D/2",
            references=("Ding et al. 2024, arXiv:2402.13753", _HF),
        ),
        "key-missing": Explanation(
            reasoning="The scaling that the file names cannot be computed without this key. Readers refuse the file, "
            "or "
            "fail later with a less clear message.",
            formula="the keys that transformers 5 requires for each rope_type",
            references=(_HF,),
        ),
        "refused": Explanation(
            reasoning="No rotation is computed here for the values of the file: an odd rotary width, a share above 1, "
            "numbers beyond all that is published. Some releases load such a file all the same and turn by something "
            "that nobody meant.",
            formula="D = int(head_dim x partial_rotary_factor) is even and at most head_dim; 0.001 <= factor <= 10**6; "
            "10**-6 <= beta_fast, beta_slow, low_freq_factor, high_freq_factor <= 10**6",
            references=(_HF,),
        ),
        "scaling-order": Explanation(
            reasoning="Two numbers say between which turns the frequencies go over from kept to slowed. In the wrong "
            "order they still compute: YaRN's ramp then runs backwards, slows the fast pairs and keeps the slow ones; "
            "the one of Llama 3 becomes a step. transformers writes a line in its log, and turns by it. What is "
            "answered is what it computes.",
            formula="yarn: beta_fast < beta_slow; llama3: high_freq_factor < low_freq_factor",
            references=(_YARN, _HF),
        ),
        "factor-below-one": Explanation(
            reasoning="A scaling lengthens the context by its factor. With one below 1 it does the opposite, and no "
            "model is published with that; the inverse may have been meant. transformers writes a line in its log, "
            "and turns by it.",
            formula="factor < 1, or where factor is null max_position_embeddings < original_max_position_embeddings",
            references=(_HF,),
        ),
        "head-width": Explanation(
            reasoning="Numbers that describe the heads contradict each other, so tensors of these shapes cannot be "
            "multiplied, or a list of sections does not cover the pairs.",
            formula="key-value heads divide the heads; the sections of mrope add up to D/2",
            references=(_HF,),
        ),
        "layer-type-missing": Explanation(
            reasoning="rope_parameters may be nested by the type of a layer. A type that the model has and the file "
            "leaves out is turned by the default of its class, which nobody wrote down.",
            formula="a type of layer_types that is turned has no entry in rope_parameters (warning), or "
            "rope_parameters is flat and the class reads it by layer type (error)",
            references=(_HF,),
        ),
        "original-length-missing": Explanation(
            reasoning="The scaling compares wavelengths with the length that the model was trained at before its "
            "context "
            "was lengthened. Without it, max_position_embeddings is taken, which usually is the lengthened one, and "
            "the wrong pairs are scaled.",
            formula="original_max_position_embeddings is absent for yarn, llama3 or longrope",
            references=(_YARN, _HF),
        ),
        "factor-mismatch": Explanation(
            reasoning="The factor says how far the scaling reaches, the lengths how far the model is to be used. Where "
            "the file asks for more than the factor covers, the slow pairs see phases that training never showed. "
            "Where it asks for less, nothing breaks, and a note says what the scaling would reach. Where the length "
            "before the scaling is the longer one, one of the two is wrong.",
            formula="yarn, linear: max_position_embeddings / original_max_position_embeddings above factor by 1 %: "
            "warning; below: note; original_max_position_embeddings above max_position_embeddings (llama3: not "
            "below, for which transformers writes a line in its log): warning",
            references=(_YARN, _HF),
        ),
        "unseen-phases": Explanation(
            reasoning="A pair that never completed a turn in training has shown only a part of its circle. At a longer "
            "context it enters the rest, which the model has never seen: this is where extrapolation fails first. "
            "Pairs that did turn have seen every phase.",
            formula="max(theta_i L0, theta'_i T) < 2 pi and theta'_i l > 1.01 max(theta_i L0, theta'_i T); L0 the "
            "original "
            "length, T the one trained with the scaling, l the one served, theta' the scaled frequency; at most the "
            "sliding window each",
            references=(_LIU, _YARN),
        ),
        "base-below-bound": Explanation(
            reasoning="Men et al. hold that a model cannot retrieve beyond the lag at which the sum of the cosines of "
            "all pairs turns negative. Most published models serve two to eight times more than that, so it is a "
            "note. It is made "
            "only where all channels of a head are turned.",
            formula="the smallest m with sum_i cos(m theta'_i) < 0, computed exactly, is below the served length; "
            "lags up to "
            "2**20 over the number of pairs are tried (16,384 for 64 pairs), `context` tries more",
            references=(_MEN,),
        ),
        "base-too-small": Explanation(
            reasoning="The sum of the cosines of all pairs turns negative so early that no published model of this "
            "shape but one works at the length that the file states: the base was probably lost on the way.",
            formula="the served length is more than 64 times the smallest m with sum_i cos(m theta'_i) < 0",
            references=(_MEN,),
        ),
        "aliasing": Explanation(
            reasoning="A pair that turns by more than pi per position cannot be told from a slower one at whole "
            "positions (warning). Where even the slowest pair completes a turn within the context, no single pair "
            "tells long distances apart (note): only all pairs together do.",
            formula="theta_i > pi; or 2 pi / min theta_i below the served length",
            references=(_ROPE, "Liu 2026, arXiv:2602.10959 (a claim, not peer reviewed): L < 2 pi b"),
        ),
        "attention-factor": Explanation(
            reasoning="The attention factor stands on every cosine and sine, so scores have its square. A file may "
            "give "
            "it, but then it should be the one that the model was trained with; usually that is the formula's.",
            formula="yarn: 0.1 ln s + 1, or the ratio of mscale and mscale_all_dim; longrope: sqrt(1 + ln s / ln L); a "
            "difference above 1 % is reported",
            references=(_YARN, _HF),
        ),
        "precision": Explanation(
            reasoning="bfloat16 has 8 significant bits, float16 11. Positions above 256 (2,048) are no longer apart "
            "when "
            "they are cast, and an angle of thousands of radians loses whole turns. Healthy models compute angles in "
            "float32 and cast cosines and sines afterwards; a port that does not is wrong from there on.",
            formula="error up to 2**floor(log2 a) u at the angle a = (l - 1) max theta_i, half a unit in the last "
            "place: u = 2**-8 for bfloat16, 2**-11 for float16, 2**-24 for float32",
            references=("Wang et al. 2024, arXiv:2411.13476 (bfloat16 breaks the relative property of RoPE)",),
        ),
        "position-table-short": Explanation(
            reasoning="A learned table has one row for each position. Beyond the last there is no code: readers "
            "fail, or "
            "clip the index and give one code to all positions behind.",
            formula="rows that are positions < the served length (what the file states, or --served)",
            references=("Devlin et al. 2019, arXiv:1810.04805",),
        ),
    }
)
