"""The options of curl: which have a value, which say what is sent, which say nothing about a load."""

from dataclasses import dataclass
from typing import Literal

from jostle.errors import PlanError, nearest

__all__ = ["LETTERS", "OPTIONS", "Option", "option_named"]

OptionEffect = Literal["sent", "ignored", "refused"]


@dataclass(frozen=True)
class Option:
    """What curl does with an option, and jostle."""

    name: str
    takes_value: bool
    """The next word belongs to it."""
    effect: OptionEffect
    why: str = ""
    """What is said where it is refused."""


def _names(text: str) -> list[str]:
    return text.split()


_SENT_FLAGS = _names("""
basic compressed form-escape get globoff head http1.1 http2 http2-prior-knowledge insecure
junk-session-cookies location location-trusted next path-as-is tlsv1.3 ipv4 ipv6 tcp-nodelay
""")
_SENT_VALUES = _names("""
cacert cert connect-timeout connect-to cookie data data-ascii data-binary data-raw data-urlencode form
form-string header interface json key max-redirs max-time oauth2-bearer proto-default range referer request
request-target resolve tls-max unix-socket abstract-unix-socket upload-file url url-query user user-agent
""")
_IGNORED_FLAGS = _names("""
append create-dirs cert-status clobber compressed-ssh crlf disable disable-eprt disable-epsv
disallow-username-in-url doh-cert-status doh-insecure fail fail-early fail-with-body false-start
ftp-create-dirs ftp-pasv ftp-pret ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-control http0.9 include keepalive
list-only mail-rcpt-allowfails metalink buffer alpn npn progress-meter sessionid parallel
parallel-immediate post301 post302 post303 progress-bar proxy-anyauth proxy-basic proxy-digest proxy-insecure
proxy-negotiate proxy-ntlm proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tlsv1 proxytunnel
remote-header-name remote-name remote-name-all remote-time remove-on-error retry-all-errors retry-connrefused
sasl-ir show-error show-headers silent socks5-basic socks5-gssapi socks5-gssapi-nec ssl ssl-allow-beast
ssl-auto-client-cert ssl-no-revoke ssl-reqd ssl-revoke-best-effort styled-output suppress-connect-headers
tftp-no-options tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 trace-ids trace-time use-ascii verbose xattr skip-existing
out-null ca-native proxy-ca-native
""")
_IGNORED_VALUES = _names("""
cookie-jar create-file-mode delegation dump-header egd-file engine etag-save expect100-timeout ftp-account
ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms hostpubmd5
hostpubsha256 keepalive-time keepalive-cnt krb libcurl login-options mail-auth mail-from mail-rcpt
max-filesize noproxy output output-dir parallel-max parallel-max-host proto proto-redir proxy-cacert
proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type
proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword
proxy-tlsuser proxy-user pubkey quote random-file retry retry-delay retry-max-time sasl-authzid service-name
socks5-gssapi-service speed-limit speed-time stderr telnet-option tftp-blksize trace trace-ascii trace-config
write-out
""")

