"""The names of keys about rotation, and what is wrong with those that a file has: spelling, owners, sums."""

from __future__ import annotations

from difflib import get_close_matches

from pe_spectra.errors import shorten
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import KnownModel, find_known
from pe_spectra.models.stated.statement import TRANSFORMERS, LayerStatement
from pe_spectra.wording import write_number

WIDTHS = ("hidden_size", "n_embd", "d_model", "dim")
HEADS = (
    *("num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads", "decoder_attention_heads"),
    *("encoder_num_attention_heads", "decoder_num_attention_heads"),
)
LENGTHS = (
    *("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx", "max_sequence_length"),
    *("max_target_positions", "model_max_length"),
)
BASES = ("rope_theta", "global_rope_theta", "rotary_emb_base", "rope_base", "rotary_base")
LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")
SHARES = ("partial_rotary_factor", "rotary_pct", "rotary_percentage", "rope_pct", "rotary_emb_fraction")
NUMBERS = (
    *("factor", "original_max_position_embeddings", "beta_fast", "beta_slow", "attention_factor", "mscale"),
    *("mscale_all_dim", "low_freq_factor", "high_freq_factor", "alpha"),
)
LISTS = ("short_factor", "long_factor")
#: Keys for which implementations take 0 for "not set".
UNSET_BY_ZERO = ("mscale", "mscale_all_dim")
#: Keys of a block that are read elsewhere, or that change no angle.
_OTHERS = (
    *("type", "rope_type", "rope_theta", "partial_rotary_factor", "truncate", "mrope_section", "mrope_interleaved"),
    *(
        "max_position_embeddings",
        "finetuned",
        "short_mscale",
        "long_mscale",
        "llama_4_scaling_beta",
        "apply_yarn_scaling",
    ),
    "interleaved",
)
#: Parts of words that a misspelt key about rotation still has; looking for neighbours of every key takes long.
_SOUNDS = ("rop", "rot", "theta", "partial", "scaling", "base")
#: Keys about rotation that may stand beside a block.
_ON_TOP = (
    *BASES, *LOCAL_BASES, *SHARES, "rope_scaling", "rope_parameters", "rotary_dim", "rope_interleave",
    "rope_interleaved", "no_rope_layers", "no_rope_layer_interval", "qk_rope_head_dim", "rope_ratio", "rotary",
    "rotary_emb_interleaved", "rotary_emb_scale_base", "use_rope", "rope", "mrope_section", "rotary_compress",
    "qk_nope_head_dim", "use_mrope", "indexer_rope_interleave", "original_max_position_embeddings",
    "partial_rotary_factors", "compress_rope_theta",
)  # fmt: skip
UNKNOWN_KEY = Kind(
    code="unknown-key",
    levels=("warning", "note"),
    phrase="a key is not known",
    reasoning="A misspelt key is ignored in silence by every reader, and a default takes its place: a rope_thetha of "
    "500000 gives base 10000. A warning is made where a known key is spelled nearly so, or where the key stands in a "
    "rotary block; a note where a key only looks as if it were about rotation.",
    formula="similarity of spelling at least 0.85 on top of the file (difflib), any unknown key inside rope_parameters "
    "or rope_scaling",
    references=(TRANSFORMERS,),
)
KEY_NOT_READ = Kind(
    code="key-not-read",
    levels=("warning", "error"),
    phrase="a key that the model's class does not read",
    reasoning="Each class of models reads the keys that its authors gave it. A key that is right for another class is "
    "ignored without a word, and a default stands in its place. An error where the file means a rotation with it that "
    "nothing else states: rope_parameters nested by layer type for a class that reads it flat, or a scaling that is "
    "named by type alone for one that reads rope_type. An error too for position_embedding_type relative_key: "
    "transformers 5 removed these tables of distances from BERT and its like, and adds the table of positions, which "
    "was not trained.",
    formula="a key for the base, the layout, the share or the scaling that the class of this model_type in "
    "transformers 5.23.0 does not read, where reading it would change the answer; position_embedding_type other than "
    "absolute beside a learned table",
    references=(TRANSFORMERS, "huggingface/transformers, pull request 41170"),
)
SCALING_IN_CODE = Kind(
    code="scaling-in-code",
    levels=("note",),
    phrase="the model's own code scales beyond a length",
    reasoning="Some checkpoints bring their own code along, which changes the base with the length that it is given. "
    "What the configuration states then holds up to the trained length only.",
    formula="use_dynamic_ntk is true and model_type is qwen: base times (2**ceil(log2(l / seq_length) + 1) - "
    "1)**(D/(D-2)) for l above seq_length",
    references=("Qwen/Qwen-7B, modeling_qwen.py",),
)
HEAD_WIDTH = Kind(
    code="head-width",
    levels=("error",),
    phrase="numbers about the heads contradict each other",
    reasoning="Numbers that describe the heads contradict each other, so tensors of these shapes cannot be multiplied, "
    "or a list of sections does not cover the pairs.",
    formula="key-value heads divide the heads; the sections of mrope add up to D/2",
    references=(TRANSFORMERS,),
)


def check_block_spelling(block: Keys) -> list[Finding]:
    """Report the keys of a rotary block that no scaling takes.

    >>> [found.level for found in check_block_spelling(Keys({"rope_typ": "yarn"}, "config.json"))]
    ['warning']
    """
    known = (*NUMBERS, *LISTS, *_OTHERS)
    return [_report_key(f"{block.where}{key}", key, known) for key in block.found if key not in known]


