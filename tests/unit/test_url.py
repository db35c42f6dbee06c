"""URLs as users give them: what each part is, what is refused, and that no message has a password."""

import base64

import pytest

from jostle.errors import BadValue
from jostle.url import (
    Url,
    canonical_host,
    has_scheme,
    host_and_port,
    path_at,
    read_url,
    sent_path,
    socket_path,
)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://here/", ("here", 80)),
        ("https://here", ("here", 443)),
        ("https://here:8443/x", ("here", 8443)),
        ("http://[::1]:9000", ("::1", 9000)),
        ("postgresql://me:pw@db.example/shop", ("db.example", 5432)),
        ("http://here:0", ("here", 0)),
        ("HTTP://HERE:/", ("here", 80)),
        ("localhost:8080/go?to=http://10.0.0.1/", ("localhost", 8080)),
        ("127.0.0.1:8080/go?to=http://10.0.0.1/", ("127.0.0.1", 8080)),
        ("[::1]:8080/go#x://y", ("::1", 8080)),
        ("localhost", ("localhost", 80)),
        ("http://[2001:DB8:0:0::1]:80", ("2001:db8::1", 80)),
        ("http://me:a@b@here:8080/", ("here", 8080)),
    ],
)
def test_where_a_url_leads(url: str, place: tuple[str, int]) -> None:
    assert host_and_port(url) == place


def test_a_scheme_stands_at_the_beginning() -> None:
    assert all(map(has_scheme, ("http://a", "x+y-z.1://a")))
    assert not any(map(has_scheme, ("localhost:8080/go?to=http://a", "/go?to=http://a", "://a", "1://a")))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://h", ""),
        ("http://h/", "/"),
        ("http://h?q=1", "/?q=1"),
        ("http://h/a b/ü?q=a b#fragment", "/a%20b/%C3%BC?q=a%20b"),
        ("h/go?to=http://x/?y", "/go?to=http://x/?y"),
        ("http://h/%2F{id}", "/%2F%7Bid%7D"),
        ("http://h/a@b", "/a@b"),
    ],
)
def test_path_and_query_are_sent_encoded(url: str, path: str) -> None:
    assert read_url(url).path == path


@pytest.mark.parametrize(
    ("zone", "host"),
    [
        ("[fe80::1%25eth0]", "fe80::1%eth0"),
        ("[fe80::1%eth0]", "fe80::1%eth0"),
        ("[FE80::1%25]", "fe80::1%25"),
        ("[fe80::1%2]", "fe80::1%2"),
        ("[fe80::1%25br-1.100]", "fe80::1%br-1.100"),
    ],
)
def test_a_zone_is_written_in_two_ways(zone: str, host: str) -> None:
    url = read_url(f"http://{zone}:8080/x")
    assert (url.host, url.address, str(url)) == (host, f"[{host}]:8080", f"http://[{host}]:8080/x")


@pytest.mark.parametrize(
    ("login", "pair"),
    [
        ("ann:secret", "ann:secret"),
        ("ann", "ann:"),
        (":secret", ":secret"),
        ("ann:a:b", "ann:a:b"),
        ("ann:a%40b%2F%C3%BC", "ann:a@b/ü"),
        ("ü:ß", "ü:ß"),
    ],
)
def test_a_login_becomes_a_header(login: str, pair: str) -> None:
    url = read_url(f"http://{login}@h:8080/x")
    assert url.authorization == f"Basic {base64.b64encode(pair.encode()).decode()}"
    assert str(url) == "http://h:8080/x"
    assert read_url(url.at_path("/y")) == Url("http", "h", 8080, "/y", login)


@pytest.mark.parametrize("url", ["http://h/", "http://@h/", "http://:@h/"])
def test_without_a_login_there_is_no_header(url: str) -> None:
    assert read_url(url).authorization == ""


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "names no host"),
        ("http://", "names no host"),
        ("http:///x", "names no host"),
        ("http:/h/x", "no // behind http:"),
        ("https:h", "no // behind https:"),
        ("http://h:x/", "no host with a port"),
        ("http://h:+80/", "no host with a port"),
        ("http://h:::80/", "no host with a port"),
        ("http://h:65536/", "the port must be from 0 to 65535"),
        ("http://::1:80/", "no host with a port"),
        ("http://[::1/", "no host with a port"),
        ("http://[::g]/", "is not an IPv6 address"),
        ("http://[1.2.3.4]/", "cannot be the name of a host"),
        ("http://[fe80::1%]/", "no zone behind %"),
        ("http://[fe80::1%a b]/", "no zone behind %"),
        ("http://a b/", "a space"),
        ("http://a%00b/", r"'\\x00'"),
        ("http://a\\b/", "cannot be the name of a host"),
        ("http://a%FF/", "not UTF-8"),
        ("http://a..b/", "1 to 63 characters"),
        ("http://" + "a" * 64, "1 to 63 characters"),
        ("tcp://h", "names no port"),
        ("ftp://h/", "'ftp' is not supported"),
    ],
)
def test_what_is_no_url_is_refused(url: str, says: str) -> None:
    with pytest.raises(BadValue, match=says):
        read_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://ann:secret@h:x/",
        "http://ann:secret@/",
        "http://ann:secret@a b/",
        "ann:secret@a b/",
        "http://ann:secret@h:70000/",
        "http://ann:sec/ret@h/",
        "http://ann:sec?ret@h/",
        "http:/ann:secret@h/",
        "tcp://ann:secret@h",
        "http://ann:secret@[::g]/",
    ],
)
def test_no_message_has_a_password(url: str) -> None:
    with pytest.raises(BadValue) as raised:
        read_url(url)
    assert not any(part in str(raised.value) for part in ("secret", "sec/", "sec?"))


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/slow", "/slow"),
        ("/go?to=http://x/", "/go?to=http://x/"),
        ("http://h/slow?q=1", "/slow?q=1"),
        ("http://H:80", "/"),
        ("/a b#c", "/a%20b"),
    ],
)
def test_a_route_is_a_path_or_a_url_of_the_same_server(given: str, path: str) -> None:
    assert path_at(read_url("http://h"), given) == path


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("slow", "neither a path nor a URL"),
        ("http://other/slow", "another server than http://h:80"),
        ("https://h/slow", "another server"),
        ("http://h:81/slow", "another server"),
        ("http://ann:secret@h/slow", "a login of its own"),
    ],
)
def test_a_route_elsewhere_is_refused(given: str, says: str) -> None:
    with pytest.raises(BadValue, match=says) as raised:
        path_at(read_url("http://h"), given)
    assert "secret" not in str(raised.value)


def test_hosts_have_one_form() -> None:
    assert canonical_host("BÜCHER.example") == "xn--bcher-kva.example"
    assert canonical_host("[::1]") == canonical_host("::1") == canonical_host("0:0::1") == "::1"
    assert canonical_host("under_score.Example.") == "under_score.example."


def test_a_socket_of_the_abstract_namespace_begins_with_nul() -> None:
    assert (socket_path("@app"), socket_path("/run/@app")) == ("\0app", "/run/@app")


def test_a_fragment_is_never_sent() -> None:
    assert sent_path("/a b?c=d#e?f") == "/a%20b?c=d"
    assert sent_path("/a#b") == path_at(read_url("http://h"), "/a#b") == read_url("h/a#b").path == "/a"
