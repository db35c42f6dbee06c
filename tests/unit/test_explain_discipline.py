"""What is inferred of calculated servers: right or "undecided", and never wrong."""

import inspect
import math
import random
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from jostle.explain.discipline import inference
from jostle.explain.discipline.burst import Burst, Job
from jostle.explain.discipline.candidates import Candidate, Family
from jostle.explain.discipline.design import bursts_to_send, duration, equal_bursts, parallelism, sized_bursts
from jostle.explain.discipline.fit import Observed, unsteadiness
from jostle.explain.discipline.inference import MAX_ERROR, Range, infer, slots_of
from jostle.explain.finding import UNDECIDED
from jostle.explain.reason import Reason
from jostle.generator.bursts import simulated_answers
from support.known_servers import BEHAVIOURS, NOISE, explained, in_batches, judged

BY_NAME = {behaviour.name: behaviour for behaviour in BEHAVIOURS}


def test_with_little_noise_known_disciplines_are_found_and_nothing_wrong_is_told() -> None:
    outcomes = {
        behaviour.name: judged(behaviour, explained(behaviour, NOISE["low"], 1, budget_s=4))
        for behaviour in BEHAVIOURS
    }
    assert "wrong" not in outcomes.values(), outcomes
    known = [behaviour.name for behaviour in BEHAVIOURS if behaviour.family]
    found = [name for name in known if outcomes[name] == "correct"]
    assert len(found) >= 0.85 * len(known), outcomes


@pytest.mark.parametrize("name", ["first come, 4", "random order, 1", "slices of 10 ms, 1", "shortest first"])
@pytest.mark.parametrize("noise", ["medium", "high"])
def test_noise_makes_nothing_wrong(name: str, noise: str) -> None:
    assert judged(BY_NAME[name], explained(BY_NAME[name], NOISE[noise], 1, budget_s=4)) != "wrong"


def answered(spec: object, bursts: list[tuple[Job, ...]]) -> list[Burst]:
    """Without any noise."""
    requests = [
        [(round(job.at * 1e9), round(job.demand * 1e9), job.connection) for job in jobs] for jobs in bursts
    ]
    ends = simulated_answers(spec, requests, seed=1)  # type: ignore[arg-type]
    return [
        Burst(jobs, tuple(None if end is None else end / 1e9 for end in of_burst))
        for jobs, of_burst in zip(bursts, ends, strict=True)
    ]


def test_a_server_that_had_a_worker_for_each_request_tells_nothing() -> None:
    found = infer(answered({"workers": {"workers": 16}}, equal_bursts(0.02, 16)), spread=0.01)
    assert found.at_once.reason is found.discipline.reason is Reason.NOT_SATURATED


def test_equal_requests_tell_how_many_progress_but_not_their_order() -> None:
    found = infer(answered({"workers": {"workers": 4}}, equal_bursts(0.02, 16) * 3), spread=0.01)
    assert found.at_once.value == Range(4, 5)
    assert found.discipline.reason is found.overtaking.reason is Reason.EQUAL_TIMES


def test_a_service_time_that_was_measured_too_long_makes_no_more_workers() -> None:
    """Four workers once looked like five: the machine was busy while single requests were measured."""
    true = answered({"workers": {"workers": 4}}, equal_bursts(0.02, 16) * 3)
    bursts = [replace(one, jobs=tuple(replace(job, demand=0.025) for job in one.jobs)) for one in true]
    found = infer(bursts, spread=0.01).at_once.value
    assert found is not None
    assert found.low <= 4 <= (found.high or 4)


def test_no_upper_limit_is_told_beyond_the_largest_burst() -> None:
    """An echo server with no limit at all once was told to serve 23 to 82, of bursts of 55: each request cost
    the machine a little.
    """
    demand = 0.02
    bursts = [
        Burst(jobs, (demand * (1 + 0.0125 * len(jobs)),) * len(jobs)) for jobs in equal_bursts(demand, 55)
    ]
    found = infer(bursts, spread=0.01).at_once.value
    assert found is not None
    assert 16 < found.low < 55
    assert found.high is None


def test_who_overtakes_is_not_told_where_the_long_requests_may_have_left_a_worker_idle() -> None:
    """Noise once made one burst decide it for a server that works on all requests at once."""
    behaviour = next(one for one in BEHAVIOURS if one.name == "unlimited")
    found = explained(behaviour, NOISE["high"], seed=133, budget_s=4.0)
    assert found.at_once.value is not None
    assert found.at_once.value.high is None
    assert found.overtaking.reason is Reason.NOT_SATURATED


