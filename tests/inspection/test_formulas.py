"""A table that is a formula of the catalogue is told so, and no other is."""

import numpy as np
import pytest

from pe_spectra import GivenArray, Learned, Sinusoidal, draw_portrait, inspect_table, read_encoding
from pe_spectra.answers.portraits import answer_portrait, say_formula
from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.pairs import list_orders
from pe_spectra.inspection.candidates import fit_frequencies, list_candidates, measure_frequencies
from pe_spectra.inspection.channels import fit_sinusoid
from pe_spectra.inspection.first_positions import search_phases
from pe_spectra.inspection.formulas import _bound_chance, find_formula
from pe_spectra.precision.dtypes import DTYPES, STORED_TYPES, round_to
from tests import planted

#: One of each fixed encoding, with each of its layouts, and numbers that are not at their default.
NAMED = (
    "sinusoidal:d=32",
    "sinusoidal:d=32,layout=concatenated",
    "sinusoidal:d=32,rho=500,offset=1,scale=0.02",
    "sinusoidal:d=31,rho=777",
    "tensor2tensor:d=32",
    "tensor2tensor:d=33,min_timescale=2,max_timescale=300,offset=2",
    "tape:d=32,length=96",
    "tape:d=32,rho=500,length=96",
    "learnable-sinusoid:d=32,start=decades",
    "dft:d=32",
    "dfstrans:d=32",
    "ramp:length=96",
    "ramp:d=4,length=96,denominator=n",
    "one-hot:d=96",
    "pixel-bands:d=32,length=96",
    "pixel-bands:d=32,bands=octave,max_freq=64,length=96",
    "periods",
    "mtan:d=32",
    "mtan:d=32,unit=20",
    "calendar",
    "calendar:rows=fixed,mode=sum,d=32",
    "tree",
    "tree:branching=3,depth=5,decay=0.8",
    "sincos2d:d=32,height=8,width=12",
    "sincos2d:d=32,height=8,width=12,order=timm",
    "sincos2d:d=32,height=8,width=12,order=timm-interleaved,cls=yes",
    "sincos2d:d=32,height=8,width=12,rho=100",
    "detr-sine:d=32,height=8,width=12",
)


def make(spec, dtype="float64", rows=96):
    encoding = read_encoding(spec)
    return round_to(encoding.table(np.arange(encoding.rows or rows)), DTYPES[dtype]).astype(float)


def test_every_fixed_encoding_is_among_those_that_are_tried():
    families = ("absolute", "temporal", "structural")
    fixed = {cls.name for cls in ENCODINGS if cls.family in families and hasattr(cls, "table") and not cls().is_random}
    assert {spec.partition(":")[0] for spec in NAMED} == fixed


SLOW = pytest.mark.slow


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "dtype", ["float32", *(pytest.param(one, marks=SLOW) for one in ("float64", "float16", "bfloat16"))]
)
@pytest.mark.parametrize("spec", NAMED)
def test_a_formula_is_named_so_that_it_can_be_typed(spec, dtype):
    table = make(spec, dtype)
    found = find_formula(table, dtype=dtype)
    assert (found.exact, found.first_position, found.reverse, found.order, found.factor) == (True, 0, False, "", 1.0)
    assert found.spec == read_encoding(spec).write_spec(brief=True)
    np.testing.assert_array_equal(make(found.spec, dtype), table)


