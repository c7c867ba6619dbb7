"""A number is declared once: JSON, columns, schema, docstring and repr follow from it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import jsonschema
import numpy as np
import pytest

import pe_spectra
from pe_spectra import Dft, Sinusoidal
from pe_spectra.answers.documents import describe_result
from pe_spectra.encodings import Encoding
from pe_spectra.exact import F64
from pe_spectra.faces import simplify
from pe_spectra.quantities import ReadOnly, Result, derived, find_hint, list_column_names, quantity, tabulate
from tests.places import ROOT

CALLS = []


@dataclass(frozen=True, kw_only=True)
class Peak(Result):
    """One peak."""

    lag: int = quantity("Where it is.", unit="positions", minimum=0, column="peak_lag")
    value: float = quantity("How high it is.", column="peak")


def has_sign(curve):
    return curve.total >= 0


def has_phase(curve):
    return curve.phase is not None


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve(Result):
    """A curve over lags."""

    encoding: Encoding = quantity("What it is of.")
    values: F64 = quantity("The curve.", unit="1", column="value", gaps=True)
    peak: Peak | None = quantity("Its largest side lobe; null without one.", default=None)
    pair: tuple[int, int] | None = quantity("The closest pair; null without one.", default=None)
    phase: float | None = quantity("Its phase.", only=has_phase, default=None, column=None)
    settings: Mapping[str, object] = quantity(
        "What was set.", default_factory=dict, column=None, schema={"type": "object"}
    )

    @derived("Sum of the values; null where it is negative.", defined=has_sign, minimum=0)
    def total(self) -> float:
        CALLS.append(self)
        return float(np.nansum(self.values))

    @derived("Number of the lag.", key=None)
    def lag(self) -> range:
        return range(len(self.values))


@dataclass(frozen=True, kw_only=True)
class Family(Result):
    """Several curves."""

    name: str = quantity("Their name.")
    curves: tuple[Curve, ...] = quantity("Each curve.", least=1)


def make(values=(1.0, math.nan), **more):
    return Curve(encoding=Dft(d=4), values=np.array(values), **more)


def test_json_has_the_keys_in_order_and_null_for_what_is_not_finite():
    document = make(peak=Peak(lag=3, value=0.5), pair=(1, 2)).to_dict()
    assert list(document) == ["encoding", "values", "peak", "pair", "settings", "total"]
    assert document["encoding"] == {"name": "dft", "parameters": {"d": 4}}
    assert document["values"] == [1.0, None]
    assert document["peak"] == {"lag": 3, "value": 0.5}
    assert document["pair"] == [1, 2]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_key_that_a_result_does_not_have_is_left_out():
    assert "phase" not in make().to_dict()
    assert make(phase=0.5).to_dict()["phase"] == 0.5


def test_a_value_that_means_nothing_is_null_in_every_face():
    negative = make((-1.0, 0.5))
    assert negative.total == -0.5
    assert negative.to_dict()["total"] is None
    assert negative.to_columns()["total"] == [None, None]


def test_what_is_derived_is_computed_once_and_again_for_another_record():
    CALLS.clear()
    curve = make()
    assert curve.total == curve.total == 1.0
    assert len(CALLS) == 1
    assert dataclasses.replace(curve, values=np.array([2.0])).total == 2.0
    assert len(CALLS) == 2


def test_arrays_are_rows_and_what_is_once_stands_in_each():
    columns = make(peak=Peak(lag=3, value=0.5), pair=(1, 2)).to_columns()
    assert columns == {
        "encoding": ["dft d=4"] * 2,
        "value": [1.0, None],
        "peak_lag": [3, 3],
        "peak": [0.5, 0.5],
        "pair": ["1 2"] * 2,
        "total": [1.0, 1.0],
        "lag": [0, 1],
    }


def test_members_that_are_missing_leave_their_columns():
    assert list(make().to_columns()) == list(list_column_names(Curve))
    assert make().to_columns()["peak"] == [None, None]


def test_members_are_rows_below_each_other():
    family = Family(name="two", curves=(make(), make((2.0, 3.0, 4.0))))
    columns = family.to_columns()
    assert columns["name"] == ["two"] * 5
    assert columns["value"] == [1.0, None, 2.0, 3.0, 4.0]
    assert list(tabulate([make(), make()])["lag"]) == [0, 1, 0, 1]


def test_docstrings_list_the_attributes_with_their_units():
    assert "lag : Where it is. [positions]" in Peak.__doc__
    assert Peak.__doc__.index("Attributes") < Peak.__doc__.index("value : How high it is.")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "make",
    [
        pe_spectra.inspect_table,
        pe_spectra.estimate_kernel,
        pe_spectra.export_encoding,
        lambda table: pe_spectra.draw_portrait(table).local,
        lambda table: pe_spectra.inspect_table(table).helix,
        lambda _: pe_spectra.Sinusoidal(d=64).frequencies(),
        lambda table: pe_spectra.measure_precision(table, dtypes=["bfloat16"]).stairs[0],
    ],
    ids=["inspection", "kernel", "export", "windows", "helix", "frequencies", "staircase"],
)
def test_a_record_with_arrays_has_a_short_repr(make):
    record = make(pe_spectra.Sinusoidal(d=64).table(256))
    assert repr(record).startswith(f"{type(record).__name__}(")
    assert len(repr(record).splitlines()) <= 10
    assert max(map(len, repr(record).splitlines())) <= 110
    assert "array(" in repr(record)
    assert "array([" not in repr(record)


def test_a_long_text_is_cut_where_it_says_so():
    [finding] = pe_spectra.audit_configuration(
        pe_spectra.read_model(str(ROOT / "tests/models/llama-3.1-8b.json"))
    ).findings
    assert len(finding.message) > 110
    [line] = [line for line in repr(finding).splitlines() if "message=" in line]
    assert line.endswith("..,")


def test_a_repr_has_at_most_ten_lines_and_no_array():
    long = Family(name="n" * 300, curves=(make(),) * 4)
    for result in (make(np.zeros(10_000)), long, Peak(lag=1, value=2.0)):
        assert len(repr(result).splitlines()) <= 10
        assert max(map(len, repr(result).splitlines())) <= 110
    assert repr(Peak(lag=1, value=2.0)) == "Peak(lag=1, value=2.0)"
    assert "values=array(10000,)" in repr(make(np.zeros(10_000)))
    assert "curves=4 x Curve" in repr(long)


def test_the_schema_accepts_what_json_has_and_nothing_else():
    definitions = {"encoding": dict(Encoding.json_schema)}
    schema = {**describe_result(Family, definitions), "$defs": definitions}
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = Family(name="two", curves=(make(phase=1.0), make(peak=Peak(lag=3, value=0.5)))).to_dict()
    validator.validate(document)
    for change in ({"name": 3}, {"curves": []}, {"more": 1}):
        assert not validator.is_valid({**document, **change})
    for key, value in (("values", ["1"]), ("peak", {"lag": -1, "value": 0.5}), ("pair", [1]), ("total", -1)):
        assert not validator.is_valid({**document, "curves": [{**document["curves"][0], key: value}]})
    assert not validator.is_valid(
        {**document, "curves": [{k: v for k, v in document["curves"][0].items() if k != "total"}]}
    )


def test_numbers_of_numpy_become_plain_ones():
    assert simplify({"a": np.int64(3), "b": np.float32(0.5), "c": np.array([[1, 2]])}) == {
        "a": 3,
        "b": 0.5,
        "c": [[1, 2]],
    }
    assert simplify(np.float64("inf")) is None


def test_every_face_of_a_table_is_of_the_same_columns():
    curve = make((2.0, 3.0))
    assert curve.to_markdown().splitlines()[0] == "| encoding | value | peak_lag | peak | pair | total | lag |"
    assert curve.to_latex(digits=3).count(r"\\") == 3
    assert r"dft d=4 & 2 & - & - & - & 5 & 0 \\" in curve.to_latex()


def test_a_dataframe_needs_pandas(monkeypatch):
    from pe_spectra.errors import PeSpectraError

    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(PeSpectraError, match="pip install pandas"):
        make().to_dataframe()


def test_a_dataframe_has_the_columns(monkeypatch):
    class Pandas:
        DataFrame = dict

    monkeypatch.setitem(__import__("sys").modules, "pandas", Pandas)
    assert make((2.0,)).to_dataframe()["value"] == [2.0]


@pytest.mark.parametrize("encoding", [Sinusoidal(d=4), Dft(d=4)])
def test_results_with_encodings_have_their_labels_in_tables(encoding):
    assert Curve(encoding=encoding, values=np.ones(1)).to_columns()["encoding"] == [encoding.label]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs(ReadOnly):
    """Arrays, of which one may be missing."""

    values: F64
    more: F64 | None = None


@pytest.mark.parametrize("given", [np.arange(4.0), np.arange(8.0)[::2], np.ones((2, 2)).T])
def test_arrays_of_a_record_cannot_be_changed_and_what_was_given_can(given):
    record = Pairs(values=given)
    with pytest.raises(ValueError, match="read-only"):
        record.values[0] = 7.0
    assert np.shares_memory(record.values, given)
    given[0] = 7.0
    assert (record.values[0] == 7.0).all()
    assert record.more is None
    again = dataclasses.replace(record, more=record.values)
    assert again.values is record.values
    assert not again.more.flags.writeable


def test_the_annotation_of_one_field_is_worked_out_alone():
    """All annotations of a class take as long as several modules; a table asks for a few."""
    body = {"__annotations__": {"whole": "int", "other": "Nothing"}, "__module__": __name__}
    assert find_hint(type("Half", (Result,), body), "whole") is int
