"""What the study is to hold, fixed before it was run."""

from __future__ import annotations

from pe_spectra.vocabulary import ARMS, NORMS, TASKS

#: Tasks, encodings, norms and lengths of windows, each with each.
STUDY_TASKS, STUDY_ARMS, STUDY_NORMS, STUDY_LENGTHS = TASKS, ARMS, NORMS, (16, 32)
#: Networks of each kind, of seeds 0, 1, ..
STUDY_SEEDS = 10