_PROXY = "jostle connects to the server itself, not through a proxy"
_ONE_WAY = "jostle knows a name and a password only as curl's --basic sends them"
_TLS = "jostle leaves this to its TLS library"
_NAMES = "jostle asks the resolver of this machine; give --connect-to IP:PORT before curl"
_SIGNED = "the signature holds only for the second in which curl makes it"
_REFUSED_FLAGS = {
    "anyauth": _ONE_WAY,
    "digest": _ONE_WAY,
    "haproxy-protocol": "jostle sends no PROXY protocol",
    "help": "curl would print its help and send nothing",
    "http1.0": "jostle speaks HTTP/1.1 and HTTP/2",
    "http3": "jostle speaks HTTP/1.1 and HTTP/2",
    "http3-only": "jostle speaks HTTP/1.1 and HTTP/2",
    "ignore-content-length": "jostle reads a response as long as it says it is",
    "manual": "curl would print its manual and send nothing",
    "negotiate": _ONE_WAY,
    "netrc": "write the password with -u",
    "netrc-optional": "write the password with -u",
    "ntlm": _ONE_WAY,
    "ntlm-wb": _ONE_WAY,
    "raw": "jostle always takes the chunks of a response apart",
    "sslv2": _TLS,
    "sslv3": _TLS,
    "tcp-fastopen": "jostle opens connections without TCP Fast Open",
    "tr-encoding": "jostle asks for no transfer coding; --compressed asks for a content coding",
    "version": "curl would print its version and send nothing",
    "mptcp": "jostle opens connections of plain TCP",
}
_REFUSED_VALUES = {
    "alt-svc": "jostle keeps to the server of the URL",
    "aws-sigv4": _SIGNED,
    "capath": "give the certificates as one file: --cacert",
    "cert-type": "jostle reads PEM",
    "ciphers": _TLS,
    "config": "write its options into the command",
    "continue-at": "write -r FROM-",
    "crlfile": _TLS,
    "curves": _TLS,
    "dns-interface": _NAMES,
    "dns-ipv4-addr": _NAMES,
    "dns-ipv6-addr": _NAMES,
    "dns-servers": _NAMES,
    "doh-url": _NAMES,
    "ech": _TLS,
    "etag-compare": "write -H 'If-None-Match: …'",
    "hsts": "write https:// where the server is to be asked so",
    "ip-tos": "jostle does not mark its packets",
    "key-type": "jostle reads PEM",
    "limit-rate": "jostle sends and reads as fast as it can",
    "local-port": "jostle leaves the local port to the kernel",
    "netrc-file": "write the password with -u",
    "pass": "jostle reads private keys without a pass phrase",
    "pinnedpubkey": "give the certificate itself: --cacert",
    "preproxy": _PROXY,
    "proxy": _PROXY,
    "proxy1.0": _PROXY,
    "rate": "the rate of the load is jostle's --rate, before curl",
    "sigalgs": _TLS,
    "socks4": _PROXY,
    "socks4a": _PROXY,
    "socks5": _PROXY,
    "socks5-hostname": _PROXY,
    "time-cond": "write -H 'If-Modified-Since: …'",
    "tls13-ciphers": _TLS,
    "tlsauthtype": _TLS,
    "tlspassword": _TLS,
    "tlsuser": _TLS,
    "variable": "write the value itself",
    "vlan-priority": "jostle does not mark its packets",
}

OPTIONS: dict[str, Option] = {
    **{name: Option(name, False, "sent") for name in _SENT_FLAGS},
    **{name: Option(name, True, "sent") for name in _SENT_VALUES},
    **{name: Option(name, False, "ignored") for name in _IGNORED_FLAGS},
    **{name: Option(name, True, "ignored") for name in _IGNORED_VALUES},
    **{name: Option(name, False, "refused", why) for name, why in _REFUSED_FLAGS.items()},
    **{name: Option(name, True, "refused", why) for name, why in _REFUSED_VALUES.items()},
}
"""By long name. Of --no-NAME only NAME is listed."""

LETTERS = {
    "0": "http1.0", "1": "tlsv1", "2": "sslv2", "3": "sslv3", "4": "ipv4", "6": "ipv6", "a": "append",
    "A": "user-agent", "b": "cookie", "B": "use-ascii", "c": "cookie-jar", "C": "continue-at", "d": "data",
    "D": "dump-header", "e": "referer", "E": "cert", "f": "fail", "F": "form", "g": "globoff", "G": "get",
    "h": "help", "H": "header", "i": "include", "I": "head", "j": "junk-session-cookies",
    "J": "remote-header-name", "k": "insecure", "K": "config", "l": "list-only", "L": "location",
    "m": "max-time", "M": "manual", "n": "netrc", "N": "buffer", "o": "output", "O": "remote-name",
    "p": "proxytunnel", "P": "ftp-port", "q": "disable", "Q": "quote", "r": "range", "R": "remote-time",
    "s": "silent", "S": "show-error", "t": "telnet-option", "T": "upload-file", "u": "user",
    "U": "proxy-user", "v": "verbose", "V": "version", "w": "write-out", "x": "proxy", "X": "request",
    "y": "speed-time", "Y": "speed-limit", "z": "time-cond", "Z": "parallel", "#": "progress-bar",
    ":": "next",
}  # fmt: skip


def option_named(name: str) -> Option:
    """The option of this long name, or of one that begins so and is the only one. Raises `PlanError`."""
    if name in OPTIONS:
        return OPTIONS[name]
    begun = [option for known, option in OPTIONS.items() if known.startswith(name)]
    if len(begun) != 1:
        raise PlanError(f"curl has no option --{name}, as far as jostle knows", nearest(name, OPTIONS))
    return begun[0]
