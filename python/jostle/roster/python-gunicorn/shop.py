"""The shop: sessions in signed cookies, a token in every form, and a search that computes."""

import base64
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from web import Html, HTTPError, connected, whole

ITERATIONS = 100
GIFTS = "310"
"""Items to try by default: about 200 ms of computing."""
MAX_BODY = 10_000

Item = tuple[int, str, int]


def sign(text: str) -> str:
    """With a secret that the master made before it started its workers."""
    digest = hmac.digest(os.environ["SECRET"].encode(), text.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(), right.encode())


@dataclass
class Session:
    """It travels in a signed cookie. `customer` is 0 before the login."""

    id: str = field(default_factory=secrets.token_urlsafe)
    customer: int = 0
    known: bool = False

    @classmethod
    def of(cls, environ: dict[str, Any]) -> "Session":
        """The visitor's, or a new one."""
        try:
            cookie = SimpleCookie(environ.get("HTTP_COOKIE", "")).get("session")
        except CookieError:
            cookie = None
        match cookie.value.split(".") if cookie else []:
            case [name, customer, signature] if same(signature, sign(f"{name}.{customer}")):
                return cls(name, int(customer), True)
        return cls()

    @property
    def header(self) -> tuple[str, str]:
        text = f"{self.id}.{self.customer}"
        return "Set-Cookie", f"session={text}.{sign(text)}; Path=/; HttpOnly; SameSite=Lax"

    @property
    def token(self) -> str:
        return sign(f"token {self.id}")

    def logged_in(self) -> int:
        if not self.customer:
            raise HTTPError("401 Unauthorized", "log in first")
        return self.customer


@dataclass
class Reply:
    body: Html
    status: str = "200 OK"
    headers: list[tuple[str, str]] = field(default_factory=list)


def form(environ: dict[str, Any], session: Session) -> dict[str, str]:
    """The fields, if the form is the session's."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length > MAX_BODY:
        raise HTTPError("413 Content Too Large", "the form is too long")
    fields = {name: values[-1] for name, values in parse_qs(environ["wsgi.input"].read(length).decode(errors="replace")).items()}
    if not session.known or not same(fields.get("authenticity_token", ""), session.token):
        raise HTTPError("403 Forbidden", "the form is not from here")
    return fields


def number(text: str) -> int:
    """An id; 0 where the text is none."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 0


def euros(cents: int) -> str:
    return f"{cents / 100:.2f}"


def page(*lines: str) -> Html:
    return Html("\n".join(["<!DOCTYPE html>", "<title>Shop</title>", *lines, ""]))


def listed(items: list[Item]) -> list[str]:
    return ["<ul>", *(f"<li>{escape(name)}: {euros(price)}</li>" for _, name, price in items), "</ul>"]


def hidden(session: Session) -> str:
    return f'<input type="hidden" name="authenticity_token" value="{session.token}">'


def see_other(path: str, *headers: tuple[str, str]) -> Reply:
    return Reply(Html(f'<a href="{path}">See there</a>\n'), "303 See Other", [("Location", path), *headers])


def login_form(environ: dict[str, Any]) -> Reply:
    session = Session.of(environ)
    fields = ['<input name="customer">', '<input name="password" type="password">', "<button>Log in</button>"]
    body = page('<form method="post" action="/shop/login">', hidden(session), *fields, "</form>")
    return Reply(body, headers=[session.header])


def login(environ: dict[str, Any]) -> Reply:
    fields = form(environ, Session.of(environ))
    customer = number(fields.get("customer", ""))
    account = connected().execute(
        "SELECT salt, password_hash FROM shop_accounts WHERE customer_id = %s", [customer]
    ).fetchone()
    salt, right = account or ("", "")
    password = fields.get("password", "").encode()
    if not same(hashlib.pbkdf2_hmac("sha256", password, salt.encode(), ITERATIONS).hex(), right):
        raise HTTPError("401 Unauthorized", "wrong customer or password")
    return see_other("/shop/search", Session(customer=customer).header)


def search(environ: dict[str, Any]) -> Reply:
    session = Session.of(environ)
    [text] = parse_qs(environ["QUERY_STRING"]).get("q", [""])[-1:]
    items = connected().execute(
        "SELECT id, name, price FROM shop_items WHERE strpos(name, %s) > 0 ORDER BY price, id LIMIT 10", [text]
    ).fetchall()
    rows = [
        f'<li><button name="item" value="{number}">{escape(name)}</button>: {euros(price)}</li>'
        for number, name, price in items
    ]
    body = page('<form method="post" action="/shop/orders">', hidden(session), "<ul>", *rows, "</ul>", "</form>")
    return Reply(body, headers=[session.header])


def order(environ: dict[str, Any]) -> Reply:
    session = Session.of(environ)
    fields = form(environ, session)
    customer = session.logged_in()
    item = connected().execute(
        "SELECT id FROM shop_items WHERE id = %s", [number(fields.get("item", ""))]
    ).fetchone()
    if item is None:
        raise HTTPError("404 Not Found", "there is no such item")
    [bought] = connected().execute(
        "INSERT INTO shop_purchases (customer_id, item_id) VALUES (%s, %s) RETURNING id", [customer, item[0]]
    ).fetchone()
    return see_other(f"/shop/orders/{bought}")


def receipt(environ: dict[str, Any], bought: str) -> Reply:
    found = connected().execute(
        "SELECT c.name, i.id, i.name, i.price FROM shop_purchases p JOIN customers c ON c.id = p.customer_id "
        "JOIN shop_items i ON i.id = p.item_id WHERE p.id = %s AND p.customer_id = %s",
        [number(bought), Session.of(environ).logged_in()],
    ).fetchone()
    if found is None:
        raise HTTPError("404 Not Found", "there is no such receipt")
    customer, *item = found
    return Reply(page(f"<h1>{escape(customer)}</h1>", *listed([tuple(item)])))


def gifts(environ: dict[str, Any]) -> Reply:
    """All threes of the first items, one after another."""
    query = parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
    budget = whole(query.get("budget", ["10000"])[-1], 10**9)
    among = whole(query.get("among", [GIFTS])[-1], 10_000)
    items = connected().execute("SELECT id, name, price FROM shop_items ORDER BY id LIMIT %s", [among]).fetchall()
    prices = [price for _, _, price in items]
    best, three = 0, []
    for i, first in enumerate(prices):
        for j in range(i + 1, len(prices)):
            two = first + prices[j]
            for k in range(j + 1, len(prices)):
                total = two + prices[k]
                if best < total <= budget:
                    best, three = total, [i, j, k]
    return Reply(page(f"<h1>{euros(best)}</h1>", *listed([items[at] for at in three])))


ROUTES: list[tuple[str, str, Callable[..., Reply]]] = [
    ("GET", "/shop/login", login_form),
    ("POST", "/shop/login", login),
    ("GET", "/shop/search", search),
    ("POST", "/shop/orders", order),
    ("GET", "/shop/orders/([^/]+)", receipt),
    ("GET", "/shop/gifts", gifts),
]


def answer(environ: dict[str, Any]) -> Reply | None:
    """None for what the shop does not have."""
    method = "GET" if environ["REQUEST_METHOD"] == "HEAD" else environ["REQUEST_METHOD"]
    for asked, pattern, route in ROUTES:
        if asked == method and (match := re.fullmatch(pattern, environ["PATH_INFO"])):
            connected()
            return route(environ, *match.groups())
    return None
