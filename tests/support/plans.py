"""Plans that several tests run."""

__all__ = ["TWO"]

TWO = """
title = "Two"
contestants = ["reference-null"]
rounds = 3
[workload.timed]
request = { get = "/hello" }
load = { clients = 1, for = "20s" }
[workload.counted]
request = { get = "/hello" }
load = { clients = 1, requests = 10 }
"""
"""A load that time ends, and one that ends after a number of requests."""
