"""The plan's `[[claim]]`, judged by rules that were fixed beforehand.

A claim is reproduced, has the same direction but another size, is not reproduced, or cannot be told. A part
holds when its whole interval satisfies the rule, and fails when its whole interval violates it. If the
article gives a number, the interval must also lie within its size (`jostle.plan.criteria.claims.same_size`).
A claim is reproduced when all of its parts hold, and not reproduced when any fails. With k parts there are k
chances to fail, so each of them fails only by an interval of 1 - 5 %/k (Bonferroni). That all of them hold
needs no correction (intersection-union test: Berger, Technometrics 24 (1982)).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from jostle.analysis import metrics
from jostle.analysis.judge.unsettled import further_throughput, have_settled, reaching_over
from jostle.analysis.results import (
    ClaimResult,
    ClaimVerdict,
    CriterionResult,
    Estimate,
    PartVerdict,
    StarvationResult,
    WorkloadSummary,
)
from jostle.analysis.results.keys import Key
from jostle.analysis.results.rule import Rule, RuleDecision, distrusted, written
from jostle.analysis.stats.forecast import MAX_ROUNDS, rounds_to_decide
from jostle.analysis.stats.moderated import UsualOf, not_known, typical_ratio
from jostle.analysis.stats.over_rounds import ratio_of_rounds, typical_over_rounds
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sequential import ConfidenceRule, fixed
from jostle.analysis.topics.starvation.indices import index_at, workloads_behind
from jostle.analysis.trials.data import TrialData, by_round, common_rounds
from jostle.formatting import is_or_are, listed, plural, with_interval
from jostle.plan.criteria.claims import Claim, Needs, Part
from jostle.plan.criteria.metrics import INDICES, METRICS
from jostle.plan.labels import resolve_label
from jostle.plan.recorded import Unreadable
from jostle.record.verdict import Verdict

__all__ = [
    "CellMetric",
    "Measurements",
    "judge_claims",
    "missing",
    "rounds_needed",
    "sides_of",
    "unreadable_claim",
]

CellMetric = tuple[Key, str]
"""A metric of a contestant under a workload."""


@dataclass(frozen=True)
class Measurements:
    """What a run measured, as far as claims need it."""

    grouped: Mapping[Key, Sequence[TrialData]]
    summaries: Mapping[Key, WorkloadSummary]
    starvation: Sequence[StarvationResult]
    skipped: Mapping[str, str]
    skipped_workloads: Mapping[str, Mapping[str, str]]
    parameters: Mapping[str, int | float | str] = field(default_factory=dict)
    usual: UsualOf = not_known

    def contestants(self) -> list[str]:
        """The contestants that were measured."""
        return list(dict.fromkeys(name for name, _ in self.summaries))

    def resolve_label(self, name: str) -> list[str]:
        """The contestants that a name means in this run: those that were measured, else those skipped."""
        found = resolve_label(name, [*self.contestants(), *self.skipped])
        return [label for label in found if label in self.contestants()] or found or [name]

    def rounds(self, key: Key) -> dict[int, TrialData]:
        """The trials that measured something, by round."""
        return by_round(self.grouped.get(key, ()))

    def cores(self, key: Key) -> list[int]:
        """How many cores the server had, in each of these trials for which that is known.

        It is not known of a server that jostle did not start, and of a simulated one.
        """
        placements = [data.trial.description.get("placement") for data in self.rounds(key).values()]
        return [len(p["server_cores"]) for p in placements if p is not None and p["shared"] is not None]

    def compared(self, key: Key) -> StarvationResult | None:
        """The comparison with and without slow requests that has this cell on one side."""
        contestant, workload = key
        found = (s for s in self.starvation if s.contestant == contestant)
        return next((s for s in found if workload in (s.alone_workload, s.with_workload)), None)

    def paired(self, metric: str, key: Key) -> list[Key]:
        """The cells whose rounds a figure of this one takes: an index pairs both of its comparison."""
        compared = self.compared(key) if metric in INDICES else None
        if compared is None:
            return [key]
        return [(key[0], workload) for workload in (compared.alone_workload, compared.with_workload)]

    def behind(self, metric: str, key: Key) -> list[Key]:
        """The cells that a figure of this one is computed from: the paired ones and any divisor."""
        compared = self.compared(key) if metric in INDICES else None
        if compared is None:
            return [key]
        return [(key[0], workload) for workload in workloads_behind(metric, compared)]

    def figures(self, part: Part, sides: Sequence[Key | None]) -> list[CellMetric]:
        """What is computed for one pair of `sides_of`; the divisor may be None."""
        pairs = zip(sides, part.sides, strict=False)  # without a divisor, the part has one side only
        return [
            (cell, metric)
            for key, (*_, metric) in pairs
            if key is not None
            for cell in self.behind(metric, key)
        ]

    def invalid(self, figures: Sequence[CellMetric]) -> list[Key]:
        """The cells of those figures that must not be used; what was not measured is none."""
        return [
            cell
            for cell, metric in figures
            if cell in self.summaries and self.summaries[cell].verdict_of(metric) is Verdict.INVALID
        ]


def judge_claims(
    claims: Sequence[Claim], measured: Measurements, confidence_rule: ConfidenceRule = fixed
) -> list[ClaimResult]:
    """Every claim, in the plan's order. `confidence_rule`: the correction for repeated looks."""
    return [_claim(claim, measured, confidence_rule) for claim in claims]


