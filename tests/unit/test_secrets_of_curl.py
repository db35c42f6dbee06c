"""Secrets in the words of curl commands: the options are those that jostle reads."""

import pytest

from jostle.errors import PlanError
from jostle.plan.curl import has_curl, is_curl
from jostle.plan.curl.options import LETTERS, OPTIONS, option_named
from jostle.plan.curl.text import curl_commands
from jostle.redaction.commands import redact_command

VALUES = ("ann:hunter2x", "Authorization: Basic hunter2x", "password=hunter2x", "a=hunter2x")

NO_SECRETS = {
    *("aws-sigv4", "mail-auth", "sasl-authzid", "sigalgs", "tlsauthtype", "proxy-tlsauthtype"),
    *("pubkey", "pinnedpubkey", "proxy-pinnedpubkey"),
}
"""Options that are hidden under their whole names, which look like those of secrets."""


def recorded(*words: str) -> list[str]:
    return redact_command(["jostle", "hit", "--", "curl", *words])[4:]


def beginnings(name: str) -> list[str]:
    """What is short for an option, and for no other."""
    found = []
    for length in range(1, len(name)):
        try:
            if option_named(name[:length]).name == name:
                found.append(name[:length])
        except PlanError:
            continue
    return found


@pytest.mark.parametrize(
    "flag", [letter for letter, name in LETTERS.items() if not OPTIONS[name].takes_value]
)
def test_letters_without_a_value_may_stand_before_those_with_a_secret(flag: str) -> None:
    for letter in "uHbdFU":
        for value in VALUES:
            (_, full), (_, shown) = recorded(f"-{letter}", value), recorded(f"-{flag}{letter}", value)
            assert shown == full
            assert "hunter2x" in full or "hunter2x" not in recorded(f"-{flag}{letter}{value}")[0]


def test_the_beginning_of_an_options_name_hides_what_the_whole_hides() -> None:
    for name, option in OPTIONS.items():
        for short in beginnings(name) if option.takes_value and name not in NO_SECRETS else ():
            for value in VALUES:
                assert recorded(f"--{short}", value) == [f"--{short}", *recorded(f"--{name}", value)[1:]]
                assert recorded(f"--{short}={value}")[0] == recorded(f"--{name}={value}")[0].replace(
                    f"--{name}=", f"--{short}="
                )
    assert recorded("--use", "ann:hunter2x", "--heade", "X-Api-Key: z") == [
        *("--use", "ann:(hidden)", "--heade", "X-Api-Key: (hidden)")
    ]


def test_options_without_secrets_stay() -> None:
    words = ["--url", "http://h/author?next=/session", "--head", "-X", "PUT", "-m", "5", "--compressed"]
    assert recorded(*words) == words


@pytest.mark.parametrize(
    "word",
    [
        *("curl", "curl.exe", "CURL.EXE", "./curl", "/usr/bin/curl", "C:\\Windows\\curl.exe"),
        *("curlie", "libcurl", "curl.sh", "curl/", "xcurl.exe"),
    ],
)
def test_one_notion_of_what_runs_curl(word: str) -> None:
    """Of the words of a command, of a pasted text, and of what is recorded."""
    hidden = redact_command([word, "-b", "a=hunter2x"])[-1] == "(hidden)"
    assert (is_curl(word), has_curl(f"{word} http://h")) == (hidden, hidden)


def test_a_variable_that_is_missing_is_named_in_what_to_type() -> None:
    with pytest.raises(PlanError) as raised:
        curl_commands('curl -H "X-Api-Key: $TOKEN" http://h', {})
    assert raised.value.hint == "export TOKEN first"
