"""Findings about files, each with its place there: what code hosts show at a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.findings import Finding, Kind
from pe_spectra.records import dataclass

if TYPE_CHECKING:  # most answers are about no file, and load nothing that reads one
    from pe_spectra.files.json_keys import Region

#: What code hosts are told of a file that has no audit, and so no other finding.
UNUSABLE = Kind(
    code="unusable-file",
    levels=("error",),
    phrase="the file cannot be used",
    reasoning="A file that cannot be read as the configuration of a model has no audit: nothing is known of what it "
    "would give, and the check that was asked for is not decided. The program ends with exit code 2.",
    formula="none: the message says what is wrong with the file",
)


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """A finding, and where it stands; `path` is None for standard input, `region` where a file is not of text."""

    finding: Finding
    kind: Kind
    path: Path | None
    region: Region | None


@dataclass(frozen=True, kw_only=True)
class Annotations:
    """Every finding about some files; before all others, of kind `UNUSABLE`, why some could not be used."""

    found: tuple[Annotation, ...] = ()
