"""The shop of the contract: a visit from the login to the receipt, and what must be refused on the way.

GET  /shop/login          a form with a token, and a cookie that begins a session
POST /shop/login          customer, password and token: 303 to /shop/search; the session is now the customer's
GET  /shop/search?q=TEXT  the ten cheapest items whose names contain the text: a form with a button for each
POST /shop/orders         item and token: 303 to the receipt, and a link to it
GET  /shop/orders/ID      what was bought, only for the customer who bought it
GET  /shop/gifts?budget=CENTS&among=N
                          of the first N items, the three that cost as much as possible within the budget,
                          found by trying all: N³/6 sums, in the server's own language
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPResponse
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit

from jostle.contestant.checks import (
    HTML,
    CheckedServer,
    ContractCheck,
    Page,
    Refuses,
    Responses,
    WorkGrows,
    WrongResponse,
    bad_numbers,
    expect,
    kind_of,
)
from jostle.contestant.stock import Buyer, Item, Stock, euros

__all__ = ["EXAMPLE", "SHOP"]

EXAMPLE = "/shop/search?q=lamp"
TOKEN = re.compile(r'<input\b[^>]*\bname="authenticity_token"[^>]*\bvalue="([^"]+)"')
BUTTON = re.compile(r'<button name="item" value="(\d+)">')
MAX_ITEMS = 10_000
ITEM_COUNTS = (25, 50, 100, 200, 400, 600, 800, 1000)
"""How many items /shop/gifts searches. Small enough for the slowest language, large enough for the fastest;
the shop has twice as many."""


@dataclass
class Visitor:
    """A visitor with a browser, who keeps cookies and finds the token in a form."""

    target: CheckedServer
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str) -> tuple[HTTPResponse, str]:
        return self._send("GET", path, None)

    def post(self, path: str, **form: object) -> tuple[HTTPResponse, str]:
        return self._send("POST", path, form)

    def _send(self, method: str, path: str, form: Mapping[str, object] | None) -> tuple[HTTPResponse, str]:
        headers = {"Connection": "close"}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = self.target.connect()
        try:
            connection.request(method, path, None if form is None else urlencode(form), headers)
            response = connection.getresponse()
            body = response.read().decode(errors="replace")
        finally:
            connection.close()
        for line in response.headers.get_all("Set-Cookie", []):
            self.cookies |= {name: cookie.coded_value for name, cookie in SimpleCookie(line).items()}
        return response, body

    def token(self, path: str) -> str:
        """The token of the form on a page."""
        response, body = self.get(path)
        expect(f"GET {path}: status", response.status, 200)
        expect(f"GET {path}: content type", kind_of(response), HTML)
        found = TOKEN.search(body)
        if found is None:
            raise WrongResponse(f"GET {path}: there is no hidden field authenticity_token")
        return unescape(found[1])

    def log_in(self, buyer: Buyer) -> None:
        token = self.token("/shop/login")
        response, _ = self.post(
            "/shop/login", customer=buyer.customer, password=buyer.password, authenticity_token=token
        )
        expect("POST /shop/login: status", response.status, 303)
        expect("POST /shop/login: Location", _place(response), "/shop/search")

    def order(self, item: Item) -> str:
        """Order an item. Returns the path of the receipt."""
        token = self.token(f"/shop/search?{urlencode({'q': item.name})}")
        response, body = self.post("/shop/orders", item=item.id, authenticity_token=token)
        expect("POST /shop/orders: status", response.status, 303)
        place = _place(response)
        if not re.fullmatch(r"/shop/orders/\d+", place):
            raise WrongResponse(f"POST /shop/orders: leads to {place!r}, not to a receipt")
        if not re.search(rf'href="[^"]*{place}"', body):
            raise WrongResponse(f"POST /shop/orders: there is no link to {place} in its body")
        return place

    def is_refused(self, status: int, path: str, **form: object) -> None:
        """Check that a request, with or without a form, gets this status and one line of plain text."""
        response, body = self.post(path, **form) if form else self.get(path)
        what = f"{'POST' if form else 'GET'} {path}"
        expect(f"{what}: status", response.status, status)
        expect(f"{what}: content type", kind_of(response), "text/plain")
        if not body.strip() or "\n" in body.strip():
            raise WrongResponse(f"{what}: the message should be one plain line, not {body[:80]!r}")


def _stock(target: CheckedServer) -> Stock:
    if target.stock is None:
        raise WrongResponse("it cannot be checked: what the shop sells is not known")
    return target.stock


def searches_find_what_there_is(target: CheckedServer) -> None:
    """Search without a login, also for characters that have a meaning in HTML and SQL."""
    for text in ("lamp", "salt & pepper", "<blank>", '12" ruler', "old ", "no such thing", "%", "'"):
        path = f"/shop/search?{urlencode({'q': text})}"
        response, body = Visitor(target).get(path)
        expect(f"GET {path}: status", response.status, 200)
        expect(f"GET {path}: content type", kind_of(response), HTML)
        wanted = _stock(target).found(text)
        expect(f"GET {path}: items", Page(body).items, [item.line for item in wanted])
        expect(f"GET {path}: buttons", BUTTON.findall(body), [str(item.id) for item in wanted])


def a_visit_ends_with_its_receipt(target: CheckedServer) -> None:
    """Two customers at once: each gets what they ordered, and neither can see the other's receipt."""
    stock = _stock(target)
    first, second = stock.buyers[0], stock.buyers[-1]
    one, other = Visitor(target), Visitor(target)
    one.log_in(first)
    other.log_in(second)
    bought, sold = stock.items[0], stock.items[-1]
    receipts = [one.order(bought), other.order(sold)]
    for visitor, buyer, item, path in zip(
        (one, other), (first, second), (bought, sold), receipts, strict=True
    ):
        page = Page(visitor.get(path)[1])
        expect(f"GET {path}: heading", page.headings, [buyer.name])
        expect(f"GET {path}: items", page.items, [item.line])
    one.is_refused(404, receipts[1])
    one.is_refused(404, "/shop/orders/0")
    one.is_refused(404, "/shop/orders/x")
    Visitor(target).is_refused(401, receipts[0])
    expect("an order: id", len(set(receipts)), 2)


