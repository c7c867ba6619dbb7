"""From modules and functions to what they turn and add."""

import numpy as np
import pytest

import pe_spectra
from pe_spectra.capturing.capture import capture
from pe_spectra.capturing.faults import KINDS
from pe_spectra.errors import InputError
from tests.capturing.fakes import Embedding, Model, Module, Rotary, Tensor, make_ladder, turn

SINES = pe_spectra.Sinusoidal(d=16).table(64)


def list_codes(found):
    return [(one.level, one.code, one.data.get("module")) for one in found.findings]


# ----------------------------------------------------------------------------------- modules


class OfKinds(Module):
    """One module for two kinds of layers, as transformers 5 has it."""

    def __init__(self):
        ladders = {"full_attention": make_ladder(base=1e6), "sliding_attention": make_ladder()}
        super().__init__(**{f"{name}_inv_freq": Tensor(one) for name, one in ladders.items()})

    def forward(self, x, position_ids, layer_type):
        return turn(position_ids.values[..., None] * self._buffers[f"{layer_type}_inv_freq"].values.astype(float))


class Silent(Module):
    """Inverse frequencies in a module that cannot be called."""

    def __init__(self, **more):
        super().__init__(inv_freq=Tensor(make_ladder()), **more)

    def forward(self, grid, sizes):
        raise AssertionError


class Cached(Module):
    """Cosines and sines of 40 positions, and no call without a query."""

    def __init__(self, size=40):
        cosines, sines = turn(np.arange(size)[:, None] * make_ladder())
        super().__init__(cos_cached=cosines, sin_cached=sines)

    def forward(self, states, rotate):
        raise AssertionError


class Lookup(Cached):
    """The same, looked up at positions; behind its last it has none."""

    def forward(self, position_ids):
        chosen = position_ids.values.reshape(-1)
        return Tensor(self.cos_cached.values[chosen]), Tensor(self.sin_cached.values[chosen])


def test_a_rotation_is_what_a_module_gives_and_its_frequencies_those_that_it_holds():
    found = capture(Model(rotary_emb=Rotary(scale=1.5)), positions=64)
    (one,) = found.rotations
    assert (found.subject, one.name, one.modules, one.source, one.why) == (
        "Model",
        "all",
        ("rotary_emb",),
        "call",
        None,
    )
    assert (one.rotation.base, one.rotation.attention_scaling, one.rotation.offset) == (10000, 1.5, 0)
    assert (one.rotation.layout, one.repeats) == (None, "half")
    np.testing.assert_array_equal(one.rotation.frequencies, make_ladder().astype(np.float32))
    assert one.waves.shape == (64, 64)
    assert one.dtypes == ("float32", "float32")


def test_alike_modules_are_one_and_others_have_the_names_of_their_paths():
    model = Model(a=Rotary(), b=Rotary(), c=Rotary(make_ladder(base=500.0)))
    found = capture(model, positions=16)
    assert [(one.name, one.modules) for one in found.rotations] == [("a", ("a", "b")), ("c", ("c",))]
    assert len(found.findings) == len(capture(Model(a=Rotary(), c=model.c), positions=16).findings)


def test_every_kind_of_layers_is_called_by_its_name():
    found = capture(OfKinds(), positions=16)
    assert {one.name: one.rotation.base for one in found.rotations} == {"full_attention": 1e6, "sliding_attention": 1e4}


def test_one_kind_of_two_modules_goes_by_their_paths():
    first, second = OfKinds(), OfKinds()
    for name, tensor in second._buffers.items():
        second._buffers[name] = Tensor(tensor.values**1.1)
    names = [one.name for one in capture(Model(a=first, b=second), positions=16).rotations]
    assert names == ["a.full_attention", "a.sliding_attention", "b.full_attention", "b.sliding_attention"]