@pytest.mark.few(4)
@pytest.mark.parametrize("first", [0, 1, 2, 40])
@pytest.mark.parametrize("spec", ["sinusoidal:d=32", "tensor2tensor:d=32", "mtan:d=32", "dft:d=32"])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_first_position_and_the_direction_are_told(spec, first, reverse):
    encoding = read_encoding(spec)
    positions = np.arange(first, first + 80)[:: -1 if reverse else 1]
    found = find_formula(encoding.table(positions), first=first)
    offset = found.encoding.offset if "offset" in found.encoding.given else 0
    told = found.encoding.table(np.arange(80) + found.first_position)[:: -1 if found.reverse else 1]
    np.testing.assert_allclose(told, encoding.table(positions), atol=1e-12)
    if spec != "dft:d=32":  # which is the same from its end, its sines negated
        assert (found.exact, offset + found.first_position, found.reverse) == (True, first, reverse)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "dtype", "reverse"),
    [
        ("sinusoidal:d=32,offset=3", "float64", False),
        ("sinusoidal:d=32,offset=5", "int8", False),
        ("sinusoidal:d=32,rho=500,offset=1000", "float16", True),
        ("sinusoidal:d=32,rho=500,layout=concatenated,offset=100000", "float32", False),
        ("tensor2tensor:d=32,offset=17", "float8_e4m3fn", False),
        ("tensor2tensor:d=32,max_timescale=777,offset=54321", "bfloat16", True),
    ],
)
def test_a_first_position_is_told_by_the_phases_of_pairs(spec, dtype, reverse):
    table = store(make(spec, rows=128), dtype)[:: -1 if reverse else 1]
    found = find_formula(table, dtype="float32" if dtype == "int8" else dtype)
    assert found.spec == read_encoding(spec).write_spec(brief=True)
    assert (found.exact, found.first_position, found.reverse, found.factor) == (True, 0, reverse, 1.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("spec", ["tape:d=32,rho=500,length=1024", "pixel-bands:d=32", "mtan:d=32"])
def test_a_ladder_without_an_offset_is_read_from_a_later_row(spec):
    found = find_formula(read_encoding(spec).table(np.arange(40, 140)))
    assert (found.spec, found.exact) == (read_encoding(spec).write_spec(brief=True), True)
    assert (found.first_position, found.reverse, found.order) == (40, False, "")


@pytest.mark.slow
@pytest.mark.parametrize("first", [3, 8, 1000])
def test_a_first_position_is_told_in_noise(first):
    spec = f"sinusoidal:d=32,rho=500,offset={first}"
    codes = make(spec, rows=128)
    table = codes + 0.05 * codes.std() * np.random.default_rng(first).standard_normal(codes.shape)
    assert find_formula(table).encoding.offset == first


@pytest.mark.few(1, keep=["3.5"])
@pytest.mark.parametrize("first", [3.5, -5.0, -40.25])
def test_phases_that_no_first_position_has_are_no_formula(first):
    """A ladder explains all of it; one with false phases would be told with false parameters."""
    table = Sinusoidal(d=64).table_at(first + np.arange(128)) if first > 0 else make_shifted(first)
    assert find_formula(table) is None


def make_shifted(first):
    angles = (first + np.arange(128))[:, None] * 10000.0 ** -(np.arange(0, 64, 2) / 64)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(128, 64)


@pytest.mark.parametrize("most", [50, 5000, 100_000])
def test_the_position_that_is_searched_is_that_of_all(most):
    """Coarse to fine against all positions, one by one."""
    generator = np.random.default_rng(most)
    frequencies = 10000.0 ** -(np.arange(12) / 12)
    for first in generator.integers(0, most, 5):
        turned = np.exp(1j * (frequencies * first + 0.1 * generator.standard_normal(12)))
        scores = np.exp(-1j * np.outer(np.arange(most + 1), frequencies)) @ turned
        assert search_phases(frequencies, turned, most)[0][0] == int(np.argmax(scores.real))


@pytest.mark.few(5)
@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("spec", ["sinusoidal:d=24", "tensor2tensor:d=24", "pixel-bands:d=24,length=80"])
def test_columns_in_every_order_are_the_formula(spec, place):
    _, order = list(list_orders(24))[place]
    codes = read_encoding(spec).table(80)
    found = find_formula(codes[:, order] / 8)
    told = {words.format(a="the formula", b="the table"): columns for words, columns in list_orders(24)}[found.order]
    assert found.exact
    np.testing.assert_allclose(found.factor * found.encoding.table(80)[:, told], codes[:, order] / 8, atol=1e-13)


@pytest.mark.few(2)
@pytest.mark.parametrize("spec", ["sinusoidal:d=64", "tensor2tensor:d=64", "dft:d=64", "sincos2d:d=64"])
@pytest.mark.parametrize("size", [0.05, 0.3, 0.8])
def test_what_training_left_of_a_formula_is_its_share(spec, size):
    """The share is that of the variance about the mean row, computed here without the program."""
    codes = make(spec, rows=160)
    energy = np.square(codes - codes.mean(axis=0)).sum()
    moved = planted.make_walk(*codes.shape, seed=3)
    moved -= moved.mean(axis=0)
    table = codes + size * moved * np.sqrt(energy / np.square(moved).sum()) + np.linspace(-1, 1, codes.shape[1])
    found = find_formula(table)
    share = np.corrcoef((table - table.mean(axis=0)).ravel(), (codes - codes.mean(axis=0)).ravel())[0, 1] ** 2
    assert not found.exact
    assert found.share == pytest.approx(share, abs=2e-3)
    if size < 0.5:
        assert found.spec == spec


def draw_learned(seed):
    """A table as training might leave one: a walk, an autoregression, ladders that drift, noise, few directions."""
    generator = np.random.default_rng(seed)
    rows, width = int(generator.choice([64, 197, 256])), int(generator.choice([2, 3, 4, 6, 8, 16, 64, 96]))
    kind, s = seed % 8, np.arange(rows)[:, None]
    if kind == 0:
        drift = 10000.0 ** -(np.arange(width) / width) * (1 + 0.1 * generator.standard_normal(width) * s / rows)
        return np.cos(drift * s + generator.uniform(0, 6.28, width)) + 0.1 * planted.make_walk(rows, width, seed)
    if kind == 1:
        return planted.make_walk(rows, 2, seed) @ generator.standard_normal((2, width))
    if kind == 2:
        return np.cumsum(planted.make_walk(rows, width, seed), axis=0)
    makers = {3: planted.make_walk, 4: planted.make_noise, 5: planted.make_logarithm}
    if kind in makers:
        return makers[kind](rows, width, seed)
    if kind == 6:
        return planted.make_walk(rows, width, seed, 0.9) + 20 * generator.standard_normal(width)
    return planted.make_lively(rows, max(width, 16), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(16), pytest.param(range(16, 200), marks=SLOW)])
