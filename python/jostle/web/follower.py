"""Follows one run for all who watch it: what is recorded is read once, however many they are.

Nothing is queued for a viewer. It has a place, which is how far it has been told, and gets what came since
then when it is ready: of a viewer that reads slowly, several intervals at once, merged as those of all.
"""

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator
from pathlib import Path

from jostle.live.followed import Attempt, FollowedRun
from jostle.live.one_request import RequestKey
from jostle.web.choice import NEWEST, Choice
from jostle.web.drawn import drawn_columns, drawn_run
from jostle.web.place import Place
from jostle.web.standing import WatchedStanding
from jostle.web.watched import WatchedTrial

__all__ = ["Follower"]

EVERY_S = 0.5

LINGER_S = 30.0
"""How long a run is followed after its last viewer has gone: a tab that was hidden may return."""

MS = 1_000_000


class Follower:
    """One run, read by a task of its own from the first viewer on until some time after the last; then it is
    forgotten what was read of its trials.
    """

    def __init__(self, folder: Path) -> None:
        """Raises NotARun."""
        self._run = FollowedRun(folder)
        self._standing = WatchedStanding(self._run)
        self._known = time.time_ns() // MS  # another one than in a process before this
        self._trials: dict[Attempt, WatchedTrial] = {}
        self._wanted = Counter[Choice]()
        self._changed = asyncio.Condition()
        self._reading = asyncio.Lock()
        self._looked = False
        self._finished = False
        self._task: asyncio.Task[None] | None = None
        self._judging: asyncio.Task[None] | None = None
        self._messages: dict[tuple[Choice, Place], tuple[Place, str] | None] = {}

    @contextlib.contextmanager
    def watched(self, choice: Choice) -> Iterator[None]:
        """Inside, a viewer watches that."""
        self._wanted[choice] += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow())
        try:
            yield
        finally:
            self._wanted[choice] -= 1

    async def messages(self, choice: Choice, place: Place) -> AsyncIterator[tuple[Place, str]]:
        """What is new since `place`, as JSON, and the place after it, whenever there is something."""
        while (message := await self._next(choice, place)) is not None:
            place, _ = message
            yield message

    async def _next(self, choice: Choice, place: Place) -> tuple[Place, str] | None:
        async with self._changed:
            while not self._looked:
                await self._changed.wait()
            while (message := self._message(choice, place)) is None and not self._finished:
                await self._changed.wait()
        return message

    async def finish(self) -> None:
        """Read all that there is; then there will be no more messages."""
        await self._look()
        while self._behind:
            await self._look()
        if self._judging is not None:
            await asyncio.wait((self._judging,))
        await self._judge()
        async with self._changed:
            self._finished = True
            self._changed.notify_all()

    async def _look(self) -> None:
        async with self._reading:
            if await asyncio.to_thread(self._read) or not self._looked:
                self._looked = True
                await self._tell()

    async def _tell(self) -> None:
        self._messages.clear()
        async with self._changed:
            self._changed.notify_all()

    async def _judge(self) -> None:
        """How the run stands. Trials that are over are looked at beside what is read on."""
        async with self._reading:
            newest = self._key(NEWEST)
            watched = None if newest is None else self._trials.get(newest)
            running = None if watched is None else watched.running
            if self._behind or not self._standing.due(running):
                return
            beside = self._standing.by_trials
            new = not beside and await asyncio.to_thread(self._standing.look, running)
        if beside:
            new = await asyncio.to_thread(self._standing.look, running)
        if new:
            async with self._reading:
                self._known += 1
            await self._tell()

    @property
    def _behind(self) -> bool:
        """Whether there is more to be read at once."""
        return any(trial.behind for trial in self._trials.values())

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        seen = loop.time()
        while self._wanted.total() or loop.time() < seen + LINGER_S:
            if self._wanted.total():
                seen = loop.time()
            await self._look()
            if self._judging is None or self._judging.done():
                self._judging = loop.create_task(self._judge())
            await asyncio.sleep(0 if self._behind else EVERY_S)
        self._trials.clear()
        self._messages.clear()
        self._looked = False

    def _read(self) -> bool:
        """In a thread: whether there is anything new."""
        new = self._run.read()
        self._known += new
        wanted: dict[Attempt, set[RequestKey]] = {}
        for choice in +self._wanted:
            if (key := self._key(choice)) is not None:
                requests = wanted.setdefault(key, set())
                requests |= set() if choice.request is None else {choice.request}
        for key in self._trials.keys() - wanted.keys():
            del self._trials[key]
        for key, requests in wanted.items():
            new |= self._read_trial(key, requests)
        return new

    def _read_trial(self, key: Attempt, requests: Collection[RequestKey]) -> bool:
        number, _ = key
        if key not in self._trials:
            trial = self._run.trial(number)
            if trial is None:
                return False
            self._trials[key] = WatchedTrial(self._run.record, trial)
        places = (place for place in self._run.state.trials if place.key == key)
        watched = self._trials[key]
        undamaged = not watched.damage
        new = any(watched.read(place, requests) for place in places)
        self._known += undamaged and bool(watched.damage)
        return new

    def _key(self, choice: Choice) -> Attempt | None:
        """Of the trial that is watched."""
        state = self._run.state
        number = state.newest if choice.trial is None else choice.trial
        found = next((place for place in state.trials if place.number == number), None)
        return None if found is None else found.key

    def _message(self, choice: Choice, place: Place) -> tuple[Place, str] | None:
        """What is new since `place`, and the place after it; None for nothing. All who are at the same place
        share it.
        """
        if (choice, place) not in self._messages:
            self._messages[choice, place] = self._composed(choice, place)
        return self._messages[choice, place]

    def _composed(self, choice: Choice, place: Place) -> tuple[Place, str] | None:
        key = self._key(choice)
        watched = None if key is None else self._trials.get(key)
        trial, attempt = key or (0, 0)
        after = Place(self._known, trial, attempt)
        content: dict[str, str] = {}
        if place.known != self._known:
            damage = "" if watched is None else watched.damage
            standing = {**self._standing.drawn, "final": self._standing.final}
            content["run"] = json.dumps({**drawn_run(self._run), **standing, "damage": damage})
        alone = None if watched is None or choice.request is None else watched.alone(choice.request)
        ready = choice.request is None or alone is not None
        if watched is not None and watched.known is not None and ready:
            state, drawn = watched.known
            complete = max(0, len(state.columns) - 1)
            over_ns, judged = round(state.over_s * 1e9), int(drawn["over"])
            after = Place(self._known, trial, attempt, state.each, complete, over_ns, judged)
            same = (place.trial, place.attempt, place.each) == (trial, attempt, state.each)
            begin = place.columns if same else 0
            content["trial"] = json.dumps(drawn)
            columns = drawn_columns(state.columns[begin:])
            of_one = "null" if alone is None else drawn_columns(alone[begin:])
            content["columns"] = f'{{"begin": {begin}, "columns": {columns}, "alone": {of_one}}}'
        if after == place:
            return None
        entries = ", ".join(f'"{name}": {value}' for name, value in content.items())
        return after, f"{{{entries}}}"
