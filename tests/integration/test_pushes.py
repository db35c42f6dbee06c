"""`jostle race pushes` on real servers, much shortened: streams beside a computation, claims, the page."""

from pathlib import Path

from support.real import Jostle, as_json

SHORT = {
    "sockets": "40",
    "events": "12",
    "gap": "50",
    "bound": "5s",
    "count": "100000000",
    "pause": "100ms",
}


def test_every_stream_ends_and_every_claim_is_judged(jostle_command: Jostle, tmp_path: Path) -> None:
    arguments = ["--quick", "--rounds", "2", "--contestants", "node,go", "--json"]
    arguments += [word for name, value in SHORT.items() for word in ("--set", f"{name}={value}")]
    result = as_json(jostle_command("race", "pushes", *arguments, timeout=240))
    streams = {(stream["workload"], stream["contestant"]): stream for stream in result["streams"]}
    workloads = ("pushes-only", "pushes-with-slow")
    assert streams.keys() == {(workload, name) for workload in workloads for name in ("node", "go")}
    for stream in streams.values():
        assert (stream["whole"], stream["events"]) == (2 * 40, 2 * 40 * 12)
        assert stream["broken_off"] == stream["none"] == stream["unfinished"] == 0
    assert len(result["claims"]) == 5
    (judged,) = [claim for claim in result["claims"] if claim["statement"].startswith("Go keeps")]
    assert judged["criteria"][0]["estimate"]["value"] == 1
    (still,) = [claim for claim in result["claims"] if claim["statement"].startswith("While Node computes")]
    longest, in_time = (criterion["estimate"]["value"] for criterion in still["criteria"])
    assert longest > 0, "in times of the computation by itself"
    assert in_time == 1, "the bound is longer than any gap"
    (page,) = (tmp_path / "runs").glob("*/report.html")
    assert "Streams of events" in page.read_text()
