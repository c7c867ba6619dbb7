"""What finite precision leaves of an encoding: each recipe in each number type, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pe_spectra.encodings import Encoding, HasContinuousTable, HasTable
from pe_spectra.encodings.codes import Codes, check_encoding, find_codes, find_exact_key, is_sampled, list_places
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, NDArray
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_POSITION, MAX_STREAMED_ENTRIES
from pe_spectra.numbers import IntegerRange, RealRange
from pe_spectra.ordering import list_distinct
from pe_spectra.precision.dtypes import DTYPE, RECIPES, Carried, Recipe, Steps, find_recipe
from pe_spectra.precision.hashed_rows import Places, list_blocks
from pe_spectra.precision.passes import LadderPass, Pass, Pipeline, TablePass
from pe_spectra.precision.phase_bounds import bound_phase_errors
from pe_spectra.precision.rounding_report import PrecisionReport, Stage
from pe_spectra.precision.waves import Front, Waves, cast_positions, find_waves
from pe_spectra.records import dataclass
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.vocabulary import COMMON_DTYPES, COMMON_RECIPES

#: Standard deviation of a token's embedding.
SPREAD = RealRange(minimum=1e-6, maximum=1e6)
DEFAULT_SPREAD = 1.0


def measure_precision(
    encoding: Encoding,
    *,
    length: int | None = None,
    start_position: int = 0,
    dtypes: Sequence[str] = COMMON_DTYPES,
    recipes: Sequence[str | Recipe] | None = None,
    embedding: float = DEFAULT_SPREAD,
) -> PrecisionReport:
    """Say what each recipe leaves of an encoding in each number type, stage by stage.

    Positions are cast; frequencies are; their products are formed in a type, and sines and cosines of these
    rounded phases; the code is cast, and added to a token's embedding. Which step is in which type is what a
    recipe says (`dtypes.RECIPES`). Sines and cosines are those of the rounded phase, rounded to nearest; all
    other steps are rounded to nearest, too. Tables and biases are only cast and, where their encoding is added
    to a token, added.

    Parameters
    ----------
    encoding : anything with a table, rows for lags or a bias of the lag.
    length : number of positions S, 1 to 1048576; default all rows of a table, else 80. S times columns times
        different pipelines at most 2**33.
    start_position : the first of them, 0 to 2**53. Lags are the same wherever positions begin; encodings at real
        positions have their own, each larger than the one before.
    dtypes : names of `dtypes.DTYPES`.
    recipes : names, or recipes of one's own; default all but narrow-frequencies that the encoding has
        the steps for.
    embedding : standard deviation of the token's embedding, 1e-6 to 1e6: one draw of independent normal numbers,
        the same at every position.

    Raises
    ------
    InputError : a name that is not known, a recipe without meaning for the encoding, or too much work.

    >>> from pe_spectra import Sinusoidal
    >>> report = measure_precision(Sinusoidal(d=16), length=1024, dtypes=["bfloat16"], recipes=["narrow-positions"])
    >>> report.rows[0].stage, report.rows[0].distinct, report.rows[0].first_collision
    ('positions', 513, (256, 257))
    """
    check_encoding(encoding)
    start = IntegerRange(minimum=0, maximum=MAX_POSITION).check(start_position, "start_position")
    size = _check_places(encoding, length, start)
    kinds = tuple(dict.fromkeys(DTYPE.check(name, "dtype") for name in dtypes))
    spread = SPREAD.check(embedding, "embedding")
    if isinstance(encoding, HasTable):
        _check_work(encoding.d, size, 1)  # the words of a million frequencies alone take seconds
    subject = _look_at(encoding, size, start)
    chosen = _choose_recipes(subject, recipes)
    pipelines = {(name, recipe.name): recipe.resolve(name) for name in kinds for recipe in chosen}
    _check_work(subject.columns, size, len(set(pipelines.values())))
    is_added = encoding.domain == "positions" and encoding.family != "rotary"
    measured = _measure(subject, set(pipelines.values()), spread if is_added else None)
    exact = None if subject.keys is None else len(list_distinct(subject.keys))
    rows = [
        replace(stage, dtype=dtype, recipe=recipe, phase_error_bound=bounds.get(stage.stage, bounds.get("phases")))
        for (dtype, recipe), steps in pipelines.items()
        for bounds in [_bound_errors(subject, steps)]
        for stage in measured[steps].stages
    ]
    return PrecisionReport(
        encoding=encoding,
        length=size,
        start_position=start,
        domain=encoding.domain,
        dtypes=kinds,
        recipes=chosen,
        embedding=spread,
        exact_distinct=exact,
        rows=tuple(rows),
        stairs=tuple(
            replace(stair, dtype=dtype, recipe=recipe)
            for (dtype, recipe), steps in pipelines.items()
            for stair in measured[steps].stairs
        ),
        notes=(*encoding.all_notes, *subject.notes, *_explain(encoding, spread if is_added else None, rows, exact)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Subject:
    """An encoding with its steps: waves, or only codes.

    Attributes
    ----------
    places : what positions, or lags, are called: themselves, or of real positions their numbers.
    exact : where they are.
    evaluate : computes exact codes there; at real positions where `is_continuous`.
    keys : equal where codes are in exact arithmetic; None where no theorem applies.
    """

    places: I64
    exact: F64
    columns: int
    keys: I64 | None = None
    waves: Waves | None = None
    evaluate: Callable[[F64], F64] | None = None
    is_continuous: bool = False
    notes: tuple[str, ...] = ()


def _check_places(encoding: Encoding, length: int | None, start: int) -> int:
    """Return the number of positions; refuse a start that they, or lags, do not have."""
    if not start:
        return check_length(encoding, length)
    if encoding.domain == "lags":
        raise InputError("start_position has no meaning for lags", str(start), "leave it out: lags do not depend on it")
    if is_sampled(encoding):
        raise InputError("start_position has no meaning at real positions", str(start), "leave it out")
    size = check_length(encoding, length if encoding.rows is None or length else max(1, encoding.rows - start))
    last = (encoding.rows or MAX_POSITION - getattr(encoding, "offset", 0) + 1) - 1
    if start + size - 1 > last:
        raise InputError(
            "start_position leads beyond the positions of an encoding",
            f"{start} to {start + size - 1}",
            f"{encoding.label} has positions 0 to {last}",
        )
    return size


def _look_at(encoding: Encoding, size: int, start: int) -> _Subject:
    places = list_places(encoding, size) + start
    exact, keys, plain = places.astype(np.float64), find_exact_key(encoding, places), encoding
    if is_sampled(encoding):
        from pe_spectra.faithfulness.certificates import find_rational_key

        exact, keys, plain = encoding.positions, find_rational_key(encoding), encoding.encoding
        falls = np.flatnonzero(np.diff(exact) <= 0)[:1]
        if len(falls):
            before, after = exact[falls[0] : falls[0] + 2].tolist()
            raise InputError("positions do not grow", f"{after:g} after {before:g}", "each larger than the one before")
    known = partial(_Subject, places=places, exact=exact, keys=keys)
    waves = find_waves(plain)
    if waves is not None:
        return known(columns=waves.columns, waves=waves)
    is_continuous = isinstance(plain, HasContinuousTable)
    if is_continuous or is_sampled(encoding):
        from pe_spectra.encodings.sampled import read_table_at

        note, read = _FORMULA if is_continuous else _ONLY_CAST, partial(read_table_at, plain)
        d = int(getattr(plain, "d", 1))
        return known(columns=d, evaluate=read, is_continuous=is_continuous, notes=(note,))
    codes = find_codes(encoding)
    if codes is None:
        raise InputError(
            f"{encoding.name}: its bias belongs to a query and a key, so neither positions nor lags have a code",
            accepted="an encoding with a table, or with a bias or rows by lag, is accepted",
        )
    evaluate = _read_rows(codes, places, are_rows=encoding.domain == "positions")
    return known(columns=codes.columns, evaluate=evaluate, notes=(_ONLY_CAST,))


_FORMULA = "its formula is computed in float64: only positions and vectors are cast"
_ONLY_CAST = "its vectors are computed in float64 and then cast: how its implementations compute them is not known here"


def _read_rows(codes: Codes, places: I64, *, are_rows: bool) -> Callable[[F64], F64]:
    if are_rows and len(places) * codes.columns <= MAX_HELD_ENTRIES >> 2:
        table = codes.at(places)
        return lambda chosen: table[chosen.astype(np.int64) - places[0]]
    return lambda chosen: codes.at(chosen.astype(np.int64))


def _choose_recipes(subject: _Subject, recipes: Sequence[str | Recipe] | None) -> tuple[Recipe, ...]:
    """Return the recipes asked for, or the common ones for which the encoding has the steps."""
    possible = [recipe for recipe in RECIPES.values() if _is_possible(subject, recipe)]
    if recipes is None:
        return tuple(recipe for recipe in possible if recipe.name in COMMON_RECIPES)
    chosen = []
    for one in recipes:
        recipe = one if isinstance(one, Recipe) else find_recipe(one)
        if not _is_possible(subject, recipe):
            names = ", ".join(other.title for other in possible)
            what = "recipe has steps that this encoding has not, being no list of sines and cosines"
            raise InputError(what, recipe.title, f"accepted here: {names}")
        chosen.append(recipe)
    return tuple(dict.fromkeys(chosen))


def _is_possible(subject: _Subject, recipe: Recipe) -> bool:
    bare = recipe.casts_positions_alone and (subject.is_continuous or recipe.positions == "float32")
    return subject.waves is not None or bare


def _check_work(columns: int, size: int, pipelines: int) -> None:
    if columns * size * pipelines > MAX_STREAMED_ENTRIES:
        raise InputError(
            "length x columns x recipes in their types is too large",
            f"{size} x {columns} x {pipelines}",
            f"at most {MAX_STREAMED_ENTRIES} (2**33) is accepted: a smaller length, or fewer types and recipes",
        )


def _measure(subject: _Subject, pipelines: set[Steps], spread: float | None) -> dict[Steps, Pipeline]:
    """Measure all pipelines; those that share steps up to the sines share a pass."""
    fronts: dict[Steps, list[Steps]] = {}
    for steps in sorted(pipelines, key=str):
        kind = steps.sines
        fronts.setdefault(steps._replace(code=kind, sum=kind), []).append(steps)
    moving = _find_moving(subject)
    measured: dict[Steps, Pipeline] = {}
    for steps, members in fronts.items():
        measured |= _prepare(subject, steps, members, moving, spread).measure()
    return measured


def _prepare(
    subject: _Subject, steps: Steps, members: Sequence[Steps], moving: NDArray[np.bool_], spread: float | None
) -> Pass:
    """Build the pass of pipelines that share `steps` up to the sines."""
    if subject.waves is not None:
        cast = cast_positions(subject.exact, steps.positions, subject.waves.offset)
        front = Front(waves=subject.waves, steps=steps, cast=cast)
        places = Places(values=subject.places, groups=cast.groups, keys=subject.keys)
        return LadderPass(
            steps=steps,
            members=members,
            places=places,
            moving=moving,
            spread=spread,
            front=front,
            exact=subject.exact,
        )
    positions: Carried | None = None
    groups, exact = np.arange(len(subject.places)), subject.exact
    if subject.is_continuous:
        positions, groups, _, _ = cast_positions(subject.exact, steps.positions)
        exact = positions.astype(np.float64)

    def evaluate(rows: I64) -> F64:
        chosen = exact[rows]
        finite = np.isfinite(chosen)
        codes = _evaluate(subject, np.where(finite, chosen, 0.0))
        return codes if finite.all() else np.where(finite[:, None], codes, np.nan)

    return TablePass(
        steps=steps,
        members=members,
        places=Places(values=subject.places, groups=groups, keys=subject.keys),
        moving=moving,
        spread=spread,
        evaluate=evaluate,
        positions=positions,
    )


def _evaluate(subject: _Subject, places: F64) -> F64:
    if subject.evaluate is None:
        raise InputError("the encoding has no codes")
    return np.asarray(subject.evaluate(places), dtype=np.float64)


def _bound_errors(subject: _Subject, steps: Steps) -> dict[str, float | None]:
    """What phase errors are at most after each stage, from `phases` on the same; nothing of what has no phases."""
    if subject.waves is None:
        return {}
    positions = np.abs(subject.exact + subject.waves.offset)
    are_whole = bool((positions == np.rint(positions)).all())
    bounds = bound_phase_errors(subject.waves.high, float(positions.max()), steps, are_whole=are_whole)
    return bounds._asdict()


def _find_moving(subject: _Subject) -> NDArray[np.bool_]:
    """Say of each column whether it has more than one value, before any cast."""
    if subject.waves is not None:
        turns = subject.waves.high != 0
        return np.concatenate([turns[subject.waves.sines], turns[subject.waves.cosines]])
    moving = np.zeros(subject.columns, dtype=bool)
    first = _evaluate(subject, subject.exact[:1])
    for part in list_blocks(len(subject.places), subject.columns):
        moving |= (_evaluate(subject, subject.exact[part]) != first).any(axis=0)
        if moving.all():
            break
    return moving


def _explain(encoding: Encoding, spread: float | None, rows: Sequence[Stage], exact: int | None) -> tuple[str, ...]:
    found = []
    if spread is not None:
        found.append(
            f"sum: code and one token's embedding, drawn from a normal distribution of standard deviation "
            f"{spread:g}, the same at every position"
        )
    elif encoding.family == "rotary":
        found.append("the code is the cache of cosines and sines; it is added to nothing, so there is no stage sum")
    most = max(row.distinct for row in rows if row.stage == "code")
    if exact is not None and exact < most:
        found.append(f"in exact arithmetic {exact} vectors are distinct: what tells more of them apart is rounding")
    if any(row.not_finite for row in rows):
        found.append(
            "numbers beyond the largest of a type become infinite, or NaN where it has no infinities; hardware that "
            "saturates gives the largest instead, as the types of eight bits under their names with -saturating"
        )
    beyond = {row.recipe for row in rows if row.stage in ("code", "sum") and row.min_separation is None}
    if beyond and rows[0].total > 1 and not all(row.not_finite for row in rows if row.recipe in beyond):
        found.append(
            "where min_separation is left out, too many pairs of rows come into question, or a row is not finite"
        )
    return tuple(found)
