"""Every sentence that infers more than it has measured: how it is recognised, and the tests of its condition.

A sentence infers where it says how something came to be or what it is good for, not what a number is: in words of
doubt (may, probably, consistent with, a guess), as a question, or of what training did. The sentences are found in the
package, with the code of the kind of finding in which they are declared; what is a definition (a column, a parameter, a
published encoding) is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.pages.trees import MODULES, parse

WORDS = re.compile(
    r"\b(may|might|probably|likely|perhaps|presumably|apparently|consistent with|seems?|suggests?|looks? (?:like|as)"
    r"|appears?|as if|could be|must have|(?:was|were|been) (?:meant|lost|trained)|(?:never|not|little) trained"
    r"|untrained|before training|training (?:began|reached)|in training where|trained so|hardly trained|rarely reached"
    r"|guess(?:ed|es)?)\b|[\w}]\?(?!\w)"
)
#: Between two parts of a string.
_SEAMS = re.compile(r"""["']\s*\n\s*[rf]*["']""")
#: Calls that declare what something means.
DEFINING = {"quantity", "derived", "metric", "parameter", "Option", "Argument", "Setting", "Claim", "Sentence"}
#: Attributes of a class of encodings, and of kinds, that define it.
DEFINED = {"summary", "formula", "pitfalls", "source", "references", "meaning"}


class Inference(NamedTuple):
    """A sentence that infers: the code of its kind of finding, or else its words, {} for what is put in."""

    code: str | None
    text: str


@cache
def list_inferences() -> tuple[Inference, ...]:
    """The sentences of the package that infer."""
    found = [one for path in MODULES for node in _list_suspected(path) for one in _read(node, None)]
    return tuple(dict.fromkeys(found))


def _list_suspected(path: Path) -> Iterator[ast.stmt]:
    """The statements of a module in whose text, its strings joined, such a word stands: few of all."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in parse(path).body:
        text = _SEAMS.sub("", "\n".join(lines[node.lineno - 1 : node.end_lineno]))
        if WORDS.search(text):
            yield node


def _read(node: ast.AST, code: str | None) -> Iterator[Inference]:
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in DEFINING:
            return
        if name in ("Kind", "RowKind"):
            code = next((one.value.value for one in node.keywords if one.arg == "code"), None)
    if isinstance(node, ast.keyword) and node.arg in DEFINED:
        return
    if isinstance(node, ast.AnnAssign | ast.Assign):
        targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
        if any(getattr(target, "id", None) in DEFINED for target in targets):
            return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    text = _join(node)
    if text is None:
        for child in ast.iter_child_nodes(node):
            yield from _read(child, code)
    elif " " in text.strip() and WORDS.search(text):
        yield Inference(code, text)


def _join(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


#: Tests of the condition of each inference that is no finding about a table, by its code or by words of it.
TESTS: dict[str, tuple[str, ...]] = {
    # encodings held against a series
    "Avoid what networks are shown to learn worse with": (
        "tests/study/test_shown.py::test_counts_are_those_of_the_report",
        "tests/series/test_deciding.py::test_the_choice_is_the_one_of_the_written_rules",
    ),
    "its numbers are learned, and before training nothing can be said of them": (
        "tests/series/test_suitability.py::test_what_cannot_answer_is_refused",
    ),
    # encodings whose numbers nobody gave
    "drawn at random, as before training": (
        "tests/laws/test_objects.py::test_what_is_drawn_depends_on_the_seed_and_is_said_to_be_drawn",
        "tests/laws/test_objects.py::test_a_seed_changes_nothing_where_nothing_is_drawn",
    ),
    "drawn at random, as published: not trained": (
        "tests/laws/test_objects.py::test_what_is_drawn_depends_on_the_seed_and_is_said_to_be_drawn",
        "tests/laws/test_objects.py::test_a_seed_changes_nothing_where_nothing_is_drawn",
    ),
    "no table is given, so frequencies are as before training": (
        "tests/encodings/test_ladders.py::test_dead_columns_and_untrained_frequencies_are_said",
    ),
    "on are read as 0, as frequencies up to": (
        "tests/models/test_inverse_frequencies.py::test_what_is_rounded_to_0_is_said_to_be",
    ),
    "look like slower ones": ("tests/encodings/test_ladders.py::test_dead_columns_and_untrained_frequencies_are_said",),
    "there may be more pairs": (
        "tests/faithfulness/test_collisions.py::test_members_that_cancel_leave_more_pairs_than_are_proved",
    ),
    # parts of sentences about tables
    ", as before training": ("tests/inspection/test_rows.py::test_deviation_of_noise_is_about_the_mean_row",),
    "; consistent with training first at length {}": (
        "tests/inspection/test_seams.py::test_what_is_said_of_a_seam_is_what_the_rows_show",
        "tests/inspection/test_seams.py::test_a_lone_step_says_nothing_about_training",
    ),
    "not trained since": (
        "tests/inspection/test_traces.py::test_what_was_changed_a_little_since_betrays_itself",
        "tests/inspection/test_traces.py::test_a_longer_line_betrays_itself",
    ),
    "could be {}, but are read as a line": (
        "tests/spectrum/test_folding.py::test_a_line_with_the_period_of_a_square_is_said_to_be_read_as_a_line",
    ),
    # findings about models
    "original-length-missing": ("tests/models/test_provoked.py::test_provoked",),
    "original-length-twice": ("tests/models/test_provoked.py::test_provoked",),
    "layer-type-missing": (
        "tests/models/test_layer_types.py::test_keys_in_a_shape_that_the_class_does_not_read",
        "tests/models/test_layer_types.py::test_layers_without_attention_are_not_turned",
    ),
    "base-too-small": (
        "tests/models/test_provoked.py::test_a_base_is_too_small_beyond_64_times_the_first_negative_lag",
    ),
    "factor-below-one": ("tests/models/test_numbers_in_findings.py::test_a_factor_below_1",),
    "attention-factor": (
        "tests/models/test_findings.py::test_an_attention_factor_is_compared_with_the_formula_where_there_is_one",
    ),
    "unknown-scaling": ("tests/models/test_provoked.py::test_provoked",),
    "at places that were not trained": (
        "tests/models/test_position_tables.py::test_what_comes_of_a_picture_with_more_patches_than_rows",
    ),
    "dual-chunk": (
        "tests/models/test_dual_chunk.py::test_who_reads_it_is_what_was_searched",
        "tests/models/test_dual_chunk.py::test_where_distances_differ_within_the_context",
        "tests/models/test_dual_chunk.py::test_reach_and_beginning_are_those_of_the_real_module",
    ),
    "unknown-type": ("tests/models/test_configuration.py::test_a_type_that_is_not_known_is_said",),
    "unknown-key": ("tests/models/test_findings.py::test_a_key_about_something_else_is_no_misspelling",),
    "key-not-read": ("tests/models/test_findings.py::test_a_key_of_another_class_that_changes_nothing_is_no_warning",),
    "su is the older name of longrope": ("tests/models/test_provoked.py::test_provoked",),
    "exchange the two, unless the model was trained so": (
        "tests/models/test_numbers_in_findings.py::test_ends_in_the_wrong_order",
        "tests/models/test_numbers_in_findings.py::test_ends_that_are_published",
    ),
    "did you mean {}": (
        "tests/cli/test_arguments.py::test_lines_that_argparse_refuses_or_reads_wrong",
        "tests/claims/test_claims.py::test_an_unknown_claim_is_refused",
    ),
    "was {} meant?": (
        "tests/models/test_numbers_in_findings.py::test_a_factor_below_1",
        "tests/models/test_numbers_in_findings.py::test_a_factor_below_1_that_no_key_states",
    ),
    "leave it out unless trained so": (
        "tests/models/test_findings.py::test_an_attention_factor_is_compared_with_the_formula_where_there_is_one",
    ),
    "it was 8192 in training where the model is Llama 3": (
        "tests/models/test_transformers.py::test_where_no_length_before_scaling_is_stated_it_is_said_which_is_taken",
    ),
    "unknown-architecture": ("tests/models/test_provoked.py::test_provoked",),
    "are channels (i, i + D/2) is a guess": ("tests/models/test_provoked.py::test_provoked",),
    "write absolute if it was trained": ("tests/models/test_defaults.py::test_a_kind_that_neither_release_knows",),
    "transformers 4 may refuse the file; write rope_type": (
        "tests/models/test_layer_types.py::test_keys_in_a_shape_that_the_class_does_not_read",
    ),
}
#: What has one of the words and infers nothing: a title, what is accepted, and the name of an encoding.
NO_INFERENCES = (
    "has no vectors whose distances could be compared",
    "Does an encoding matter to",
    "or init=normal for an untrained one, is accepted",
    "learned untrained {} seed={}",
)
if __name__ == "__main__":
    for one in list_inferences():
        print(one)