def check_spelling(keys: Keys) -> list[Finding]:
    """Report keys beside the block that are spelled nearly as a known one, or that only sound like one.

    >>> [found.code for found in check_spelling(Keys({"rope_thetta": 5e5}, "config.json"))]
    ['unknown-key']
    """
    found = []
    for key in keys.found:
        if not any(part in key.lower() for part in _SOUNDS):
            continue
        about = any(word in key.lower() for word in ("rope", "rotary"))
        near = get_close_matches(key, _ON_TOP, n=1, cutoff=0.9)
        if key not in _ON_TOP and key in keys and (near or about):
            found.append(_report_key(f"{keys.where}{key}", key, _ON_TOP, certain=bool(near)))
    return found


def _report_key(name: str, key: str, known: tuple[str, ...], *, certain: bool = True) -> Finding:
    near = get_close_matches(key, known, n=1, cutoff=0.6)
    meant = f"; {near[0]} is the nearest that is known" if near else ""
    message = f"{shorten(name)} is a key that is not known here, so it changes nothing in this answer{meant}"
    return UNKNOWN_KEY.find(message, level="warning" if certain else "note", key=name, nearest=near[:1])


def check_ignored(keys: Keys, known: KnownModel, model: str) -> list[Finding]:
    """Keys that are spelled right, but that the class of this model does not read.

    >>> check_ignored(Keys({"rope_theta": 5e5}, "config.json"), KnownModel(), "llama")
    []
    """
    if find_known(model) is None:
        return []
    wanted = known.base_key
    taken = _find_taken_base(keys, known)
    ignored = [key for key in BASES if key in keys and wanted and key != wanted and keys.find_number(key) != taken]
    asked = keys.find_truth("rope_interleave")
    if asked is not None and not known.obeys_interleave and asked != (known.layout == "interleaved"):
        ignored.append("rope_interleave")
    found = []
    for key in ignored:
        meant = (
            f", which takes base {write_number(taken)}; it reads {wanted}"
            if key in BASES
            else f"; its layout is {known.layout}"
        )
        message = f"{keys.where}{key} is not read by the class of {model}{meant}"
        found.append(KEY_NOT_READ.find(message, key=key, model=model))
    nested = keys.find_object("attn_config")
    stated = nested.find_number("rope_theta") if nested is not None and not nested.find_truth("rope") else None
    if nested is not None and stated is not None and stated != taken:
        key = f"{nested.where}rope_theta"
        message = (
            f"{key} {write_number(stated)} is not read by the class of {model}, which takes base "
            f"{write_number(taken)}; it reads {wanted}"
        )
        found.append(KEY_NOT_READ.find(message, key=key, model=model))
    return found


def _find_taken_base(keys: Keys, known: KnownModel) -> float:
    """The base that the class takes where it reads none of the keys that belong to other classes."""
    block = keys.find_object("rope_parameters")
    inside = block.find_number("rope_theta") if block is not None else None
    if inside is not None:
        return inside
    own = known.base_key
    if not own or isinstance(keys.found.get(own), list):
        return known.default_base
    return keys.find_number(own) or known.default_base


def check_code(keys: Keys, model: str) -> list[Finding]:
    """Say where the code that a checkpoint brings along scales by itself, whatever the rotary keys are.

    >>> [found.code for found in check_code(Keys({"use_dynamic_ntk": True}, "config.json"), "qwen")]
    ['scaling-in-code']
    """
    if model != "qwen" or not keys.find_truth("use_dynamic_ntk"):
        return []
    trained = keys.find_integer("seq_length")
    beyond = f" beyond seq_length {trained:,}" if trained is not None else ""
    message = (
        f"{keys.where}use_dynamic_ntk: the code of {model} enlarges the base with the length{beyond}, in steps of a "
        "factor of 2; this answer is for the length before"
    )
    return [SCALING_IN_CODE.find(message, key="use_dynamic_ntk")]


def check_heads(keys: Keys) -> list[Finding]:
    """Report heads that cannot share those of keys and values.

    >>> keys = Keys({"num_attention_heads": 32, "num_key_value_heads": 5}, "config.json")
    >>> [found.code for found in check_heads(keys)]
    ['head-width']
    """
    heads, pairs = keys.find_integer(*HEADS), keys.find_integer("num_key_value_heads", "n_head_kv", "num_kv_heads")
    if heads is None or pairs is None or heads % pairs == 0:
        return []
    message = f"{heads} heads cannot share {pairs} heads of keys and values evenly"
    return [HEAD_WIDTH.find(message, heads=heads, key_value_heads=pairs)]


def check_sections(keys: Keys, layer: LayerStatement) -> list[Finding]:
    """The sections of mrope say which pairs turn by time, height and width; they cover all pairs.

    >>> from pe_spectra.models.stated.statement import TRANSFORMERS, LayerStatement
    >>> keys = Keys({"rope_scaling": {"mrope_section": [8, 8, 8]}}, "config.json")
    >>> check_sections(keys, LayerStatement(head_dim=128))[0].code
    'head-width'
    """
    places = [keys.find_object(name) for name in ("rope_parameters", "rope_scaling")]
    for block in (*places, keys):
        sections = None if block is None else block.find_numbers("mrope_section")
        pairs = int(layer.head_dim * layer.share) // 2
        if block is not None and sections is not None and sum(sections) != pairs:
            message = (
                f"{block.where}mrope_section adds up to {write_number(sum(sections))} pairs, but {pairs} pairs are "
                "turned; its sections must cover them"
            )
            return [HEAD_WIDTH.find(message, sections=sections)]
    return []
