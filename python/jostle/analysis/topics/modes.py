"""Rounds of a cell that fall into two groups, so that their mean describes neither: a server's result."""

from collections.abc import Mapping, Sequence

from jostle.analysis.results import Check, Validity
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.bimodality import modes
from jostle.analysis.stats.over_rounds import number, round_quantile
from jostle.analysis.trials.data import TrialData
from jostle.formatting import amount
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict

__all__ = ["with_modes"]

REMEDY = (
    "a mean of both describes neither: what differs between starts of the server? (`--full` has the rounds)"
)


SEEN = 6
"""Fewer rounds fall into two groups by chance: one of twelve cells of four rounds did in both of two runs."""


def with_modes(
    validities: Mapping[int, Validity], grouped: Mapping[Key, Sequence[TrialData]]
) -> dict[int, Validity]:
    """The verdicts, by the trials' numbers, with a check on those of the smaller group (of the slower one, if
    they are equal) of a cell whose medians fall into two groups of two rounds or more.
    """
    found: dict[int, Check] = {}
    for group in grouped.values():
        found |= _of_cell([data for data in group if data.usable])
    return {
        number: validity.with_check(found[number]) if number in found else validity
        for number, validity in validities.items()
    }


def _of_cell(rounds: Sequence[TrialData]) -> dict[int, Check]:
    """By the numbers of the trials. A server that settles in one of two ways is a result, and no doubt."""
    medians = [_median_s(data) for data in rounds]
    if len(rounds) < SEEN or None in medians:
        return {}
    known = [median for median in medians if median is not None]
    longest = max(known)
    match modes([median / longest for median in known]):
        case [fast, slow]:
            fewer, others = (fast, slow) if fast.rounds < slow.rounds else (slow, fast)
        case _:
            return {}
    message = (
        f"the p50 was about {amount(fewer.mean * longest, 's')}, and about "
        f"{amount(others.mean * longest, 's')} in the others: two modes"
    )
    check = Check(
        "rounds", Verdict.VALID, slow.mean / fast.mean, None, "times", message, REMEDY, notable=True
    )
    return {
        data.trial.number: check
        for data, median in zip(rounds, known, strict=True)
        if fewer.low <= median / longest <= fewer.high
    }


def _median_s(data: TrialData) -> float | None:
    value = round_quantile(data.response, NAMED["p50"])
    return None if value is None else number(value)
