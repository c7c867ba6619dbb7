"""Tables in the manner of real ones, with planted truth: what is in each is declared beside it, by kind and seed.

`make(kind, seed)` gives a table of a kind; sizes, places, strengths and how it is stored are drawn by the seed. What
a finding says about numbers being equal or zero is no inference: it is held against arithmetic (`list_facts`), not
against what was planted. Everything else that is found beside the truth is false.
"""

from tests.inspection.corpus import enlarged, periods, rows, seams, sound
from tests.inspection.corpus.cases import KINDS, Case, Line, Truth, list_facts, make

__all__ = ["KINDS", "Case", "Line", "Truth", "enlarged", "list_facts", "make", "periods", "rows", "seams", "sound"]
