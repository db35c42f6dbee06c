"""`jostle race preemption` on real servers, much shortened: both forms, claims, pictures, set-up."""

from pathlib import Path

from jostle import experiments
from support.real import Jostle, as_json

SHORT = [
    *("--set", "count=2000000", "--set", "costly=1000000"),
    *("--set", "window=1s", "--set", "mix-window=1s", "--set", "other-window=1s", "--set", "over-window=1s"),
    *("--set", "large-window=1s", "--set", "shared-window=1s"),
    *("--set", "delay=2ms"),
    *(
        "--set",
        "costly-rate=2/s",
        "--set",
        "patience=500ms",
        "--set",
        "loop-requests=20",
        "--set",
        "wait-ms=50",
    ),
]


def test_both_forms_are_measured_and_every_claim_is_judged(jostle_command: Jostle, tmp_path: Path) -> None:
    arguments = [
        "--quick",
        "--rounds",
        "1",
        "--contestants",
        "node,node-cluster:workers=10",
        *SHORT,
        "--json",
    ]
    result = as_json(jostle_command("race", "preemption", *arguments, timeout=240))
    verdicts = {claim["statement"]: claim["verdict"] for claim in result["claims"]}
    assert set(verdicts) == {claim.says for claim in experiments.load("preemption").claim}
    loops = [c["criteria"] for c in result["claims"] if "loops for ever" in c["statement"]]
    node, ten = (parts[0]["estimate"]["value"] for parts in loops)
    assert node > 0.8
    assert 0 < ten < 0.3
    assert verdicts["Node.js has a much more erratic response time than Erlang"] == "undecided"
    (erlang,) = [c for c in result["claims"] if c["statement"].startswith("In Erlang cheap")]
    assert erlang["sentence"] == "erlang-mochiweb was not measured."
    forms = {(s["contestant"], s["form"]) for s in result["starvation"]}
    # A named server is measured wherever the plan lists it; --quick alone has the cluster in few of them.
    assert forms == {("node", "mix"), ("node", "waiting"), ("node-cluster:workers=10", "mix")}
    measured = [f for f in result["published"] if f["measured"] and f["measured"]["value"]]
    assert {f["contestant"] for f in measured} == {"node"}
    assert dict(result["setup"])["network"] == "loopback"
    assert "count 2000000" in dict(result["setup"])["parameters"]
    (run,) = (tmp_path / "runs").iterdir()
    assert (run / "density-closed.png").is_file()
    page = (run / "report.html").read_text()
    assert "siege 2.69" in page
    assert "29.59 s" in page


def test_two_scales_at_once_are_refused(jostle_command: Jostle) -> None:
    finished = jostle_command("race", "preemption", "--quick", "--as-published")
    assert finished.returncode == 2
    assert "two scales" in finished.stderr
