"""What a stack is: an implementation that turns the statements of a file into a rotation, or refuses to.

A stack is described by data: which rope_type it knows, which keys it reads for each, and steps where
reading takes more than copying. One engine, `Stack.read`, goes through them and computes the rotation with
the catalogue's encoding `rope`, or with a formula of the stack's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, SupportsFloat

import numpy as np

from pe_spectra.encodings.rope_scaling import Scaled
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import FileError, InputError
from pe_spectra.exact import F64
from pe_spectra.models.rotation import NONE, Rotation
from pe_spectra.models.stacks.description import SCALING_NAMES, Description, choose_block, drop_blocks
from pe_spectra.models.stated.statement import Configuration, Kept, LayerStatement, RotaryBlock
from pe_spectra.records import NamedTuple, dataclass

#: Parameters that are a rotation's own and no options of its scaling.
_OWN = ("d", "base", "layout", "scaling")
#: For a stack that keeps cosines and sines in the type of the model.
_OF_MODEL = "of the model"
#: What a stack does with a description beside copying keys.
Step = Callable[[Description], object]


class Reading(NamedTuple):
    """How a stack reads one scaling."""

    needs: tuple[str, ...] = ()  #: parameters that the file must state
    takes: tuple[str, ...] = ()  #: those that are read where it does
    then: tuple[Step, ...] = ()  #: what is done besides, in order
    #: from description and rotary width, where frequencies are not the catalogue's
    formula: Callable[[Description, int], Scaled] | None = None
    notes: tuple[str, ...] = ()  #: what is always to be said
    by_allocation: bool = False  #: whether it goes by the length that is allocated, whatever is served of it

    def follow(self, found: Description) -> None:
        """Take what the file states for this scaling."""
        found.need_keys(*self.needs)
        found.copy_keys(*self.takes)
        for step in self.then:
            step(found)
        found.notes += self.notes


#: What every implementation needs for linear.
LINEAR = Reading(needs=("factor",))


class Refusal(NamedTuple):
    """An implementation does not take this file.

    >>> Refusal("int(head_dim x share) is no even width").cause
    'refused'
    """

    reason: str  #: one sentence, with the key and the value
    cause: str = "refused"  #: the code of the finding that says so


@dataclass(frozen=True, kw_only=True)
class Stack:
    """An implementation whose code was read.

    >>> from pe_spectra.models.stacks import STACKS
    >>> STACKS["yarn-paper"].title
    'YaRN as its paper has it'
    """

    name: str  #: as `--stack` takes it
    title: str  #: with the version that was read
    package: str = ""  #: what it is installed as, by pip; empty where it is not
    version: str = ""  #: of the release; empty where there are none
    commit: str = ""  #: of the source that a release packs, where it has no version of its own; else empty
    build: str = ""  #: the number that this source gives to its commit; empty where it numbers none
    date: str = ""  #: when it was measured or read
    how: str = "read"  #: "measured" or "read": how it is known
    source: str  #: the files that were read, with version or commit
    reader: str  #: what messages call it
    kinds: tuple[str, ...]  #: every rope_type that it knows
    readings: Mapping[str, Reading]  #: of each scaling, by the catalogue's name; one that is not there takes no key
    has_classes: bool = False  #: whether it is transformers, whose classes refuse some of these kinds
    reads_by: str = ""  #: the release of transformers whose classes read a file again; empty: as the newest reads it
    takes_any: bool = False  #: whether it computes with any number, those as well that the catalogue does not accept
    unknown: str = ""  #: what it says of another rope_type, {kind}, which it leaves unscaled; empty: it refuses
    #: what the release makes of the statements of the newest: its classes read the file again, or leave keys out
    restate: Callable[[Configuration, LayerStatement], tuple[Configuration, LayerStatement]] | None = None
    #: which keys of a layer it reads, and what is to be said about others
    choose: Callable[[LayerStatement], tuple[RotaryBlock, tuple[str, ...]]] = choose_block
    begin: tuple[Step, ...] = ()  #: what is done before a scaling is read
    finish: tuple[Step, ...] = ()  #: what is done afterwards
    formats: tuple[str, ...] = ("config.json", "params.json")  #: the files that it reads, beside those of GGUF
    dtype: str | None = _OF_MODEL  #: the type of its cosines and sines; None where that is open
    #: models that it reads dual_chunk_attention_config of, for an attention that it has not got
    chunked: frozenset[str] = frozenset()
    #: how its layers keep to the windows that those of the library of the file have
    slides: Callable[[Configuration], Kept] = lambda _: None
    #: reads a GGUF file; None where it cannot
    read_gguf: Callable[[Configuration, LayerStatement, int | None], Rotation] | None = None

    @property
    def release_name(self) -> str:
        """Its name with the version, as `--stack` takes one release."""
        return f"{self.package or self.name}=={self.version}" if self.version else self.name

    def read(self, configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation | Refusal:
        """Return what it turns by in the layers of one type, or why it refuses.

        Parameters
        ----------
        served : the length that is served; None for what the file states.
        """
        path, is_gguf = configuration.path, configuration.format == "gguf"
        turn = self.read_gguf if is_gguf else self._turn
        if turn is None:
            return Refusal(reason=f"{path}: a GGUF file is read by llama.cpp alone")
        if not is_gguf and configuration.format not in self.formats:
            return Refusal(reason=f"{path}: {self.reader} reads no file with the keys of {configuration.format}")
        if configuration.dual_chunk not in (None, NONE) and configuration.model in self.chunked:
            return Refusal(f"{path}: dual_chunk_attention_config is for an attention that {self.title} lacks")
        try:
            if self.restate is not None and not is_gguf:
                configuration, layer = self.restate(configuration, layer)
            if layer.unusable:
                found = self._compute(configuration, layer, served, layer.unusable)
                return found or Refusal(f"{path}: {layer.unusable}")
            if not layer.turns and not is_gguf:
                return make_rotation(layer, {"scaling": "none"}, (), 1, notes=("these layers are not turned",))
            read = turn(configuration, layer, served)
            said = () if layer.window is None else self._note_window(configuration, layer)
            return replace(read, notes=(*read.notes, *said)) if said else read
        except FileError as error:
            return Refusal(reason=str(error))
        except InputError as error:
            reason = _say_in_keys(layer, str(error))
            refused = Refusal(f"{path}: {reason}", error.cause)
            is_number = error.cause == "refused" and not is_gguf
            return (is_number and self._compute(configuration, layer, served, reason)) or refused

    def reads_format(self, kind: str) -> bool:
        """Tell whether it reads files with the keys of a format.

        >>> from pe_spectra.models.stacks import STACKS
        >>> [STACKS[name].reads_format("gguf") for name in ("vllm", "llama.cpp")]
        [False, True]
        """
        return self.read_gguf is not None if kind == "gguf" else kind in self.formats

    def state(self, configuration: Configuration) -> Configuration:
        """Return what a file states by the classes of its release, with what these refuse.

        >>> from pe_spectra.models.stacks import STACKS
        >>> from pe_spectra.models.stated.configuration import read_configuration
        >>> stated = read_configuration({"model_type": "granitemoehybrid"}, "config.json")
        >>> [found.data["key"] for found in STACKS["transformers-4"].state(stated).findings]
        ['layer_types']
        """
        again = configuration.read_by
        return again(self.reads_by) if again is not None and self.reads_by else configuration

    def see(self, configuration: Configuration, layer: LayerStatement) -> LayerStatement:
        """Return a layer with the window that it has in this stack, and with the one of which that is not known.

        Parameters
        ----------
        layer : as the stack's release states it (:meth:`restrict`).

        >>> from pe_spectra.models.stacks import STACKS
        >>> stated = Configuration(path="config.json", model="mistral", scheme="rotary")
        >>> seen = (STACKS[name].see(stated, LayerStatement(head_dim=64, window=4096)) for name in STACKS)
        >>> [(one.window, one.doubted) for one in seen][:4]
        [(4096, None), (4096, None), (4096, None), (None, None)]
        """
        window = layer.window
        if window is None or window >= (configuration.length or math.inf):
            return layer  # a window as long as the context is none
        kept = self.slides(configuration)
        if isinstance(kept, int):
            return replace(layer, window=window + kept) if kept else layer
        return replace(layer, window=None, sides=None, doubted=None if kept == "all" else window)

    def show_windows(self, configuration: Configuration) -> Configuration:
        """Return what a file states of the part that reads text, with the windows that it has in this stack.

        >>> from pe_spectra.models.stacks import STACKS
        >>> layers = (LayerStatement(head_dim=64, window=4096),)
        >>> stated = Configuration(path="config.json", model="mistral", scheme="rotary", layers=layers)
        >>> STACKS["llama.cpp"].show_windows(stated).layers[0].window is None
        True
        """
        layers = tuple(self.restrict(configuration, layer)[1] for layer in configuration.layers)
        return replace(configuration, layers=layers, parts=())

    def _note_window(self, configuration: Configuration, layer: LayerStatement) -> tuple[str, ...]:
        """Say of a window that the stack has another, or none, or that this is not known."""
        seen, window = self.see(configuration, layer), f"{layer.window:,}"
        if seen.window is not None:
            sees = f"these layers see {seen.window:,} positions at once, where the library of the file has {window}"
            return () if seen.window == layer.window else (sees,)
        if seen.doubted is None:
            return (f"these layers see all positions: their window of {window} is not kept to",)
        if self.slides(configuration) == "others":
            return (f"other layers have a window there than those that see {window} positions at once by the file",)
        return (f"whether these layers see {window} positions at once, as in transformers, was not measured",)

    def restrict(self, configuration: Configuration, layer: LayerStatement) -> tuple[Configuration, LayerStatement]:
        """Return what it reads of a file: the statements as its release makes them, with the keys of one block alone.

        Of what it refuses they are as they were.

        >>> from pe_spectra.models.stacks import STACKS
        >>> newer = RotaryBlock(where="rope_parameters", base=5e5)
        >>> stated = Configuration(path="config.json", scheme="rotary")
        >>> read = STACKS["transformers-4"].restrict(stated, LayerStatement(head_dim=64, newer=newer))[1]
        >>> read.newer, read.older
        (None, None)
        """
        if configuration.format == "gguf":
            return configuration, layer
        try:
            if self.restate is not None:
                configuration, layer = self.restate(configuration, layer)
        except (FileError, InputError):
            return configuration, layer
        block, _ = self._choose_block(layer)
        read = block if block.where or block.base is not None else None
        # a share that a class of transformers ignores is no matter of other readers
        layer = replace(self.see(configuration, layer), newer=None, older=read, share_ignored=False)
        return configuration, layer

    def _choose_block(self, layer: LayerStatement) -> tuple[RotaryBlock, tuple[str, ...]]:
        """The keys that it reads, and what is to be said about others."""
        return drop_blocks(layer) if self.has_classes and layer.blocks_ignored else self.choose(layer)

    def goes_by_allocation(self, layer: LayerStatement) -> bool:
        """Tell whether the frequencies of a layer go by the length that is allocated, whatever is served of it.

        >>> from pe_spectra.models.stacks import STACKS
        >>> layer = LayerStatement(head_dim=64, older=RotaryBlock(where="rope_scaling", kind="longrope"))
        >>> STACKS["vllm"].goes_by_allocation(layer), STACKS["keras-hub"].goes_by_allocation(layer)
        (True, False)
        """
        kind = self.choose(layer)[0].kind
        return layer.turns and self.readings.get(SCALING_NAMES.get(kind, kind), Reading()).by_allocation

    def choose_length(self, layer: LayerStatement, served: int | None, allocated: int | None) -> int | None:
        """Return the length that :meth:`read` goes by: that of the prompt, or of what is allocated for it.

        Parameters
        ----------
        served, allocated : positions; None where nobody says, which leaves what the file states.

        >>> from pe_spectra.models.stacks import STACKS
        >>> layer = LayerStatement(head_dim=64, older=RotaryBlock(where="rope_scaling", kind="longrope"))
        >>> [STACKS[name].choose_length(layer, 3900, 131072) for name in ("transformers-5", "vllm")]
        [3900, 131072]
        """
        return allocated if allocated is not None and self.goes_by_allocation(layer) else served

    def _compute(
        self, configuration: Configuration, layer: LayerStatement, served: int | None, fault: str
    ) -> Rotation | None:
        """What is computed with numbers that the catalogue does not accept; None where they are checked, or none is."""
        stated = layer.written if layer.unusable else layer
        if stated is None or stated.unusable or not self.takes_any:
            return None
        from pe_spectra.models.stacks.as_written import compute_with_fault

        return compute_with_fault(lambda: self._turn(configuration, stated, served, as_written=True), fault)

    def _turn(
        self, configuration: Configuration, layer: LayerStatement, served: int | None, *, as_written: bool = False
    ) -> Rotation:
        block, notes = self._choose_block(layer)
        found = Description(self.reader, configuration, layer, block, served=served, as_written=as_written)
        refused = layer.refused if self.has_classes and block.where not in ("", "rope_theta") else ()
        kinds = tuple(kind for kind in self.kinds if kind not in refused)
        known = block.kind in kinds or not self.unknown
        scaling = found.name_scaling(kinds) if known else "none"
        found.start(scaling)
        found.notes += notes if known else (*notes, self.unknown.format(kind=block.kind))
        reading = self.readings.get(scaling, Reading())
        for step in (*self.begin, reading.follow, *self.finish):
            step(found)
        rope: Rope | None = None
        computed: tuple[Iterable[SupportsFloat], SupportsFloat]
        # a step may have put another scaling in its place
        if reading.formula is not None and found.values["scaling"] == scaling:
            computed = reading.formula(found, _find_width(layer))
        else:
            try:
                rope, computed = _build_rope(**found.values)
            except (InputError, TypeError):
                if not as_written:
                    raise
                from pe_spectra.models.stacks.as_written import compute_formula

                computed = compute_formula(found.values)
        dtype = configuration.dtype if self.dtype == _OF_MODEL else self.dtype
        notes = tuple(found.notes)
        return make_rotation(
            layer,
            found.values,
            *computed,
            rope=rope,
            dtype=dtype,
            base_key=block.find_base_key(),
            query_scale=configuration.query_scale if self.has_classes else None,  # no other was measured
            dual_chunk=configuration.dual_chunk,
            notes=notes,
        )


@lru_cache(maxsize=64, typed=True)
def _build_rope(**values: Any) -> tuple[Rope, tuple[F64, float]]:
    """Build the catalogue's `rope`; kept, for several implementations read one file, and most read it alike."""
    rope = Rope(**values)
    return rope, (rope.round_frequencies(), rope.amplitude)


