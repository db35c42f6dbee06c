"""What the machine did to a trial: recorded, told with its time, and judged by what it did to the server."""

import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jostle.analysis.stats.sample import from_values
from jostle.analysis.trials.machine import MachineSeries
from jostle.analysis.trials.resource_usage import ResourceUsage
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.analysis.validity.generator_core import had_its_core
from jostle.analysis.validity.machine import machine, stolen, troubles_in_words
from jostle.analysis.validity.quota import within_quota
from jostle.analysis.validity.stopped import server_ran
from jostle.host.cores import available_cores
from jostle.host.machine_usage import MachineSampler

STEPS = 20
QUARTER_NS = 250_000_000


def samples(**rates: dict[int, float]) -> list[dict[str, Any]]:
    """One every quarter of a second for 5 s; `rates`: what is added in a step, by its number."""
    names = (
        *("busy_s", "steal_s", "own_cpu_s", "waited_s"),
        *("throttled_s", "pressure_memory_s", "pressure_io_s"),
        *(["server_cores_busy_s"] if "server_cores_busy_s" in rates else []),  # not in older records
    )
    found: list[dict[str, Any]] = [{"t_ns": 0, **dict.fromkeys(names, 100.0), "mhz": None}]
    for step in range(STEPS):
        added = {name: found[-1][name] + rates.get(name, {}).get(step, 0.0) for name in names}
        found.append({"t_ns": (step + 1) * QUARTER_NS, **added, "mhz": rates.get("mhz", {}).get(step)})
    return found


def trial(
    *, ours: bool = True, server_cpu_s: float = 1.0, server_waited_s: float = 0.0, **rates: dict[int, float]
) -> Any:
    resource_usage = [
        {"t_ns": 0, "cpu_user_s": 3.0, "cpu_system_s": 0.0, "waited_s": 7.0},
        {
            "t_ns": 5_000_000_000,
            "cpu_user_s": 3.0 + server_cpu_s,
            "cpu_system_s": 0.0,
            "waited_s": 7 + server_waited_s,
        },
    ]
    return SimpleNamespace(
        machine=MachineSeries.of(samples(**rates), server_is_ours=ours),
        resource_usage=ResourceUsage.of(resource_usage),
        responses=SimpleNamespace(whole=from_values([1e-3 * (1 + i / 2000) for i in range(2000)])),
        closed=None,
        trial=SimpleNamespace(
            description={"placement": {"server_cores": [0], "generator_cores": [1], "shared": False}}
        ),
    )


def always(per_step: float) -> dict[int, float]:
    return dict.fromkeys(range(STEPS), per_step)


def test_a_quiet_machine_has_nothing_to_tell() -> None:
    quiet = trial(busy_s=always(0.1), own_cpu_s=always(0.1))
    assert troubles_in_words(quiet) == ""
    found = machine(quiet)
    assert found is not None
    assert (found.verdict, found.value) == ("valid", 0.0)
    assert stolen(quiet) is None


def test_what_was_taken_away_is_told_with_its_time() -> None:
    assert (
        troubles_in_words(trial(steal_s={12: 0.1, 13: 0.08}))
        == "the hypervisor withheld a core for 180 ms (steal), 3.0 s into the trial"
    )


@pytest.mark.parametrize(
    ("rates", "sentence"),
    [
        ({"busy_s": {4: 0.2, 5: 0.2}}, "other processes used the cores for 400 ms, 1.0 s into the trial"),
        ({"waited_s": {8: 0.12}}, "the generator waited 120 ms for a core, 2.0 s into the trial"),
        ({"pressure_memory_s": {2: 0.2}}, "processes waited 200 ms for memory (PSI), 0.5 s into the trial"),
        ({"pressure_io_s": {2: 0.2}}, "processes waited 200 ms for the disk (PSI), 0.5 s into the trial"),
        (
            {"mhz": {**always(3000.0), 6: 1500.0}},
            "the cores ran at 50 % of their highest frequency for 250 ms, 1.5 s into the trial",
        ),
    ],
)
def test_each_trouble_has_its_sentence(rates: dict[str, dict[int, float]], sentence: str) -> None:
    assert troubles_in_words(trial(**rates)) == sentence