def unreadable_claim(one: Unreadable) -> ClaimResult:
    """A claim that this version cannot read: it cannot tell whether it is reproduced."""
    table = one.data if isinstance(one.data, dict) else {}
    says, published = (str(table.get(key, "")) for key in ("says", "published"))
    sentence = f"It cannot be read: {one.reason}."
    return ClaimResult(says, published, "undecided", sentence, [], table.get("ours") is True)


def _claim(claim: Claim, measured: Measurements, confidence_rule: ConfidenceRule) -> ClaimResult:
    sides = [(part, *pair) for part in claim.holds for pair in sides_of(part, measured)]
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(sides))
    judge = partial(
        _part,
        measured=measured,
        settled=claim.needs.settled,
        confidence=confidence,
        confidence_rule=confidence_rule,
    )
    parts = [judge(part, left, right) for part, left, right in sides]
    if lacking := missing(claim.needs, [key for _, *pair in sides for key in pair if key], measured):
        undecided: PartVerdict = "undecided"
        parts = [replace(part, verdict=undecided) for part in parts]
        return ClaimResult(claim.says, claim.published, "undecided", f"It {lacking}.", parts, claim.ours)
    verdict, deciding = _decided(parts)
    if claim.ours:
        verdict = _OURS.get(verdict, verdict)
    sentence = "; ".join(dict.fromkeys(part.message for part in deciding)) or "It has no rule"
    return ClaimResult(claim.says, claim.published, verdict, f"{sentence}.", parts, claim.ours)


_OURS: Mapping[ClaimVerdict, ClaimVerdict] = {
    "reproduced": "holds",
    "same direction, other size": "does not hold",
    "not reproduced": "does not hold",
}


def _decided(parts: Sequence[CriterionResult]) -> tuple[ClaimVerdict, Sequence[CriterionResult]]:
    """The verdict, and the parts that decide it: the worst ones, as one is enough to refute a claim."""
    order: list[tuple[PartVerdict, ClaimVerdict]] = [
        ("fails", "not reproduced"),
        ("undecided", "undecided"),
        ("other size", "same direction, other size"),
        ("size undecided", "undecided"),
    ]
    for of_part, of_claim in order:
        if found := [part for part in parts if part.verdict == of_part]:
            return of_claim, found
    return ("reproduced", parts) if parts else ("undecided", [])


def missing(needs: Needs, keys: Sequence[Key], measured: Measurements) -> str:
    """What is lacking: "needs 8 server cores, but had 1"; "" if nothing is, or if that is not known."""
    return (
        _other_cores(needs, keys, measured)
        or _other_parameter(needs, measured)
        or _without_network(needs, keys, measured)
        or _without_limit(needs, keys, measured)
    )


def _other_parameter(needs: Needs, measured: Measurements) -> str:
    """The first parameter that differs from the one needed; "" if none does."""
    for name, wanted in needs.parameters.items():
        if (had := measured.parameters.get(name)) != wanted:
            it_has = "there is no such parameter" if had is None else f"it is {had}"
            return f"needs {name} = {wanted}, but {it_has}"
    return ""


def _without_network(needs: Needs, keys: Sequence[Key], measured: Measurements) -> str:
    """That a generator was on this machine, if a network is needed; "" otherwise, or if that is not known."""
    if not needs.network:
        return ""
    trials = [data.trial for key in keys for data in measured.rounds(key).values()]
    hosts = [one.get("host", "") for trial in trials for one in trial.description.get("generators", [])]
    return "" if all(hosts) else "needs generators on other machines (--cluster)"


def _without_limit(needs: Needs, keys: Sequence[Key], measured: Measurements) -> str:
    """Why there was no memory limit; "" if none is needed, or if it was set.

    Without it, a server does not show what it does under the limit.
    """
    if not needs.memory_limit:
        return ""
    trials = [data for key in keys for data in measured.rounds(key).values()]
    limits = [limit for data in trials if (limit := data.trial.server.get("memory_limit"))]
    why = next((limit["why_not"] for limit in limits if limit["why_not"]), "")
    return f"needs a limit of the server's memory, which could not be set: {why}" if why else ""


