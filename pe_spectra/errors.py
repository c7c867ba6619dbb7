"""What can go wrong, for a reason that a user can do something about.

Every error of the package derives from :class:`PeSpectraError` and reads as one line:
what is wrong (the value that was given); what is accepted.
"""

from __future__ import annotations

#: Values from outside are quoted in messages up to this many characters.
QUOTED_CHARACTERS = 60


class PeSpectraError(Exception):
    """Root of every error that the package raises on purpose."""


class InputError(PeSpectraError):
    """A value that cannot be used.

    Parameters
    ----------
    what : what is wrong, naming the option or parameter.
    given : the value as it was given; shortened and escaped here.
    accepted : what would be accepted.
    """

    def __init__(self, what: str, given: str = "", accepted: str = "") -> None:
        self.what, self.given, self.accepted = what, given, accepted
        named = shorten(what, QUOTED_CHARACTERS * 5)  # a path or a key may be in it
        text = f"{named} ({shorten(given)})" if given else named
        super().__init__(f"{text}; {accepted}" if accepted else text)


class FileError(PeSpectraError):
    """A file that cannot be read, or a place that cannot be written."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{shorten(str(path), 200)}: {reason}")


class UndefinedError(PeSpectraError):
    """The quantity asked for does not exist, for instance a function that its weights annihilate."""


def shorten(text: str, limit: int = QUOTED_CHARACTERS) -> str:
    """Cut `text` to `limit` characters, saying how many there were.

    >>> shorten("9" * 5000, 5)
    '99999... (5000 characters)'
    """
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"
