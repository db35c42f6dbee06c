"""verify finds a shop that sells to forgers, shows what is not there, or shows receipts to anybody."""

import csv
import secrets
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from jostle import experiments
from jostle.contestant import Server
from jostle.contestant.contract import CheckResult, verify
from jostle.contestant.stock import Buyer, Item, Stock
from jostle.database import Options, shop
from jostle.plan.servers.contestant import ContestantFile
from support.handlers import Handler, serving

STOCK = shop.stock(Options(customers=20).content())
FILE = ContestantFile(command=["x"], database=True)


class Shop(Handler):
    """A shop in memory, by the letter but for one flaw."""

    flaw: ClassVar[str]
    sessions: ClassVar[dict[str, int]]
    sold: ClassVar[list[tuple[int, Item]]]
    session = ""

    def setup(self) -> None:
        super().setup()
        self.fields: dict[str, str] = {}

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.fields = {
            name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()
        }
        self.begin()
        route = {"/shop/login": self.form, "/shop/search": self.search, "/shop/gifts": self.gifts}.get(
            url.path
        )
        if route:
            route()
        else:
            self.receipt(url.path.removeprefix("/shop/orders/"))

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        self.fields = {name: values[-1] for name, values in parse_qs(self.body()).items()}
        self.begin()
        given = self.fields.get("authenticity_token", "")
        right = (
            given in map(token, self.sessions)
            if self.flaw == "anybody's token"
            else given == token(self.session)
        )
        if not right and self.flaw != "no token":
            return self.reply(403, "forged")
        return self.login() if self.path == "/shop/login" else self.order()

    def begin(self) -> None:
        self.session = (self.headers["Cookie"] or "").removeprefix("session=")
        if self.session not in self.sessions:
            self.session = secrets.token_hex(8)
            self.sessions[self.session] = 0

    def form(self) -> None:
        self.page(
            f'<form><input type="hidden" name="authenticity_token" value="{token(self.session)}"></form>'
        )

    def login(self) -> None:
        known = {str(buyer.customer): buyer for buyer in STOCK.buyers}
        buyer = known.get(self.fields["customer"])
        if buyer is None or (self.fields["password"] != buyer.password and self.flaw != "any password"):
            return self.reply(401, "who are you?")
        self.session = secrets.token_hex(8)
        self.sessions[self.session] = buyer.customer
        return self.see("/shop/search")

    def search(self) -> None:
        found = STOCK.found(self.fields.get("q", ""))
        if self.flaw == "unsorted":
            found.reverse()
        safe = str if self.flaw == "unescaped" else escape
        rows = "".join(
            f'<li><button name="item" value="{item.id}">{safe(item.line)}</button></li>' for item in found
        )
        self.page(f'<input type="hidden" name="authenticity_token" value="{token(self.session)}">{rows}')

    def order(self) -> None:
        if not self.sessions[self.session] and self.flaw != "no login":
            return self.reply(401, "log in")
        item = next((item for item in STOCK.items if str(item.id) == self.fields["item"]), None)
        if item is None:
            return self.reply(404, "no such item")
        self.sold.append((self.sessions[self.session], item))
        return self.see(f"/shop/orders/{len(self.sold)}")

    def receipt(self, number: str) -> None:
        customer = self.sessions[self.session]
        if not customer:
            return self.reply(401, "log in")
        at = int(number) - 1 if number.isdecimal() else -1
        if at not in range(len(self.sold)):
            return self.reply(404, "no such receipt")
        customer_of, item = self.sold[at]
        if customer_of != customer and self.flaw != "everybody's receipts":
            return self.reply(404, "no such receipt")
        name = next(buyer.name for buyer in STOCK.buyers if buyer.customer == customer_of)
        return self.page(f"<h1>{escape(name)}</h1><li>{escape(item.line)}</li>")

    def gifts(self) -> None:
        numbers = self.fields.get("budget", "10000"), self.fields.get("among", "20")
        if not all(n.isdecimal() and int(n) <= most for n, most in zip(numbers, (10**9, 10**4), strict=True)):
            return self.reply(400, "a whole number")
        budget, among = map(int, numbers)
        three = STOCK.gifts(budget, 20 if self.flaw == "always the same" else among)
        total = sum(item.price for item in three)
        rows = "".join(f"<li>{escape(item.line)}</li>" for item in three)
        return self.page(f"<h1>{total // 100}.{total % 100:02}</h1>{rows}")

    def see(self, path: str) -> None:
        self.reply(303, f'<a href="{path}">there</a>', "text/html", ("Location", path))

    def page(self, body: str) -> None:
        self.reply(200, body, "text/html; charset=utf-8")

    def reply(self, status: int, body: str, kind: str = "text/plain", *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (
            ("Set-Cookie", f"session={self.session}; Path=/"),
            ("Content-Type", kind),
            *headers,
        ):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body.encode())


def token(session: str) -> str:
    return f"of {session}"


@pytest.fixture
def checked() -> Iterator[Any]:
    class Own(Shop):
        sessions: ClassVar[dict[str, int]] = {}
        sold: ClassVar[list[tuple[int, Item]]] = []

    with serving(Own) as url:

        def run(flaw: str, stock: Stock | None = STOCK) -> CheckResult:
            Own.flaw = flaw
            server = Server("mine", "127.0.0.1", int(url.rsplit(":", 1)[1]), None)
            (found,) = verify(server, FILE, pages={}, stock=stock, parts=["/shop"])
            return found

        yield run


def test_a_shop_by_the_letter(checked: Any) -> None:
    assert checked("") == CheckResult("/shop", True)


@pytest.mark.parametrize(
    ("flaw", "told"),
    [
        ("unsorted", "GET /shop/search?q=lamp: items"),
        ("unescaped", "GET /shop/search?q=%3Cblank%3E: items"),
        ("everybody's receipts", "GET /shop/orders/2: status: 200 instead of 404"),
        ("no token", "POST /shop/login: status: 303 instead of 403"),
        ("anybody's token", "POST /shop/login: status: 303 instead of 403"),
        ("any password", "POST /shop/login: status: 303 instead of 401"),
        ("no login", "POST /shop/orders: status: 303 instead of 401"),
        ("always the same", "GET /shop/gifts?budget=10000&among=40: heading"),
    ],
)
def test_a_shop_with_a_flaw(checked: Any, flaw: str, told: str) -> None:
    found = checked(flaw)
    assert not found.ok
    assert told in found.message


def test_a_shop_of_which_nothing_is_known_is_not_taken_for_right(checked: Any) -> None:
    assert checked("", stock=None) == CheckResult(
        "/shop", False, "it cannot be checked: what the shop sells is not known"
    )


def test_the_gifts_are_the_dearest_three_within_the_budget() -> None:
    stock = Stock([Item(n, f"item {n}", price) for n, price in enumerate((500, 300, 400, 200, 300), 1)], [])
    assert [item.id for item in stock.gifts(1000, 5)] == [1, 2, 4]
    assert [item.id for item in stock.gifts(1000, 3)] == []
    assert [item.id for item in stock.gifts(1200, 3)] == [1, 2, 3]


def test_the_experiments_users_may_buy_and_find_something() -> None:
    stock = shop.stock(Options().content())
    with (Path(experiments.__file__).parent / "shop" / "users.csv").open(
        newline="", encoding="utf-8"
    ) as file:
        users = list(csv.DictReader(file))
    known = {buyer.customer: buyer for buyer in stock.buyers}
    assert len(users) == 200
    for user in users:
        buyer: Buyer = known[int(user["customer"])]
        assert user["password"] == buyer.password
        assert stock.found(user["word"])
