"""The commands of the paper, with their columns and figures, and every option of the program."""

from pe_spectra.cli.declared import build_command

COMMANDS = tuple(build_command().commands)
#: The commands that draw where nobody asks for it, and where.
DRAWING = {
    "spectrum": "figures/spectrum.png",
    "reconstruct": "figures/reconstruction.png",
}
#: The commands of the paper.
PAPER = (*DRAWING, "faithfulness", "count-low-bin")


def list_options():
    for name, command in build_command().commands.items():
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                assert parameter.envvar is None  # a variable would stand in for what is typed
                continue
            yield name, max(parameter.opts, key=len), parameter


def settle(tmp_path, text, name="s.toml"):
    """Write a settings file; give the option that names it."""
    (tmp_path / name).write_text(text)
    return f"--settings {name}"
