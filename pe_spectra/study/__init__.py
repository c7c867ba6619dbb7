"""The study: what was planned, the line of each network that was trained for it, and what a few seeds allow to be said.

`results.csv` is the file that `pe-spectra experiment run` wrote for it; it is in the installed package. Without it, and
where seeds are missing, whatever rests on it says so. `shown.tsv` has in how many of its comparisons an encoding is
shown to be better or worse, which `series` asks for, and tells where `results.csv` is there. Nothing here trains:
`pe_spectra.experiment` does.
"""
