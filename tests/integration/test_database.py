"""A private PostgreSQL: made, filled, read-only for servers, near and far, and gone whatever happens."""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jostle import database
from jostle.database import Database, Options, server
from jostle.database.current import CurrentDatabase
from jostle.database.tables import TABLES
from jostle.errors import MissingRuntime, PlanError, StartFailed, UnreachableTarget
from jostle.host.procfs import descendants
from jostle.plan.servers.contestant import Need
from jostle.plan.servers.database import DatabaseTable
from support.waiting import eventually

SMALL = {"customers": 20}
JOSTLE = """
import sys, time
from jostle import database
found = database.start(database.Options(customers=20, delay_ms=1))
print(*found.server.process.tree(), *found.proxy.process.tree(), flush=True)
time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the folders of what runs are; a cache that an unprivileged user can enter."""
    with TemporaryDirectory(prefix="jostle-test-") as name:
        Path(name).chmod(0o755)
        monkeypatch.setenv("JOSTLE_CACHE", name)
        yield Path(name, "running")
        assert list(Path(name, "running").iterdir()) == []


def ask(found: Database, sql: str, user: str = "") -> subprocess.CompletedProcess[str]:
    url = found.url.replace("://jostle@", f"://{user}@") if user else found.url
    return subprocess.run(["psql", "-XAt", url, "-c", sql], capture_output=True, text=True, check=False)


def expected_pages(options: Options) -> dict[str, list[str]]:
    return {
        customer.name: [f"{order.ordered_on}: {order.item}" for order in customer.by_date()]
        for customer in options.content()
    }


def test_it_holds_what_was_generated() -> None:
    options = Options(customers=300)
    with database.start(options) as found:
        people = ask(found, "SELECT id, name FROM customers ORDER BY id").stdout.splitlines()
        rows = ask(
            found, "SELECT customer_id, ordered_on, item FROM orders ORDER BY customer_id, ordered_on"
        ).stdout.splitlines()
        pages = found.pages()
    assert people == [f"{customer.id}|{customer.name}" for customer in options.content()]
    assert rows == [f"{c.id}|{o.ordered_on}|{o.item}" for c in options.content() for o in c.by_date()]
    assert pages == expected_pages(options)


def test_it_holds_the_shop_that_was_generated() -> None:
    with database.start(Options(**SMALL)) as found:
        sold = ask(found, "SELECT id, name, price FROM shop_items ORDER BY id").stdout.splitlines()
        known = ask(found, "SELECT customer_id, salt, password_hash FROM shop_accounts ORDER BY 1").stdout
        stock = found.stock()
    assert stock is not None
    assert sold == [f"{item.id}|{item.name}|{item.price}" for item in stock.items]
    hashes = [line.split("|") for line in known.splitlines()]
    assert [int(customer) for customer, _, _ in hashes] == [buyer.customer for buyer in stock.buyers]
    for (_, salt, kept), buyer in zip(hashes, stock.buyers, strict=True):
        assert hashlib.pbkdf2_hmac("sha256", buyer.password.encode(), salt.encode(), 100).hex() == kept


@pytest.mark.parametrize("index", [True, False])
def test_the_date_is_not_indexed_and_the_customer_is_if_asked(index: bool) -> None:
    with database.start(Options(**SMALL, index=index)) as found:
        indexes = ask(found, "SELECT indexdef FROM pg_indexes WHERE tablename = 'orders'").stdout
        assert found.describe()["index"] is index
    assert ("(customer_id)" in indexes) is index
    assert "ordered_on" not in indexes


def test_servers_may_only_read_and_add_purchases_and_nobody_is_root() -> None:
    with database.start(Options(**SMALL)) as found:
        assert "permission denied" in ask(found, "DELETE FROM orders").stderr
        assert "permission denied" in ask(found, "UPDATE shop_items SET price = 0").stderr
        buy = "INSERT INTO shop_purchases (customer_id, item_id) VALUES (3, 4) RETURNING id"
        assert ask(found, buy).stdout.splitlines()[0] == "1"
        assert "no pg_hba.conf entry" in ask(found, "SELECT 1", user="postgres").stderr
        assert found.pid is not None
        owners = []
        for pid in (found.pid, *descendants(found.pid)):
            with contextlib.suppress(FileNotFoundError):  # a session's process has ended meanwhile
                owners.append(Path(f"/proc/{pid}").stat().st_uid)
        assert owners
        assert 0 not in owners
        assert found.alive()
        assert found.server is not None
        assert (found.server.scratch.tmp / f".s.PGSQL.{found.placeholders()['database_port']}").is_socket()
        found.stop()
        found.stop()
        assert not found.alive()
        assert not found.server.scratch.folder.exists()
        assert not Path(f"/proc/{found.pid}").exists()


