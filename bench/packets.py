"""When requests left, stamped by the kernel: packets with data to one port of loopback, by tcpdump."""

import contextlib
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["capture", "departures"]

NANOSECONDS = 0xA1B23C4D
"""How a capture file with times in nanoseconds begins."""


@contextlib.contextmanager
def capture(port: int, file: Path) -> Iterator[None]:
    """What is pushed to `port` meanwhile, into `file`. Needs the right to capture packets."""
    filter_ = f"tcp dst port {port} and tcp[tcpflags] & tcp-push != 0"
    command = [
        "tcpdump",
        "-i",
        "lo",
        "-Q",
        "in",
        "-n",
        "-s",
        "64",
        "-B",
        "16384",
        "--time-stamp-precision=nano",
    ]
    process = subprocess.Popen(
        [*command, "-Z", "root", "-w", str(file), filter_], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    if "listening" not in said:
        said += process.stderr.read()
    if "listening" not in said:
        raise RuntimeError(f"tcpdump: {said}")
    try:
        yield
    finally:
        process.terminate()
        process.communicate()


def departures(file: Path) -> NDArray[np.float64]:
    """Seconds from the first packet, ascending."""
    data = file.read_bytes()
    (magic,) = struct.unpack_from("<I", data)
    if magic != NANOSECONDS:
        raise RuntimeError(f"{file} is no capture with times in nanoseconds")
    times, offset = [], 24
    while offset + 16 <= len(data):
        seconds, nanoseconds, length, _ = struct.unpack_from("<IIII", data, offset)
        times.append(seconds * 1_000_000_000 + nanoseconds)
        offset += 16 + length
    if len(times) < 2:
        raise RuntimeError(f"{file} holds {len(times)} packets")
    ordered = np.sort(np.array(times, dtype=np.int64))
    return (ordered - ordered[0]) / 1e9
