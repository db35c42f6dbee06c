"""A generator process: `python -m jostle.generator.worker`, started by `jostle.generator.processes`.

Standard input, lines of JSON: the specification; then when to start; then "stop", perhaps. When it ends,
whoever started this process is gone, and so is this process at once. Standard output, frames: that it is
ready, when it started or why not, and its intervals.
"""

import json
import os
import sys
import threading

from jostle.errors import StartRefused
from jostle.generator.api import Running
from jostle.generator.inprocess import InProcessExecutor
from jostle.generator.wire import write_frame

WAIT_S = 1.0


def main() -> int:
    """The exit code: 0 when all intervals were given."""
    words, out = sys.stdin.buffer, sys.stdout.buffer
    spec = json.loads(words.readline())
    if spec["cores"] and not spec["attentive"]:
        os.sched_setaffinity(0, spec["cores"])
    write_frame(out, {"ready": True})
    line = words.readline()
    if not line:
        return 1
    try:
        running = InProcessExecutor().start({**spec, "start_unix_ns": json.loads(line)["start_unix_ns"]})
    except StartRefused as error:
        write_frame(out, {"refused": str(error)})
        return 2
    del spec  # the feeds in it may be large, and the engine has its own
    write_frame(out, {"started_unix_ns": running.started_unix_ns})
    threading.Thread(target=_listen, args=(running,), daemon=True).start()
    last = False
    while not last:
        interval = running.next_interval(WAIT_S)
        if interval is not None:
            write_frame(out, {"interval": interval})
            last = interval["last"]
    return 0


def _listen(running: Running) -> None:
    for line in sys.stdin.buffer:
        if json.loads(line) == "stop":
            running.stop()
    os._exit(1)


if __name__ == "__main__":
    # Not through the interpreter's shutdown, which a thread that reads standard input would disturb.
    os._exit(main())
