"""What is in the database, how it is described, which addresses are refused. No cluster is started."""

import socket
from pathlib import Path

import pytest

from jostle.database import Database, Options, server, start
from jostle.errors import PlanError, UnreachableTarget
from jostle.host.users import User
from jostle.plan import parse_plan, to_toml
from jostle.redaction.data import redact
from jostle.redaction.texts import without_password

WORKLOAD = '[workload.w]\nrequest = { get = "/orders" }\nload = { clients = 1, for = "1s" }\n'


def test_the_same_seed_gives_the_same_customers() -> None:
    assert list(Options(customers=50).content()) == list(Options(customers=50).content())
    assert list(Options(customers=50).content()) != list(Options(customers=50, seed=2).content())


def test_customers_are_as_the_article_has_them() -> None:
    customers = list(Options().content())
    assert [customer.id for customer in customers] == list(range(1, 8001))
    assert {len(customer.orders) for customer in customers} == set(range(1, 11))
    assert len({customer.name for customer in customers}) == 8000
    for customer in customers:
        dates = [order.ordered_on for order in customer.by_date()]
        assert dates == sorted(set(dates))
    assert any(list(customer.orders) != customer.by_date() for customer in customers)


@pytest.mark.parametrize("table", ["[database]", "[workload.w.database]"])
@pytest.mark.parametrize(
    "wrong",
    ["pool = 0", "pool = 1001", 'delay = "-1ms"', 'delay = "61s"', "customers = 0", "customers = 1e7"],
)
def test_values_out_of_range_are_refused_by_the_plan(table: str, wrong: str) -> None:
    with pytest.raises(PlanError, match=wrong.split()[0]):
        parse_plan(f'contestants = ["reference-null"]\n{WORKLOAD}{table}\n{wrong}\n', "plan.toml")


def test_placeholders_and_description_of_ones_own() -> None:
    own = Database("postgres://me%40here:se%3Acret@db.example/the%20shop", Options(pool=5))
    assert own.placeholders() == {
        "database_url": own.url,
        "database_host": "db.example",
        "database_port": "5432",
        "database_name": "the shop",
        "database_user": "me@here",
        "pool": "5",
    }
    told = own.describe()
    assert told["url"] == "postgres://me%40here@db.example/the%20shop"
    assert "cret" not in str(told)
    assert (told["pool"], told["delay_ms"], told["private"]) == (5, 0.0, False)
    assert own.pages() == {}
    assert own.pid is None


@pytest.mark.parametrize(
    "url", ["mysql://me@here/shop", "postgresql:///shop", "postgresql://here", "postgresql://here:99999/x"]
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(PlanError, match="write for example postgresql://"):
        start(url=url)


def test_nobody_listens_at_ones_own() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(UnreachableTarget, match=f"127.0.0.1:{port}: connection refused") as caught:
            start(url=f"postgresql://me:secret@127.0.0.1:{port}/shop")
    assert "secret" not in str(caught.value)


def test_a_socket_path_that_would_be_too_long_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOSTLE_CACHE", str(tmp_path / ("long" * 30)))
    scratch = server._scratch(User.of("nobody"), 65535)
    try:
        assert len(str(scratch.tmp / ".s.PGSQL.65535")) < 108
        assert list((tmp_path / ("long" * 30) / "running").iterdir()) == []
    finally:
        scratch.tmp.rmdir()
        scratch.folder.rmdir()


@pytest.mark.parametrize(
    ("address", "shown", "recorded"),
    [
        (
            "postgresql://me:se%3Acret@here/shop",
            "postgresql://me@here/shop",
            "postgresql://me:(hidden)@here/shop",
        ),
        (
            "--database=postgres://me:x@here:5432/shop",
            "--database=postgres://me@here:5432/shop",
            "--database=postgres://me:(hidden)@here:5432/shop",
        ),
        (
            "postgresql://here/shop?sslmode=require&password=x",
            "postgresql://here/shop?sslmode=require&password=",
            "postgresql://here/shop?sslmode=require&password=(hidden)",
        ),
        ("http://here:80/a@b", "http://here:80/a@b", "http://here:80/a@b"),
        *[("postgresql://me@here/shop",) * 3, ("postgresql://me:@here/shop",) * 3],
    ],
)
def test_passwords_are_not_shown_and_never_reach_a_record(address: str, shown: str, recorded: str) -> None:
    assert without_password(address) == shown
    assert redact(address) == redact(recorded) == recorded
    if address.startswith("postgresql"):
        text = f'title = "t"\ncontestants = ["go"]\n[database]\nurl = "{address}"\n' + WORKLOAD
        assert parse_plan(to_toml(parse_plan(text, "p")), "record").database.url == recorded  # type: ignore[union-attr]


def test_content_of_ones_own_cannot_be_changed_without_leave() -> None:
    text = 'title = "t"\ncontestants = ["go"]\n[database]\nurl = "postgresql://me@here/shop"\n' + WORKLOAD
    asking = text + "database = { index = false }\n"
    with pytest.raises(PlanError, match=r"(?s)workload.w.database: index of your own.*fill-database"):
        parse_plan(asking, "p")
    parse_plan(asking.replace("[database]", "[database]\nfill = true"), "p")
    parse_plan(text + 'database = { delay = "2ms" }\n', "p")