def test_no_table_without_a_formula_is_called_one(seeds):
    assert [seed for seed in seeds if find_formula(draw_learned(seed)) is not None] == []


@pytest.mark.parametrize("seeds", [range(16), pytest.param(range(16, 200), marks=SLOW)])
def test_no_table_without_a_ladder_has_a_nearest_one(seeds):
    seeds = [seed for seed in seeds if seed % 8]  # those of 0 have ladders that drift
    assert [seed for seed in seeds if fit_sinusoid(draw_learned(seed)) is not None] == []


def test_the_chance_bound_is_that_of_a_table_turned_at_random():
    """Of products with one direction, at most 0.001 exceed it; naively, by drawing unit vectors."""
    generator = np.random.default_rng(0)
    for width in (3, 8, 32):
        drawn = generator.standard_normal((200_000, width))
        shares = drawn[:, 0] ** 2 / np.square(drawn).sum(axis=1)
        assert 0 < np.mean(shares > _bound_chance(1, width)) <= 1e-3


@pytest.mark.parametrize("rho", [3.0, 100.0, 1e4])
def test_two_columns_have_no_base(rho):
    metrics = inspect_table(Sinusoidal(d=2, rho=rho).table(64)).metrics
    assert metrics["nearest_sinusoid_rho"] is metrics["nearest_sinusoid_share"] is None


