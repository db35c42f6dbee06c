"""How long trials take, as far as it is known before they run."""

import math
from collections.abc import Iterable, Mapping

from jostle.contestant.requested_delay import requested_delay_s
from jostle.generator.spec.load import trace_starts
from jostle.plan import ClosedLoad, OpenLoad, Plan, Workload
from jostle.plan.journeys.journey import Group, Journey, Step
from jostle.plan.load import Trace
from jostle.plan.requests.request import Call
from jostle.runner.schedule import Planned

__all__ = ["expected_s", "is_up_to_the_server", "load_s", "trial_s"]

START_S = 1.0
"""The time for starting and judging a trial."""

COUNTED_S = 2.0
"""The least time for a load that ends after a number of requests, since their times are mostly unknown."""


def trial_s(plan: Plan, workload: Workload) -> float:
    """The time of one trial: starting the server, the warm-up, and all of its runs."""
    warm_up = plan.warm_up if workload.warm_up is None else workload.warm_up
    return START_S + warm_up + workload.runs * load_s(workload, plan.journey)


def expected_s(plan: Plan, trials: Iterable[Planned]) -> float:
    """The time of the trials one after another, without builds and extra rounds."""
    return sum(trial_s(plan, plan.workload[planned.workload]) for planned in trials)


def is_up_to_the_server(workload: Workload) -> bool:
    """Whether it lasts until a number of requests is answered, however long that takes."""
    return isinstance(workload.load, ClosedLoad) and workload.load.seconds() is None


def load_s(workload: Workload, journeys: Mapping[str, Journey]) -> float:
    """How long the load lasts. If a number of requests decides, it is the sum of pauses, arrivals and the
    times that requests ask for. `journeys`: those of the plan.
    """
    load, timed = workload.load, workload.load.seconds()
    if isinstance(load, ClosedLoad):
        return max(COUNTED_S, _turns_s(load, _turn_s(workload, journeys))) if timed is None else timed
    due = _last_due_s(load)
    counted = math.inf if due is None else max(COUNTED_S, due + _turn_s(workload, journeys))
    return counted if timed is None else min(timed, counted)


def _turns_s(load: ClosedLoad, turn_s: float) -> float:
    """The time for all requests or journeys of a client, each of which takes `turn_s`."""
    shared = math.inf if load.most is None else math.ceil(load.most / load.most_clients)
    own = math.inf if load.most_per_client is None or load.renew else load.most_per_client
    turns = min(shared, own)
    return turns * turn_s + (turns - 1) * load.think.mean_s


def _last_due_s(load: OpenLoad) -> float | None:
    """When the last request is due; None if the load is limited only by time."""
    if isinstance(load.arrivals, Trace):
        starts = trace_starts(load.arrivals.trace)
        return starts[min(load.most or len(starts), len(starts)) - 1] / 1e9
    if load.most is None:
        return None
    if load.rate is not None:
        return load.most / load.rate
    left, passed_s = float(load.most), 0.0
    for step in load.rates:
        per_s = sum(step.ends) / 2  # the mean of a rate that changes
        if step.for_ is None or left <= step.for_ * per_s:
            return passed_s + left / per_s
        left -= step.for_ * per_s
        passed_s += step.for_
    return passed_s


def _turn_s(workload: Workload, journeys: Mapping[str, Journey]) -> float:
    """The weighted mean time of a request or journey."""
    took = [(request.weight, _request_s(request)) for request in workload.request]
    took += [(weight, _journey_s(journeys[name])) for name, weight in workload.journeys.items()]
    return sum(weight * seconds for weight, seconds in took) / sum(weight for weight, _ in took)


def _journey_s(journey: Journey) -> float:
    """The time of a journey; 0 for a script, about which nothing is known. Conditional steps are counted."""
    return sum(map(_step_s, journey.steps))


def _step_s(step: Step | Group) -> float:
    if isinstance(step, Group):
        return max(map(_request_s, step.parallel)) + step.think.mean_s
    return step.repeat * (_request_s(step) + step.think.mean_s)


def _request_s(request: Call) -> float:
    if request.every is not None:
        return (len(request.message) - 1) * request.every
    return requested_delay_s(request.path, request.stream.events if request.stream else None)
