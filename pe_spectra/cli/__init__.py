"""The command line. This file imports nothing heavy, so that Ctrl-C is answered from the start."""

import sys

__all__ = ["main"]


def main() -> int:
    """Run the program on the arguments of the process; return its exit code.

    0 done, 1 a check that was asked for says no, 2 could not do it, 130 interrupted. This is the
    only place that turns errors into exit codes.
    """
    try:
        from pe_spectra.cli.interrupts import RepeatedInterrupts

        with RepeatedInterrupts():
            from pe_spectra.cli.program import run

            return run(sys.argv[1:])
    except KeyboardInterrupt:
        while True:
            try:
                return _leave_interrupted()
            except KeyboardInterrupt:  # the next one is ignored, or the one after that
                continue


def _leave_interrupted() -> int:
    import signal

    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not break the way out
        from pe_spectra.cli.streams import silence_stdout, write_error

        silence_stdout()
        write_error("interrupted")
        # where Ctrl-C met a text that Python was running, as every named tuple is made of one, Python
        # would end itself by the signal although all is done; the next text makes it forget that
        exec("")
    except ValueError:  # outside the main thread
        pass
    return 130
