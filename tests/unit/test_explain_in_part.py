"""What is certain of a server that computes although its order of service is not."""

import pytest

from jostle.explain.discipline.inference import Decision, Inference, Range
from jostle.explain.finding import Finding
from jostle.explain.probes.discipline import SHARED, TO_ITS_END, discipline
from jostle.explain.reason import Reason
from jostle.explain.session import Baseline
from support.served import SLOW, session_of

ONE = Range(1, 1)


def told(
    *, overtaking: bool | None, at_once: Range = ONE, leaves: bool = True, computes: float = 1.0
) -> Finding:
    slow = Baseline(SLOW, 0.040, 0.01, cpu_share=computes)
    session = session_of(slow, parallelism=at_once.low)
    decided = Decision(overtaking) if overtaking is not None else Decision[bool](reason=Reason.DIVIDED)
    noisy = Inference(decided, Decision(at_once), Decision(leaves), Decision(reason=Reason.NOISY))
    return discipline(session, noisy)


def test_short_requests_that_overtake_show_that_cores_are_shared() -> None:
    finding = told(overtaking=True)
    assert finding.says == (
        "Requests share one core: short ones overtake a long one that is being computed. In which slices "
        "cannot be told, because the same requests took different times."
    )
    assert finding.figure(SHARED) is not None
    assert "share two cores" in told(overtaking=True, at_once=Range(2, 2)).says


def test_short_requests_that_never_overtake_show_that_each_is_computed_to_its_end() -> None:
    finding = told(overtaking=False)
    assert finding.says.startswith("One request at a time, each to its end. In which order those that wait ")
    assert finding.figure(TO_ITS_END) is not None


@pytest.mark.parametrize(
    "finding",
    [
        told(overtaking=None),
        told(overtaking=True, at_once=Range(1, 2)),
        told(overtaking=False, leaves=False),
        told(overtaking=True, computes=0.1),
    ],
    ids=["some overtake", "one or two at once", "all leave together", "it waits"],
)
def test_otherwise_nothing_is_certain(finding: Finding) -> None:
    assert not finding.decided
    assert finding.reason is Reason.NOISY
