"""`python -m pe_spectra` is the command line."""

from pe_spectra.cli import run_process

if __name__ == "__main__":
    run_process()