def test_a_server_that_refuses_most_is_not_explained() -> None:
    bursts = [Burst(jobs, (None,) * len(jobs)) for jobs in equal_bursts(0.02, 16)]
    whole = answered({"workers": {"workers": 1}}, equal_bursts(0.02, 2))
    assert infer(bursts + whole, spread=0.01).discipline.reason is Reason.REFUSED


def test_a_server_that_becomes_faster_meanwhile_is_not_stationary() -> None:
    plan = bursts_to_send([0.005, 0.02], 1, max_burst=8, budget=2, seed=1)
    bursts = answered({"workers": {"workers": 1}}, plan)
    half = len(bursts) // 2
    slower = [Burst(burst.jobs, tuple(end and end * 1.3 for end in burst.ends)) for burst in bursts[:half]]
    assert infer(slower + bursts[half:], spread=0.01).discipline.reason is Reason.DRIFTS


def test_the_slots_of_a_waiting_route_are_counted() -> None:
    bursts = equal_bursts(0.05, 16)
    assert slots_of(answered({"workers": {"workers": 5}}, bursts), 0.01).value == Range(5, 5)
    assert slots_of(answered("unlimited", bursts), 0.01).value == Range(16, None)


def test_slots_are_counted_by_the_height_of_the_steps_where_their_length_varies() -> None:
    """As on a machine that is slow for a while, or with a job that stops the server now and then."""
    rng = random.Random(3)
    bursts = []
    for jobs in equal_bursts(0.03, 16)[1:] * 3:
        now, ends = 0.0, []
        for place in range(len(jobs)):
            if place % 4 == 0:
                now += 0.03 * rng.uniform(1.0, 1.6) + (0.08 if rng.random() < 0.2 else 0.0)
            ends.append(now + rng.uniform(0, 0.002))
        bursts.append(Burst(jobs, tuple(ends)))
    assert slots_of(bursts, 0.05).value == Range(4, 4)


def test_slots_are_not_counted_where_most_requests_were_refused() -> None:
    bursts = equal_bursts(0.05, 16)
    waits = [
        replace(one, ends=[*one.ends[:1], *[None] * (len(one.ends) - 1)])
        for one in answered("unlimited", bursts)
    ]
    slots = slots_of(waits, 0.01)
    assert (slots.value, slots.reason) == (None, Reason.REFUSED)


def test_a_burst_for_which_there_was_no_connection_tells_nothing() -> None:
    work = answered({"workers": {"workers": 1}}, equal_bursts(0.05, 16))
    assert infer([*work, Burst((), ())], spread=0.01) == infer(work, spread=0.01)


def test_every_reason_of_the_inference_has_its_words_and_a_remedy() -> None:
    named = re.findall(r"\bReason\.([A-Z_]+)", inspect.getsource(inference))
    assert {Reason[name] for name in named} == UNDECIDED.keys()


def test_the_work_of_a_burst_over_its_time_is_how_many_progress() -> None:
    bursts = equal_bursts(0.02, 16)
    assert parallelism(answered({"workers": {"workers": 4}}, bursts)) == 4
    assert parallelism(answered({"processor-sharing": {"cores": 2}}, bursts)) == 2
    assert parallelism([]) == 1


def test_plugs_hold_all_workers_until_all_others_have_come() -> None:
    for jobs in sized_bursts([0.005, 0.01, 0.02, 0.04], 4, 32, random.Random(1))[:4]:
        assert [job.at for job in jobs[:4]] == [0.0] * 4
        assert all(job.demand == 0.04 for job in jobs[:4])
        assert len(jobs) == 4 + 10
        assert jobs[4 + 5 - 1].at < 0.04


def test_bursts_are_planned_within_their_budget_from_their_seed_and_at_least_twice() -> None:
    demands = [0.005, 0.01, 0.02, 0.04]
    plan = bursts_to_send(demands, 2, max_burst=16, budget=6, seed=3)
    assert plan == bursts_to_send(demands, 2, max_burst=16, budget=6, seed=3)
    assert plan != bursts_to_send(demands, 2, max_burst=16, budget=6, seed=4)
    assert sum(duration(jobs, 2) for jobs in plan) <= 6
    short = bursts_to_send(demands, 2, max_burst=16, budget=0, seed=3)
    assert Counter(len(jobs) for jobs in short)[16] == 2
    assert max(len(jobs) for jobs in short) == 16


def test_a_burst_has_an_end_for_each_job() -> None:
    with pytest.raises(ValueError, match="1 jobs and 2 ends"):
        Burst((Job(0.0, 1.0, 0),), (1.0, 2.0))


def test_family_names_stay_as_records_have_them() -> None:
    assert Family("first-come-first-served") is Family.FIRST_COME


