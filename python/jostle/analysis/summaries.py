"""One workload on one contestant, over all rounds."""

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence

from jostle.analysis.results import Cell, Estimate
from jostle.analysis.stats.bootstrap import mean_over_rounds, quantiles_over_rounds
from jostle.analysis.stats.density import describe
from jostle.analysis.stats.quantile_ci import quantile_estimates
from jostle.analysis.stats.sample import pool
from jostle.analysis.trial.data import PARTS, Facts
from jostle.analysis.trial.summary import cpu_per_request, rss_max
from jostle.record.outcomes import error_share
from jostle.record.verdict import Verdict, worst

__all__ = ["by_cell", "describe_cell", "seed_of"]


def describe_cell(
    trials: Sequence[Facts], verdicts: Sequence[Verdict], title: str, *, distributions: bool
) -> Cell:
    """The figures of all `trials`, of which there is at least one; failed ones count in the verdict only."""
    first = trials[0].trial
    measured = [facts for facts in trials if facts.usable]
    responses, services = [f.response for f in measured], [f.service for f in measured]
    seed = seed_of(first.contestant, first.workload)
    outcomes: Counter[str] = Counter()
    wrong_statuses: Counter[str] = Counter()
    tls_failures: Counter[str] = Counter()
    for facts in measured:
        outcomes.update(facts.outcomes())
        wrong_statuses.update(facts.wrong_statuses())
        tls_failures.update(facts.counts.tls_failures)
    cpu = [share for facts in measured if (share := cpu_per_request(facts)) is not None]
    return Cell(
        contestant=first.contestant,
        workload=first.workload,
        title=title,
        rounds=len(measured),
        verdict=worst(verdicts),
        throughput=mean_over_rounds([facts.throughput for facts in measured], "/s"),
        response=quantiles_over_rounds(responses, seed),
        service=quantiles_over_rounds(services, seed),
        outcomes=dict(outcomes),
        error_share=error_share(outcomes),
        response_distribution=describe(pool(responses), shape=distributions),
        service_distribution=describe(pool(services), shape=distributions),
        server_cpu_s_per_request=mean_over_rounds(cpu, "s"),
        server_rss_max_bytes=max(
            (m for facts in measured if (m := rss_max(facts)) is not None), default=None
        ),
        trials=[facts.trial.number for facts in trials],
        parts=_parts(measured),
        wrong_statuses=dict(wrong_statuses.most_common()),
        tls_failures=dict(tls_failures.most_common()),
    )


def _parts(measured: Sequence[Facts]) -> dict[str, dict[str, Estimate]]:
    """Those that any request had."""
    found = {part: pool(facts.parts[part].whole for facts in measured) for part in PARTS}
    return {part: quantile_estimates(sample) for part, sample in found.items() if sample.n}


def seed_of(*names: str) -> int:
    """The same record gives the same intervals, whatever else is analysed beside it."""
    return zlib.crc32("\0".join(names).encode())


def by_cell(trials: Sequence[Facts]) -> Mapping[tuple[str, str], list[Facts]]:
    """Trials by contestant and workload, in the order in which these first ran."""
    cells: dict[tuple[str, str], list[Facts]] = {}
    for facts in trials:
        cells.setdefault((facts.trial.contestant, facts.trial.workload), []).append(facts)
    return cells
