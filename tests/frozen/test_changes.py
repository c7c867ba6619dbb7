"""Every key of an entry against what is there now: each planted change is named, and nothing else."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from pe_spectra.errors import InputError
from pe_spectra.exact import EXACT
from pe_spectra.frozen.changes import _TOLD, compare_entries
from pe_spectra.frozen.coding import decode_record, encode, encode_fields
from pe_spectra.frozen.digests import digest_array
from pe_spectra.frozen.entries import Entry, FrozenLayer, read_entry, take_side, write_entry
from pe_spectra.frozen.equality import are_equal
from pe_spectra.model_sources import Side
from pe_spectra.models.dumps.dumped_arrays import read_cache, read_inverse_frequencies
from pe_spectra.models.rotation import Rotation
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from tests.frozen.planting import CONFIGURATIONS, compare, load, name_changes, take

FROZEN = take(load("qwen2-vl-7b-instruct"))
#: Another value of each field of a rotation.
OTHERS = {
    "head_dim": 256,
    "rotary_dim": 64,
    "base": 1234.5,
    "scaling": "yarn",
    "options": {"factor": 2.0},
    "frequencies": [["0x1.8000000000000p-1", 0.75]],
    "layout": "interleaved",
    "axes": [0, 1, 2],
    "coordinates": "a span of 4",
    "indexer_layout": "half",
    "query_scale": "1 + s/8192 in all layers",
    "dual_chunk": "chunks of 4096",
    "attention_scaling": 1.25,
    "offset": 1,
    "dtype": "float16",
    "error_bound": 0.5,
}


def plant(document, place, value):
    """The same with another value at a place."""
    planted = copy.deepcopy(document)
    node = planted
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    return planted


def test_another_value_is_planted_of_every_field_of_a_rotation():
    """A field of tomorrow has its planted change, too."""
    assert set(OTHERS) == set(Rotation.quantities()) - set(_TOLD)


@pytest.mark.parametrize("side", ["frozen", "now"])
@pytest.mark.parametrize("field", OTHERS)
def test_each_field_of_a_rotation_is_named_where_it_alone_changes(field, side):
    planted = plant(FROZEN, ("layers", "all", "rotation", field), OTHERS[field])
    pair = (planted, FROZEN) if side == "frozen" else (FROZEN, planted)
    found = compare(*pair)
    named = {one.what.partition(".")[0] for one in found.changes}
    # numbers of another formula are told as numbers, and options as those of a scaling
    assert named & {field, {"options": "scaling"}.get(field, field)}, named
    assert all(one.effect for one in found.changes)


@pytest.mark.parametrize("field", [name for name in OTHERS if FROZEN["layers"]["all"]["rotation"][name] is not None])
def test_each_field_of_a_rotation_is_named_where_it_is_lost(field):
    if field in ("error_bound", "options"):  # which is always there, and empty without a scaling
        return
    planted = plant(FROZEN, ("layers", "all", "rotation", field), None)
    for pair in ((planted, FROZEN), (FROZEN, planted)):
        assert field in name_changes(*pair)


@pytest.mark.parametrize("field", [name for name in FrozenLayer.quantities() if name not in ("rotation", "dump")])
def test_each_field_of_a_layer_is_named(field):
    value = "of another kind" if field in ("scheme", "refusal", "places") else 77
    assert name_changes(FROZEN, plant(FROZEN, ("layers", "all", field), value)) == [field]


# --------------------------------------------------------------------- numbers


def push(pair, factor, steps):
    """A frequency times a factor, and some floats further."""
    value = np.float64(pair[1]) * factor
    for _ in range(steps):
        value = np.nextafter(value, 2.0)
    return encode(np.array([value]))[0]


@pytest.mark.parametrize("index", [0, 17, 63])
def test_one_float_beyond_the_tolerance_is_a_change(index):
    place = ("layers", "all", "rotation", "frequencies", index)
    pair = FROZEN["layers"]["all"]["rotation"]["frequencies"][index]
    # the last float that is within: of the two numbers the larger is what the difference is relative to
    within = np.float64(pair[1])
    while abs(np.nextafter(within, 2.0) - pair[1]) <= EXACT * np.nextafter(within, 2.0):
        within = np.nextafter(within, 2.0)
    assert within > pair[1]
    assert name_changes(FROZEN, plant(FROZEN, place, encode(np.array([within]))[0])) == []
    beyond = encode(np.array([np.nextafter(within, 2.0)]))[0]
    found = compare(FROZEN, plant(FROZEN, place, beyond)).changes
    assert [one.what for one in found] == ["frequencies"]
    assert (found[0].frozen, found[0].now) == (pair[0], beyond[0])
    assert found[0].effect.startswith(f"1 of {64} numbers differs")
    assert f"(index {index})" in found[0].effect


def test_without_a_tolerance_one_float_is_a_change():
    place = ("layers", "all", "rotation", "frequencies", 5)
    nearest = push(FROZEN["layers"]["all"]["rotation"]["frequencies"][5], 1.0, 1)
    planted = plant(FROZEN, place, nearest)
    assert name_changes(FROZEN, planted, tolerance=0.0) == ["frequencies"]
    assert name_changes(FROZEN, planted) == []
    assert name_changes(FROZEN, FROZEN, tolerance=0.0) == []


def test_a_tolerance_is_for_numbers_alone():
    planted = plant(FROZEN, ("layers", "all", "rotation", "layout"), "interleaved")
    planted = plant(planted, ("layers", "all", "rotation", "head_dim"), 129)
    assert {*name_changes(FROZEN, planted, tolerance=1.0)} == {"layout", "head_dim"}


def test_a_digest_that_a_person_took_away_is_a_change():
    one = digest_array(np.arange(100.0)[:, None], "float64")
    (change,) = compare_entries(
        Entry(arrays={"table": replace(one, digest=None)}), Entry(arrays={"table": one})
    ).changes
    assert (change.what, change.frozen, change.now) == ("digest", None, one.digest[:16])


def test_what_is_within_the_tolerance_is_no_change_where_something_else_is():
    place = ("layers", "all", "rotation", "frequencies", 5)
    pushed = plant(FROZEN, place, push(FROZEN["layers"]["all"]["rotation"]["frequencies"][5], 1 + 1e-9, 0))
    pushed = plant(pushed, ("layers", "all", "window"), 512)
    assert name_changes(FROZEN, pushed, tolerance=1e-6) == ["window"]
    assert name_changes(FROZEN, pushed) == ["frequencies", "window"]
    found = compare(FROZEN, pushed, tolerance=1e-6).diff
    assert (found.differences, found.causes) == ((), ())


def test_stretches_of_another_length_give_no_place():
    """As a later version may take them."""
    one = digest_array(np.arange(100.0)[:, None], "float64")
    other = replace(digest_array(np.arange(1.0, 101)[:, None], "float64"), stretch=7)
    (change,) = compare_entries(Entry(arrays={"table": one}), Entry(arrays={"table": other})).changes
    assert (change.what, change.first_position, change.effect) == ("digest", None, "numbers differ")


# --------------------------------------------------------------------- what diff says


def test_the_cause_and_the_first_position_are_those_of_diff():
    llama = load("llama-3.1-8b")
    found = compare(take(llama), take({**llama, "rope_scaling": None}))
    (scaling,) = (one for one in found.changes if one.what == "scaling")
    assert [one.text for one in found.diff.causes] == ["scaling dropped in B (llama3 x8 in A)"]
    assert scaling.first_position == found.diff.layer_types[0].first_position_off == 442


@pytest.mark.few(10)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_type_of_layers_that_is_gone_is_named(name):
    frozen = take(load(name))
    for layer in frozen["layers"]:
        now = {**frozen, "layers": {key: value for key, value in frozen["layers"].items() if key != layer}}
        for pair in ((frozen, now), (now, frozen)):
            found = [one for one in compare(*pair).changes if one.what in ("layers", "layer_types")]
            assert any(layer in one.layers for one in found)


def test_layers_of_one_kind_with_one_change_are_told_once():
    frozen = take(load("gemma-3-1b-it"))
    now = frozen
    for layer in frozen["layers"]:
        now = plant(now, ("layers", layer, "beside"), 8)
    (one,) = compare(frozen, now).changes
    assert (one.what, one.layers) == ("beside", tuple(frozen["layers"]))


# --------------------------------------------------------------------- findings


def test_findings_are_compared_by_code_layers_and_level():
    finding = {"level": "note", "code": "base-below-bound", "layers": None, "message": "as it was"}
    frozen = {**FROZEN, "findings": [finding]}
    again = {**frozen, "findings": [{**finding, "message": "in other words"}]}
    graver = {**frozen, "findings": [{**finding, "level": "error"}]}
    milder = {**frozen, "findings": [finding]}
    elsewhere = {**frozen, "findings": [finding, {**finding, "layers": "sliding_attention"}]}
    assert [len(compare(frozen, now).new) for now in (frozen, again, graver, elsewhere)] == [0, 0, 1, 1]
    assert compare(graver, milder).new == compare(graver, milder).gone == ()
    found = compare(frozen, {**FROZEN, "findings": []})
    assert ([one.code for one in found.gone], found.changes, found.new) == (["base-below-bound"], (), ())


def test_one_more_finding_of_a_code_is_new():
    """As where a second module of a model writes to its own buffer."""
    first = {"level": "error", "code": "changes-between-calls", "layers": None, "message": "a changes."}
    second, third = {**first, "message": "b changes."}, {**first, "message": "c changes."}
    frozen = {**FROZEN, "findings": [first]}
    assert [one.message for one in compare(frozen, {**frozen, "findings": [second, first]}).new] == ["b changes."]
    found = compare({**frozen, "findings": [second, first]}, {**frozen, "findings": [first, third, second]})
    assert [one.message for one in found.new] == ["c changes."]
    assert compare({**frozen, "findings": [first, second]}, {**frozen, "findings": [third]}).new == ()


# --------------------------------------------------------------------- files of other versions


@dataclass(frozen=True, kw_only=True)
class Tomorrow(Rotation):
    """A rotation with one field more."""

    spin: str | None = quantity("Which way it turns.", default=None, words=("left", "right", None))


def test_a_field_of_tomorrow_is_written_read_and_compared():
    names = list(Tomorrow.quantities())
    left, right = (Tomorrow(layout="half", spin=one) for one in ("left", "right"))
    written = json.loads(json.dumps(encode_fields(left, names)))
    assert written["spin"] == "left"
    assert decode_record(Tomorrow, written, "A") == left
    a, b = (Entry(layers={"all": FrozenLayer(rotation=one)}) for one in (left, right))
    (change,) = compare_entries(a, b).changes
    assert (change.what, change.frozen, change.now) == ("spin", "left", "right")


@pytest.mark.parametrize("place", [("layers", "all", "rotation", "indexer_layout"), ("layers", "all", "window")])
def test_a_key_that_the_older_program_did_not_know_is_not_compared(place):
    older = copy.deepcopy(FROZEN)
    node = older
    for key in place[:-1]:
        node = node[key]
    del node[place[-1]]
    now = plant(FROZEN, place, "half" if place[-1] == "indexer_layout" else 512)
    found = compare(older, now)
    assert (found.changes, found.unknown) == ((), (place[-1],))
    assert compare(FROZEN, now).changes


def list_places(node, place=()):
    """Every place of a document."""
    if place:
        yield place
    for key in node if isinstance(node, dict) else range(min(2, len(node))) if isinstance(node, list) else ():
        yield from list_places(node[key], (*place, key))


GARBAGE = (None, True, -1, 1e308, "", "x", [], [[]], {}, {"x": 1})


def make_dumps():
    """What is frozen of frequencies, and of cosines and sines."""
    angles = np.outer(np.arange(100), 1e4 ** (-np.arange(8) / 8))
    for dump in (read_inverse_frequencies(angles[1]), read_cache(np.cos(angles), np.sin(angles))):
        yield write_entry(take_side(Side(shown="dump.npy", dump=dump)))


#: Documents of every kind that are damaged at each of their places.
DAMAGED = [
    *map(take, map(load, ("llama-3.1-8b", "gemma-3-1b-it", "phi-3.5-mini-instruct", "bloom-560m"))),
    *make_dumps(),
]
PLACES = [(number, place) for number, document in enumerate(DAMAGED) for place in list_places(document)]


@pytest.mark.few(60)
@pytest.mark.parametrize(("number", "place"), PLACES, ids=[f"{n}.{'.'.join(map(str, place))}" for n, place in PLACES])
def test_what_a_person_wrote_into_a_file_is_refused_or_named(number, place):
    document = json.loads(json.dumps(DAMAGED[number]))
    for value in GARBAGE:
        planted = plant(document, place, value)
        try:
            read_entry(planted, "A")
        except InputError:
            continue
        found = compare(planted, document)
        quiet = set(place) & ({*_TOLD, "dump"} - {"digest"}) or planted == document or are_equal(value, None, 0.0)
        assert quiet or found.changes or found.new or found.gone or found.unknown, value
