"""URLs as users give them: one reading for every command, plan, file and interface.

Host names are encoded as browsers and curl do it (UTS 46, non-transitional), so that `faß.example` is not
looked up as `fass.example`, which is somebody else's. A login becomes the header that a server expects.
Nothing that is raised here, and no `str(url)`, contains a password.
"""

import base64
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv6Address
from urllib.parse import quote, unquote, unquote_to_bytes

from jostle.errors import BadValue

__all__ = [
    "DEFAULT_PORTS",
    "Url",
    "address_of",
    "basic_login",
    "canonical_host",
    "has_scheme",
    "host_and_port",
    "parts",
    "path_at",
    "read_url",
    "sent_path",
    "shown",
    "socket_path",
]

DEFAULT_PORTS = {
    "http": 80,
    "https": 443,
    "ws": 80,
    "wss": 443,
    "grpc": 80,
    "grpcs": 443,
    "postgres": 5432,
    "postgresql": 5432,
}
"""The port of a URL that names none, by scheme."""

EXAMPLE_PORTS = {"tcp": 6379, "udp": 53}
"""For messages: the schemes without a default port."""
KNOWN = (*DEFAULT_PORTS, *EXAMPLE_PORTS)
"""The schemes of all URLs that jostle reads."""

EXAMPLE = "write for example http://localhost:8080/hello"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LACKS_SLASHES = re.compile(r"(https?|wss?|tcp|udp|grpcs?):/?(?![/\d])", re.IGNORECASE)
_PARTS = re.compile(rf"(?:{_SCHEME.pattern})?([^/?#]*)([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_PLACE = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]{0,5}))?")
_ZONE = re.compile(r"[^\s/%\[\]]+")

MAX_LABEL, MAX_NAME = 63, 253
"""Bytes of a part of a host name, and of the whole (RFC 1035, section 2.3.4)."""

_FORBIDDEN = frozenset([*map(chr, range(33)), *"#/:<>?@[\\]^|%", "\x7f"])
"""The forbidden domain code points of the URL standard."""


def has_scheme(text: str) -> bool:
    """Whether a text begins with a scheme and "://". One further behind belongs to a path or a query."""
    return _SCHEME.match(text) is not None


def parts(text: str) -> tuple[str, str, str, str | None]:
    """Scheme, authority, path and query of a URL as it is written; "" or, without a query, None for what it
    lacks. A fragment is never sent, by anybody.
    """
    found = _PARTS.match(text)
    assert found is not None, "every text matches"
    return found[1] or "", found[2], found[3], found[4]