def make_rotation(
    layer: LayerStatement,
    parameters: Mapping[str, Any],
    frequencies: Iterable[SupportsFloat],
    attention_scaling: SupportsFloat,
    **others: Any,
) -> Rotation:
    """Make the rotation of one type of layer, described by parameters of the catalogue's `rope`.

    >>> make_rotation(LayerStatement(head_dim=4), {"base": 100.0, "scaling": "none"}, (1, 0.1), 1).rotary_dim
    4
    """
    is_array = isinstance(frequencies, np.ndarray)
    values = np.array(frequencies if is_array else [float(theta) for theta in frequencies], dtype=np.float64)
    return Rotation(
        name=layer.name,
        head_dim=layer.head_dim,
        rotary_dim=2 * len(values),
        base=parameters.get("base"),
        scaling=parameters["scaling"],
        options={key: one for key, one in parameters.items() if key not in _OWN and (key, one) != ("share", 1)},
        frequencies=layer.stride(values) if layer.strided else values,
        layout=parameters.get("layout", layer.layout),
        axes=layer.axes,
        coordinates=layer.coordinates,
        indexer_layout=layer.indexer_layout,
        attention_scaling=float(attention_scaling),
        offset=0,
        **others,
    )


def _find_width(layer: LayerStatement) -> int:
    """The rotary width D = int(head_dim share), which is even and above 0."""
    width = int(layer.head_dim * layer.share)
    if width % 2 or not width:
        raise InputError("int(head_dim share) is no even width", str(width), "2, 4, .. are accepted")
    return width


def _say_in_keys(layer: LayerStatement, text: str) -> str:
    """Write a sentence about the catalogue's `rope` with the keys of the file."""
    words = {
        "rope: int(d share)": f"int({layer.width_key} x {layer.share_key})",
        "int(head_dim share)": f"int({layer.width_key} x {layer.share_key})",
        "rope: share": layer.share_key,
        "rope: d ": f"{layer.width_key} ",
        "an even d ": "an even number ",
    }
    for word, key in words.items():
        text = text.replace(word, key)
    return text.removeprefix("rope: ")