def forgeries_are_refused(target: CheckedServer) -> None:
    """No token, another visitor's token, a wrong password, no login, a changed cookie: all are refused."""
    buyer, item = _stock(target).buyers[0], _stock(target).items[0]
    right = {"customer": buyer.customer, "password": buyer.password}
    visitor, other = Visitor(target), Visitor(target)
    token, others = visitor.token("/shop/login"), other.token("/shop/login")
    visitor.is_refused(403, "/shop/login", **right)
    visitor.is_refused(403, "/shop/login", **right, authenticity_token=others)
    Visitor(target).is_refused(403, "/shop/login", **right, authenticity_token=token)
    for wrong in ({**right, "password": "guess"}, {**right, "customer": 0}, {**right, "customer": "x"}):
        visitor.is_refused(401, "/shop/login", **wrong, authenticity_token=visitor.token("/shop/login"))
    token = visitor.token(EXAMPLE)
    visitor.is_refused(401, "/shop/orders", item=item.id, authenticity_token=token)
    visitor.log_in(buyer)
    visitor.is_refused(403, "/shop/orders", item=item.id)
    for wrong_item in (0, "x"):
        token = visitor.token(EXAMPLE)
        visitor.is_refused(404, "/shop/orders", item=wrong_item, authenticity_token=token)
    path = visitor.order(item)
    visitor.cookies = {name: _changed(value) for name, value in visitor.cookies.items()}
    visitor.is_refused(401, path)


@dataclass(frozen=True)
class FindsGifts:
    """Three of the first `item_count` items for at most `budget`; nothing if no three are within it."""

    budget: int
    item_count: int

    def __call__(self, target: CheckedServer) -> None:
        path = f"/shop/gifts?budget={self.budget}&among={self.item_count}"
        page = Page(Responses(path, HTML).body_of(target).decode(errors="replace"))
        wanted = _stock(target).gifts(self.budget, self.item_count)
        expect(f"GET {path}: heading", page.headings, [euros(sum(item.price for item in wanted))])
        expect(f"GET {path}: items", page.items, [item.line for item in wanted])


def _place(response: HTTPResponse) -> str:
    """The path of the Location header, which may be a path or a whole URL."""
    return urlsplit(response.headers["Location"] or "").path


def _changed(value: str) -> str:
    """The same text with one character in its middle replaced."""
    middle = len(value) // 2
    return value[:middle] + ("A" if value[middle] != "A" else "B") + value[middle + 1 :]


SHOP: Sequence[ContractCheck] = [
    searches_find_what_there_is,
    a_visit_ends_with_its_receipt,
    forgeries_are_refused,
    FindsGifts(10_000, 40),
    FindsGifts(3_000, 60),
    FindsGifts(10, 30),
    FindsGifts(10_000, 2),
    Responses("/shop/gifts", HTML),
    Refuses(
        400, [path.replace("/among/", "?among=") for path in bad_numbers("/shop/gifts/among", MAX_ITEMS)]
    ),
    Refuses(400, ["/shop/gifts?budget=x", "/shop/gifts?budget=-1"]),
    WorkGrows([(f"/shop/gifts?among={n}", f"/shop/gifts?among={2 * n}") for n in ITEM_COUNTS], 3),
]
