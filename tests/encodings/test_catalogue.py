"""The catalogue by name: complete, reachable from the package, and each module loaded when it is first named."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import pe_spectra
from pe_spectra import encodings
from pe_spectra.encodings import ENCODINGS, VARIANTS, find_encoding
from pe_spectra.encodings.protocol import Encoding
from pe_spectra.errors import InputError
from pe_spectra.names import ENCODING_CLASSES


def list_defined(parent):
    """All classes below `parent` that a module of the package defines."""
    below = {inner for child in parent.__subclasses__() for inner in (child, *list_defined(child))}
    return {cls for cls in below if cls.__module__.startswith("pe_spectra.")}


@pytest.mark.parametrize("name", ENCODING_CLASSES)
def test_every_encoding_is_found_by_its_name_and_in_the_package(name):
    module, cls = ENCODING_CLASSES[name]
    found = find_encoding(name)
    assert (found.name, found.__name__, found.__module__) == (name, cls, f"pe_spectra.encodings.{module}")
    assert getattr(pe_spectra, cls) is found
    assert cls in dir(pe_spectra)
    assert cls in pe_spectra.__all__


def test_every_encoding_has_a_name():
    for found in pkgutil.iter_modules(encodings.__path__):
        importlib.import_module(f"pe_spectra.encodings.{found.name}")
    named = {cls for cls in list_defined(Encoding) if "name" in vars(cls)}
    assert {cls.name for cls in named} - set(ENCODING_CLASSES) == {"sampled"}  # made from others, by --positions
    assert set(ENCODINGS) < named


def test_the_catalogue_is_a_sequence_in_the_order_of_names():
    assert [cls.name for cls in ENCODINGS] == list(ENCODING_CLASSES)
    assert ENCODINGS[0] is find_encoding("sinusoidal")
    assert ENCODINGS[-2:] == (find_encoding("tupe"), find_encoding("swin"))
    assert find_encoding("rope") in ENCODINGS
    assert repr(ENCODINGS).startswith("(sinusoidal, tensor2tensor, ")
    assert {VARIANTS[key] for key in VARIANTS} <= set(ENCODING_CLASSES)


def test_a_name_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"SPEC is not known \(ropes\); did you mean rope\? accepted: sinusoidal, "):
        find_encoding("ropes", "SPEC")


@pytest.mark.parametrize("asked", ["pe_spectra.Alibi()", "pe_spectra.find_encoding('alibi')()"])
def test_what_is_named_is_loaded_alone(asked):
    probe = f"import sys, pe_spectra; {asked}; print(*sorted(n for n in sys.modules if n.startswith('pe_spectra.enc')))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in done.stdout.split()}
    assert "biases" in loaded
    assert not loaded & {"rotary", "rope_scaling", "calendar", "temporal", "structural", "combined", "features"}


@pytest.mark.parametrize("cls", ENCODINGS, ids=lambda cls: cls.name)
def test_every_default_is_accepted_as_it_is(cls):
    """Only what differs from its default is checked when an encoding is made."""
    for parameter in cls.accepts:
        found = parameter.check(parameter.default, parameter.name)
        assert (type(found), found) == (type(parameter.default), parameter.default)
