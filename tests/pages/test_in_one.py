"""A test of many cases goes through them all, and names each that fails with what was wrong."""

import pytest

from tests.in_one import in_one


def fail(test, **given):
    """What is said of a test that must fail."""
    with pytest.raises(AssertionError) as caught:
        test(**given)
    return str(caught.value).splitlines(), caught.value


def test_every_case_is_asked_and_each_that_fails_is_named():
    asked = []

    @in_one("number", range(300))
    def has_no_seven(number):
        asked.append(number)
        assert number % 100 != 7, "seven"

    said, error = fail(has_no_seven)
    assert asked == [*range(300)]
    assert said[0] == "3 of 300 cases"
    assert [line.partition(": ")[::2] for line in said if ": " in line] == [
        (name, "AssertionError seven") for name in ("7", "107", "207")
    ]
    assert error.__cause__.args[0].startswith("seven")


def test_what_is_not_equal_is_shown():
    @in_one("a, b", [(1, 1), (2, 3)])
    def are_equal(a, b):
        assert a == b

    said, _ = fail(are_equal)
    assert said == ["1 of 2 cases", "2-3: AssertionError assert 2 == 3"]


@pytest.mark.parametrize(
    ("cases", "ids", "names"),
    [
        ([(1, "a"), (2, "b")], None, ["1-a", "2-b"]),
        ([(1, "a"), (2, "b")], str, ["1-a", "2-b"]),
        ([(1, "a"), (2, "b")], ["one", "two"], ["one", "two"]),
        ([pytest.param(1, "a", id="first"), (2, "b")], None, ["first", "2-b"]),
        (iter([(1, "a"), (2, "b")]), lambda value: f"<{value}>", ["<1>-<a>", "<2>-<b>"]),
    ],
)
def test_cases_have_the_names_that_tests_would_have(cases, ids, names):
    @in_one("number, letter", cases, ids=ids)
    def fails(number, letter):
        raise KeyError(number)

    said, _ = fail(fails)
    assert said[1:] == [f"{name}: KeyError {number}" for name, number in zip(names, (1, 2), strict=True)]


def test_a_case_that_is_skipped_or_raises_nothing_it_must_fails():
    @in_one("how", ["skip", "fail", "raises", "passes"])
    def ends(how):
        if how in ("skip", "fail"):
            getattr(pytest, how)("said")
        if how == "raises":
            with pytest.raises(ValueError, match="never"):
                pass

    said, _ = fail(ends)
    assert said[0] == "3 of 4 cases"
    assert said[1:3] == ["skip: Skipped said", "fail: Failed said"]
    assert said[3].startswith("raises: Failed DID NOT RAISE")


def test_no_case_and_no_mark_is_lost():
    with pytest.raises(AssertionError, match="no case"):
        in_one("number", [])
    with pytest.raises(AssertionError, match="a test of its own"):
        in_one("number", [pytest.param(1, marks=pytest.mark.slow)])
    with pytest.raises(ValueError, match="shorter"):
        in_one("number", [1, 2], ids=["one"])


@in_one("name", ["a", "b"])
def test_fixtures_are_given(name, tmp_path):
    (tmp_path / name).touch(exist_ok=False)
