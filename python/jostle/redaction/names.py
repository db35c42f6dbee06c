"""Which names say that a value is a secret. docs/PLAN.md lists the same words."""

import re
from collections.abc import Callable
from urllib.parse import unquote

__all__ = ["HIDDEN", "Hide", "hidden", "names_a_number", "names_a_secret"]

HIDDEN = "(hidden)"
"""Replaces secrets in records."""

Hide = Callable[[str], str]
"""What takes the place of a secret."""


def hidden(_: str) -> str:
    return HIDDEN


_ANYWHERE = re.compile(
    r"auth(?!or(?!i[sz]))|cookie|token|secret|passw|passphrase|passcode|pwd|session|sessid|credential"
    r"|signature|hmac|jwt|saml|bearer|assertion|csrf|xsrf|connectionstring",
    re.IGNORECASE,
)
"""Words that make a name secret wherever they stand in it; of auth…, author and its like are spared."""

_AS_A_WORD = re.compile(
    r"(?:^|-)(?:sign|sas|pin|[ht]?otp|mfa|2fa|code|(?:access|login|security|sms|pin)code|tickets?|sid|sess"
    r"|creds?|psk|dsn|cvv|cvc|wsse|dpop|keyids?|connection-string|[a-z0-9]*(?:keys?|sig|pass|pw))(?:-|$)"
)
"""Words that make a name secret if they are one of its words, or (key, sig, pass, pw) end one."""

_HARMLESS = re.compile(
    r"(?<![a-z0-9])(?:"
    r"(?:cache|foreign|idempotency|partition|primary|public|routing|shard|sort|surrogate|web-?socket)-?keys?"
    r"|(?:mon|tur|don|hoc|joc|whis|hot)keys?|(?:by|com|over|tres|under)pass"
    r"|(?:area|country|currency|error|exit|language|post|postal|region|response|status|zip)-code"
    r"|auth-(?:method|mode|scheme|type)"
    r"|(?:max|min)[a-z-]*tokens|(?:cached|completion|input|output|prompt|reasoning|total)-?tokens"
    r")(?![a-z0-9])"
)
"""Names, or the end of names, that are spared."""

_NUMBERS = re.compile(
    r"(?:^|-)(?:pin|[ht]?otp|mfa|2fa|[a-z]*code|pass|password|passwd|pwd|pw|cvv|cvc|secret|token)$"
)
"""Of what kind of secret a number may be one; `sessions = 100` and `max_keys = 5` are none."""

_SEPARATORS = re.compile(r"[\W_]+|(?<=[A-Za-z])(?=[0-9])")
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_MAX_NAME_LENGTH = 200
"""In what is longer, only the words that count anywhere are looked for."""


def _words(name: str) -> str:
    """The words of a name in lower case, without those that are spared: "X-ApiKey" → "x-api-key"."""
    return _HARMLESS.sub("", _SEPARATORS.sub("-", name).lower())


def names_a_secret(name: str) -> bool:
    """Whether a value of this name may be a credential: `Authorization`, `X-Api-Key`, `dbPass`, `sig`, …"""
    if len(name) > _MAX_NAME_LENGTH:
        return _ANYWHERE.search(name) is not None
    plain = unquote(name) if "%" in name else name
    # Capitals may begin words (dbPass) or not (SAMLart).
    return any(
        _ANYWHERE.search(words) or _AS_A_WORD.search(words)
        for words in (_words(_CAPITALS.sub("-", plain)), _words(plain))
    )


def names_a_number(name: str) -> bool:
    """Whether also a number of this name may be a credential: `pin`, `otp`, `accessCode`."""
    return _NUMBERS.search(_words(_CAPITALS.sub("-", name))) is not None
