"""What the model of a configuration needs for a longer context: the ways that there are, one of them, and its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import FileError
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks.about_scaling import NEAR
from pe_spectra.models.lengths.adapted import Attempt, Model, NewConfiguration, find_configuration
from pe_spectra.models.lengths.methods import ContextReport, MethodResult, compare_methods
from pe_spectra.models.lengths.proposals import RECOMMENDED, WAYS, list_formulas_of_length
from pe_spectra.models.lengths.starting import check_ladder, check_range, choose_one, find_lengths, list_turned
from pe_spectra.models.stacks import ANSWERING, STACKS, Stack
from pe_spectra.models.stated.statement import ORIGINAL, Configuration, LayerStatement
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import join, write_number

Outcome = Literal["nothing-needed", "lengthened", "trained-with-scaling", "not-written", "not-read"]
#: Scalings that stretch a model which may have been trained without them.
_RAISED, _REPLACED = ("linear", "yarn"), ("dynamic",)


@dataclass(frozen=True, kw_only=True)
class Plan(Result):
    """What one model needs for the target."""

    file: str = quantity("The file, as it was named; - is standard input.")
    model: str = quantity("Its model_type; empty where the file has none.", schema={"type": "string"})
    part: str = quantity("The part that is lengthened, dotted; empty for the whole.", schema={"type": "string"})
    layers: tuple[str, ...] = quantity("The types of layers that see all positions.", default=())
    scaling: str = quantity("The scaling that the file states, or its class has, none for no scaling.")
    by_class: bool = quantity("Whether no key states it: it is the default of the model's class.", default=False)
    factor: float | None = quantity("Its factor; null without one.", default=None, above=0)
    original: int | None = quantity("The length before it; null where it is not known.", default=None, minimum=1)
    reach: int = quantity("The context length that the file reaches as it is.", unit="positions", minimum=1)
    outcome: Outcome = quantity("What comes of it.", words=get_args(Outcome))
    method: str | None = quantity("The way that is recommended; null for none.", words=(*WAYS, None), default=None)
    reason: str = quantity("Why, or why none is.")
    training: str = quantity("What training that way needs, as published.", schema={"type": "string"}, default="")
    configuration: NewConfiguration | None = quantity("The new configuration; null where none is made.", default=None)
    written: str | None = quantity("The file that it was written to; null for none.", default=None)

    @property
    def stated(self) -> str:
        """Who has the scaling, and which, as the beginning of a sentence."""
        who = f"by default the class of {self.model} has" if self.by_class else "the file states"
        return f"{who} {self.scaling}{f' x{write_number(self.factor)}' if self.factor is not None else ''}"


def plan_lengthening(
    configuration: Configuration,
    keys: Mapping[str, Any] | None,
    *,
    target: int,
    trained: int | None = None,
    stack: Stack | None = None,
) -> tuple[Plan, ContextReport]:
    """Find what a model needs for a target, and compare the ways; the report has no rows where nothing is needed.

    Parameters
    ----------
    configuration : what its file states. keys : the object of its config.json; None for a file of another kind.
    target : positions wanted. trained : training context length that goes before the file's.
    stack : the implementation that the new configuration is for; None for the newest transformers.

    Raises
    ------
    FileError : the model has no rotation that can be lengthened, or the file does not say from which length.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 2048}
    >>> plan, report = plan_lengthening(read_configuration(config, "config.json"), config, target=4096)
    >>> plan.method, plan.configuration.block["factor"], report.trained
    ('yarn', 2.0, 2048)
    """
    turned = list_turned(configuration, trained)
    by = stack or ANSWERING[configuration.format]()
    seen = {one.name: by.see(configuration, one.statement) for one in turned}
    far = [one for one in turned if _sees_far(one, seen[one.name])]
    # that a stack keeps to a window is not taken for granted where it was not measured
    doubts = not far and all(one.doubted is not None for one in seen.values())
    far = turned if doubts else far
    model = Model(configuration, keys, far, [one for one in turned if one not in far], target, stack)
    reach, original = find_lengths(configuration.path, (far or turned)[0], trained)
    reach = max(reach, original or 0)
    check_range(configuration.path, (far or turned)[0], original or reach)
    plan = _begin(model, (far or turned)[0], reach, original)
    if not far or target <= reach:
        why = f"the file reaches {reach:,} positions as it is"
        if target > reach:
            why = (
                f"all layers that are turned see at most {turned[0].reach:,} positions at once, fewer than training had"
            )
        return replace(plan, reason=why), _report_nothing(far or turned, original or reach, target)
    layer = choose_one(configuration.path, far)
    if original is None:
        stated = f"states {plan.scaling} x{write_number(plan.factor or 1)} but not from which length"
        raise FileError(configuration.path, f"{stated}; --trained N is the length before it")
    check_ladder(configuration.path, layer)
    report = compare_methods(layer.rotary_dim or 0, layer.base or 0.0, original, target)
    plan = _recommend(model, plan, layer, report)
    if doubts:
        window = (
            f"with the window of {turned[0].reach:,} positions that transformers gives its layers nothing is needed"
        )
        plan = replace(plan, reason=f"{plan.reason}; {window}: whether {by.title} has it was not measured")
    return plan, report


def _sees_far(layer: LayerAudit, seen: LayerStatement) -> bool:
    """Whether a type of layers is known to see more than one window of positions, which training covers."""
    return seen.doubted is None and (seen.window is None or seen.window > (layer.trained_length or 0))


def _begin(model: Model, layer: LayerAudit, reach: int, original: int | None) -> Plan:
    factor = layer.scaling_parameters.get("factor")
    return Plan(
        file=model.configuration.path,
        model=model.configuration.model,
        part=".".join(model.part),
        layers=tuple(one.name for one in model.far),
        scaling=layer.scaling or "none",
        by_class=layer.scaling != "none" and layer.block.is_of_class,
        factor=float(factor) if isinstance(factor, int | float) else None,
        original=original if layer.scaling != "none" else None,
        reach=reach,
        outcome="nothing-needed",
        reason="",
    )


def _report_nothing(layers: Sequence[LayerAudit], trained: int, target: int) -> ContextReport:
    """A report without ways: none of them is needed."""
    width, base = layers[0].rotary_dim or 0, layers[0].base
    return ContextReport(d=width, base=base, trained=trained, target=target, bounds=list_formulas_of_length(target))


# --------------------------------------------------------------------- what is recommended


def _recommend(model: Model, plan: Plan, layer: LayerAudit, report: ContextReport) -> Plan:
    """Add to a plan the way that is recommended, and the configuration that the stack reads so."""
    if plan.scaling not in ("none", *_RAISED, *_REPLACED):
        why = (
            f"{plan.stated}, which models are trained with, up to {plan.reach:,} positions: no way here "
            f"goes on from scaled frequencies, and none is put on top; the rows start at {report.trained:,} positions"
        )
        return replace(plan, outcome="trained-with-scaling", reason=why)
    choices = list(_list_choices(plan, layer, report))
    if model.keys is None:
        first = choices[0]
        return replace(plan, outcome="not-written", method=first.method, reason=first.reason, training=first.training)
    reader, passed = (model.stack or STACKS["transformers-5"]).title, list[str]()
    for one in choices:
        found = find_configuration(model, layer, one)
        if found is not None:
            unread = f"; {reader} reads no block of this model as {join(passed, word='or')}" if passed else ""
            reason, training = f"{one.reason}{unread}", one.training
            return replace(
                plan, outcome="lengthened", method=one.method, reason=reason, training=training, configuration=found
            )
        passed.append(one.method)
    return replace(
        plan, outcome="not-read", reason=f"{reader} reads no rotary block of this model as {join(passed, word='or')}"
    )


def _list_choices(plan: Plan, layer: LayerAudit, report: ContextReport) -> Iterator[Attempt]:
    """The ways to recommend, the first before the others."""
    rows = {row.method: row for row in report.methods}
    factor, trained = report.target / (report.trained or 1), report.trained
    rope = layer.rotation.rope if layer.rotation is not None else None
    if plan.scaling in _RAISED and rope is not None:
        yield _raise_factor(plan, rope, factor, trained or 1)
        return
    before = rows["none"]
    instead = f", in place of {plan.scaling}" if plan.scaling != "none" else ""
    if plan.scaling == "none" and not before.unseen_pairs:
        yield _choose(before, {}, "even unchanged no pair has out-of-range phases; the length alone is written")
    for name in sorted(RECOMMENDED, key=lambda name: rows[name].unseen_pairs):
        row = rows[name]
        keys = _list_keys(name, factor, trained or 1)
        left = f"it leaves {row.unseen_pairs or 'none'} of {report.pairs} pairs with out-of-range phases"
        yield _choose(row, keys, f"{left} ({before.unseen_pairs} unchanged) and is published for fine-tuning{instead}")


def _choose(row: MethodResult, keys: Mapping[str, Any], reason: str) -> Attempt:
    return Attempt(row.method, keys, row.frequencies, row.attention_scaling, reason, row.training)


def _list_keys(scaling: str, factor: float, original: int) -> dict[str, Any]:
    """The keys of a block that has a scaling by a factor."""
    return {"rope_type": scaling, "factor": factor, **({ORIGINAL: original} if scaling == "yarn" else {})}


def _raise_factor(plan: Plan, rope: Rope, factor: float, original: int) -> Attempt:
    """The scaling that the file states with a larger factor: one in place of the other, not on top of it."""
    stated = {one.keyword: getattr(rope, one.keyword) for one in Rope.accepts}
    plain = {**stated, "attention_factor": None}
    # what the formula gives for the old factor is none for the new one; what it does not give was chosen
    is_derived = abs(rope.amplitude / _build(plain).amplitude - 1) <= NEAR
    ladder = _build({**(plain if is_derived else stated), "factor": factor}).frequencies()
    before = write_number(plan.factor or 1)
    reason = (
        f"{plan.stated}, {plan.original:,} positions before it, not whether training had "
        f"it; this is its factor for the target, in place of {before}, not on top of it"
    )
    if not is_derived:
        reason += f"; attention_factor {write_number(rope.amplitude)}, which its formula does not give, stays"
    keys = {**_list_keys(plan.scaling, factor, original), **({"attention_factor": None} if is_derived else {})}
    training = WAYS[plan.scaling].training
    return Attempt(plan.scaling, keys, ladder.values, float(ladder.amplitude), reason, training, keeps=True)


def _build(values: Mapping[str, Any]) -> Rope:
    return Rope(**{name: value for name, value in values.items() if value is not None})
