"""`jostle race orders` on a real server and a real PostgreSQL, near and far; a database of one's own."""

import socket

from support.real import Jostle, as_json


def test_the_database_stands_beside_every_figure(jostle_command: Jostle) -> None:
    settings = ("--set", "window=3s", "--set", "customers=300", "--set", "delay=20ms")
    chosen = ("--contestants", "go", "--workloads", "closed-200-near,closed-200-far", "--rounds", "1")
    result = as_json(
        jostle_command("race", "orders", *chosen, *settings, "--json", "--no-pages", timeout=300)
    )
    rows = {row["workload"]: row for row in result["goodputs"]}
    near, far = rows["closed-200-near"], rows["closed-200-far"]
    assert (near["database"]["delay_ms"], far["database"]["delay_ms"]) == (0.0, 20.0)
    assert near["database"] == {"delay_ms": 0.0, "pool": 10, "index": True, "customers": 300}
    assert near["hits"]["value"] > far["hits"]["value"] > 0
    assert near["timeout_s"] == 3.0
    assert near["database_cpu_s_per_request"]["value"] > 0
    assert {claim["verdict"] for claim in result["claims"]} == {"undecided"}  # of servers not measured


def test_a_database_that_cannot_be_reached_is_told(jostle_command: Jostle) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"postgresql://me:secret@127.0.0.1:{taken.getsockname()[1]}/shop"
        chosen = ("--contestants", "go", "--workloads", "closed-200-near")
        finished = jostle_command("race", "orders", *chosen, "--database", url, timeout=300)
    assert finished.returncode != 0
    assert "connection refused" in finished.stderr
    assert "secret" not in finished.stdout + finished.stderr
    assert "Traceback" not in finished.stderr


def test_content_that_may_not_be_written_is_refused_at_once(jostle_command: Jostle) -> None:
    finished = jostle_command("race", "orders", "--database", "postgresql://me@127.0.0.1:1/shop")
    assert finished.returncode == 2
    assert "closed-200-unindexed.database: index of your own database cannot be changed" in finished.stderr
