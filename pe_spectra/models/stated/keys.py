"""Keys of a file: read strictly (true is no number, neither is text), by all their names, and checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from pe_spectra.errors import FileError, UnusableError, shorten
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.stated.known_models import REFUSALS, KnownModel, load_table
from pe_spectra.models.stated.statement import NEWEST, ORIGINAL, TRANSFORMERS, Written
from pe_spectra.vocabulary import Level
from pe_spectra.wording import write_number

#: Counts and widths of models end somewhere.
MOST = 1 << 40
#: Numbers do too: squares of larger ones overflow.
_LARGEST = 1e300
WIDTHS = ("hidden_size", "n_embd", "d_model", "dim")
HEADS = (
    "num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads", "decoder_attention_heads",
    "encoder_num_attention_heads", "decoder_num_attention_heads",
)  # fmt: skip
LENGTHS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx", "max_sequence_length",
    "max_target_positions", "model_max_length",
)  # fmt: skip
BASES = ("rope_theta", "global_rope_theta", "rotary_emb_base", "rope_base", "rotary_base")
LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")
SHARES = ("partial_rotary_factor", "rotary_pct", "rotary_percentage", "rope_pct", "rotary_emb_fraction")
NUMBERS = (
    "factor", ORIGINAL, "beta_fast", "beta_slow", "attention_factor", "mscale",
    "mscale_all_dim", "low_freq_factor", "high_freq_factor", "alpha", "max_trained_positions", "mixed_b",
)  # fmt: skip
LISTS = ("short_factor", "long_factor")
#: Keys for which implementations take 0 for "not set".
UNSET_BY_ZERO = ("mscale", "mscale_all_dim")
#: Keys of a block that are read elsewhere, or that change no angle.
_OTHERS = (
    "type", "rope_type", "rope_theta", "partial_rotary_factor", "truncate", "mrope_section", "mrope_interleaved",
    "max_position_embeddings", "finetuned", "short_mscale", "long_mscale", "llama_4_scaling_beta",
    "apply_yarn_scaling", "interleaved",
)  # fmt: skip
#: Parts of words that a misspelt key about rotation still has; looking for neighbours of every key takes long.
_SOUNDS = ("rop", "rot", "theta", "partial", "scaling", "base")
#: Keys about rotation that may stand beside a block.
_ON_TOP = (
    *BASES, *LOCAL_BASES, *SHARES, "rope_scaling", "rope_parameters", "rotary_dim", "rope_interleave",
    "rope_interleaved", "no_rope_layers", "no_rope_layer_interval", "qk_rope_head_dim", "rope_ratio", "rotary",
    "rotary_emb_interleaved", "rotary_emb_scale_base", "use_rope", "rope", "mrope_section", "rotary_compress",
    "qk_nope_head_dim", "use_mrope", "indexer_rope_interleave", ORIGINAL,
    "partial_rotary_factors", "compress_rope_theta",
)  # fmt: skip
#: How alike a key on top of the file is to one that is known, where it is a misspelling of that.
_ALIKE = 0.9
UNKNOWN_KEY = Kind(
    code="unknown-key",
    levels=("warning", "note"),
    phrase="a key is not known",
    reasoning="A misspelt key is silently ignored by every reader, and a default takes its place: a rope_thetha of "
    "500000 gives base 10000. A warning is made where a known key is spelled nearly so, or where the key stands in a "
    "rotary block; a note where a key only looks as if it were about rotation.",
    formula=f"similarity of spelling at least {_ALIKE} on top of the file (difflib), any unknown key inside "
    "rope_parameters or rope_scaling",
    references=(TRANSFORMERS,),
)
KEY_NOT_READ = Kind(
    code="key-not-read",
    levels=("warning", "error"),
    phrase="a key that the model's class does not read",
    reasoning="Each class of models reads the keys that its authors gave it. A key that is right for another class is "
    "ignored without a word, and a default stands in its place. An error where the file means a rotation with it that "
    "nothing else states: a base, rope_parameters nested by layer type for a class that reads it flat, a scaling that "
    "is named by type alone for one that reads rope_type, or keys on top of a model of several parts whose class does "
    "not pass them on to the part that is audited. An error too for position_embedding_type relative_key: transformers "
    "5 removed these tables of distances from BERT and its like, and adds the table of positions, which was not "
    "trained.",
    formula="a key for the base, the layout, the share or the scaling that the class of this model_type in "
    f"transformers {NEWEST} does not read, where reading it would change the answer; on top of a model of several "
    "parts any key that would change the part and that its class does not pass on; position_embedding_type other than "
    "absolute beside a learned table",
    references=(TRANSFORMERS, "huggingface/transformers, pull request 41170"),
)
_SCALING_IN_CODE = Kind(
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
    "or a list of sections does not cover the pairs. transformers 5 makes frequencies for more channels than a head "
    "has, where the share is above 1 or a head of an odd width is turned as a whole, and attention then fails.",
    formula="key-value heads divide the heads; the sections of mrope, those of the class where the file has none, add "
    "up to D/2; no more channels are turned than a head has",
    references=(TRANSFORMERS,),
)


class Keys:
    """One object of a file, with the place that it has there; what is wrong with its keys is added to `findings`.

    Parameters
    ----------
    found : the object. path : the file, for messages.
    where : the keys that lead to the object, "text_config."; empty at the top.
    findings : those of the whole file, which its objects share.
    release : of transformers, whose classes read it; blocks that none of them reads are left out.
    """

    def __init__(
        self,
        found: Mapping[str, Any],
        path: str,
        where: str = "",
        findings: list[Finding] | None = None,
        release: str = NEWEST,
    ) -> None:
        unknown = () if release == NEWEST else load_table(release)["unknown"]
        self.found = {key: value for key, value in found.items() if key not in unknown} if unknown else found
        self.path, self.where, self.release = path, where, release
        self.findings: list[Finding] = [] if findings is None else findings

    @property
    def reader(self) -> str:
        """What messages call the release."""
        return f"transformers {self.release.partition('.')[0]}"

    @property
    def refusals(self) -> Mapping[str, Any]:
        """What was measured of the values that the classes of the release refuse."""
        return load_table(self.release + REFUSALS)

    def hold(self, found: Mapping[str, Any]) -> Keys:
        """Return the same place with other keys in it."""
        return Keys(found, self.path, self.where, self.findings, self.release)

    def leave_out(self, *names: str) -> Keys:
        """Return the same place without some of its keys."""
        return self.hold({key: value for key, value in self.found.items() if key not in names})

    def __contains__(self, key: object) -> bool:
        # null is "not set": files list keys of their model's class that it does not use; rope_scaling has no type in
        # the classes of transformers 5, which pass it over where it is empty
        value = self.found.get(key) if isinstance(key, str) else None
        return value is not None and (bool(value) or key != "rope_scaling")

    def has_any(self, *keys: str) -> bool:
        """Whether one of the keys is set."""
        return any(key in self for key in keys)

    def find_key(self, keys: Sequence[str]) -> str | None:
        """Return the first of the keys that is set."""
        for key in keys:  # not by next(), nor by `in`: thousands are looked for in each file
            if self.found.get(key) is not None:
                return key
        return None

    def report(self, kind: Kind, message: str, /, *, level: Level | None = None, **data: object) -> None:
        """Add a finding."""
        self.findings.append(kind.find(message, level=level, **data))

    def report_refused(self, kind: Kind, place: str, why: str, model: str, advice: str = "") -> None:
        """Add the finding that the class of a model refuses the file for what is wrong at a place in it."""
        message = f"{shorten(place)} {why}, so the class of {model} in {self.reader} refuses the file{advice}"
        self.report(kind, message, key=place, model=model)

    def refuse(self, key: str, accepted: str) -> NoReturn:
        """Refuse the value of a key.

        Raises
        ------
        UnusableError : always.
        """
        place, value = f"{self.where}{key}", shorten(repr(self.found.get(key)))
        raise UnusableError(self.path, f"{shorten(place)} cannot be used ({value}); {accepted}", place)

    def _find(self, keys: Sequence[str], is_accepted: Callable[[Any], bool], accepted: str) -> Any:
        """The value of the first of the keys that is set; None where none is."""
        if (key := self.find_key(keys)) is None:
            return None
        if not is_accepted(self.found[key]):
            self.refuse(key, f"{accepted} is accepted")
        return self.found[key]

    def find_integer(self, *keys: str, least: int = 1) -> int | None:
        """Read the first of the keys that is set, an integer; None where none is."""
        accepted = f"an integer from {least}"
        found: int | None = self._find(
            keys, lambda value: _is_number(value) and isinstance(value, int) and value >= least, accepted
        )
        if found is not None and found > MOST:
            self.refuse(self.find_key(keys) or "", f"{accepted} to {MOST} is accepted")
        return found

    def read_integer(self, *keys: str) -> int:
        """Read the first of the keys that is set, a positive integer.

        Raises
        ------
        FileError : none of them is set, or it is no positive integer.
        """
        found = self.find_integer(*keys)
        if found is None:
            raise FileError(self.path, f"lacks a key; looked for {', '.join(keys)}")
        return found

    def find_number(self, *keys: str, zero: bool = False) -> float | None:
        """Read the first of the keys that is set, a finite number above 0; None where none is."""
        accepted, least = f"a number {'from' if zero else 'above'} 0", 0 if zero else math.ulp(0)
        found = self._find(keys, lambda one: isinstance(one, Written) or (_is_number(one) and one >= least), accepted)
        if found is not None and found > _LARGEST:
            self.refuse(self.find_key(keys) or "", f"{accepted}, at most {_LARGEST:g}, is accepted")
        return found if found is None or isinstance(found, Written) else float(found)

    def find_truth(self, *keys: str) -> bool | None:
        """Read the first of the keys that is set, true or false; None where none is."""
        found: bool | None = self._find(keys, lambda value: isinstance(value, bool), "true or false")
        return found

    def find_text(self, *keys: str) -> str | None:
        """Read the first of the keys that is set, a text; None where none is."""
        found: str | None = self._find(keys, lambda value: isinstance(value, str), "a text")
        return found

    def find_numbers(self, key: str) -> tuple[float, ...] | None:
        """Read a list of finite numbers above 0; None where the key is not set."""
        values = self._find([key], lambda value: isinstance(value, list) and bool(value), "a list of numbers")
        for value in values or ():
            if not isinstance(value, Written) and (not _is_number(value) or not 0 < value < math.inf):
                self.refuse(key, f"a list of numbers above 0 is accepted, not {shorten(repr(value))}")
        return None if values is None else tuple(map(float, values))

    def find_texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts; empty where the key is not set."""
        return tuple(
            self._find([key], lambda value: isinstance(value, list) and {*map(type, value)} <= {str}, "a list of texts")
            or ()
        )

    def find_object(self, key: str) -> Keys:
        """Return an object in this one; without keys where the key is not set."""
        found = self._find([key], lambda value: isinstance(value, dict), "an object") if key in self else None
        return Keys(found or {}, self.path, f"{self.where}{key}.", self.findings, self.release)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_block_spelling(block: Keys) -> None:
    """Report the keys of a rotary block that no scaling takes.

    >>> keys = Keys({"rope_typ": "yarn"}, "config.json")
    >>> check_block_spelling(keys)
    >>> [found.level for found in keys.findings]
    ['warning']
    """
    known = (*NUMBERS, *LISTS, *_OTHERS)
    for key in block.found:
        if key not in known:
            _report_key(block, key, known)