def test_far_away() -> None:
    with database.start(Options(**SMALL, delay_ms=100)) as found:
        assert found.server is not None
        assert found.placeholders()["database_port"] != str(found.server.port)
        start = time.monotonic()
        assert ask(found, "SELECT count(*) FROM customers").stdout == "20\n"
        assert time.monotonic() - start >= 0.2  # at connecting, and at the question
        assert found.describe()["delay_ms"] == 100


def test_ones_own_database_is_left_running() -> None:
    with database.start(Options(**SMALL)) as private:
        with database.start(Options(delay_ms=1, pool=3), url=private.url) as own:
            assert ask(own, "SELECT max(id) FROM customers").stdout == "20\n"
            assert own.url != private.url
        assert private.alive()
        assert ask(private, "SELECT 1").stdout == "1\n"


def as_owner(found: Database, sql: str) -> None:
    """As the superuser of the private cluster, through its socket."""
    assert found.server is not None
    folder, port = found.server.scratch.tmp, found.server.port
    command = ["psql", "-XAtq", "-h", folder, "-p", str(port), "-U", "postgres", "-d", "jostle", "-c", sql]
    subprocess.run(command, check=True)


def test_ones_own_database_is_filled_with_leave_only() -> None:
    with database.start(Options(**SMALL)) as private:
        as_owner(private, "DELETE FROM customers")
        with pytest.raises(PlanError, match="has no customers"):
            database.start(url=private.url)
        as_owner(private, f"DROP TABLE {', '.join(TABLES)}; GRANT CREATE ON SCHEMA public TO jostle")
        with pytest.raises(PlanError, match=r'(?s)relation "orders" does not exist.*--fill-database makes'):
            database.start(url=private.url)
        for options in (Options(customers=30), Options(customers=7, index=False)):
            with database.start(options, url=private.url, fill=True) as own:
                told = own.describe()
                indexes = ask(own, "SELECT indexdef FROM pg_indexes WHERE tablename = 'orders'").stdout
                assert own.pages() == expected_pages(options)
                assert ask(own, "SELECT count(*) FROM customers").stdout == f"{options.customers}\n"
            assert (told["private"], told["customers"]) == (False, options.customers)
            assert ("(customer_id)" in indexes) is options.index
        as_owner(private, "CREATE VIEW ours AS SELECT name FROM customers")
        with pytest.raises(PlanError, match=r"could not be filled: .*objects depend on them"):
            database.start(Options(**SMALL), url=private.url, fill=True)
        assert ask(private, "SELECT count(*) FROM customers").stdout == "7\n"


def test_ones_own_database_that_lets_nobody_in() -> None:
    with database.start(Options(**SMALL)) as private:
        stranger = private.url.replace("://jostle@", "://stranger:secret@")
        with pytest.raises(UnreachableTarget, match=r"cannot be used: .*no pg_hba.conf entry") as refused:
            database.start(url=stranger)
    assert "secret" not in str(refused.value)


def test_one_database_at_a_time_as_each_workload_asks() -> None:
    def table(**choices: object) -> DatabaseTable:
        return DatabaseTable.model_validate({"customers": 20, **choices})

    with CurrentDatabase() as current:
        near = current.matching(table())
        assert current.matching(table()) is near
        pooled = current.matching(table(pool=3))
        assert (pooled.pid, pooled.placeholders()["pool"], pooled.url) == (near.pid, "3", near.url)
        far = current.matching(table(delay="2ms"))
        assert (far.pid, far.describe()["delay_ms"]) == (near.pid, 2.0)
        assert far.url != near.url
        assert ask(far, "SELECT count(*) FROM customers").stdout == "20\n"
        again = current.matching(table())
        assert (again.pid, again.url) == (near.pid, near.url)
        assert far.proxy is not None
        assert not far.proxy.alive()
        other = current.matching(table(index=False))
        assert other.pid != near.pid
        assert not near.alive()
        assert other.alive()


def test_kill_9_of_jostle_leaves_nothing(running: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", JOSTLE], stdout=subprocess.PIPE, text=True) as jostle:
        assert jostle.stdout is not None
        started = [int(pid) for pid in jostle.stdout.readline().split()]
        folders = list(running.iterdir())
        jostle.send_signal(signal.SIGKILL)
        jostle.wait()
    assert len(started) >= 5
    assert len(folders) == 2
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))
    eventually(lambda: not any(running.iterdir()))


def test_it_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(server.SETTINGS, "max_connections", "many")
    with pytest.raises(StartFailed, match=r"(?s)ended with exit code 1 before it was ready.*max_connections"):
        database.start(Options(**SMALL))


def test_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    need = Need(command="postgres-of-nobody", install=server.POSTGRES.install)
    monkeypatch.setattr(server, "POSTGRES", need)
    (Path(os.environ["JOSTLE_CACHE"]) / "running").mkdir()
    assert database.missing() is not None
    with pytest.raises(MissingRuntime, match="apt-get install -y --no-install-recommends postgresql-15"):
        database.start()
