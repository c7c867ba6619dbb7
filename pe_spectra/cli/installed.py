"""Whether a package that an answer speaks of is installed here in another release; nothing of it is imported."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from pe_spectra.wording import join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pe_spectra.models.stacks import Stack

#: A version as packages have one; anything else is not repeated.
_VERSION = r"[0-9][0-9A-Za-z.!-]{0,40}"

#: In the name of a package each of these signs may stand for the others.
_ONE_SIGN = str.maketrans("_.", "--")


def note_installed(stacks: Sequence[Stack]) -> tuple[str, ...]:
    """Say of each package that is installed in a release of which the answer has no reading.

    Parameters
    ----------
    stacks : the implementations, in the releases whose readings the answer has.

    >>> from pe_spectra.models.stacks import STACKS
    >>> note_installed([STACKS["yarn-paper"]])
    ()
    """
    notes = []
    for package in dict.fromkeys(stack.package for stack in stacks if stack.package):
        found, read = find_version(package), [stack.version for stack in stacks if stack.package == package]
        if found is not None and found not in read:
            notes.append(f"{package} {found} is installed here; these are the readings of {join(read)}")
    return tuple(notes)


def find_version(package: str) -> str | None:
    """Return the version of a package that is installed beside this one, without what follows a +; None for no such.

    >>> find_version("a-package-that-nobody-has") is None
    True
    """
    folders = [folder or os.curdir for folder in sys.path]
    try:
        names = [name for folder in folders if os.path.isdir(folder) for name in os.listdir(folder)]
        # without a name that begins so the metadata, whose import takes long, have nothing to tell
        if not any(name[: len(package)].translate(_ONE_SIGN).lower() == package for name in names):
            return None
        from importlib.metadata import version

        found = re.match(_VERSION, version(package) or "")
    except (ImportError, KeyError, OSError, ValueError):
        return None
    return found[0] if found is not None else None