def test_what_cannot_be_called_is_known_by_its_frequencies_or_its_cache():
    found = capture(Model(rotary=Silent()), positions=64)
    assert (found.rotations[0].source, found.rotations[0].waves) == ("frequencies", None)
    assert found.rotations[0].why == "its argument grid is not known"
    assert ("note", "taken-by-its-buffers", "rotary") in list_codes(found)
    (cached,) = capture(Model(rotary=Cached()), positions=64).rotations
    assert (cached.source, cached.waves.shape, cached.rotation.rows) == ("cache", (40, 32), 40)
    both = capture(Silent(**Cached()._buffers)).rotations[0]
    assert (both.source, both.rotation.base, len(both.listed)) == ("cache", 10000, 16)


def test_a_cache_that_is_looked_up_is_called_at_the_positions_that_it_has():
    (one,) = capture(Lookup(), positions=64).rotations
    assert (one.source, one.waves.shape, one.why) == ("call", (40, 64), None)


def test_what_is_given_goes_before_what_is_held_and_the_contrast_is_said():
    rotary = Rotary()
    rotary.forward = lambda x, position_ids: turn(position_ids.values[..., None] * make_ladder(base=500.0))
    (one,) = capture(rotary, positions=64).rotations
    assert one.rotation.base == 500
    assert one.rotation.notes == ("the module holds other frequencies than those that it turns by",)


def test_frequencies_stand_in_where_what_is_given_is_no_rotation():
    rotary = Rotary()
    noise = np.random.default_rng(0).uniform(0, 6, size=(64, 16))
    rotary.forward = lambda x, position_ids: turn(noise)
    found = capture(rotary, positions=64)
    assert found.rotations[0].source == "frequencies"
    assert "phases do not grow evenly" in found.rotations[0].why


def test_a_cache_that_is_no_rotation_is_refused():
    model = Cached()
    for name, tensor in model._buffers.items():
        tensor.values[:2] = tensor.values[5]
        assert name.endswith("cached")
    with pytest.raises(InputError):
        capture(model, positions=64)


def test_new_tensors_are_made_like_one_of_floating_point():
    class Counted(Rotary):
        def forward(self, x, position_ids):
            assert x.name == "float32"
            return super().forward(x, position_ids)

    counted = Counted()
    counted._buffers = {"step": Tensor(np.ones(1), "int64"), **counted._buffers}
    assert capture(counted, positions=16).rotations[0].source == "call"


def test_a_head_of_one_pair():
    (one,) = capture(Rotary([1.0]), positions=16).rotations
    assert (one.rotation.rotary_dim, one.listed.tolist()) == (2, [1.0])


def test_the_model_is_not_changed():
    rotary = Rotary()
    capture(rotary, positions=16)
    assert rotary.training
    assert rotary.inv_freq.name == "float32"


# ----------------------------------------------------------------------------------- faults


class Shrinking(Module):
    """The published encoding that scales its own buffer at each call."""

    def __init__(self):
        super().__init__(pe=Tensor(SINES[:, None]))

    def forward(self, x):
        self._buffers["pe"] = Tensor(self.pe.values * np.sqrt(2 / 16))
        return Tensor(x.values + self.pe.values) if x.shape[1] == 1 else 1 / 0


def test_a_buffer_that_changes_between_calls_is_an_error():
    found = capture(Model(encoding=Shrinking()))
    assert list_codes(found) == [("error", "changes-between-calls", "encoding")] * 2
    assert [one.message for one in found.findings] == [
        "encoding: a second call changes pe, to 0.353553 times its norm.",
        "encoding: a second call changes what it gives, to 0.353553 times its norm.",
    ]
    np.testing.assert_allclose(found.tables[0].values, SINES * np.sqrt(2 / 16), atol=1e-6)


def test_a_cache_that_grows_at_the_first_call_is_no_fault():
    class Growing(Lookup):
        def forward(self, position_ids):
            self._buffers |= Cached(int(position_ids.values.max()) + 1)._buffers
            return super().forward(position_ids)

    found = capture(Growing(), positions=64)
    assert found.rotations[0].waves.shape == (64, 64)
    assert "changes-between-calls" not in {one.code for one in found.findings}


