"""A generator process: `python -m jostle.generator.worker`, started by `jostle.generator.processes`.

Standard input is lines of JSON: the specification, the time to start, and possibly changes of the load and
"stop". If it is closed, the parent process is gone, and this process exits at once. Standard output is
frames: that it is ready, when it started or why it did not, its intervals, and what became of each change.
"""

import json
import os
import sys
import threading

from jostle.errors import StartRefused
from jostle.generator.api import Running
from jostle.generator.inprocess import InProcessExecutor
from jostle.generator.steered import reply_to
from jostle.generator.wire import write_frame

WAIT_S = 1.0


def main() -> int:
    """Run the generator. Returns the exit code: 0 if all intervals were written."""
    words, out = sys.stdin.buffer, sys.stdout.buffer
    spec = json.loads(words.readline())
    if spec["cores"] and not spec["busy_poll"]:
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
    del spec  # its feeds may be large, and the engine has a copy of its own
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
        words = json.loads(line)
        if words == "stop":
            running.stop()
        else:
            reply = reply_to(running, **words["steer"])
            write_frame(sys.stdout.buffer, {"change": words["change"], "reply": reply})
    os._exit(1)


if __name__ == "__main__":
    # Skip the interpreter's shutdown, which the thread that reads standard input would disturb.
    os._exit(main())
