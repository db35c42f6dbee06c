"""The stream of a tab: what a viewer that reads slowly gets, and one that does not read at all."""

import asyncio
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from jostle.live.one_request import RequestKey
from jostle.web import events, follower
from jostle.web.access import Access
from jostle.web.app import Web
from jostle.web.choice import NEWEST, Choice
from jostle.web.events import EventStream, Viewers
from jostle.web.follower import Follower
from jostle.web.place import Place
from jostle.web.runs import Runs
from support.pages import FOUR, QUICK
from support.synthetic import Trial, closed, make_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path, [Trial("a", "w", 1, closed(QUICK, 5.0, clients=4), 5.0, 0.25, FOUR)])


async def never(*_: Any) -> Any:
    await asyncio.get_running_loop().create_future()


def test_who_stops_reading_is_let_go(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PATIENCE_S", 0.01)
    viewers = Viewers()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await never()

    async def watch() -> None:
        stream = EventStream(viewers, Follower(run), NEWEST, Place())
        await asyncio.wait_for(stream({}, never, send), 30)

    asyncio.run(watch())
    assert viewers.watching == 0


def test_who_leaves_is_forgotten(run: Path) -> None:
    viewers = Viewers()

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        pass

    asyncio.run(EventStream(viewers, Follower(run), NEWEST, Place())({}, receive, send))
    assert viewers.watching == 0


@pytest.mark.parametrize("turns", range(6))
def test_who_leaves_just_as_something_was_sent_is_forgotten(run: Path, turns: int) -> None:
    viewers = Viewers()

    async def watch() -> None:
        sent = asyncio.Event()

        async def receive() -> Any:
            await sent.wait()
            for _ in range(turns):
                await asyncio.sleep(0)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body":
                sent.set()
                for _ in range(3):
                    await asyncio.sleep(0)

        stream = EventStream(viewers, Follower(run), NEWEST, Place())
        watching = asyncio.create_task(stream({}, receive, send))
        await asyncio.wait((watching,), timeout=30)
        assert watching.done()

    asyncio.run(watch())
    assert viewers.watching == 0


def test_the_page_ends_once_all_were_told_how_the_run_did(run: Path) -> None:
    web, told = Web(Runs.at(run), Access()), list[Any]()

    async def watch() -> None:
        begun = asyncio.Event()

        async def send(message: Any) -> None:
            begun.set()
            await asyncio.sleep(0.01)  # it is slow
            told.append(message)

        path = f"/runs/{run.name}/events"
        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
        viewer = asyncio.create_task(web.application(scope, never, send))
        await begun.wait()
        await web.finish()
        assert viewer.done()

    asyncio.run(watch())
    assert told[-1] == {"type": "http.response.body", "body": b""}


def test_a_slow_viewer_gets_several_intervals_at_once(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jostle.live.followed.MAX_AT_ONCE", 2)
    monkeypatch.setattr(follower, "EVERY_S", 0.001)

    async def watch() -> tuple[list[Any], list[Any]]:
        """What a viewer gets that reads at once, and one that reads twice: first and last."""
        following = Follower(run)
        with following.watched(NEWEST):
            at_once = [message async for message in till_the_end(following, Place())]
            first = next(place for place, content in at_once if "columns" in content)
            later = [message async for message in till_the_end(following, first)]
        return at_once, later

    async def till_the_end(following: Follower, place: Place) -> Any:
        async for after, text in following.messages(NEWEST, place):
            content = json.loads(text)
            yield after, content
            if "trial" in content and content["trial"]["over"]:
                return

    at_once, later = asyncio.run(watch())
    assert len([content for _, content in at_once if "columns" in content]) > 3
    (merged,) = (content["columns"] for _, content in later if "columns" in content)
    columns: list[Any] = []
    for _, content in at_once:
        if "columns" in content:
            columns[content["columns"]["begin"] :] = content["columns"]["columns"]
    assert merged["columns"] == columns[merged["begin"] :]
    assert merged["begin"] > 0
    assert len(merged["columns"]) > 3


@pytest.mark.parametrize("text", ["", "1.2.3", "a.b.c.d.e.f", "1.2.3.4.5.-6", "9" * 400])
def test_a_place_that_makes_no_sense_is_the_beginning(text: str) -> None:
    assert Place.of(text) == Place()
    known = Place(1, 2, 3, 4, 5, 6, 1)
    assert Place.of(str(known)) == known


def test_what_nobody_watches_any_more_takes_no_memory(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "LINGER_S", 0.0)
    monkeypatch.setattr(follower, "EVERY_S", 0.001)

    async def first_of(following: Follower) -> Any:
        with following.watched(NEWEST):
            texts = [text async for _, text in till_it_is_drawn(following)]
        return json.loads(texts[-1])

    async def till_it_is_drawn(following: Follower) -> Any:
        async for place, text in following.messages(NEWEST, Place()):
            yield place, text
            if "columns" in text:
                return

    async def watch() -> tuple[Any, int, int, Any]:
        following = Follower(run)
        once = await first_of(following)
        held = held_bytes(following)
        await asyncio.wait_for(following._task, 30)  # type: ignore[arg-type]
        return once, held, held_bytes(following), await first_of(following)

    once, held, left, again = asyncio.run(watch())
    assert left < held / 4
    assert once["columns"] == again["columns"], "who comes back sees it again"


def held_bytes(following: Follower) -> int:
    """Bytes of what is kept of trials and for viewers."""
    return len(pickle.dumps((following._messages, [trial.known for trial in following._trials.values()])))


def test_a_request_is_told_alone_whenever_it_is_chosen(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jostle.web.watched.MAX_AT_ONCE", 2)
    monkeypatch.setattr(follower, "EVERY_S", 0.001)

    async def columns_of(following: Follower, choice: Choice) -> Any:
        with following.watched(choice):
            async for _, text in following.messages(choice, Place()):
                content = json.loads(text)
                if "trial" in content and content["trial"]["over"]:
                    return content["columns"]
        return None

    async def watch() -> tuple[Any, Any, Any]:
        following = Follower(run)
        with following.watched(NEWEST):
            chosen = [NEWEST, Choice(None, RequestKey(0, 0)), Choice(1, RequestKey(0, 7))]
            of_all, only, of_none = [await columns_of(following, choice) for choice in chosen]
        return of_all, only, of_none

    of_all, only, of_none = asyncio.run(watch())
    assert of_all["alone"] is None
    assert only["columns"] == of_none["columns"] == of_all["columns"]
    for name in ("start", "end", "response", "outcomes"):
        assert [one[name] for one in only["alone"]] == [one[name] for one in of_all["columns"]]
    assert [one["outcomes"] for one in of_none["alone"]] == [{}] * len(of_all["columns"])


def test_what_makes_no_sense_in_an_address_is_passed_over() -> None:
    assert Choice.of({"trial": "2", "request": "0.13"}) == Choice(2, RequestKey(0, 13))
    assert Choice.of({"trial": "-2", "request": "13"}) == NEWEST
    assert Choice.of({"trial": "\u0662", "request": "0.1e9"}) == NEWEST
