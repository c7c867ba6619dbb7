"""How to cite the paper and this software."""

from pe_spectra._version import __version__

BIBTEX = f"""@misc{{ide2024improving,
  title         = {{Improving Transformers using Faithful Positional Encoding}},
  author        = {{Tsuyoshi Id{{\\'e}} and Jokin Labaien and Pin-Yu Chen}},
  year          = {{2024}},
  eprint        = {{2405.09061}},
  archivePrefix = {{arXiv}},
}}

@software{{pe_spectra,
  title   = {{pe-spectra: spectra, faithfulness and reconstruction of positional encodings}},
  author  = {{{{The pe-spectra developers}}}},
  year    = {{2026}},
  version = {{{__version__}}},
}}
"""