@pytest.mark.parametrize("spec", ["ramp:d=8", "dft:d=64", "one-hot:d=64", "learnable-sinusoid:d=32,start=decades"])
def test_what_is_no_ladder_of_those_tried_has_none(spec):
    assert fit_sinusoid(make(spec)) is None


def test_a_row_of_padding_is_passed_over():
    table = make("tensor2tensor:d=32")
    table[1] = 0
    found = inspect_table(table).formula
    assert (found.spec, found.exact, found.rows_left_out) == ("tensor2tensor:d=32", True, 1)


@pytest.mark.slow
def test_a_row_in_front_that_is_special_stays_so():
    table = make("sinusoidal:d=32")
    table[0] = 2 * np.random.default_rng(0).standard_normal(32)
    found = inspect_table(table)
    assert (found.formula.spec, found.formula.exact, found.formula.rows_left_out) == ("sinusoidal:d=32", True, 1)
    assert [one.code for one in found.findings] == ["special-first-row"]


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(14, 14), (12, 27), (4, 36)])
def test_nothing_is_told_of_the_rows_that_a_formula_gives(shape):
    """A grid behind a row of zeros, read as a line: no old size, no regular jumps."""
    found = inspect_table(make(f"sincos2d:d=64,height={shape[0]},width={shape[1]},cls=yes"))
    assert (found.formula.exact, found.formula.encoding.shape) == (True, shape)
    assert [one.code for one in found.findings] == ["special-first-row"]


@pytest.mark.slow
def test_no_training_is_told_of_a_formula():
    assert inspect_table(make("sinusoidal:d=32,rho=50", rows=200)).findings == ()


def test_a_formula_that_was_asked_for_is_not_looked_for():
    assert draw_portrait(Sinusoidal(d=8)).formula is None


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(12))
def test_the_sentence_says_what_was_measured(seed):
    generator = np.random.default_rng(seed)
    spec = str(generator.choice(["sinusoidal:d=32", "mtan:d=32", "dft:d=32"]))
    table = make(spec) * float(generator.choice([1.0, 0.5])) + generator.choice([0.0, 1e-3, 0.05]) * (
        generator.standard_normal((96, 32))
    )
    portrait = draw_portrait(Learned(values=GivenArray(table[:: int(generator.choice([-1, 1]))])))
    found, text = portrait.formula, say_formula(portrait.formula)
    assert found.spec in text
    assert ("number by number" in text) is found.exact
    assert ("reverse" in text) is found.reverse
    assert ("times" in text) is (found.factor != 1)
    assert (f"{100 * found.share:.1f} %" in text) is (not found.exact and 1 - found.share >= 5e-4)
    assert ("formula", text) in answer_portrait(portrait).facts


def test_candidates_have_the_size_that_was_asked_for():
    for rows, width in ((12, 4), (30, 9)):
        for encoding in list_candidates(rows, width):
            assert encoding.table(np.arange(rows)).shape == (rows, width)


def test_frequencies_are_measured_and_fitted_as_they_are():
    encoding = Sinusoidal(d=16, rho=321.0)
    labels = np.repeat(np.arange(1, 9), 2) * np.tile([1, -1], 8)
    measured = measure_frequencies(encoding.table(50), labels)
    np.testing.assert_allclose(measured, encoding.frequencies().values, rtol=1e-9)
    assert fit_frequencies(Sinusoidal(d=16), measured).rho == pytest.approx(321.0, rel=1e-9)
    assert measure_frequencies(planted.make_noise(64, 16), labels) is None


def compute_in_float32(d, rows, layout):
    """Make sinusoids as the tutorials of PyTorch ("interleaved") and as fairseq do, every step in float32."""
    single = np.float32
    count = d // 2
    base = -np.log(10000.0) / (count if layout == "interleaved" else count - 1)
    frequencies = np.exp(np.arange(count, dtype=single) * single(base))
    angles = np.arange(rows, dtype=single)[:, None] * frequencies
    assert angles.dtype == single
    both = np.sin(angles), np.cos(angles)
    return np.stack(both, axis=2).reshape(rows, d) if layout == "interleaved" else np.concatenate(both, axis=1)


