"""What can go wrong, for a reason that a user can do something about.

Every error of the package derives from :class:`PeSpectraError` and reads as one line:
what is wrong (the value that was given); what is accepted.
"""

from __future__ import annotations

#: Values from outside are quoted in messages up to this many characters.
QUOTED_CHARACTERS = 60


class PeSpectraError(Exception):
    """Root of every error that the package raises on purpose.

    >>> from pe_spectra import Sinusoidal
    >>> try:
    ...     Sinusoidal(d=0)
    ... except PeSpectraError as error:
    ...     print(error)
    sinusoidal: d is out of range (0); an integer from 2 to 1048576 is accepted
    """


class InputError(PeSpectraError):
    """A value that cannot be used.

    Parameters
    ----------
    what : what is wrong, naming the option or parameter.
    given : the value as it was given; shortened and escaped here.
    accepted : what would be accepted.
    cause : the code of a finding that says so of a file.

    >>> from pe_spectra import Sinusoidal
    >>> Sinusoidal(d=8, rho=-1.0)
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: sinusoidal: rho is out of range (-1.0); a number from 1e-06 to 1e+300 is accepted
    """

    def __init__(self, what: str, given: str = "", accepted: str = "", cause: str = "refused") -> None:
        self.what, self.given, self.accepted, self.cause = what, given, accepted, cause
        named = shorten(what, QUOTED_CHARACTERS * 5)  # a path or a key may be in it
        text = f"{named} ({shorten(given)})" if given else named
        super().__init__(f"{text}; {accepted}" if accepted else text)


class FileError(PeSpectraError):
    """A file that cannot be read, or a place that cannot be written.

    >>> from pe_spectra import read_encoding
    >>> read_encoding("missing.npy")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.FileError: missing.npy: no such file or folder (SPEC)
    """

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{shorten(str(path), 200)}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error pass from one process to another, as others do by their one argument."""
        return type(self), (self.path, self.reason)


class NoModelError(FileError):
    """A configuration that states no model: that of another program, by its keys.

    >>> error = NoModelError("web/config.json", "states no model")
    >>> isinstance(error, FileError), str(error)
    (True, 'web/config.json: states no model')
    """


class UnusableError(FileError):
    """A value in a file that its key cannot have, with the place of the key: those above it, joined by dots.

    >>> UnusableError("config.json", "head_dim cannot be used (0)", "text_config.head_dim").place
    'text_config.head_dim'
    """

    def __init__(self, path: object, reason: str, place: str) -> None:
        self.place = place
        super().__init__(path, reason)

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error pass from one process to another."""
        return type(self), (self.path, self.reason, self.place)


class UndefinedError(PeSpectraError):
    """The quantity asked for does not exist, for instance a function that its weights annihilate.

    >>> import numpy as np
    >>> from pe_spectra import GivenArray, Learned, compute_spectrum
    >>> compute_spectrum(Learned(values=GivenArray(np.zeros((4, 2)), origin="zeros.npy")))
    Traceback (most recent call last):
        ...
    pe_spectra.errors.UndefinedError: zeros.npy 4 x 2: all vectors are zero, so there are no weights to normalise
    """


def shorten(text: str, limit: int = QUOTED_CHARACTERS) -> str:
    """Cut `text` to `limit` characters, saying how many there were.

    >>> shorten("9" * 5000, 5)
    '99999... (5000 characters)'
    """
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"
