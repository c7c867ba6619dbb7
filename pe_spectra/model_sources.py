"""From what was typed to what a model's file states: the joint between the files of models and `models`."""

from __future__ import annotations

from pe_spectra.files.model_files import ModelContent, find_model_file, read_model_file
from pe_spectra.models.configuration import read_configuration
from pe_spectra.models.gguf_metadata import read_gguf_configuration
from pe_spectra.models.meta_release import read_params
from pe_spectra.models.statement import Configuration


def read_model(text: str, label: str = "") -> Configuration:
    """Read what the file of a model states about its positional encoding.

    Parameters
    ----------
    text : config.json of a Hugging Face model, params.json of Meta's releases, a .gguf file, a folder with
        one of them, org/model in the local cache, or - for standard input.
    label : the option that named it, for messages; may be empty.

    Raises
    ------
    FileError : there is no such file, it cannot be read, or a key in it cannot be used.
    InputError : `text` is empty.
    """
    return state_model(read_model_file(find_model_file(text, label)))


def state_model(content: ModelContent) -> Configuration:
    """Turn what was read from a model's file into statements.

    Raises
    ------
    FileError : a key of the wrong type or out of range, or no positional encoding that is known.
    """
    if content.kind == "gguf":
        return read_gguf_configuration(content.keys, content.factors, content.shown, content.shapes)
    if content.kind == "params.json":
        return read_params(content.keys, content.shown)
    return read_configuration(content.keys, content.shown)