def test_a_buffer_of_another_shape_has_no_ratio():
    class Longer(Rotary):
        def forward(self, x, position_ids):
            self._buffers["seen"] = Tensor(np.ones(1 + len(self._buffers.get("seen", Tensor([])).values)))
            return super().forward(x, position_ids)

    found = [one for one in capture(Longer(), positions=16).findings if one.code == "changes-between-calls"]
    assert [one.message for one in found] == ["Longer: a second call changes seen."]


def test_casting_rounds_the_frequencies_that_a_module_holds():
    found = [one for one in capture(Rotary(), positions=16).findings if one.code == "frequencies-rounded-by-cast"]
    assert [one.data["dtype"] for one in found] == ["float16", "bfloat16"]
    step = np.abs(make_ladder().astype(np.float32) - Rotary().bfloat16().inv_freq.float().values.astype(float)).max()
    assert found[1].data["first_position"] == int(np.pi / 8 / step) + 1
    assert f"from position {found[1].data['first_position']:,} on" in found[1].message


def test_frequencies_that_a_cast_leaves_alone_are_no_fault():
    rotary = Rotary()
    rotary.kept = rotary._buffers.pop("inv_freq")
    rotary.forward = lambda x, position_ids: turn(position_ids.values[..., None] * rotary.kept.values)
    found = capture(rotary, positions=16)
    assert (found.rotations[0].source, found.findings) == ("call", ())


def test_positions_that_are_rounded_in_a_narrow_type_share_their_rows():
    class Narrow(Rotary):
        def forward(self, x, position_ids):
            places = position_ids.cast(self.inv_freq.name).float().values
            return turn(places[..., None] * self.inv_freq.float().values)

    found = [one for one in capture(Narrow(), positions=300).findings if one.code == "positions-merged-by-cast"]
    assert [(one.data["cast"], one.data["positions"], one.data["distinct"]) for one in found] == [
        ("bfloat16", 300, 279)
    ]
    assert found[0].message == "Narrow after .bfloat16(): 300 positions have 279 different rows."


def test_frequencies_that_cannot_be_read_are_told_and_alone_refused():
    crossed = Module(inv_freq=Tensor([0.1, 1.0, 0.5]))
    found = capture(Model(text=Rotary(), visual=crossed), positions=16)
    assert [one.message for one in found.findings if one.code == "rotation-not-read"] == [
        "visual.inv_freq is not read: it is no list of frequencies that fall."
    ]
    with pytest.raises(InputError, match=r"nothing to capture \(Module: inv_freq is not read: it is no list"):
        capture(crossed)


def test_a_rotation_of_no_kind_that_is_read_does_not_hide_the_others():
    noise = np.random.default_rng(0).uniform(0, 6, size=(64, 8))
    given = Module(pe=Tensor(SINES))
    given.forward = lambda x: turn(noise)
    found = capture(Model(given=given, text=Rotary()), positions=64)
    assert [one.modules for one in found.rotations] == [("text",)]
    (unread,) = (one.data for one in found.findings if one.code == "rotation-not-read")
    assert unread["what"] == "given"
    assert "phases do not grow evenly" in unread["why"]


def test_a_module_that_cannot_be_copied_is_known_by_its_buffers():
    class Fixed(Rotary):
        def __deepcopy__(self, memo):
            raise RuntimeError("no copies")

    assert capture(Fixed()).rotations[0].why == "RuntimeError: no copies"


def test_a_whole_model_that_holds_a_cache_is_neither_copied_nor_called():
    class Whole(Lookup):
        def __deepcopy__(self, memo):
            raise AssertionError

    model = Whole()
    model._modules = {"output": Embedding(np.eye(4))}
    (one,) = capture(model, positions=16).rotations
    assert (one.source, one.why) == ("cache", "modules in it have parameters")