@pytest.mark.few(2)
@pytest.mark.parametrize("layout", ["interleaved", "halves"])
@pytest.mark.parametrize(("d", "rows"), [(64, 512), (64, 2048), (256, 512), (256, 1024), (512, 256), (768, 512)])
def test_angles_in_float32_give_no_false_digits(d, rows, layout):
    found = find_formula(compute_in_float32(d, rows, layout).astype(float), dtype="float32")
    name = "sinusoidal" if layout == "interleaved" else "tensor2tensor"
    assert (found.spec, found.factor) == (read_encoding(f"{name}:d={d}").write_spec(brief=True), 1.0)
    assert 0 < 1 - found.share < found.rounding < 1e-6


@pytest.mark.slow
def test_digits_that_are_true_are_kept():
    for rho in (10000.002, 10000.5):
        found = find_formula(make(f"sinusoidal:d=64,rho={rho}", "float32", 512), dtype="float32")
        assert (found.encoding.rho, found.exact) == (rho, True)


@pytest.mark.slow
def test_the_type_is_told_where_the_numbers_tell_it():
    for table, said in ((np.eye(64), ""), (0.5 * np.eye(64), "bfloat16"), (Sinusoidal(d=8).table(64), "float64")):
        found = inspect_table(table).formula
        assert (found.exact, found.dtype) == (True, said)
        assert ("(" in say_formula(found)) is bool(said)


@pytest.mark.few(5)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("factor", [0.0123456789, 1 / 3, 2**0.5, 1.2345678, 1.3, 0.02])
def test_a_factor_has_the_digits_that_its_table_settles(dtype, factor):
    found = inspect_table((read_encoding("dft:d=64").table(64) * factor).astype(dtype)).formula
    assert found.exact
    digits = f"{found.factor:.10g}".partition("e")[0].lstrip("0.").replace(".", "")
    unit = 10.0 ** (np.floor(np.log10(factor)) + 1 - len(digits))
    assert abs(found.factor - factor) <= 1.001 * unit
    assert abs(found.factor - factor) <= max(2 * np.finfo(dtype).eps, 1e-13) * factor


def test_the_few_numbers_of_a_formula_are_no_rounding():
    """Two of the five numbers of a table are off by 1 %: rounding to those five would hide it."""
    table = np.round(read_encoding("dft:d=8").table(64), 6)
    is_changed = np.isclose(np.abs(table), table[0, 0])
    table[is_changed] *= 1.01
    found = inspect_table(table).formula
    assert (found.spec, found.exact) == ("dft:d=8", False)
    assert found.numbers_share == 1 - is_changed.mean()


def test_a_factor_goes_with_the_length_of_the_table():
    found = inspect_table(np.tile(np.arange(64.0)[:, None], 4)).formula
    assert (found.encoding.length, found.factor, found.exact) in {(64, 64.0, True), (64, 63.0, True)}
    found = inspect_table(read_encoding("ramp:d=4").table(64)).formula
    assert (found.spec, found.factor, found.exact) == ("ramp:d=4", 1.0, True)


@pytest.mark.few(2)
@pytest.mark.parametrize("factor", [1e-300, 1e-100, 1e100, 1e150, 1e300])
@pytest.mark.parametrize("spec", ["sinusoidal:d=32", "tensor2tensor:d=32", "dft:d=32"])
def test_a_formula_of_any_magnitude_is_told(spec, factor):
    found = inspect_table(factor * make(spec)).formula
    scale = found.encoding.scale if "scale" in found.encoding.given else 1.0
    assert (found.encoding.name, found.exact) == (spec.partition(":")[0], True)
    assert found.factor * scale == pytest.approx(factor, rel=1e-13, abs=0)


