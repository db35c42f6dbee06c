"""Whether right responses to a workload were of the same kind: in each round, and on each contestant."""

from collections.abc import Iterable, Mapping, Sequence

from jostle.analysis.results import Check, Validity
from jostle.analysis.results.keys import Key
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.statuses import ByRequest, contrast, statuses_of
from jostle.analysis.validity.statuses import REMEDY
from jostle.record.verdict import Verdict

__all__ = ["with_unlike_responses"]


def with_unlike_responses(
    validities: Mapping[int, Validity], grouped: Mapping[Key, Sequence[TrialData]]
) -> dict[int, Validity]:
    """The verdicts, by the trials' numbers, with a check on each trial whose responses are unlike those of
    its first round, or on each of a contestant whose responses are unlike those of the first contestant.

    `grouped`: in the order of the plan.
    """
    found: dict[int, str] = {}
    first: dict[str, tuple[str, ByRequest]] = {}
    for (contestant, workload), group in grouped.items():
        usable = [data for data in group if data.usable]
        found |= dict(_unlike_the_first_round(usable))
        name, statuses = first.setdefault(workload, (contestant, statuses_of(usable)))
        if contrasted := contrast(statuses_of(usable), statuses, (f"on {contestant}", f"on {name}")):
            found |= {data.trial.number: contrasted for data in usable}
    return {
        number: validity.with_check(_check(found[number])) if number in found else validity
        for number, validity in validities.items()
    }


def _unlike_the_first_round(trials: Sequence[TrialData]) -> Iterable[tuple[int, str]]:
    for data in trials[1:]:
        places = f"in round {data.trial.round}", f"in round {trials[0].trial.round}"
        if contrasted := contrast(statuses_of([data]), statuses_of(trials[:1]), places):
            yield data.trial.number, contrasted


def _check(contrast: str) -> Check:
    message = f"right responses were not of the same kind: {contrast}"
    return Check("same responses", Verdict.SUSPECT, None, None, "", message, REMEDY)
