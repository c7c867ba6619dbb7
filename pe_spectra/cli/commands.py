"""Every command, once: what it is for, what it takes, where it draws, and examples. It loads nothing of Typer."""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra.records import NamedTuple

#: The options of a command that answers with data.
DATA = "format json output full"
#: Words that several commands share as their first.
FAMILIES: Mapping[str, str] = {"experiment": "Does an encoding matter to a network that learns?"}


class Declaration(NamedTuple):
    """What is declared of a command.

    Attributes
    ----------
    summary : what it is for, in a sentence, which its help begins with; the docstring of its function goes on.
    module : where that function stands, by its name. takes : its own options and arguments, in the order of its help.
    examples : command lines that `--help` shows; the tests run them.
    data : the options for data that it has. figure : where it draws unless told otherwise; None for
        one that never does.
    repeats : whether the same line gives the same answer again, as tests of all commands ask: not one that goes on
        with its file, or writes or reads one between two commands, nor one that measures time.
    """

    summary: str
    module: str
    examples: tuple[str, ...]
    takes: str = ""
    data: str = DATA
    figure: str | None = None
    repeats: bool = True


COMMANDS: Mapping[str, Declaration] = {
    "spectrum": Declaration(
        summary="Frequency weights of an encoding (Eq. 15, Fig. 1).",
        module="paper",
        takes="encoding d rho rows start step positions length:averaged grid bandwidth boundary",
        figure="figures/spectrum.png",
        examples=(
            "pe-spectra spectrum --d 256 --rho 10000",
            "pe-spectra spectrum --boundary reflect --bandwidth 1 4 16",
        ),
    ),
    "reconstruct": Declaration(
        summary="What a single position looks like through an encoding (Algorithm 1, Fig. 2).",
        module="paper",
        takes="encoding d rho rows start step length:averaged s grid bandwidth boundary window_free",
        figure="figures/reconstruction.png",
        examples=("pe-spectra reconstruct --s 5 40 75", "pe-spectra reconstruct --s 40 --bandwidth 0.25 1 4 16 64"),
    ),
    "faithfulness": Declaration(
        summary="Does every position have its own vector (Definition 1), and how far apart are they?",
        module="paper",
        takes="encoding d rho rows start step length:together positions limit within require",
        figure="",
        examples=("pe-spectra faithfulness --length 80", "pe-spectra faithfulness -e dft:d=256 --length 300"),
    ),
    "count-low-bin": Declaration(
        summary="How many frequencies lie below the first DFT frequency (Eq. 16).",
        module="paper",
        takes="encoding d:several rho:several length:edge",
        figure="",
        examples=("pe-spectra count-low-bin --d 256 512 --rho 10000", "pe-spectra count-low-bin --d 128 --length 4096"),
    ),
    "figures": Declaration(
        summary="Regenerate the paper's figures and ours, each with its numbers.",
        module="listings",
        takes="check output:folder grid:figures",
        data="full",
        examples=("pe-spectra figures --output figures", "pe-spectra figures --check"),
    ),
    "claims": Declaration(
        summary="Grade every statement of the paper that can be checked.",
        module="listings",
        takes="claim source check",
        examples=("pe-spectra claims fig2-width-30", "pe-spectra claims --source paper --check --json"),
    ),
    "schema": Declaration(
        summary="Print the JSON Schema of the answers.", module="listings", data="", examples=("pe-spectra schema",)
    ),
    "encodings": Declaration(
        summary="The catalogue: every encoding with its formula, parameters, source and pitfalls.",
        module="listings",
        takes="name",
        examples=("pe-spectra encodings", "pe-spectra encodings rope", "pe-spectra encodings --json"),
    ),
    "export": Declaration(
        summary="Export the table, frequencies, kernel, bias, or cosines and sines of an encoding.",
        module="exporting",
        takes="d rho length rows positions start step spec output:array what resize:export method align_corners",
        data="",
        examples=(
            "pe-spectra export sinusoidal:d=64 --output table.npy",
            "pe-spectra export sinusoidal:d=64 --length 64 --resize 128 --output longer.npy",
            "pe-spectra export alibi:heads=8 --length 16 --output -",
        ),
    ),
    "compare": Declaration(
        summary="Encodings side by side: every metric that needs no model, sorted by relative separation or another "
        "column.",
        module="inspecting",
        takes="d rho rows positions start step length:all specs all sort periods require:metric",
        figure="",
        examples=(
            "pe-spectra compare sinusoidal dft rope:d=256 --sort kernel_half_width",
            "pe-spectra compare calendar sinusoidal:d=64 --step 1h --periods day,week",
        ),
    ),
    "inspect": Declaration(
        summary="The portrait of one encoding or checkpoint table: what is in it, and its known problems.",
        module="inspecting",
        takes="d rho rows positions start step length spec:optional resize method align_corners fail_on explain",
        figure="",
        examples=("pe-spectra inspect sinusoidal:d=64 --length 128", "pe-spectra inspect --explain seam"),
    ),
    "series": Declaration(
        summary="Which encoding suits a recorded series: its step, gaps and periods, and what each makes of them.",
        module="series_command",
        takes="file column time time_unit start:series d:model window:samples candidates",
        figure="",
        examples=(
            "pe-spectra series readings.csv",
            "pe-spectra series readings.csv --column load --time date --json",
            "pe-spectra series readings.csv --window 60 --candidates sinusoidal dft",
        ),
    ),
    "audit": Declaration(
        summary="What positional encoding a model's configuration really gives, and what is wrong with it.",
        module="auditing",
        takes="configs trained:audit served:audit allocated reader models_only fail_on explain:completed",
        data="format:findings json output full",
        figure="",
        examples=(
            "pe-spectra audit config.json",
            "pe-spectra audit config.json --served 131072 --fail-on warning",
            "pe-spectra audit config.json --reader transformers-4,vllm",
            "pe-spectra audit --explain unseen-phases",
        ),
    ),
    "diff": Declaration(
        summary="What a port must get right, part by part: base, scaling, width, layout, attention, offset, type.",
        module="diff",
        takes="sides stack all_stacks trained served allocated check:found strict",
        examples=(
            "pe-spectra diff hf/config.json port/inv_freq.npy",
            "pe-spectra diff config.json --stack transformers-5,vllm",
            "pe-spectra diff --all-stacks config.json",
        ),
    ),
    "freeze": Declaration(
        summary="Freeze what configurations, dumps, tables or SPECs give, for check to look at later.",
        module="freezing",
        takes="items output:frozen accept reason",
        data="format json full",
        examples=(
            "pe-spectra freeze config.json --output ref.json",
            "pe-spectra freeze models/ --output ref.json",
            "pe-spectra freeze config.json --output ref.json --accept base-below-bound --reason 'as published'",
        ),
        repeats=False,
    ),
    "check": Declaration(
        summary="Is all as it was frozen? What changed, its likely cause, and from which position on it matters.",
        module="freezing",
        takes="items against tolerance accept reason update",
        examples=(
            "pe-spectra check config.json --against ref.json",
            "pe-spectra check models/ --against ref.json --update",
        ),
        repeats=False,
    ),
    "stacks": Declaration(
        summary="Every implementation that --stack takes, with its releases: version, date, how it is known.",
        module="listings",
        examples=("pe-spectra stacks", "pe-spectra stacks --json"),
    ),
    "context": Declaration(
        summary="What each way to lengthen a context would do to a rotary model, side by side.",
        module="lengthening",
        takes="config d:head base trained:context target stack:one write",
        figure="",
        examples=(
            "pe-spectra context config.json --target 131072",
            "pe-spectra context --d 128 --base 500000 --trained 8192 --target 131072",
            "pe-spectra context --d 128 --target 131072",
        ),
    ),
    "precision": Declaration(
        summary="What finite precision leaves of an encoding, stage by stage.",
        module="inspecting",
        takes="d rho length start_position positions rows spec dtype recipe embedding require:codes",
        figure="",
        examples=(
            "pe-spectra precision sinusoidal --length 8192 --dtype bfloat16",
            "pe-spectra precision rope:base=500000 --length 8192 --recipe fp32-then-cast",
            "pe-spectra precision alibi --length 256 --dtype bfloat16 --require injective",
        ),
    ),
    "experiment run": Declaration(
        summary="Train the same small network with one encoding after another.",
        module="experimenting",
        takes="tasks arms norms seeds lengths workers quick output:results resume no_resume",
        data="format json full",
        figure="",
        examples=(
            "pe-spectra experiment run --quick --output results.csv --figure learning.png",
            "pe-spectra experiment run --tasks lag --arms none sinusoidal dft --output results.csv",
        ),
    ),
    "experiment report": Declaration(
        summary="What an experiment showed, from the file that experiment run wrote; without a file, the study.",
        module="reporting",
        takes="results by_number",
        figure="",
        examples=("pe-spectra experiment report results.csv",),
    ),
    "experiment check": Declaration(
        summary="Are the results those that come out? Of the file that experiment run wrote; without a file, of the "
        "study.",
        module="reporting",
        takes="results runs seed",
        examples=("pe-spectra experiment check results.csv --runs 3",),
    ),
    "experiment data": Declaration(
        summary="Train the same small network on a data set of yours, with one encoding after another.",
        module="reporting",
        takes="data label arms norms seeds length:window stride quick",
        examples=("pe-spectra experiment data --data table:pump.csv --label state=broken --arms sinusoidal dft",),
    ),
    "report": Declaration(
        summary="One page of HTML with answers, tables and figures, which needs no network.",
        module="report_page",
        takes="items:report paper output:page",
        data="",
        examples=(
            "pe-spectra report config.json --output report.html",
            "pe-spectra report sinusoidal:d=64 --output report.html",
            "pe-spectra report --paper --output paper.html",
        ),
    ),
    "sweep": Declaration(
        summary="Answer a command at every point of a grid.",
        module="sweeping",
        takes="command over grid:sweep workers output:sweep",
        data="format json full",
        examples=(
            "pe-spectra sweep count-low-bin --grid d=64,128,256 --grid rho=100:1000:100 --output sweep.csv",
            "pe-spectra sweep faithfulness dft:d=64 sinusoidal:d=64 --grid length=16:64:16 --output sweep.csv",
        ),
        repeats=False,
    ),
    "bench": Declaration(
        summary="How fast this package is here beside other ways to the same numbers: ratios with their targets.",
        module="benching",
        examples=("pe-spectra bench", "pe-spectra bench --json --output bench.json"),
        repeats=False,
    ),
}