def store(table, dtype):
    """A table rounded to nearest in a type, done here by its step at each number; or to 255 numbers."""
    if dtype == "int8":
        scale = np.float32(np.abs(table).max() / 127)
        return (np.rint(table.astype(np.float32) / scale) * scale).astype(float)
    kind = STORED_TYPES[dtype]
    step = np.ldexp(1.0, np.maximum(np.frexp(table)[1] - 1, kind.exponent) - kind.digits + 1)
    return np.rint(table / step) * step


@pytest.mark.few(5)
@pytest.mark.parametrize("dtype", STORED_TYPES)
def test_a_formula_is_found_in_every_type_that_tables_are_stored_in(dtype):
    found = find_formula(store(Sinusoidal(d=32).table(64), dtype), dtype=dtype)
    assert (found.spec, found.exact, found.levels) == ("sinusoidal:d=32", True, None)


COARSE = ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int8")


@pytest.mark.few(4, keep=["sinusoidal:d=32,rho=777-float4_e2m1fn"])
@pytest.mark.parametrize("dtype", COARSE)
@pytest.mark.parametrize(
    "spec",
    [
        "sinusoidal:d=32,rho=500",
        "sinusoidal:d=32,rho=777",
        "sinusoidal:d=32,rho=100,layout=concatenated",
        "tensor2tensor:d=32,max_timescale=777",
        "tape:d=32,rho=500,length=96",
        "mtan:d=32",
    ],
)
def test_a_base_is_told_from_few_digits(spec, dtype):
    table = store(make(spec), dtype)
    found = find_formula(table, dtype="float32" if dtype == "int8" else dtype)
    assert (found.spec, found.exact, found.numbers_share) == (read_encoding(spec).write_spec(brief=True), True, 1.0)
    assert (found.first_position, found.order, found.factor) == (0, "", 1.0)
    assert found.levels == (len(np.unique(table)) if dtype == "int8" else None)
    assert f"(rounded to the nearest of its {found.levels} numbers)" in say_formula(found) or dtype != "int8"


@pytest.mark.slow
def test_how_many_numbers_are_the_formulas_is_counted():
    table = make("sinusoidal:d=32", "bfloat16")
    for places in (slice(0, 1), slice(None, None, 3)):
        changed = table.copy()
        changed[places, ::2] += 0.5
        found = find_formula(changed, dtype="bfloat16")
        assert found.spec == "sinusoidal:d=32"
        assert found.numbers_share == np.mean(changed == table)
        assert f"{100 * found.numbers_share:.1f} % of its numbers" in say_formula(found)


def test_others_that_are_the_same_are_named():
    """As many rows as columns: tAPE is the sinusoid."""
    found = find_formula(Sinusoidal(d=64).table(64))
    assert (found.spec, found.alternatives) == ("sinusoidal:d=64", ("tape:d=64,length=64",))
    assert "so is tape:d=64,length=64" in say_formula(found)
    assert find_formula(Sinusoidal(d=64).table(65)).alternatives == ()


@pytest.mark.slow
def test_a_parameter_that_changes_nothing_is_not_told():
    found = find_formula(Sinusoidal(d=2, rho=300.0).table(64))
    assert (found.exact, found.parameters_not_told) == (True, ("rho",))
    assert "rho cannot be told" in say_formula(found)
    for dtype in ("float64", *COARSE):
        assert find_formula(store(Sinusoidal(d=8).table(200), dtype), dtype=dtype).parameters_not_told == ()


@pytest.mark.parametrize("dtype", COARSE)
def test_slow_pairs_are_followed_over_many_rows(dtype):
    encoding = Sinusoidal(d=16, rho=321.0)
    labels = np.repeat(np.arange(1, 9), 2) * np.tile([1, -1], 8)
    measured = measure_frequencies(store(encoding.table(400), dtype), labels)
    np.testing.assert_allclose(measured, encoding.frequencies().values, rtol=0.05)