def address_of(host: str, port: int | str) -> str:
    """Host and port, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True)
class Url:
    """A URL."""

    scheme: str
    host: str
    """In ASCII and lower case; an IPv6 address without brackets, with its zone (fe80::1%eth0)."""
    port: int
    path: str = ""
    """Path and query, fit for a request line; "" if it has neither."""
    login: str = field(default="", repr=False)
    """User and password as in the URL."""

    @property
    def tls(self) -> bool:
        return self.scheme in ("https", "wss", "grpcs")

    @property
    def address(self) -> str:
        """Host and port, an IPv6 address in brackets."""
        return address_of(self.host, self.port)

    @property
    def authorization(self) -> str:
        """The value of the Authorization header for the login; "" without one."""
        user, _, password = map(unquote, self.login.partition(":"))
        return basic_login(f"{user}:{password}") if self.login else ""

    def at_path(self, path: str) -> str:
        """The URL, login included, of another path at the same server."""
        login = f"{self.login}@" if self.login else ""
        return f"{self.scheme}://{login}{self.address}{path}"

    def __str__(self) -> str:
        """The URL without its login."""
        return f"{self.scheme}://{self.address}{self.path}"


def read_url(text: str, schemes: Collection[str] = KNOWN) -> Url:
    """Read a URL; without a scheme it is one of HTTP. Raises `BadValue`, also if it has none of `schemes`."""
    text = text.strip()
    if found := _LACKS_SLASHES.match(text):
        raise BadValue(f"the URL has no // behind {found[1]}:", f"write {found[1].lower()}://…")
    written, authority, path, query = parts(text)
    scheme = written.lower() or "http"
    if scheme not in schemes:
        known = ", ".join(f"{known}://" for known in schemes)
        raise BadValue(f"{shown(text)!r}: {scheme!r} is not supported", f"write {known}")
    login, at, place = authority.rpartition("@")
    split = _PLACE.fullmatch(place)
    if not at and "@" in text and (split is None or not place):
        raise BadValue(
            f"the URL of {scheme}:// has a login with a character that ends it",
            "in a name or password write / as %2F, ? as %3F and # as %23",
        )
    if split is None:
        hint = "an IPv6 address is in brackets: http://[::1]:8080/" if place.count(":") > 1 else EXAMPLE
        raise BadValue(f"{shown(text)!r} is not a URL: {place!r} is no host with a port", hint)
    if not split[1]:
        raise BadValue(f"{shown(text)!r} names no host", EXAMPLE)
    port = int(split[2]) if split[2] else DEFAULT_PORTS.get(scheme)
    if port is None:
        raise BadValue(
            f"{shown(text)!r} names no port",
            f"write for example {scheme}://127.0.0.1:{EXAMPLE_PORTS[scheme]}",
        )
    if port > 65535:
        raise BadValue(f"{shown(text)!r} is not a URL: the port must be from 0 to 65535", EXAMPLE)
    try:
        host = canonical_host(split[1])
    except BadValue as error:
        raise BadValue(f"{shown(text)!r} is not a URL: {error.message}", error.hint or EXAMPLE) from None
    return Url(scheme, host, port, _sent_path(path, query or ""), "" if login == ":" else login)


def basic_login(pair: str) -> str:
    """The value of the Authorization header for "user:password" (RFC 7617). Raises `BadValue`."""
    try:
        return f"Basic {base64.b64encode(pair.encode()).decode()}"
    except UnicodeEncodeError:
        raise BadValue("the login is not UTF-8 text", "write for example ann:secret") from None


def host_and_port(url: str) -> tuple[str, int]:
    """Where connections to a URL go. Raises `BadValue`."""
    read = read_url(url)
    return read.host, read.port


def sent_path(text: str) -> str:
    """Path and query as they are sent: what has no place in a request line is percent-encoded, and a
    fragment is left out.
    """
    path, _, query = text.partition("#")[0].partition("?")
    return _sent_path(path, query)


def _sent_path(path: str, query: str) -> str:
    try:
        f"{path}{query}".encode()
    except UnicodeEncodeError as error:
        raise BadValue(
            f"a path has U+{ord(error.object[error.start]):04X}, which is no character",
            "write bytes percent-encoded, for example http://localhost/%E4",
        ) from None
    path = quote(path or ("/" if query else ""), safe="/%:@!$&'()*+,;=~-._")
    query = quote(query, safe="/%:@!$&'()*+,;=~-._?[]|\"^`")
    return f"{path}?{query}" if query else path


def path_at(server: Url, given: str) -> str:
    """The path and query of a route, given as a path or as a URL at the same server. Raises `BadValue`."""
    if not has_scheme(given):
        if not given.startswith("/"):
            raise BadValue(f"{shown(given)!r} is neither a path nor a URL", f"write /{given}")
        return sent_path(given)
    url = read_url(given)
    if (url.scheme, url.host, url.port) != (server.scheme, server.host, server.port):
        raise BadValue(f"{url} is on another server than {server.scheme}://{server.address}")
    if url.login:
        raise BadValue(f"{url} has a login of its own", "write it into the URL of the server")
    return url.path or "/"


def socket_path(name: str) -> str:
    """The path of a Unix socket as the kernel takes it: "@name" is one of the abstract namespace of Linux."""
    return f"\0{name[1:]}" if name.startswith("@") else name


def canonical_host(text: str) -> str:
    """A host as it is looked up: a name in ASCII and lower case, an IPv6 address in its shortest form.

    A zone is written behind `%`, or `%25` as in RFC 6874. Raises `BadValue` for what can be no host.
    """
    bare = text.removeprefix("[").removesuffix("]")
    if ":" in bare:
        return _ipv6(bare)
    return _name(text)


def _ipv6(text: str) -> str:
    address, percent, zone = text.partition("%")
    if zone.startswith("25") and len(zone) > 2:
        zone = zone[2:]
    zone = unquote(zone)
    try:
        shortest = str(IPv6Address(address))
    except AddressValueError:
        raise BadValue(f"{text!r} is not an IPv6 address") from None
    if percent and not _ZONE.fullmatch(zone):
        raise BadValue(f"{text!r} has no zone behind %", "write for example [fe80::1%eth0]")
    return f"{shortest}%{zone}" if zone else shortest


def _name(text: str) -> str:
    try:
        name = unquote_to_bytes(text).decode()
        ascii_name = name.lower() if name.isascii() else _uts46(name)
    except (UnicodeError, ValueError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
        raise BadValue(f"{text!r} cannot be the name of a host: {reason}") from None
    if wrong := next((character for character in ascii_name if character in _FORBIDDEN), ""):
        shown = "a space" if wrong == " " else repr(wrong)
        raise BadValue(f"{text!r} cannot be the name of a host: it has {shown}")
    labels = ascii_name.removesuffix(".").split(".")
    if not all(labels) or len(ascii_name) > MAX_NAME or any(len(label) > MAX_LABEL for label in labels):
        raise BadValue(
            f"each part of the name of a host has 1 to {MAX_LABEL} characters, and all of it at most "
            f"{MAX_NAME}: {text!r}"
        )
    return ascii_name


def _uts46(name: str) -> str:
    """A name in ASCII as UTS 46 encodes it (non-transitional, with CheckBidi and CheckJoiners).

    Browsers do the same. What IDNA 2008 adds is left out: it has no `☃`, which browsers look up. Raises
    `ValueError`.
    """
    import idna  # imported late, as it is large and few names need it

    labels = idna.uts46_remap(name, std3_rules=False, transitional=False).split(".")
    bidi = any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in "".join(labels))
    return ".".join(_encoded(label, bidi=bidi) for label in labels)


def _encoded(label: str, *, bidi: bool) -> str:
    import idna

    if label.isascii():
        return label
    if label.startswith("xn--"):
        raise ValueError(f"{label!r} is encoded already, and has other letters beside that")
    idna.check_initial_combiner(label)
    for place, character in enumerate(label):
        if character in "\u200c\u200d" and not idna.valid_contextj(label, place):
            raise ValueError(f"U+{ord(character):04X} has no place in {label!r}")
    if bidi:
        idna.check_bidi(label, check_ltr=True)
    return f"xn--{label.encode('punycode').decode()}"


def shown(text: str) -> str:
    """A URL as it was given, without its login: a user alone may be a token."""
    scheme, authority, *_ = parts(text)
    start = len(f"{scheme}://") if scheme else 0
    return text[:start] + text[start + authority.rfind("@") + 1 :]