def check_keys(keys: Keys, known: KnownModel) -> None:
    """Report keys of a rotary model that are misspelt, not read, or contradict each other.

    >>> keys = Keys({"rope_thetta": 5e5, "num_attention_heads": 32, "num_key_value_heads": 5}, "config.json")
    >>> check_keys(keys, KnownModel())
    >>> [found.code for found in keys.findings]
    ['unknown-key', 'head-width']
    """
    _check_spelling(keys)
    _check_heads(keys)
    if known.is_known:
        _check_ignored(keys, known)
    if known.model == "qwen" and keys.find_truth("use_dynamic_ntk"):
        _report_code(keys, known.model)


def _check_spelling(keys: Keys) -> None:
    """Report keys beside the block that are spelled nearly as a known one, or that only sound like one."""
    for key in keys.found:
        if key in _ON_TOP or key not in keys or not any(part in key.lower() for part in _SOUNDS):
            continue
        near = get_close_matches(key, _ON_TOP, n=1, cutoff=_ALIKE)
        if near or any(word in key.lower() for word in ("rope", "rotary")):
            _report_key(keys, key, _ON_TOP, certain=bool(near))


def _report_key(keys: Keys, key: str, known: tuple[str, ...], *, certain: bool = True) -> None:
    near = get_close_matches(key, known, n=1, cutoff=0.6)
    meant = f"; {near[0]} is the nearest that is known" if near else ""
    name = f"{keys.where}{key}"
    message = f"{shorten(name)} is a key that is not known here, so it changes nothing in this answer{meant}"
    keys.report(UNKNOWN_KEY, message, level="warning" if certain else "note", key=name, nearest=near[:1])


