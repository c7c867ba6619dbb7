"""`python -m pe_spectra` is the command line."""

import sys

from pe_spectra.cli import main

if __name__ == "__main__":
    sys.exit(main())