def test_a_discipline_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown variant `fifo`"):
        simulated_answers("fifo", [[]])
    with pytest.raises(ValueError, match="workers must be at least 1"):
        simulated_answers({"workers": {"workers": 0}}, [[(0, 1, 0)]])


@pytest.mark.parametrize(
    "bursts",
    [
        [],
        [Burst((Job(0.0, 0.01, 0),), (0.01,))],
        [Burst((Job(0.0, 0.01, 0), Job(0.0, 0.01, 1)), (None, None))],
    ],
)
def test_of_next_to_nothing_nothing_is_told(bursts: list[Burst]) -> None:
    found = infer(bursts, spread=0.0)
    assert found.discipline.value is None
    assert found.discipline.reason is Reason.NOT_SATURATED


def off_in(bursts: list[Burst], some: int) -> list[Burst]:
    """The same, where noise changed who was next in `some` of them."""
    slower = [Burst(burst.jobs, tuple(end and end * 2.5 for end in burst.ends)) for burst in bursts[:some]]
    return slower + bursts[some:]


def test_a_burst_in_which_noise_changed_who_was_next_is_one_accident_and_many_are_a_misfit() -> None:
    plan = bursts_to_send([0.005, 0.01, 0.02, 0.04], 1, max_burst=16, budget=8, seed=1)
    bursts = answered({"lifo": {"workers": 1}}, plan)
    candidate = Candidate(Family.LAST_COME, 1)
    few, many = len(bursts) // 10, len(bursts) // 6
    some, more = (Observed(off_in(bursts, count)).fit(candidate) for count in (few, many))
    assert some.error() < MAX_ERROR < more.error()
    assert np.sqrt(np.mean(some.residuals**2)) > MAX_ERROR  # it was the accidents that were off


def test_who_takes_those_at_the_ends_of_the_line_has_no_random_order() -> None:
    rng = random.Random(1)
    plan = bursts_to_send([0.005, 0.01, 0.02, 0.04], 1, max_burst=16, budget=8, seed=1)
    candidate = Candidate(Family.GATED_RANDOM_ORDER, 1)
    assert Observed(answered("gated-slot", plan)).fit(candidate).refuted
    requests = [[(round(j.at * 1e9), round(j.demand * 1e9), j.connection) for j in jobs] for jobs in plan]
    ends = [in_batches(each, rng) for each in requests]
    random_order = [
        Burst(jobs, tuple(end / 1e9 for end in each)) for jobs, each in zip(plan, ends, strict=True)
    ]
    assert not Observed(random_order).fit(candidate).refuted


@pytest.mark.parametrize("family", [Family.LOCKED_THREADS, Family.SHARED_QUEUES])
def test_threads_on_one_core_are_parted_by_whether_each_has_a_queue_of_its_own(family: Family) -> None:
    """A burst of fewer requests than threads is served alike by both."""
    specs = {
        Family.LOCKED_THREADS: {"locked-threads": {"processes": 1, "threads": 5, "slice_ns": 3_000_000}},
        Family.SHARED_QUEUES: {"shared-queues": {"workers": 5, "slice_ns": 3_000_000}},
    }
    demands = [0.0057, 0.0113, 0.0217, 0.043]
    bursts = equal_bursts(0.043, 16) + bursts_to_send(demands, 1, max_burst=16, budget=4, seed=1)
    found = infer(answered(specs[family], bursts), spread=0.01)
    assert found.discipline.value is family


def test_how_a_timer_stood_is_paid_for_only_where_it_changes_something() -> None:
    timer = {"gated-by-timer": {"cores": 1, "period_ns": 20_000_000, "phase_ns": 7_000_000}}
    candidate = Candidate(Family.GATED_ANSWERS, 1, slice=0.020, timer=True)
    equal, sized = equal_bursts(0.043, 16), sized_bursts([0.005, 0.01, 0.043], 1, 16, random.Random(1))
    long, mixed = (Observed(answered(timer, plan)).fit(candidate) for plan in (equal, sized))
    assert long.costs.sum() == 0.0
    assert mixed.costs.sum() > 0.0
    assert mixed.error() < 0.05


def test_what_repeats_differ_by_most_is_named() -> None:
    jobs = (Job(0.0, 0.04, 0), Job(0.002, 0.005, 1))
    bursts = [Burst(jobs, (0.041, end)) for end in (0.012, 0.015, 0.031)]
    unlike = Observed(bursts).most_unlike()
    assert unlike is not None
    assert (unlike.demand, unlike.bursts) == (0.005, 3)
    assert (unlike.low, unlike.high) == pytest.approx((0.010, 0.029))
    assert Observed(bursts[:1]).most_unlike() is None