def test_every_kind_of_finding_is_provoked_here():
    with open(__file__, encoding="utf-8") as lines:
        text = lines.read()
    assert [code for code in KINDS if f'"{code}"' not in text] == []


# ----------------------------------------------------------------------------------- tables


def test_learned_tables_and_biases_are_taken_by_their_names():
    bias = Embedding(np.eye(32, 4))
    model = Model(wpe=Embedding(np.eye(8)), relative_attention_bias=bias, other=Model(wpe=Embedding(np.eye(8))))
    tables = {one.name: (one.holds, one.rows, one.columns, one.source) for one in capture(model).tables}
    assert tables == {
        "wpe.weight": ("positions", 8, 8, "table"),
        "relative_attention_bias.weight": ("buckets", 32, 4, "table"),
    }
    assert capture(model).tables[0].shared == ("other.wpe.weight",)


def test_a_table_of_sinusoids_is_what_its_module_adds_or_else_what_it_holds():
    added, held = Module(pe=Tensor(SINES)), Module(pe=Tensor(SINES))
    added.forward = lambda x: Tensor(x.values + 2 * SINES) if x.shape[0] == 1 else 1 / 0
    held.forward = lambda ids, mask: None
    (table,) = capture(added).tables
    assert (table.source, table.why, table.rows) == ("call", None, 64)
    np.testing.assert_allclose(table.values, 2 * SINES, atol=1e-6)
    found = capture(held)
    assert (found.tables[0].source, found.tables[0].why) == ("table", "its argument ids is not known")
    assert list_codes(found) == [("note", "taken-by-its-buffers", "Module")]
    held.forward = lambda x: Tensor(x.values[..., :8] + SINES[:, :8]) if x.shape[0] == 1 else 1 / 0
    assert capture(held).tables[0].why == "it gives no table"


def test_a_table_of_sinusoids_that_is_looked_up_to_turn_is_a_rotation():
    table = Module(embed_positions=Tensor(np.hstack([SINES[:, ::2], SINES[:, 1::2]])))
    sines, cosines = np.hsplit(table.embed_positions.values, 2)

    def forward(x, position_ids):
        return Tensor(sines[position_ids.values[0]]), Tensor(cosines[position_ids.values[0]])

    table.forward = forward
    found = capture(table)
    assert (found.tables, found.rotations[0].source) == ((), "call")


# ----------------------------------------------------------------------------------- functions and subjects


def test_functions_of_positions_are_called_too():
    def rule(x, /):
        return np.stack([np.sin(x), np.cos(x)], axis=1)

    def phasors(positions):
        return np.exp(1j * np.outer(positions, make_ladder()))

    assert [(one.name, one.rows, one.source) for one in capture(rule, positions=9).tables] == [("rule", 9, "call")]
    assert capture(phasors).rotations[0].rotation.base == 10000
    count = iter(range(9))
    assert list_codes(capture(lambda positions: rule(positions) + next(count))) == [
        ("error", "changes-between-calls", "<lambda>")
    ]


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ("text", r"nothing to capture \(str\); a module with named_modules, or a function of positions is accepted"),
        (Module(), r"nothing to capture \(Module\); a module that holds"),
        (lambda positions: positions.sum(), r"<lambda> gives nothing that can be captured"),
    ],
)
def test_a_subject_with_nothing_to_take_is_refused(subject, message):
    with pytest.raises(InputError, match=message):
        capture(subject)


@pytest.mark.parametrize(
    "positions", [1, 0, [0], [[0, 1]], [0.0, 1.0], [1, 2], [0, 2], [0, 1, 1], [0, 1, 1 << 53], np.zeros(0, dtype=int)]
)
def test_positions_rise_from_0_and_1(positions):
    with pytest.raises(InputError, match="positions"):
        capture(Rotary(), positions=positions)
    assert len(capture(Rotary(), positions=np.int64(3)).positions) == 3


def test_a_class_is_no_module():
    with pytest.raises(InputError, match=r"^a class is no module \(Rotary\)"):
        capture(Rotary)
