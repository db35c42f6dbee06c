"""Queueing models beside values that were computed to 30 digits (mpmath), or that are exact by hand."""

import numpy as np
import pytest

from jostle.capacity.queueing import erlang, finite_source, sizing, usl

CLOSE = 1e-9


def test_erlang_b_and_c() -> None:
    assert erlang.erlang_b(10, 8) == pytest.approx(0.121661064253, rel=CLOSE)
    assert erlang.erlang_c(10, 8) == pytest.approx(0.409180150796, rel=CLOSE)


def test_a_thousand_servers_are_as_exact_as_ten() -> None:
    assert erlang.erlang_b(1000, 950) == pytest.approx(0.00364929368894, rel=CLOSE)
    assert erlang.erlang_c(1000, 950) == pytest.approx(0.0682534153771, rel=CLOSE)


def test_the_tail_of_the_response() -> None:
    assert erlang.response_tail(4.94611132761, 10, 8, 1.0) == pytest.approx(0.01, rel=CLOSE)


def test_one_server_has_an_exponential_response_time() -> None:
    assert erlang.response_tail(23.0258509299, 1, 0.8, 1.0) == pytest.approx(0.01, rel=CLOSE)
    assert erlang.response_tail(34.5387763949, 1, 0.8, 1.0) == pytest.approx(0.001, rel=CLOSE)


def test_a_drain_as_fast_as_the_service_is_no_division_by_zero() -> None:
    both = [erlang.response_tail(2.0, 3, load, 1.0) for load in (2 - 1e-6, 2.0, 2 + 1e-6)]
    assert both[1] == pytest.approx((both[0] + both[2]) / 2, rel=1e-6)


def test_a_queue_that_is_not_stable_responses_nobody() -> None:
    assert erlang.erlang_c(4, 4.0) == 1.0
    assert erlang.response_tail(1e6, 4, 5.0, 1.0) == 1.0


@pytest.mark.parametrize(
    ("clients", "servers", "service", "think", "throughput", "response"),
    [
        (20, 1, 0.1, 1.0, 9.98130950148, 1.00374509948),
        (100, 4, 0.05, 0.9, 79.9537610835, 0.350722900898),
    ],
)
def test_the_finite_source(
    clients: int, servers: int, service: float, think: float, throughput: float, response: float
) -> None:
    found = finite_source.closed(clients, servers, service, think)
    assert found.throughput_per_s == pytest.approx(throughput, rel=CLOSE)
    assert found.response_s == pytest.approx(response, rel=CLOSE)


def test_the_finite_source_of_many_clients_is_the_open_queue() -> None:
    found = finite_source.response_tail(4.94611132761, 20_000, 10, 1.0, 2500.0 - 1.2)
    assert found == pytest.approx(erlang.response_tail(4.94611132761, 10, 8.0, 1.0), rel=0.02)


def test_the_tail_of_the_finite_source_has_its_mean() -> None:
    times = np.linspace(0, 2.0, 161)
    tail = [finite_source.response_tail(t, 100, 4, 0.05, 0.9) if t else 1.0 for t in times]
    assert np.trapezoid(tail, times) == pytest.approx(0.350722900898, rel=1e-3)


def test_without_think_time_the_crowd_is_always_there() -> None:
    assert finite_source.closed(8, 4, 0.5, 0.0) == pytest.approx((8.0, 1.0, 1.0))


def test_the_universal_scalability_law() -> None:
    law = usl.Usl(100.0, 0.05, 0.001)
    assert law.peak == pytest.approx(30.8220700148, rel=CLOSE)
    assert law.throughput(31) == pytest.approx(903.790087464, rel=CLOSE)
    assert law.throughput(64) == pytest.approx(782.204839892, rel=CLOSE)
    levels = [1, 2, 4, 8, 16, 32, 48, 64]
    found = usl.fit(levels, [law.throughput(n) for n in levels])
    assert found is not None
    assert (found.gamma_per_s, found.alpha, found.beta) == pytest.approx((100.0, 0.05, 0.001), rel=1e-4)
    assert found.note == ""


def test_a_law_without_a_level_beyond_its_peak_does_not_know_its_coherence() -> None:
    law = usl.Usl(100.0, 0.05, 0.001)
    found = usl.fit([1, 2, 4, 6, 8, 12], [law.throughput(n) for n in (1, 2, 4, 6, 8, 12)])
    assert found is not None
    assert "unidentified" in found.note
    assert usl.fit([1, 2, 4, 8, 16], [1, 2, 4, 8, 16]) is None


def test_the_fewest_workers_for_a_queue() -> None:
    workers = sizing.queueing_workers(300.0, 0.012, 1.0, 0.1, 0.01)
    assert workers is not None
    tails = [erlang.response_tail(0.1, c, 3.6, 0.012) for c in (workers - 1, workers)]
    assert tails[1] <= 0.01 < tails[0]
    assert sizing.queueing_workers(300.0, 0.012, 1.0, 0.01, 0.01) is None  # one request alone takes longer
    assert sizing.queueing_workers(300.0, 0.012, 0.0, 0.1, 0.01) == 4  # constant service needs fewer


def test_the_fewest_workers_that_reject_no_more_and_that_a_crowd_needs() -> None:
    assert sizing.rejecting_workers(8.0, 1.0, 0.13) == 10
    assert sizing.rejecting_workers(8.0, 1.0, 0.12) == 11
    workers = sizing.finite_workers(100, 0.9, 0.05, 0.3, 0.01)
    assert workers is not None
    tails = [finite_source.response_tail(0.3, 100, c, 0.05, 0.9) for c in (workers - 1, workers)]
    assert tails[1] <= 0.01 < tails[0]


def test_a_gamma_service_of_variation_one_is_the_exponential_one() -> None:
    exact = sizing.queueing_tail(0.1, 5, 300.0, 0.012, 1.0)
    assert sizing.queueing_tail(0.1, 5, 300.0, 0.012, 1.0 + 1e-9) == pytest.approx(exact, rel=0.01)