@pytest.mark.parametrize("longest", [0.0374, 0.0395])
@pytest.mark.parametrize(
    ("spec", "family", "slice_s"),
    [
        ({"round-robin": {"cores": 1, "slice_ns": 5_000_000}}, Family.SHARING, 0.005),
        (
            {"locked-threads": {"processes": 1, "threads": 5, "slice_ns": 10_000_000}},
            Family.LOCKED_THREADS,
            0.010,
        ),
    ],
)
def test_a_slice_that_lies_between_those_tried_first_is_found(
    spec: object, family: Family, slice_s: float, longest: float
) -> None:
    """The nearest of the coarse ones may fit worse than one far away: errors are rugged over slices."""
    demands = [longest / part for part in (1, 2, 4, 8)]
    bursts = equal_bursts(longest, 32) + bursts_to_send(demands, 1, max_burst=32, budget=20, seed=3)
    found = infer(answered(spec, bursts), spread=0.01)
    assert found.discipline.value is family
    assert found.best is not None
    assert found.best.slice == pytest.approx(slice_s, rel=0.1)


def test_the_speed_of_a_steady_machine_is_not_corrected_for() -> None:
    rng = random.Random(1)
    assert unsteadiness([]) == unsteadiness([0.04]) == 0.0
    assert unsteadiness([0.04 * math.exp(rng.gauss(0, 0.03)) for _ in range(50)]) == 0.0
    assert unsteadiness([0.04 * math.exp(rng.gauss(0, 0.15)) for _ in range(200)]) == pytest.approx(0.15, 0.1)
    assert (
        0 < unsteadiness([0.04 * 1.01**step for step in range(50)]) < 0.01
    )  # it becomes slower little by little


def test_a_burst_has_a_factor_of_its_own_only_as_far_as_the_machine_is_unsteady() -> None:
    plan = bursts_to_send([0.005, 0.02], 1, max_burst=8, budget=2, seed=1)
    bursts = answered({"workers": {"workers": 1}}, plan)
    slow = [
        Burst(burst.jobs, tuple(end and end * (1.2 if number % 3 else 0.9) for end in burst.ends))
        for number, burst in enumerate(bursts)
    ]
    candidate = Candidate(Family.FIRST_COME, 1)
    steady, unsteady = (Observed(slow, unsteady=sd).fit(candidate) for sd in (0.0, 0.15))
    assert steady.error() > 0.10
    assert unsteady.error() < 0.06  # the moments of sending are not stretched
    assert steady.costs.sum() == 0.0
    assert unsteady.costs.sum() > 0.0  # it is paid for
    bound = Observed(slow, unsteady=0.02).fit(candidate)
    assert bound is not None
    assert unsteady.error() < bound.error() < steady.error()


@pytest.mark.parametrize("name", ["first come, 1", "sharing, 1", "own queues in turn, 4"])
def test_a_machine_that_changes_its_speed_hides_no_discipline(name: str) -> None:
    for seed in (1, 2, 3):
        outcome = judged(BY_NAME[name], explained(BY_NAME[name], NOISE["shared machine"], seed, budget_s=4))
        assert outcome != "wrong"
        if outcome == "correct":
            return
    pytest.fail("it was never told")


def test_the_range_of_a_slice_allows_for_a_machine_that_changes_its_speed() -> None:
    behaviour = BY_NAME["newest first, 10 ms"]
    found = explained(behaviour, NOISE["shared machine"], 19, budget_s=4)  # its best slice is 8.3 ms
    assert judged(behaviour, found) == "correct"


def test_noise_makes_no_slices_where_the_processor_is_shared_without() -> None:
    behaviour = BY_NAME["sharing, 1"]
    found = explained(behaviour, NOISE["medium"], 82, budget_s=4)  # slices of 1.4 ms lead by 22
    assert found.slice is not None
    assert found.slice.low == 0
    assert judged(behaviour, found) == "correct"


def test_service_that_grows_with_the_load_is_not_taken_for_a_machine_that_changes_its_speed() -> None:
    plan = bursts_to_send([0.005, 0.02], 1, max_burst=16, budget=4, seed=1)
    rng = random.Random(1)
    bursts, steady = [], answered({"processor-sharing": {"cores": 1}}, plan)
    for burst in steady:
        factor = math.exp(rng.gauss(0, 0.1)) * (1 + 0.04 * len(burst.jobs))
        bursts.append(Burst(burst.jobs, tuple(end and end * factor for end in burst.ends)))
    assert infer(bursts, spread=0.01, unsteady=0.15).discipline.value is None
    assert infer(steady, spread=0.01, unsteady=0.15).discipline.value is Family.SHARING
