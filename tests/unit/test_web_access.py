"""Which requests the page of `jostle web` lets through, and which not."""

import base64

import pytest

from jostle.web.access import Access

OURS = {"host": "127.0.0.1:5678"}


def status(access: Access, method: str = "GET", **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    refused = access.refused(method, OURS | named)
    return 200 if refused is None else refused.status_code


def basic(password: str) -> str:
    return f"Basic {base64.b64encode(f'any:{password}'.encode()).decode()}"


@pytest.mark.parametrize(
    "host", ["127.0.0.1:5678", "127.0.0.1", "localhost:9000", "LOCALHOST", "[::1]:5678", "192.0.2.7:5678"]
)
def test_an_address_or_localhost_is_this_machine(host: str) -> None:
    assert status(Access(), host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:5678", "127.0.0.1.evil.example", "", "[", "]"]
)
def test_a_name_that_may_point_anywhere_is_refused(host: str) -> None:
    assert status(Access(), host=host) == 421


def test_a_machine_that_others_reach_has_names() -> None:
    access = Access.to_others("lab.example")
    assert status(access, host="Lab.example:5678", authorization=basic(access.token)) == 200
    assert status(access, host="evil.example", authorization=basic(access.token)) == 421


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_pages_may_lead_here_and_do_nothing_else(site: str) -> None:
    access = Access()
    link = {"sec_fetch_site": site, "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert status(access, **link) == 200
    assert status(access, **{**link, "sec_fetch_dest": "iframe"}) == 403
    assert status(access, sec_fetch_site=site, sec_fetch_mode="cors", sec_fetch_dest="empty") == 403
    assert status(access, "POST", **link, jostle_token=access.token) == 403


def test_a_change_needs_the_token_in_a_header() -> None:
    access = Access()
    assert status(access, "POST") == 401
    assert status(access, "POST", jostle_token="wrong") == 401
    assert status(access, "POST", jostle_token="wröng") == 401
    assert status(access, "POST", jostle_token=access.token, sec_fetch_site="same-origin") == 200
    assert status(access, "DELETE", jostle_token=access.token) == 200
    assert status(access, "DELETE") == 401


@pytest.mark.parametrize(
    "given", ["", "Basic", "Basic !", "Basic //79", "Bearer x", basic("wrong"), basic("")]
)
def test_where_others_connect_nothing_is_told_without_the_token(given: str) -> None:
    access = Access.to_others("lab.example")
    refused = access.refused("GET", {"host": "lab.example", "authorization": given})
    assert refused is not None
    assert (refused.status_code, refused.body) == (401, b"")
    assert status(access, host="lab.example", authorization=basic(access.token)) == 200
    assert status(access, "POST", host="lab.example", authorization=basic(access.token)) == 401


def test_tokens_differ() -> None:
    assert Access().token != Access().token
    assert len(Access().token) >= 32
