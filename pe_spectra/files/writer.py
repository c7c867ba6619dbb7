"""The one writer: every file is put in place whole, and of several files all or none.

The bytes go to a temporary file beside the target, are synced, and are renamed over it. On Linux no
temporary has a name until all are complete, so that a killed process hardly ever leaves one behind.
Devices cannot be renamed over: they are written plainly, before anything else is put in place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType

from pe_spectra.errors import FileError
from pe_spectra.files.places import Place, check_writable, find_status
from pe_spectra.files.reading import describe_failure

_CHUNK = 1 << 20
#: The flag for a temporary file without a name; 0 where the system has none.
_UNNAMED: int = getattr(os, "O_TMPFILE", 0)


def write_files(
    contents: Mapping[Path, bytes],
    *,
    create_parents: bool = False,
    before_renaming: Callable[[], None] | None = None,
) -> None:
    """Put files in place: each whole, and all or none, whatever fails or interrupts.

    A file that was there keeps its permissions, a new one gets those of a plain write. A symbolic
    link is kept and its target is replaced, or created. Ctrl-C is answered between the steps until
    the first file is renamed; from there on it comes too late and the files are put in place.

    Parameters
    ----------
    contents : the bytes of each file, by its path as it was given.
    create_parents : make missing folders.
    before_renaming : what must succeed too, for instance printing the answer: it is called when all
        bytes are on the disk and no file has changed yet, and what it raises takes everything back.

    Raises
    ------
    FileError : a path cannot be written; it is named as it was given, and no file has changed.
    InputError : two of the paths are one file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_files({Path(folder) / "a.csv": b"1"})
    ...     (Path(folder) / "a.csv").read_bytes()
    b'1'
    """
    places = check_writable(tuple(contents), label="", create_parents=create_parents)
    for place in places:
        if place.is_device:
            with _named(place):
                _write_device(place, contents[place.given])
    files = [place for place in places if not place.is_device]
    with HeldInterrupts() as interrupts, _Transaction() as transaction:
        temporaries = []
        for place in files:
            with _named(place):
                if create_parents:
                    _make_folders(place.target.parent, transaction)
                data = contents[place.given]
                temporaries.append(_make_temporary(place, data, transaction, interrupts))
        for place, temporary in zip(files, temporaries, strict=True):
            with _named(place):
                _give_name(place, contents[place.given], temporary, interrupts)
        backups = [_back_up(place, transaction) for place in files[:-1]]
        interrupts.raise_pending()
        if before_renaming is not None:
            with interrupts.released():
                before_renaming()
        for place, temporary, backup in zip(files, temporaries, [*backups, None], strict=False):
            with _named(place):
                _put_in_place(place, temporary.name, backup, transaction)
        transaction.is_complete = True
    _sync_folders({place.target.parent for place in files})


class _Transaction(contextlib.ExitStack):
    """Takes back, last step first, what was done on the disk, unless everything was done."""

    is_complete = False

    def remove_later(self, path: Path) -> None:
        """Remove a temporary file at the end, whatever happens."""
        self.callback(_try, os.unlink, path)

    def undo_later(self, step: Callable[..., object], *arguments: Path) -> None:
        """Take this step at the end if the rest has failed."""
        self.callback(self._undo, step, *arguments)

    def _undo(self, step: Callable[..., object], *arguments: Path) -> None:
        if not self.is_complete:
            _try(step, *arguments)


def _try(step: Callable[..., object], *arguments: Path) -> None:
    with contextlib.suppress(OSError):
        step(*arguments)


@contextlib.contextmanager
def _named(place: Place) -> Iterator[None]:
    """Turn what the system says into our error about the path as it was given."""
    try:
        yield
    except OSError as error:
        raise FileError(place.given, describe_failure(error)) from error


def _make_folders(folder: Path, transaction: _Transaction) -> None:
    missing = []
    while find_status(folder) is None:
        missing.append(folder)
        folder = folder.parent
    for folder in reversed(missing):
        # another process may make the same folder at the same moment
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
            transaction.undo_later(os.rmdir, folder)


def _invent_name(place: Place, transaction: _Transaction) -> Path:
    """Give a new name beside the target, to be removed at the end even if it is never used."""
    name = place.target.parent / f".pe-spectra-{os.urandom(8).hex()}.tmp"
    transaction.remove_later(name)
    return name


class _Temporary:
    """A complete file beside the target; as long as it has no name, it is a descriptor."""

    def __init__(self, name: Path) -> None:
        self.name = name
        self.descriptor: int | None = None

    def close(self) -> None:
        """Close what is open; only once, whatever comes of it."""
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _make_temporary(place: Place, data: bytes, transaction: _Transaction, interrupts: HeldInterrupts) -> _Temporary:
    """Write the bytes, synced and with their permissions; without a name if the system can do so."""
    temporary = _Temporary(_invent_name(place, transaction))
    transaction.callback(_try, temporary.close)
    try:
        temporary.descriptor = os.open(place.target.parent, os.O_WRONLY | _UNNAMED, 0o600)
    except OSError:
        _make_named(place, data, temporary, interrupts)
    else:
        _fill(temporary.descriptor, place, data, interrupts)
    return temporary


def _make_named(place: Place, data: bytes, temporary: _Temporary, interrupts: HeldInterrupts) -> None:
    """Write the bytes under the temporary name."""
    temporary.descriptor = os.open(temporary.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    _fill(temporary.descriptor, place, data, interrupts)
    temporary.close()


def _give_name(place: Place, data: bytes, temporary: _Temporary, interrupts: HeldInterrupts) -> None:
    """Name a file that has no name yet, or write it again where that is impossible (no /proc, no hard links)."""
    if temporary.descriptor is None:
        return
    try:
        # src_dir_fd makes Python use linkat, which alone follows the link in /proc; the path is
        # absolute, so that any descriptor serves
        source = f"/proc/self/fd/{temporary.descriptor}"
        os.link(source, temporary.name, src_dir_fd=temporary.descriptor, follow_symlinks=True)
        is_named = True
    except OSError:
        is_named = False
    temporary.close()
    if not is_named:
        _make_named(place, data, temporary, interrupts)


def _fill(descriptor: int, place: Place, data: bytes, interrupts: HeldInterrupts) -> None:
    _write_all(descriptor, data, interrupts)
    if place.old is None:
        mode = 0o666 & ~_read_umask()
    else:
        mode = 0o777 & place.old.st_mode
        with contextlib.suppress(OSError):  # only root may give a file away
            os.fchown(descriptor, place.old.st_uid, place.old.st_gid)
    os.fchmod(descriptor, mode)
    os.fsync(descriptor)


def _write_all(descriptor: int, data: bytes, interrupts: HeldInterrupts) -> None:
    rest = memoryview(data)
    while rest:
        interrupts.raise_pending()
        written = os.write(descriptor, rest[:_CHUNK])
        if not written:  # a device may take nothing and report nothing
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def _read_umask() -> int:
    """Give the umask; reading it by setting it would change what other threads create meanwhile."""
    try:
        with open("/proc/self/status", "rb") as lines:
            for line in lines:
                if line.startswith(b"Umask:"):
                    return int(line.split()[1], 8)
    except OSError:
        pass  # no /proc
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _write_device(place: Place, data: bytes) -> None:
    # O_NONBLOCK: opening a line that nobody is on would wait for ever
    descriptor = os.open(place.target, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        os.set_blocking(descriptor, True)
        _write_all(descriptor, data, HeldInterrupts())
    finally:
        os.close(descriptor)


def _back_up(place: Place, transaction: _Transaction) -> Path | None:
    """Keep the old file under a second name; None where there is none or the system cannot."""
    if place.old is None:
        return None
    backup = _invent_name(place, transaction)
    try:
        os.link(place.target, backup)
    except OSError:
        return None
    return backup


def _put_in_place(place: Place, temporary: Path, backup: Path | None, transaction: _Transaction) -> None:
    os.replace(temporary, place.target)
    if backup is not None:
        transaction.undo_later(os.replace, backup, place.target)
    elif place.old is None:
        transaction.undo_later(os.unlink, place.target)


def _sync_folders(folders: set[Path]) -> None:
    """Make the new names outlast a power cut; without it the files are in place all the same."""
    for folder in folders:
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


class HeldInterrupts:
    """Holds Ctrl-C back, so that neither a first nor a second one breaks the clean-up.

    A mask would not do: where numerical libraries run threads, the signal reaches one of those and
    Python's handler runs all the same.
    """

    def __init__(self) -> None:
        self._arrived = False
        self._previous: Callable[[int, FrameType | None], object] | None = None

    def __enter__(self) -> HeldInterrupts:
        # outside the main thread handlers cannot be set, and Ctrl-C raises nothing
        if threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            if callable(previous):
                self._previous = previous
                signal.signal(signal.SIGINT, self._record)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _record(self, _number: int, _frame: FrameType | None) -> None:
        self._arrived = True

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """Answer Ctrl-C at once for a while: what is done meanwhile may wait for somebody."""
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        try:
            yield
        finally:
            if self._previous is not None:
                signal.signal(signal.SIGINT, self._record)

    def raise_pending(self) -> None:
        """Answer a Ctrl-C that has arrived, the way it would have been answered outside."""
        if self._arrived and self._previous is not None:
            self._arrived = False
            self._previous(signal.SIGINT, None)