def _other_cores(needs: Needs, keys: Sequence[Key], measured: Measurements) -> str:
    """How the number of server cores differs from that needed; "" if it does not.

    If nothing of the claim was measured, the cores of the run's other trials count.
    """
    min_cores, max_cores = needs.server_cores, needs.server_cores_at_most
    had = [cores for key in keys for cores in measured.cores(key)]
    had = had or [cores for key in measured.grouped for cores in measured.cores(key)]
    if had and min_cores is not None and min(had) < min_cores:
        return f"needs {plural(min_cores, 'server core')}, but had {min(had)}"
    if had and max_cores is not None and max(had) > max_cores:
        return f"needs at most {plural(max_cores, 'server core')}, but had {max(had)}"
    return ""


def sides_of(part: Part, measured: Measurements) -> list[tuple[Key, Key | None]]:
    """What is measured, and what it is divided by: one pair for each contestant that the names mean."""
    left, *others = (
        [(name, workload) for name in measured.resolve_label(contestant)]
        for contestant, workload, _ in part.sides
    )
    right: Sequence[Key | None] = others[0] if others else [None]
    return [(a, b) for a in left for b in right]


def _part(
    part: Part,
    left: Key,
    right: Key | None,
    *,
    measured: Measurements,
    settled: float | None,
    confidence: float,
    confidence_rule: ConfidenceRule,
) -> CriterionResult:
    """Judge one part: it holds by the interval of 95 %, and fails by that of `confidence`.

    `settled`: by how much runs may differ without their drift being added to the interval.
    """
    *_, other = part.sides[-1]
    unit = "ratio" if right is not None else METRICS.get(part.metric, "")
    rule, name = Rule(*part.limits), f"{part.metric} of {_cell(left)}"
    if right is not None:
        name += f" ÷ {other} of {_cell(right)}"
    sides = [(left, part.metric), *([] if right is None else [(right, other)])]
    figures = measured.figures(part, (left, right))
    paired = [cell for key, metric in sides for cell in measured.paired(metric, key)]
    rounds = len(common_rounds(*map(measured.rounds, paired)))
    changing = _changing(sides, measured, settled, confidence_rule(CONFIDENCE, rounds))

    def estimated(wanted: float) -> Estimate:
        confidence = confidence_rule(wanted, rounds)
        if right is None:
            found = _plain(part.metric, left, measured, confidence)
        else:
            found = _ratio((part.metric, left), (other, right), measured, confidence)
        return reaching_over(found, _further(sides, measured, confidence)) if changing else found

    estimate, surely = estimated(CONFIDENCE), estimated(confidence)
    size = Rule(*part.size) if part.size else None
    verdict = _judge(rule, size, estimate, surely)
    message = f"{name} {'is' if right else is_or_are(name)} {with_interval(estimate, unit)}"
    if part.published is not None:
        message += f" (published: {written(part.published, unit)})"
    absent = [key for key, _ in sides if not measured.rounds(key)]
    needed: tuple[int, ...] = ()
    if absent:
        verdict, message = "undecided", _absent(absent[0], measured)
    elif invalid := measured.invalid(figures):
        verdict, message = "undecided", distrusted(_cell(invalid[0]), message)
    else:
        if estimate.value is not None:
            message += _verdict_suffix(verdict, rule, size, unit)
        if changing:
            message += (
                "; the interval includes what a further run might show, as the throughput still changed from "
                f"one run to the next: {listed(changing)}"
            )
        foreseeable = part.metric not in metrics.COUNTED and not changing
        if verdict in ("undecided", "size undecided") and foreseeable:
            open_rule = rule if verdict == "undecided" or size is None else size
            needed = rounds_needed(open_rule, estimate, confidence)
            message += _forecast(needed)
    return CriterionResult(
        name,
        rule.text(unit),
        *left,
        part.metric,
        estimate,
        verdict,
        message,
        absent[0][0] if absent else "",
        part.published,
        size.text(unit) if size else "",
        needed,
    )


def _changing(
    sides: Sequence[tuple[Key, str]], measured: Measurements, settled: float | None, confidence: float
) -> list[str]:
    """Those sides whose runs must have settled, and maybe have not: "× 1.05 [0.97, 1.13] on node (hello)"."""
    if settled is None:
        return []
    keys = [key for key, metric in sides if metric == "throughput" and measured.rounds(key)]
    changes = {
        key: metrics.estimate("change from run before", list(measured.rounds(key).values()), confidence)
        for key in keys
    }
    return [
        f"× {with_interval(change, 'ratio')} on {_cell(key)}"
        for key, change in changes.items()
        if not have_settled(change, settled)
    ]