def test_the_longest_troubles_are_told_first() -> None:
    several = trial(steal_s={2: 0.05, 9: 0.2}, waited_s={2: 0.06})
    assert troubles_in_words(several) == (
        "the hypervisor withheld a core for 200 ms (steal), 2.2 s into the trial and the generator waited "
        "60.0 ms for a core, 0.5 s into the trial"
    )


@pytest.mark.parametrize(
    ("waited", "others", "verdict", "again"),
    [
        (0.0, 0.2, "valid", False),  # others worked where the server did not want to
        (0.5, 0.0, "valid", False),  # the server waited for its own threads
        (0.2, 0.2, "valid", False),  # a sixth of the time moved no figure
        (4.0, 0.02, "valid", False),  # so little may be an error of the samples
        (1.0, 0.2, "suspect", True),  # measured again; what remains of it is still to be read with care
        (4.0, 1.0, "suspect", True),
    ],
)
def test_others_are_held_against_the_time_in_which_the_server_had_something_to_do(
    waited: float, others: float, verdict: str, again: bool
) -> None:
    found = machine(trial(server_waited_s=waited, busy_s=always(0.05 + others), own_cpu_s=always(0.05)))
    assert found is not None
    assert (found.verdict, found.cause, found.again) == (verdict, "machine", again)


@pytest.mark.parametrize(("server_cpu", "verdict"), [(0.1, "valid"), (0.9, "suspect")])
def test_a_hypervisor_takes_from_all_that_run_alike(server_cpu: float, verdict: str) -> None:
    """Of 1 s stolen, who used a tenth of the CPU time lost a tenth: 0.1 s in 3 s of requests."""
    found = machine(
        trial(server_cpu_s=server_cpu, busy_s=always(0.05), own_cpu_s=always(0.05), steal_s=always(0.05))
    )
    assert found is not None
    assert found.verdict == verdict


def test_errors_of_sampling_are_nobody_s_work() -> None:
    """The kernel samples who has a core: the sum over the steps is right, that of the excesses is not.

    A server whose threads wait for one another for a second has 0.2 s of others' work if only what lies above
    zero is added up: such trials were called invalid on a machine where nobody else worked.
    """
    noise = np.random.default_rng(1).normal(0.0, 0.015, STEPS)
    quiet = trial(
        server_cpu_s=0.3,
        server_waited_s=1.0,
        busy_s={step: 0.1 + float(error) for step, error in enumerate(noise)},
        own_cpu_s=always(0.1),
    )
    assert troubles_in_words(quiet) == ""
    found = machine(quiet)
    assert found is not None
    assert (found.verdict, found.value) == ("valid", 0.0)


def test_of_a_server_that_is_not_ours_only_stolen_time_is_known() -> None:
    theirs = trial(ours=False, server_waited_s=3.0, busy_s=always(0.2), steal_s={4: 0.1})
    assert machine(theirs) is None
    assert (
        troubles_in_words(theirs) == "the hypervisor withheld a core for 100 ms (steal), 1.0 s into the trial"
    )


def test_stolen_time_touches_the_quantiles_that_it_reaches() -> None:
    found = stolen(trial(steal_s={4: 0.1}))
    assert found is not None
    assert (found.verdict, found.affects) == ("suspect", ("p99", "p99.9"))
    assert found.message.endswith("which delayed about that share of the requests")
    one_client = trial(steal_s={4: 0.1})
    one_client.closed = {"clients": 1}
    found = stolen(one_client)
    assert found is not None
    assert found.message.endswith("which delayed the requests that were in flight")


def test_records_of_before_have_nothing_to_say() -> None:
    before = trial()
    before.machine = MachineSeries.of([], server_is_ours=True)
    assert (troubles_in_words(before), machine(before), stolen(before)) == ("", None, None)


def test_this_machine_can_be_sampled() -> None:
    sampler = MachineSampler(available_cores(), available_cores()[:1], [os.getpid()], 1)
    first, second = sampler.sample(0), sampler.sample(1)
    assert second.busy_s >= first.busy_s > 0
    assert second.own_cpu_s >= first.own_cpu_s > 0
    assert first.waited_s is None  # no load runs in this process


