"""Files that hold several arrays by their names: the one that is wanted of them, or why none is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import replace

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import FileArray, Wanted, format_shape
from pe_spectra.files.known_tables import KNOWN_NAMES, find_known_name
from pe_spectra.files.reading import NoTableRefusedError, RefusedError

#: Ends of the names of tables with a row for each word, at either end of a model.
_VOCABULARIES = (
    "embed_tokens.weight",  # Llama, OPT, BART
    "wte.weight",  # GPT-2
    "word_embeddings.weight",  # BERT, BLOOM
    "token_embedding.weight",  # CLIP
    "tok_embeddings.weight",  # Llama of Meta
    "shared.weight",  # T5
    "embed_in.weight",  # GPT-NeoX
    "embed_out.weight",
    "lm_head.weight",
    "embeddings.weight",  # XLM, Mamba
)
#: Names in a list of candidates, and the characters of each: a name is there to be typed again.
_LISTED, _LISTED_CHARACTERS = 8, 200


class Tensors(ABC):
    """The named arrays of an open file; opening it reads what says which there are, and refuses what is damaged."""

    names: Collection[str]

    @abstractmethod
    def measure(self, wanted: Wanted) -> Mapping[str, tuple[int, ...]]:
        """Return the shapes of those that could be wanted, by name."""

    @abstractmethod
    def read(self, name: str, wanted: Wanted) -> FileArray:
        """Read one of them; no byte of the others."""

    def take(self, wanted: Wanted) -> FileArray:
        """Read the one that is wanted: the named one, the only one that fits, or the one with a known name.

        Raises
        ------
        RefusedError : there is no such tensor, none fits, or several do.
        """
        shapes = self.measure(wanted)
        name = _choose_tensor(shapes, wanted)
        found = self.read(name, wanted)
        if wanted.tensor is not None or len(shapes) == 1:
            return found
        note = f"tensor {_show(name, shapes)} was read, one of {len(shapes)}"
        return replace(found, notes=(note, *found.notes))


def _choose_tensor(shapes: Mapping[str, tuple[int, ...]], wanted: Wanted) -> str:
    if wanted.tensor is not None:
        if wanted.tensor not in shapes:
            raise RefusedError(
                f"has no tensor {shorten(wanted.tensor)}; it has {_list(_find_near(shapes, wanted), shapes)}"
            )
        return wanted.tensor
    fitting = [name for name, shape in shapes.items() if wanted.fits(shape)]
    known = _narrow(fitting)
    if len(known) == 1:
        return known[0]
    if len(fitting) == 1 and not (wanted.only_known or _is_vocabulary(fitting[0])):
        return fitting[0]
    # where there is no table of positions, a configuration may say what there is instead
    error = RefusedError if known else NoTableRefusedError
    raise error(_explain_no_choice(fitting, known, shapes, wanted))


def _is_vocabulary(tensor: str) -> bool:
    """Whether a tensor's name is that of a table of words."""
    ends = any(tensor == name or tensor.endswith((f".{name}", f"/{name}")) for name in _VOCABULARIES)
    return ends and "pos" not in tensor.lower()


def _find_near(shapes: Mapping[str, tuple[int, ...]], wanted: Wanted) -> list[str]:
    """Give the names with those first that have the wanted one in them, then those that fit."""
    text = wanted.tensor or ""
    return sorted(shapes, key=lambda name: (text not in name, not wanted.fits(shapes[name])))


def _narrow(names: list[str]) -> list[str]:
    """Keep what has a known name; tables of positions go before biases."""
    known = {name: KNOWN_NAMES[ending] for name in names if (ending := find_known_name(name))}
    return [name for name, kind in known.items() if kind == "positions"] or list(known)


def _explain_no_choice(
    fitting: list[str], known: list[str], shapes: Mapping[str, tuple[int, ...]], wanted: Wanted
) -> str:
    if not shapes:
        return "holds no tensor"
    if not fitting:
        axes = " or ".join(map(str, wanted.axes))
        return f"holds no tensor of {axes} axes; it has {_list(list(shapes), shapes)}"
    what = "several position tables" if known else "several tables, none of a known name"
    if not known and all(map(_is_vocabulary, fitting)):
        what = "tables of words and none of positions"
    elif len(fitting) == 1:
        what = "no table with the known name of one of positions"
    # what is a table of words by its name stands last
    names = _list(known or sorted(fitting, key=_is_vocabulary), shapes)
    return f"holds {what}: {names}; name one as FILE::TENSOR"


def _list(names: list[str], shapes: Mapping[str, tuple[int, ...]]) -> str:
    more = len(names) - _LISTED
    shown = ", ".join(_show(name, shapes) for name in names[:_LISTED]) or "none"
    return f"{shown} and {more} more" if more > 0 else shown


def _show(name: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
    return f"{shorten(name, _LISTED_CHARACTERS)} ({format_shape(shapes[name])})"
