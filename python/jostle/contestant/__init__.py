"""A contestant's life: found, built, started, stopped.

    contestant = find("go:procs=1")
    with contestant.start(cores=[0]) as server:
        print(server.url, server.pid)

Builds are cached. Each server runs under a supervisor process of its own (`jostle.host.supervisor`), so that
nothing keeps running after a stop, Ctrl-C or `kill -9` of jostle.
"""

from jostle.contestant.contestant import Contestant
from jostle.contestant.find import find, is_known
from jostle.contestant.server import Server
from jostle.contestant.tools import MissingTool

__all__ = ["Contestant", "MissingTool", "Server", "find", "is_known"]
