"""What each implementation makes of a file: described by data, from statements to a rotation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from pe_spectra.errors import InputError
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.stack import Refusal, Stack
from pe_spectra.models.stated.statement import Configuration, LayerStatement
from pe_spectra.names import load_name
from pe_spectra.numbers import Choice

#: Name of a stack -> module that describes it, and its releases that are known there, the newest first; of one whose
#: versions are not told apart, that one.
RELEASES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "transformers-5": ("transformers", ("FIVE",)),
    "transformers-4": ("transformers", ("FOUR",)),
    "vllm": ("other_stacks", ("VLLM", "VLLM_SPRING")),
    "llama.cpp": ("llama_cpp", ("LLAMA_CPP",)),
    "keras-hub": ("keras_hub", ("KERAS_HUB", "KERAS_HUB_SUMMER")),
    "torchtune": ("libraries", ("TORCHTUNE",)),
    "x-transformers": ("libraries", ("X_TRANSFORMERS",)),
    "rotary-embedding-torch": ("libraries", ("ROTARY_EMBEDDING_TORCH",)),
    "meta": ("other_stacks", ("META",)),
    "yarn-paper": ("other_stacks", ("YARN_PAPER",)),
    "diffusers": ("axial", ("DIFFUSERS_STACK",)),
    "timm": ("axial", ("TIMM_STACK",)),
}

#: What gives the newest of every stack, whose module is loaded when it is asked for.
LOADERS: Mapping[str, Callable[[], Stack]] = {
    name: partial(load_name, f"models.stacks.{module}", known[0]) for name, (module, known) in RELEASES.items()
}
#: What gives the stack whose reading is the answer, by the format of a file: the newest major release of the library
#: that it is made for.
ANSWERING: Mapping[str, Callable[[], Stack]] = {
    "config.json": LOADERS["transformers-5"],
    "params.json": LOADERS["meta"],
    "gguf": LOADERS["llama.cpp"],
    "diffusers": LOADERS["diffusers"],
    "timm": LOADERS["timm"],
}


class _Newest(Mapping[str, Stack]):
    def __getitem__(self, name: str) -> Stack:
        return LOADERS[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(LOADERS)

    def __len__(self) -> int:
        return len(LOADERS)


#: The newest of every stack by its name; the first is the answer that `audit` gives.
STACKS: Mapping[str, Stack] = _Newest()

#: A name, or one with a version: that one, or with >= any from it on.
_WITH_VERSION = r"(?P<name>[a-z][a-z.-]*)(?:(?P<sign>==|>=|@)(?P<version>[0-9A-Za-z.]+))?"
#: A build, b11312: llama.cpp numbers its releases by how many commits there are before them.
_BUILD = r"b[0-9]+"
#: The digits of a commit, at least, that name it.
_DIGITS = 7


def turn_layer(configuration: Configuration, layer: LayerStatement, served: int | None = None) -> Rotation | Refusal:
    """Return the rotation of one layer type as the library that the file is made for computes it.

    That is transformers 5 for config.json, Meta's code for params.json, llama.cpp for GGUF.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 4, "rope_theta": 1e4}, "config.json")
    >>> turn_layer(stated, stated.layers[0]).frequencies.tolist()
    [1.0, 0.01]
    """
    if configuration.format == "gguf":
        from pe_spectra.models.stacks.llama_cpp import turn_gguf_layer

        return turn_gguf_layer(configuration, layer, served)
    return ANSWERING[configuration.format]().read(configuration, layer, served)


def list_releases() -> tuple[Stack, ...]:
    """List every release that is known, the newest of each stack first.

    >>> [one.version for one in list_releases() if one.name == "vllm"]
    ['0.33.0', '0.19.1']
    """
    return tuple(load_name(f"models.stacks.{module}", one) for module, known in RELEASES.values() for one in known)


def find_stack(text: str, label: str) -> Stack:
    """Find the stack that a name means: its newest release, or with ==, @ or >= one of a version, build or commit.

    Parameters
    ----------
    text : "vllm", "vllm==0.19.1", "transformers>=5", "llama.cpp@b11312". label : the option that has it, for
        messages.

    Raises
    ------
    InputError : a stack, or a version of it, that is not known.

    >>> [find_stack(text, "--stack").version for text in ("vllm", "vllm==0.33", "vllm==0.19.1")]
    ['0.33.0', '0.33.0', '0.19.1']
    >>> find_stack("transformers>=5", "--stack").name, find_stack("transformers", "--stack").version
    ('transformers-5', '5.24.0')
    """
    if text in STACKS:
        return STACKS[text]
    asked = re.fullmatch(_WITH_VERSION, text)
    known = [one for one in list_releases() if asked and asked["name"] in (one.package, one.name) and one.version]
    for one in known:  # the newest first
        if asked and (asked["sign"] is None or _is_of(one, asked["sign"], asked["version"])):
            return one
    if known:
        raise InputError(f"{label} is not known", text, _accept([_name_release(one) for one in known]))
    return STACKS[Choice(members=tuple(STACKS)).parse(text, label)]


def _is_of(stack: Stack, sign: str, version: str) -> bool:
    """Tell whether a release has a version, one from it on (>=), or with @ a commit that begins so."""
    known = stack.build if re.fullmatch(_BUILD, version) else stack.version
    if sign == ">=":
        return bool(re.match("b?[0-9]", version)) and _order(known) >= _order(version)
    if re.fullmatch(r"[0-9.]+", version) and _order(known) == _order(version):
        return True
    return known == version or (sign == "@" and len(version) >= _DIGITS and stack.commit.startswith(version))


def _order(version: str) -> tuple[int, ...]:
    """The numbers of a version, without zeros at the end: 0.31 and 0.31.0 are one (PEP 440)."""
    return tuple(int(part) for part in re.findall(r"[0-9]+", re.sub(r"(\.0+)+$", "", version)))


def _name_release(stack: Stack) -> str:
    """Name a release as `--stack` takes it, and the build that it packs."""
    return f"{stack.release_name} (build {stack.build})" if stack.build else stack.release_name


def _accept(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} accepted"


__all__ = [
    "ANSWERING",
    "LOADERS",
    "RELEASES",
    "STACKS",
    "Refusal",
    "Stack",
    "find_stack",
    "list_releases",
    "turn_layer",
]
