"""Reading a file that a person names: opened once, regular, and no more of it than a limit.

Every module of this folder raises :class:`RefusedError` with a reason; one boundary, :func:`naming`,
adds the file's name and turns everything else that is raised into such an error.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pe_spectra.errors import FileError, PeSpectraError
from pe_spectra.records import dataclass

#: First bytes of a GGUF file.
GGUF_MAGIC = b"GGUF"
#: Names of pickles, which can run code when they are read, and are refused.
PICKLE_SUFFIXES = (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt")
_PLAIN_NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,60}"
_CHUNK = 1 << 20
_REASONS = {
    errno.ENOENT: "no such file or folder",
    errno.ENOTDIR: "a part of this path is not a folder",
    errno.EISDIR: "is a folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ELOOP: "is a loop of symbolic links",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the limit on the size of a file is reached",
    errno.EROFS: "the file system is read-only",
    errno.EIO: "input or output failed",
    errno.EINTR: "was interrupted by a signal",
}


class RefusedError(Exception):
    """A reason why a file cannot be used; whoever opened it adds its name.

    It never leaves `pe_spectra.files`: :func:`naming` turns it into a :class:`FileError`.
    """

    #: What it is turned into.
    becomes: type[FileError] = FileError


class NoTableError(FileError):
    """A checkpoint without a table of positions; its configuration may say what it has instead."""


class NoTableRefusedError(RefusedError):
    """A reason why there is no table of positions."""

    becomes = NoTableError


@dataclass(frozen=True, kw_only=True)
class RegularFile:
    """A regular file that was opened once; everything is read through its descriptor."""

    path: Path
    label: str
    descriptor: int
    #: Bytes when it was opened.
    size: int

    def read_at(self, offset: int, count: int) -> bytes:
        """Read `count` bytes from `offset` on; fewer only where the file ends."""
        chunks: list[bytes] = []
        while count and (chunk := os.pread(self.descriptor, min(count, _CHUNK), offset)):
            chunks.append(chunk)
            offset, count = offset + len(chunk), count - len(chunk)
        return b"".join(chunks)

    def open_at(self, offset: int) -> BinaryIO:
        """Give what lies from `offset` on as a stream; the descriptor stays open behind it."""
        stream = os.fdopen(self.descriptor, "rb", closefd=False)
        stream.seek(offset)
        return stream


@contextmanager
def naming(path: object, label: str, otherwise: str = "is no possible name of a file") -> Iterator[None]:
    """Make whatever goes wrong inside an error of our own that names the file.

    What a library raises about a damaged file is of any class, and its text is not for the person
    who named the file: NumPy, for one, would advise to allow pickles.

    Parameters
    ----------
    path : the file, as it was given.
    label : the option that named it, for messages; may be empty.
    otherwise : what is said unless the reason is ours, the system's, or a lack of memory; Python's own
        where it is asked for a name that the system cannot spell.

    Raises
    ------
    FileError : something went wrong.

    >>> with naming("a.bin", "--output"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.FileError: a.bin: no space left on the device (--output)
    """
    try:
        yield
    except PeSpectraError:
        raise
    except Exception as error:
        cls = error.becomes if isinstance(error, RefusedError) else FileError
        raise cls(path, with_label(_describe_any(error) or otherwise, label)) from error


@contextmanager
def open_regular(path: Path, *, label: str) -> Iterator[RegularFile]:
    """Open a regular file for reading; whatever goes wrong inside is an error of our own that names it.

    Parameters
    ----------
    path : the file, as it was given; a symbolic link to a regular file is followed.
    label : the option that named the file, for messages; may be empty.

    Yields
    ------
    The open file.

    Raises
    ------
    FileError : the file is missing, unreadable, not regular, or was refused while it was read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "a.bin").write_bytes(b"0123456789")
    ...     with open_regular(Path(folder) / "a.bin", label="") as file:
    ...         file.read_at(4, 2)
    b'45'
    """
    with naming(path, label):
        # O_NONBLOCK: opening a named pipe that nobody writes to would wait for ever
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        with naming(path, label, "is damaged, it cannot be read"):
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise RefusedError(f"is {describe_kind(status.st_mode)}; a regular file is accepted")
            yield RegularFile(path=path, label=label, descriptor=descriptor, size=status.st_size)
    finally:
        os.close(descriptor)


def read_bytes(path: Path, *, limit: int, label: str) -> bytes:
    """Read a whole regular file of at most `limit` bytes.

    What is limited is the bytes read, so a file that grows meanwhile, or that reports no size,
    is bounded too. A symbolic link to a regular file is followed.

    Parameters
    ----------
    path : the file, as it was given.
    limit : most bytes to accept, 0 or more.
    label : the option that named the file, for messages; may be empty.

    Returns
    -------
    The bytes of the file.

    Raises
    ------
    FileError : the file is missing, unreadable, longer than `limit`, or not a regular file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "a.bin").write_bytes(b"0123456789")
    ...     read_bytes(Path(folder) / "a.bin", limit=10, label="")
    b'0123456789'
    """
    with open_regular(path, label=label) as file:
        if len(data := file.read_at(0, limit + 1)) > limit:
            raise RefusedError(f"holds more than {limit} bytes, the most that is accepted")
    return data


def list_folder(folder: Path, label: str) -> list[str]:
    """List the names in a folder, in their order.

    Raises
    ------
    FileError : the folder is missing, not readable, or no folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = [(Path(folder) / name).write_bytes(b"") for name in ("b", "a")]
    ...     list_folder(Path(folder), label="")
    ['a', 'b']
    """
    with naming(folder, label):
        return sorted(os.listdir(folder))


def _describe_any(error: Exception) -> str:
    if isinstance(error, RefusedError):
        return str(error)
    if isinstance(error, OSError):
        return describe_failure(error)
    return "needs more memory than there is" if isinstance(error, MemoryError) else ""


def describe_failure(error: OSError) -> str:
    """Say in a few words why the system refused.

    >>> describe_failure(OSError(28, "No space left on device"))
    'no space left on the device'
    """
    return _REASONS.get(error.errno or 0, f"the system refused it (error number {error.errno})")


def describe_kind(mode: int) -> str:
    """Name the kind of file that `mode` (the `st_mode` of a status) stands for.

    >>> describe_kind(0o040755)
    'a folder'
    """
    kinds = {
        stat.S_IFREG: "a regular file",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a block device",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")


def with_label(reason: str, label: str) -> str:
    """Append the option that named a file to the reason why the file is refused.

    >>> with_label("is a folder", "--figure")
    'is a folder (--figure)'
    """
    return f"{reason} ({label})" if label else reason


def explain_pickle(path: Path) -> str:
    """Say why a pickle is refused, and the one line that converts it.

    >>> explain_pickle(Path("a/model.bin"))[:74]
    'is a pickle, which can run code when it is read; where you trust it, conve'
    """
    is_plain = re.fullmatch(_PLAIN_NAME, path.name) is not None and path.suffix != ".json"
    name = path.name if is_plain else "FILE.pt"
    line = (
        "import torch, safetensors.torch as s; "
        f"t = torch.load('{name}', map_location='cpu', weights_only=True); "
        "s.save_file({k: v.clone().contiguous() for k, v in t.items() if torch.is_tensor(v)}, 'model.safetensors')"
    )
    return f'is a pickle, which can run code when it is read; where you trust it, convert it: python -c "{line}"'
