"""Whether right responses to a workload were of the same kind: in each round, and on each contestant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jostle.analysis.results import Check, TrialResult, Validity
from jostle.analysis.results.keys import Key
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.statuses import ByRequest, contrast, statuses_of
from jostle.analysis.validity.statuses import REMEDY
from jostle.record.verdict import Verdict

__all__ = ["with_unlike_responses"]


def with_unlike_responses(
    trials: Sequence[TrialResult], grouped: Mapping[Key, Sequence[TrialData]]
) -> list[TrialResult]:
    """The trials, with a check on each whose responses are unlike those of its first round, or on each of a
    contestant whose responses are unlike those of the first contestant. `grouped`: in the order of the plan.
    """
    found: dict[int, str] = {}
    first: dict[str, tuple[str, ByRequest]] = {}
    for (contestant, workload), group in grouped.items():
        usable = [data for data in group if data.usable]
        found |= dict(_unlike_the_first_round(usable))
        name, statuses = first.setdefault(workload, (contestant, statuses_of(usable)))
        if contrasted := contrast(statuses_of(usable), statuses, (f"on {contestant}", f"on {name}")):
            found |= {data.trial.number: contrasted for data in usable}
    return [_checked(trial, found[trial.number]) if trial.number in found else trial for trial in trials]


def _unlike_the_first_round(trials: Sequence[TrialData]) -> Iterable[tuple[int, str]]:
    for data in trials[1:]:
        places = f"in round {data.trial.round}", f"in round {trials[0].trial.round}"
        if contrasted := contrast(statuses_of([data]), statuses_of(trials[:1]), places):
            yield data.trial.number, contrasted


def _checked(trial: TrialResult, contrast: str) -> TrialResult:
    message = f"right responses were not of the same kind: {contrast}"
    check = Check("same responses", Verdict.SUSPECT, None, None, "", message, REMEDY)
    return replace(trial, validity=Validity.of([*trial.validity.checks, check]))
