"""The levels of a search as a reader sees them, and the law of scalability along them."""

import math
from collections import Counter
from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import LevelResult, Scalability
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import pool, quantile_of
from jostle.analysis.trials.data import TrialData
from jostle.capacity.levels import Level
from jostle.capacity.queueing.usl import fit as fit_usl
from jostle.capacity.recorded import RecordedSearch
from jostle.quantiles import NAMED

__all__ = ["QUANTILES", "curve_of", "scalability"]

QUANTILES = {name: NAMED[name] for name in ("p50", "p90", "p99")}


def curve_of(search: RecordedSearch, decides: int) -> list[LevelResult]:
    """All levels, in ascending order. `decides`: the number of the SLO that breaks first."""
    return [_level(level, decides, level.level in search.held_out) for level in search.levels]


def _level(level: Level, decides: int, held_out: bool) -> LevelResult:
    measured = [block for block in level.blocks if block.data is not None]
    blocks = [block for block in measured if block.counts] or measured
    data = [block.data for block in blocks if block.data is not None and block.data.recorded]
    sample = pool(block.response for block in blocks)
    aside = (block.limited or block.spoiled or block.away for block in level.blocks if not block.counts)
    seconds = sum(one.duration_s for one in data) or 1.0
    return LevelResult(
        level=level.level,
        decided=level.decided,
        why=next(aside, "") or level.died,
        trials=[block.trial for block in level.blocks],
        requests=level.total(decides)[0],
        exceeded_share=level.share(decides),
        response={
            "mean": Estimate(sample.mean_s, n=sample.n),
            **{name: quantile_estimate(sample, p) for name, p in QUANTILES.items()},
        },
        error_share=_error_share(data),
        offered_per_s=_offered_per_s(data, seconds),
        achieved_per_s=sum(one.ok() for one in data) / seconds,
        in_flight=sum(float(one.counts.in_flight_ns.sum()) for one in data) / 1e9 / seconds,
        generator_cpu=max((one.generator_cpu for one in data), default=0.0),
        lateness_p99_s=_lateness_p99_s(data),
        server_cores=_server_cores(data),
        held_out=held_out,
        statuses=dict(sum((Counter(one.statuses()) for one in data), Counter[str]())),
    )


def _error_share(data: Sequence[TrialData]) -> float:
    errors = sum(sum(one.errors.values()) for one in data)
    n = errors + sum(one.ok() for one in data)
    return errors / n if n else 0.0


def _offered_per_s(data: Sequence[TrialData], seconds: float) -> float | None:
    """None for a closed loop, which offers what is answered."""
    if not any(one.open is not None for one in data):
        return None
    return sum(one.total("due") for one in data) / seconds


def _lateness_p99_s(data: Sequence[TrialData]) -> float | None:
    """That of the latest block; None if nothing was sent on time or late."""
    late = (quantile_of(one.pacing, 0.99) for one in data)
    return max((p99 for p99 in late if p99 is not None), default=None)


def _server_cores(data: Sequence[TrialData]) -> float | None:
    """Cores that the server used in the busiest block; None if it was not watched."""
    used = (one.resource_usage.cores(0, int(one.duration_s * 1e9)) for one in data)
    return max((cores for cores in used if cores is not None), default=None)


def scalability(curve: Sequence[LevelResult]) -> Scalability | None:
    """None if there are too few levels, or if throughput simply grows with them."""
    counted = [x for x in curve if x.decided not in ("generator", "spoiled")]
    usable = [x for x in counted if x.in_flight > 0 and x.achieved_per_s > 0]
    law = fit_usl([x.in_flight for x in usable], [x.achieved_per_s for x in usable])
    if law is None:
        return None
    peak = law.peak if math.isfinite(law.peak) else None
    return Scalability(law.gamma_per_s, law.alpha, law.beta, peak, law.note)
