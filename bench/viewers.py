"""So many viewers of a run, each of whom reads a stream of events of its own: `viewers.py PORT RUN COUNT`.

Ends with SIGTERM, and prints how many events each of them got.
"""

import http.client
import json
import os
import signal
import sys
import threading

__all__: list[str] = []


def main(port: int, run: str, count: int) -> None:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # who watches has a machine of his own
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    events = [0] * count

    def watch(viewer: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", f"/runs/{run}/events")
        for line in connection.getresponse():
            events[viewer] += line.startswith(b"data: ")

    for viewer in range(count):
        threading.Thread(target=watch, args=(viewer,), daemon=True).start()
    signal.sigwait({signal.SIGTERM})
    print(json.dumps(events))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
