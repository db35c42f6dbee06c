"""Queueing models: pure functions, one model per file. Times are in seconds, rates per second."""