def _check_heads(keys: Keys) -> None:
    """Report heads that cannot share those of keys and values."""
    heads, pairs = keys.find_integer(*HEADS), keys.find_integer("num_key_value_heads", "n_head_kv", "num_kv_heads")
    if heads is not None and pairs is not None and heads % pairs:
        message = f"{heads} heads cannot share {pairs} heads of keys and values evenly"
        keys.report(HEAD_WIDTH, message, heads=heads, key_value_heads=pairs)


def _check_ignored(keys: Keys, known: KnownModel) -> None:
    """Report keys that are spelled right, but that the class of this model does not read."""
    stated_base = _find_stated_base(keys, known)
    taken = stated_base or known.default_base
    others = [key for key in BASES if key in keys and known.base_key != key]
    ignored = [(f"{keys.where}{key}", key, "") for key in others if keys.found[key] != taken]
    asked = keys.found.get("rope_interleave")
    if isinstance(asked, bool) and not known.obeys_interleave and asked != (known.layout == "interleaved"):
        ignored.append((f"{keys.where}rope_interleave", "rope_interleave", f"; its layout is {known.layout}"))
    nested = keys.find_object("attn_config")
    stated = None if nested.find_truth("rope") else nested.find_number("rope_theta")
    if stated is not None and stated != taken:
        key = f"{nested.where}rope_theta"
        ignored.append((f"{key} {write_number(stated)}", key, ""))
    for shown, key, meant in ignored:
        reads = f"it reads {known.base_key}" if known.base_key else "it reads no such key"
        takes = meant or f", which takes base {write_number(taken)}; {reads}"
        message = f"{shown} is not read by the class of {known.model}{takes}"
        level: Level = "warning" if meant or stated_base else "error"
        keys.report(KEY_NOT_READ, message, level=level, key=key, model=known.model)


def _find_stated_base(keys: Keys, known: KnownModel) -> float | None:
    """The base that the class reads of the file; None where none is stated for it."""
    inside, own = keys.find_object("rope_parameters").find_number("rope_theta"), known.base_key
    is_list = isinstance(keys.found.get(own), list)
    return keys.find_number(own) if inside is None and own and not is_list else inside


def _report_code(keys: Keys, model: str) -> None:
    """Say where the code that a checkpoint brings along scales by itself, whatever the rotary keys are."""
    trained = keys.find_integer("seq_length")
    beyond = f" beyond seq_length {trained:,}" if trained is not None else ""
    message = (
        f"{keys.where}use_dynamic_ntk: the code of {model} enlarges the base with the length{beyond}, in steps of a "
        "factor of 2; this answer is for the length before"
    )
    keys.report(_SCALING_IN_CODE, message, key="use_dynamic_ntk")
