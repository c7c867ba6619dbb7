"""What one model needs for a longer context, as an answer: the way that is recommended, and its configuration."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pe_spectra.answers.answer import Answer, Verdict, Verdicts
from pe_spectra.answers.lengthenings import ContextBody, answer_lengthenings
from pe_spectra.models.lengths.adapted import NewConfiguration
from pe_spectra.models.lengths.methods import ContextReport
from pe_spectra.models.lengths.plans import Plan
from pe_spectra.models.lengths.proposals import WAYS
from pe_spectra.wording import count, join, write_number

VERDICTS = Verdicts(
    {
        "nothing-needed": "ok",
        "lengthened": "note",
        "trained-with-scaling": "note",
        "not-written": "note",
        "not-read": "warning",
    }
)
#: What is published for models that are not fine-tuned.
_UNTUNED = ("ntk", "dynamic")


def answer_plan(plan: Plan, report: ContextReport, *, every_pair: bool = False) -> Answer:
    """Turn what a model needs into an answer: the table of the ways where one is needed, and what is recommended.

    Parameters
    ----------
    every_pair : whether each pair of each way is a row, in place of each way.

    >>> from pe_spectra.models.lengths.plans import plan_lengthening
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}
    >>> answer_plan(*plan_lengthening(read_configuration(config, "config.json"), config, target=64)).verdict.code
    'nothing-needed'
    """
    body = ContextBody(report=report, plan=plan)
    verdict = VERDICTS.say(plan.outcome, _say(plan, report))
    if not report.methods:
        return Answer(body=body, verdict=verdict, facts=_list_facts(plan, report))
    answer = answer_lengthenings(report, every_pair=every_pair)
    return replace(answer, body=body, verdict=verdict, facts=_list_facts(plan, report))


def judge_plan(plan: Plan, report: ContextReport) -> Verdict:
    """Say of a plan what its answer says first.

    >>> from pe_spectra.models.lengths.plans import plan_lengthening
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}
    >>> judge_plan(*plan_lengthening(read_configuration(config, "config.json"), config, target=128)).code
    'lengthened'
    """
    return answer_plan(plan, report).verdict


def _say(plan: Plan, report: ContextReport) -> str:
    target = f"{report.target:,} positions"
    if plan.outcome == "nothing-needed":
        return f"{target} need no scaling: {plan.reason}."
    if plan.method is None:
        return f"No way to {target} is recommended: {plan.reason}."
    factor = "" if plan.method == "none" else f" with factor {write_number(report.target / (report.trained or 1))}"
    start = f"For {target} take {plan.method}{factor}" if plan.method != "none" else f"For {target} scale nothing"
    return f"{start}: {plan.reason}."


def _list_facts(plan: Plan, report: ContextReport) -> list[tuple[str, str]]:
    part = f", the part {plan.part}" if plan.part else ""
    kinds = f", {join(plan.layers)} layers" if plan.layers and plan.layers != ("all",) else ""
    factor = f" x{write_number(plan.factor)}" if plan.factor is not None else ""
    source = f" from {plan.original:,} positions" if plan.original is not None else ""
    whose = ", the default of its class" if plan.by_class else ""
    stated = "no scaling" if plan.scaling == "none" else f"{plan.scaling}{factor}{source}{whose}"
    base = f", base {write_number(report.base)}" if report.base is not None else ""
    facts = [
        ("model", f"{plan.model or 'without a name'}{part}{kinds}: {report.d} channels turned{base}"),
        (
            "as it is",
            f"{stated}; it reaches {plan.reach:,} positions, the target is {report.target / plan.reach:.4g} x that",
        ),
        ("training", plan.training),
    ]
    if plan.method in WAYS and plan.method not in ("none", *_UNTUNED):
        left = [f"{one.method} ({one.unseen_pairs} out of range)" for one in report.methods if one.method in _UNTUNED]
        facts.append(("without training", f"{join(left)}, {WAYS[_UNTUNED[0]].training.partition(', ')[2]}"))
    return facts if plan.configuration is None else [*facts, *_describe(plan.configuration, report.target)]


def _describe(found: NewConfiguration, target: int) -> list[tuple[str, str]]:
    block = f"{found.where}: {json.dumps(dict(found.block), ensure_ascii=True)}" if found.where else ""
    along = f"{join(found.along)} layers have the same block and are scaled too, which they do not need"
    return [
        ("configuration", f"{found.length_key}: {target}, read by {found.stack}"),
        ("block", block),
        ("along with it", along if found.along else ""),
        ("the same for", join(found.alike)),
        ("left as it is", "; ".join(found.left)),
        ("new audit", _sum_up(found)),
    ]


def _sum_up(found: NewConfiguration) -> str:
    """Say what an audit of the new configuration finds, by levels."""
    counts = Counter(one.level for one in found.findings)
    parts = []
    for level in ("error", "warning", "note"):
        codes: Sequence[str] = list(dict.fromkeys(one.code for one in found.findings if one.level == level))
        if codes or level == "error":
            parts.append(f"{count(counts[level], level)}{f' ({join(codes)})' if codes else ''}")
    return join(parts)
