"""The command about context lengths: what each way to lengthen one would do, and which base suits one."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pe_spectra.cli.arguments import PaperCommand
from pe_spectra.cli.commands import register
from pe_spectra.cli.run import Outcome, Progress, Run
from pe_spectra.errors import QUOTED_CHARACTERS, InputError
from pe_spectra.numbers import IntegerRange, RealRange

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pe_spectra.models.lengths.ways import ContextReport

#: Widest head; as for the encoding `rope`.
_WIDTHS = IntegerRange(minimum=4, maximum=1 << 14)
_BASES = RealRange(minimum=2, maximum=1e18)
#: The shortest is longer than the wavelength of the fastest pair, 2 pi.
_LENGTHS = IntegerRange(minimum=8, maximum=1 << 30)


def add_commands(app: typer.Typer) -> None:
    """Register the command."""
    register(
        app,
        "context",
        draws=True,
        examples=(
            "pe-spectra context --d 128 --base 500000 --trained 8192 --target 131072",
            "pe-spectra context --d 128 --target 131072",
        ),
    )(context)
    app.registered_commands[-1].cls = _ContextCommand


class _ContextCommand(PaperCommand):
    """The command without arguments: says where its numbers stand to whoever names a model's file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a file in words of its own."""
        try:
            return super().parse_args(ctx, args)
        except InputError as error:
            if error.what != "unexpected argument" or not _names_file(error.given):
                raise
            name = shlex.quote(error.given)
            is_plain = len(name) <= QUOTED_CHARACTERS and name.isprintable()
            prints = f"; pe-spectra audit {name} prints them" if is_plain else "; pe-spectra audit prints them"
            accepted = f"context takes no file: give --d, --base and --trained{prints}"
            raise InputError(error.what, error.given, accepted) from error


def _names_file(text: str) -> bool:
    return text.endswith((".json", ".gguf")) or "/" in text or os.path.exists(text)


def context(
    run: Run,
    d: Annotated[
        str,
        typer.Option("--d", metavar="N", show_default=False, help="rotary width of a head, even, 4 to 16384  [128]"),
    ] = "128",
    base: Annotated[
        str | None, typer.Option("--base", metavar="X", help="base that was trained with (rope_theta), 2 to 1e18")
    ] = None,
    trained: Annotated[
        str | None, typer.Option("--trained", metavar="N", help="training context length, 8 to 1073741824")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="N", help="inference context length, above --trained")
    ] = None,
) -> Outcome:
    """What each way to lengthen a context would do to a rotary model, side by side.

    Linear, NTK, dynamic, YaRN, Llama 3 and larger bases: pairs that would have out-of-range phases (not
    covered in training), what is kept, and the bases that the literature proposes. Without --base and --trained: which
    base for this context.
    """
    from pe_spectra.answers.lengthenings import answer_lengthenings

    width = _read_width(d)
    wanted = _LENGTHS.parse(_need(target, "--target", "the number of positions that is wanted"), "--target")
    model = _read_model(base, trained, wanted)
    if run.figure is not None and model is None:
        raise InputError("--figure has nothing to draw without a model", str(run.figure), "--base and --trained")
    with Progress("looking for negative sums", quiet=run.quiet):
        report = _report(width, model, wanted)
        every_pair = run.format == "csv" and run.screen.full
        return run.finish(answer_lengthenings(report, every_pair=every_pair), lambda: _draw(report))


def _report(d: int, model: tuple[float, int] | None, target: int) -> ContextReport:
    from pe_spectra.models.lengths.methods import compare_methods, propose_bases

    return propose_bases(d, target) if model is None else compare_methods(d, *model, target)


def _read_width(text: str) -> int:
    d = _WIDTHS.parse(text, "--d")
    if d % 2:
        raise InputError("--d is odd", text, "an even width is accepted: pairs of channels are turned")
    return d


def _read_model(base: str | None, trained: str | None, target: int) -> tuple[float, int] | None:
    """Read the model to be lengthened; None where only the length is asked about."""
    if base is None and trained is None:
        return None
    both = "both of them for a model to be lengthened, none for the bases that suit --target"
    rho = _BASES.parse(_need(base, "--base", both), "--base")
    length = _LENGTHS.parse(_need(trained, "--trained", both), "--trained")
    if target <= length:
        accepted = "a longer context than the trained one is accepted"
        raise InputError("--target is not above --trained", f"{target} and {length}", accepted)
    return rho, length


def _need(text: str | None, name: str, accepted: str) -> str:
    if text is None:
        raise InputError(f"{name} is missing", accepted=accepted)
    return text


def _draw(report: ContextReport) -> Figure:
    from pe_spectra.plots.ladder import compose_context

    return compose_context(report)
