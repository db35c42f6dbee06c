"""The real page while something ends that it needs: itself, a generator, the room on the disk. Two pages."""

import contextlib
import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jostle.record import RunRecord
from jostle.record.folder import runs_inside
from support.disks import small_disk
from support.real import SILENTLY, jostle_running, recorded, reference_server
from support.waiting import eventually
from support.web import Served, get, newest, posted, watching, web


def known(events: Iterator[dict[str, str]]) -> dict[str, Any]:
    """All that is told until the run does not go on any more, and its trial is read."""
    found: dict[str, Any] = {}
    for event in events:
        found |= json.loads(event["data"])
        if found["run"]["status"] != "running" and found.get("trial", {"reading": True})["reading"] is False:
            break
    return found


def test_a_page_that_was_killed_comes_back_at_its_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with (
        reference_server("workers") as url,
        jostle_running("hit", f"{url}/work?us=1000", "-d", "60s", "--into", tmp_path, **SILENTLY),
    ):
        recorded(tmp_path, 2_000)
        with web(tmp_path, "--port", port) as served:
            address = f"{newest(served)}/events"
            with watching(served, address) as events:
                event = next(event for event in events if complete_columns(event) > 0)
                os.kill(served.pid, signal.SIGKILL)
                with contextlib.suppress(ConnectionError, http.client.HTTPException):
                    assert len(list(events)) < 5, "a page that is dead goes on"
        with (
            web(tmp_path, "--port", port) as again,
            watching(again, address, {"Last-Event-ID": event["id"]}) as events,
        ):
            assert again.url == served.url
            back = json.loads(next(event["data"] for event in events if "columns" in event["data"]))
    assert back["columns"]["begin"] > 0, "it goes on where the tab was"
    assert back["trial"]["over_s"] > json.loads(event["data"])["trial"]["over_s"]


def complete_columns(event: dict[str, str]) -> int:
    """How many of them a tab has, by the id of an event."""
    return int(event["id"].split(".")[4])


def test_two_pages_tell_the_same_of_a_run_that_loses_a_generator(tmp_path: Path) -> None:
    load = ("-d", "4s", "-c", "4", "--processes", "2", "--into", tmp_path)
    with (
        reference_server("null") as url,
        web(tmp_path) as one,
        web(tmp_path) as other,
        jostle_running("hit", url, *load, **SILENTLY),
    ):
        recorded(tmp_path, 5_000)
        address = f"{newest(one)}/events"
        (run,) = runs_inside(tmp_path)
        with watching(one, address) as events, watching(other, address) as events_of_other:
            os.kill(RunRecord.open(run).trials[0].description["generators"][0]["pid"], signal.SIGKILL)
            first, second = known(events), known(events_of_other)
    assert first["run"]["status"] == "ended"
    assert first["run"] == second["run"]
    assert first["trial"] == second["trial"]
    assert first["trial"]["verdict"]["word"] == "invalid"
    messages = [check["message"] for check in first["trial"]["verdict"]["told"]]
    assert any("generator 1 of 2 was ended by SIGKILL" in message for message in messages)


def test_who_does_not_read_holds_up_nobody(tmp_path: Path) -> None:
    with (
        reference_server("workers") as url,
        jostle_running("hit", f"{url}/work?us=1000", "-d", "60s", "--into", tmp_path, **SILENTLY),
        web(tmp_path) as served,
        contextlib.ExitStack() as stack,
    ):
        recorded(tmp_path, 2_000)
        address = f"{newest(served)}/events"
        place = urlsplit(served.url)
        for _ in range(5):
            deaf = stack.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            deaf.connect((place.hostname, place.port))
            deaf.sendall(f"GET {address} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        with watching(served, address) as events:
            over = [json.loads(event["data"])["trial"]["over_s"] for event in take(events, 4)]
        assert over == sorted(set(over))


def take(events: Iterator[dict[str, str]], count: int) -> list[dict[str, str]]:
    """So many of those that tell of a trial."""
    with_trial = (event for event in events if '"trial"' in event["data"])
    return [next(with_trial) for _ in range(count)]


def test_a_full_disk_is_told_and_the_page_stays() -> None:
    with small_disk(400) as disk, reference_server("run-to-completion") as url, web(disk) as served:
        room = os.statvfs(disk)
        (disk / "ballast").write_bytes(bytes(room.f_bavail * room.f_frsize - 60_000))
        words = ("hit", f"{url}/hello", "-c", "4", "-d", "60s", "--into", disk)
        with jostle_running(*words, **SILENTLY), watching(served, f"{newest(served)}/events") as events:
            told = known(events)
        assert told["run"]["status"] == "stopped"
        assert "is full" in told["run"]["why"]
        assert get(served, "/runs")[0] == 200
        (run,) = runs_inside(disk)
        assert get(served, f"/runs/{run.name}/report")[0] == 200
        fill(disk)
        status, text = posted(served, "/start", {"plan": plan(url)})
        (problem,) = json.loads(text)["problems"]
        assert status == 507
        assert problem["text"] == f"the plan cannot be kept in {disk / 'plans'}: no space left on device"
        assert get(served, "/runs")[0] == 200


def fill(disk: Path) -> None:
    """To the last byte."""
    with contextlib.suppress(OSError), (disk / "more").open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def plan(url: str) -> str:
    return (
        f'title = "x"\ncontestants = ["here"]\n[contestant.here]\nurl = "{url}"\n'
        '[workload.a]\nrequest = [{ get = "/" }]\nload = { clients = 1, for = "1s" }\n'
    )


def test_what_starts_runs_may_be_killed(tmp_path: Path) -> None:
    with reference_server("null") as url, web(tmp_path) as served:
        eventually(lambda: bool(children(served)), "nothing starts runs")
        (starter,) = children(served)
        os.kill(starter, signal.SIGKILL)
        status, text = posted(served, "/start", {"plan": plan(url)})
        assert status == 500
        assert "end jostle web, and start it again" in json.loads(text)["problems"][0]["text"]
        assert get(served, "/runs")[0] == 200


def children(served: Served) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{served.pid}/task/{served.pid}/children").read_text().split()]
