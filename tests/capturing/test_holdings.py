"""What modules hold of positions, found by numbers and not by classes."""

import numpy as np
import pytest

from pe_spectra.capturing.holdings import Holding, find_held, find_learned, list_holdings, list_unread, name_kind
from tests.capturing.fakes import Embedding, Model, Module, Rotary, Tensor, make_ladder, turn

ANGLES = np.arange(40)[:, None] * make_ladder(4)
TABLE = np.hstack([np.sin(ANGLES), np.cos(ANGLES)])


def hold(path="", parameters=None, **buffers):
    return Holding(path, None, buffers, parameters or {})


# ----------------------------------------------------------------------------------- frequencies


def test_a_list_of_any_name_that_begins_at_1_and_falls_as_a_ladder_is_one_of_frequencies():
    held = find_held(
        hold(w=Tensor(make_ladder(8, 500.0)), ones=Tensor(np.ones(8)), slopes=Tensor(2.0 ** -np.arange(1, 9)))
    )
    assert list(held.lists) == ["w"]
    assert held.lists["w"][1].base == 500


def test_a_list_that_begins_elsewhere_needs_a_name_that_says_so():
    scaled = Tensor(make_ladder(8) / 4)
    assert not find_held(hold(w=scaled))
    assert list(find_held(hold(inv_freq=scaled)).lists) == ["inv_freq"]


def test_one_number_alone_is_a_frequency_by_its_whole_name():
    one = Tensor([1.0])
    assert list(find_held(hold(main_inv_freq=one, freq_scale=one, inv_freq=Tensor(1.0))).lists) == ["main_inv_freq"]


def test_of_parameters_a_name_says_it():
    learned = {"freqs": Tensor(make_ladder(8)), "weight": Tensor(make_ladder(8))}
    assert list(find_held(hold(parameters=learned)).lists) == ["freqs"]


def test_copies_of_the_original_list_are_left_out():
    ladder = Tensor(make_ladder(8))
    assert list(find_held(hold(inv_freq=ladder, original_inv_freq=ladder)).lists) == ["inv_freq"]


def test_kinds_of_layers_are_in_the_names_of_lists():
    assert name_kind("full_attention_inv_freq") == "full_attention"
    assert name_kind("theta") == name_kind("inv_freq") == ""


@pytest.mark.parametrize("numbers", [np.array([0.1, 1.0, 0.5]), np.ones((2, 3)), np.full(4, np.nan)])
def test_frequencies_by_name_that_cannot_be_read_are_known(numbers):
    assert list_unread(hold("visual", inv_freq=Tensor(numbers))) == ("visual.inv_freq",)
    assert list_unread(hold("visual", original_inv_freq=Tensor(numbers), weight=Tensor(numbers))) == ()
    assert list_unread(hold(inv_freq=Tensor(make_ladder(4)))) == ()


# ----------------------------------------------------------------------------------- caches and tables


@pytest.mark.parametrize(
    "buffers",
    [
        dict(zip(("cos_cached", "sin_cached"), turn(ANGLES), strict=True)),
        {"cos": Tensor(np.cos(ANGLES)[None, None]), "sin": Tensor(np.sin(ANGLES)[None, None])},
        {"freqs_cis": Tensor(np.exp(1j * ANGLES), "complex64")},
        {"cache": Tensor(np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=-1))},
        {"cos_sin_cache": Tensor(np.hstack([np.cos(ANGLES), np.sin(ANGLES)]))},
    ],
    ids=["both", "axes of length 1", "complex", "parts", "one array"],
)
def test_caches_that_turn(buffers):
    held = find_held(hold(mask=Tensor(np.ones((40, 40))), **buffers))
    assert held.waves is not None
    assert not held.tables


def test_the_same_numbers_are_a_table_where_nothing_says_that_they_turn():
    held = find_held(hold("encoder", pe=Tensor(TABLE[:, None]), noise=Tensor(np.ones((40, 3)))))
    assert held.waves is None
    assert list(held.tables) == ["encoder.pe"]
    assert find_held(hold("rotary", pe=Tensor(TABLE))).waves is not None


def test_rows_for_padding_do_not_hide_a_table_of_sinusoids():
    padded = np.vstack([TABLE[:1], np.zeros((1, 8)), TABLE])
    assert find_held(hold(weights=Tensor(padded))).tables["weights"].values.shape == (42, 8)


def test_cosines_without_their_sines_are_nothing():
    cosines, sines = turn(ANGLES)
    assert find_held(hold(cos=cosines, sin=Tensor(sines.values[:8]))).waves is None
    assert find_held(hold(cos=cosines, sin=Tensor(2 * sines.values))).waves is None
    assert find_held(hold(cos=Tensor(cosines.values > 0, "bool"))).waves is None


def test_learned_tables_have_the_names_that_models_give_them():
    model = Model(wpe=Embedding(np.eye(4)), wte=Embedding(np.eye(4)))
    found = [one for holding in list_holdings(model) for one in find_learned(holding)]
    assert [(path, kind) for path, kind, _ in found] == [("wpe.weight", "positions")]
    assert not [*find_learned(hold("rope", pos_embed=Tensor(np.eye(4))))]
    assert [kind for _, kind, _ in find_learned(hold(parameters={"pos_embed": Tensor(np.ones((1, 5, 4)))}))] == [
        "positions"
    ]


# ----------------------------------------------------------------------------------- modules


def test_every_module_is_gone_through_with_what_it_holds_itself_registered_or_not():
    rotary = Rotary()
    rotary.plain = Tensor(np.ones(3))
    rotary._buffers["nothing"] = None
    found = {one.shown: set(one.buffers) for one in list_holdings(Model(inner=Model(rotary=rotary)))}
    assert found == {"Model": set(), "inner": set(), "inner.rotary": {"inv_freq", "plain"}}


def test_numbers_are_taken_of_all_that_has_some():
    assert set(hold(a=Tensor(np.ones(1)), b=Tensor([True], "bool")).take()) == {"a"}
    assert not find_held(next(list_holdings(Module())))
    assert not find_held(hold(empty=Tensor(np.ones((0, 4)))))
