"""Every kind of answer has a test that draws results of it, or goes through all, and asks what its sentences say."""

import ast

import pytest

from pe_spectra.answers.documents import list_bodies
from tests.places import ROOT

#: Kind of answer -> the tests of its sentences. What has no claim of its own, as a formula that is quoted, has a test
#: that what it shows is what is declared.
LAWS = {
    "spectrum": "answers/test_sentences_of_spectra.py::test_what_is_said_of_spectra_is_true",
    "reconstruction": "answers/test_sentences_of_spectra.py::test_what_is_said_of_algorithm_1_is_true",
    "low-bin-count": "answers/test_sentences_of_spectra.py::test_what_is_said_of_low_bins_is_true",
    "faithfulness": "answers/test_sentences_of_faithfulness.py::test_what_is_said_of_faithfulness_is_true",
    "comparison": "answers/test_comparison_sentences.py::test_every_sentence_is_true_of_the_rows",
    "precision": "answers/test_precision.py::test_the_verdict_is_about_the_last_stage_and_names_it",
    "inspection": "inspection/test_periods.py::test_what_is_said_of_periods_is_what_the_table_has",
    "series": "answers/test_series_answers.py::test_what_is_said_of_a_series_is_what_was_found",
    "audit": "answers/test_sentences_of_audits.py::test_what_is_said_of_turns_is_true",
    "diff": "answers/test_sentences_of_comparisons.py::test_what_is_said_of_two_rotations_is_true",
    "diffs": "cli/test_many_diffs.py::test_every_row_is_what_the_comparison_alone_says",
    "freeze": "answers/test_frozen_checks.py::test_what_is_said_of_a_frozen_file_is_what_it_holds",
    "check": "answers/test_frozen_checks.py::test_what_is_said_of_a_check_is_what_changed",
    "capture": "answers/test_captures.py::test_what_is_said_of_a_capture_is_what_it_has",
    "conformance": "answers/test_sentences_of_comparisons.py::test_what_is_said_of_implementations_is_true",
    "context": "answers/test_lengthenings.py::test_the_words_about_phases_are_true",
    "claims": "answers/test_grades.py::test_the_sentence_counts_grades_and_weights",
    "explanation": "cli/test_audit.py::test_explain",
    "encodings": "answers/test_catalogues.py::test_an_encoding_offers_the_views_that_it_has",
    "stacks": "answers/test_known_stacks.py::test_what_is_said_of_a_release_is_what_it_does",
    "figures": "answers/test_drawn.py::test_numbers_that_stood_there_are_compared",
    "figures-check": "answers/test_drawn.py::test_a_check_names_the_first_difference",
    "sweep": "answers/test_sentences_of_runs.py::test_what_is_said_of_sweeps_and_trials_is_true",
    "experiment": "answers/test_sentences_of_runs.py::test_what_is_said_of_sweeps_and_trials_is_true",
    "experiment-check": "answers/test_sentences_of_runs.py::test_what_is_said_of_results_looked_at_again_is_true",
    "detection": "answers/test_sentences_of_runs.py::test_what_is_said_of_a_data_set_is_true",
    "bench": "answers/test_benches.py::test_what_is_said_of_ratios_is_what_the_rows_have",
    "learning": "answers/test_sentences_of_runs.py::test_what_is_said_of_an_experiment_is_true",
}


def test_every_kind_of_answer_has_its_law():
    assert set(LAWS) == {body.kind for body in list_bodies()}


@pytest.mark.parametrize("name", sorted(set(LAWS.values())))
def test_the_law_is_there(name):
    file, function = name.split("::")
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
