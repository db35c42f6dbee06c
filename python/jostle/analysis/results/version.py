"""The version of the JSON form of results."""

__all__ = ["FORMAT"]

FORMAT = 2
"""Version of the JSON form of a `RunResult` and of a `CompareResult`.

1: the first one. 2: the keys follow the glossary (`summaries`, `phased_loads`, `message`, `criteria`, …).
"""