def _further(sides: Sequence[tuple[Key, str]], measured: Measurements, confidence: float) -> Estimate:
    """What the sides, or their ratio, would be after a further run. Paired by round.

    Only a throughput is known to change; any other metric counts as it was measured.
    """
    measures = [
        further_throughput if metric == "throughput" else metrics.VALUE_OF.get(metric, lambda _: None)
        for _, metric in sides
    ]
    of_sides = [measured.rounds(key) for key, _ in sides]
    values = [
        [measure(rounds[number]) for number in common_rounds(*of_sides)]
        for measure, rounds in zip(measures, of_sides, strict=True)
    ]
    if len(values) == 1:
        return typical_over_rounds(values[0], "/s", confidence)
    return ratio_of_rounds(values[0], values[1], confidence)


def _judge(rule: Rule, size: Rule | None, estimate: Estimate, surely: Estimate) -> PartVerdict:
    """The verdict on one part. `surely`: the wider interval, which must violate a rule for it to fail."""

    def decision(by: Rule) -> RuleDecision:
        found = by.judge(estimate)
        return by.judge(surely) if found == "fails" else found

    held = decision(rule)
    if held != "holds" or size is None:
        return held
    sized: Mapping[RuleDecision, PartVerdict] = {
        "holds": "holds",
        "fails": "other size",
        "undecided": "size undecided",
    }
    return sized[decision(size)]


def _verdict_suffix(verdict: PartVerdict, rule: Rule, size: Rule | None, unit: str) -> str:
    """What the rule says of the figure, as the end of a sentence."""
    required = rule.text(unit)
    if verdict == "fails":
        return f", which is not {required}"
    if verdict == "undecided":
        return f"; whether it is {required} is undecided"
    if size is None:
        return f", which is {required}"
    published = f"the published size ({size.text(unit)})"
    sizes = {
        "holds": f" and of {published}",
        "other size": f", but not of {published}",
        "size undecided": f"; whether it is of {published} is undecided",
    }
    return f", which is {required}{sizes[verdict]}"


def _cell(key: Key) -> str:
    contestant, workload = key
    return f"{contestant} ({workload})"


def _plain(metric: str, key: Key, measured: Measurements, confidence: float) -> Estimate:
    if metric in INDICES:
        return _index(metric, key, measured, confidence)
    if metric not in metrics.VALUE_OF:
        return Estimate(None, note="another version of jostle measures it")
    return metrics.estimate(metric, list(measured.rounds(key).values()), confidence, measured.usual)


def _index(metric: str, key: Key, measured: Measurements, confidence: float) -> Estimate:
    compared = measured.compared(key)
    if compared is None:
        return Estimate(None, unit="", note="not measured alone and beside a slow request")
    return index_at(metric, compared, measured.grouped, confidence)


def _ratio(
    left: tuple[str, Key], right: tuple[str, Key], measured: Measurements, confidence: float
) -> Estimate:
    """The ratio of two metrics, paired by round."""
    if any(metric not in metrics.VALUE_OF for metric, _ in (left, right)):
        return Estimate(None, unit="", note="another version of jostle measures it")
    ours, theirs = measured.rounds(left[1]), measured.rounds(right[1])
    common = common_rounds(ours, theirs)
    return ratio_of_rounds(
        [metrics.VALUE_OF[left[0]](ours[number]) for number in common],
        [metrics.VALUE_OF[right[0]](theirs[number]) for number in common],
        confidence,
        typical_ratio(left[0], right[0]),
    )


def _absent(key: Key, measured: Measurements) -> str:
    contestant, workload = key
    if contestant in measured.contestants():
        absent = f"{workload} was not measured on {contestant}"
        why = measured.skipped_workloads.get(contestant, {}).get(workload, "")
    else:
        absent, why = f"{contestant} was not measured", measured.skipped.get(contestant, "")
    return absent + (f" ({' '.join(why.split())})" if why else "")


def rounds_needed(rule: Rule, e: Estimate, confidence: float) -> tuple[int, ...]:
    """The fewest and the most rounds that a new run may need, for a metric with one value per round.

    `confidence`: of the interval by which a part fails. Empty if no forecast is possible.
    """
    if e.value is None or e.bound:
        return ()
    wanted = CONFIDENCE if rule.holds_at(e.value) else confidence
    return rounds_to_decide(e.rounds, rule.nearest(e.value), wanted) or ()


def _forecast(needed: tuple[int, ...]) -> str:
    """How many rounds a new run would need, as the end of a sentence; "" if no forecast is possible."""
    if not needed:
        return ""
    fewest, most = needed
    if fewest > MAX_ROUNDS:
        return f"; it is too close to tell in {MAX_ROUNDS} rounds"
    rounds = f"{fewest} rounds or more" if most > MAX_ROUNDS else f"{fewest} to {most} rounds"
    return f"; a new run of {rounds} would probably decide it"