def test_a_quota_of_the_container_makes_all_figures_doubtful() -> None:
    found = within_quota(trial(throttled_s=always(0.05)))
    assert found is not None
    assert (found.verdict, found.cause) == ("suspect", "machine")
    assert found.value == pytest.approx(0.2)
    assert found.message == "a CPU quota withheld 1.00 s from generator and server, 20 % of the time"
    assert {*RATES, *TIMES} == set(found.affects)


def test_a_quota_that_was_reached_once_makes_the_longest_times_doubtful() -> None:
    found = within_quota(trial(throttled_s={7: 0.1}))
    assert found is not None
    assert {"p99", "max"} <= set(found.affects)
    assert not {"p50", "p90", "throughput"} & set(found.affects)


def test_no_quota_says_nothing() -> None:
    assert within_quota(trial()) is None
    samples = [{"t_ns": n * QUARTER_NS, "busy_s": 1.0} for n in range(STEPS)]  # of an older record
    old: Any = SimpleNamespace(machine=MachineSeries.of(samples, server_is_ours=True))
    assert within_quota(old) is None


def test_what_others_use_of_the_generators_cores_is_not_taken_from_the_server() -> None:
    """The server waits for its own threads for a second, and another program uses the generator's core."""
    rates = {"busy_s": always(0.25), "own_cpu_s": always(0.05)}
    of_server = trial(server_waited_s=1.0, server_cores_busy_s=always(0.05), **rates)
    found = machine(of_server)
    assert found is not None
    assert (found.verdict, found.value) == ("valid", 0.0)
    taken = machine(trial(server_waited_s=1.0, server_cores_busy_s=always(0.25), **rates))
    assert taken is not None
    assert taken.verdict == "suspect"


def test_a_server_that_was_seen_stopped_is_told() -> None:
    samples = [
        {"t_ns": n * QUARTER_NS, "cpu_user_s": 0.0, "cpu_system_s": 0.0, "stopped": int(n in (2, 5))}
        for n in range(8)
    ]
    stopped: Any = SimpleNamespace(resource_usage=ResourceUsage.of(samples), closed={"clients": 4})
    found = server_ran(stopped)
    assert found is not None
    assert found.verdict == "suspect"
    assert {*RATES, *TIMES} == set(found.affects)
    assert found.message == ("processes of the server were stopped in 2 of 8 samples, about 25 % of the time")
    assert server_ran(trial()) is None
    stopped.closed = None
    in_an_open_loop = server_ran(stopped)
    assert in_an_open_loop is not None
    assert set(TIMES) == set(in_an_open_loop.affects)  # as many are answered, later


@pytest.mark.parametrize(
    ("closed", "share", "touched", "spared"),
    [
        (None, 0.3, {"p90", "p99"}, {"p50", "service p50", "time to headers", "mean", "throughput"}),
        ({"clients": 4}, 0.7, {"p50", "p99", "mean", "throughput"}, set()),
        (None, 0.7, {"p50", "p99", "mean"}, {"throughput"}),  # an open loop: the server answers as many
    ],
)
def test_others_come_in_bursts_which_longer_times_show_first(
    closed: Any, share: float, touched: set[str], spared: set[str]
) -> None:
    waited = share / (1 - share)  # beside a second of its own work
    disturbed = trial(server_waited_s=waited, busy_s=always(0.25), own_cpu_s=always(0.05))
    disturbed.closed = closed
    disturbed.responses = SimpleNamespace(whole=from_values([]))
    found = machine(disturbed)
    assert found is not None
    assert touched <= set(found.affects)
    assert not spared & set(found.affects)


@pytest.mark.parametrize(
    ("per_step", "verdict", "again"),
    [(0.02, "valid", False), (0.03, "suspect", False), (0.1, "suspect", True)],
)
def test_a_generator_that_waits_for_its_core_reads_late(per_step: float, verdict: str, again: bool) -> None:
    found = had_its_core(trial(waited_s=always(per_step)))
    assert found is not None
    assert (found.verdict, found.again) == (verdict, again)
    assert not found.affects or "throughput" not in found.affects  # it is an open loop


def test_where_cores_are_shared_or_waiting_is_unknown_nothing_is_said_of_the_generator() -> None:
    shared = trial(waited_s=always(0.1))
    shared.trial.description["placement"]["shared"] = True
    assert had_its_core(shared) is None
    before = trial()
    before.machine = MachineSeries.of([], server_is_ours=True)
    assert had_its_core(before) is None
