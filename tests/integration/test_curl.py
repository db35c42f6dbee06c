"""What jostle sends for a curl command is what the real curl sends: request line, headers and body."""

from pathlib import Path

import pytest

from jostle.errors import JostleError
from support.curl import VARIABLES, commands, comparable, files_in, recording, sent_by_curl, sent_by_jostle

REFUSED = {
    "curlconverter/form_quotes": "cannot be read",  # curl fails for one of its commands, too
    "curlconverter/get_digest_auth": "curl's --digest",
    "curlconverter/get_http2_warning": "curl's --http2",
    "curlconverter/read_cookies_and_mixed_auth": "curl's --digest",
    "curlconverter/read_stdin": "reads standard input",
    "curlconverter/redirect_command_url_query": "is for a shell to work out",
}
"""Commands for which curl sends something, and which jostle refuses; and what it says."""
OTHERWISE = {
    "curlconverter/multiple_commands",  # an upload: curl 7.88 asks with Expect: 100-continue
    "curlconverter/upload_file",
    "curlconverter/url_query_reads_file",  # curl 7.88 writes %0A in small letters
}
"""Commands for which something else is sent."""


def test_jostle_sends_what_curl_sends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    files_in(tmp_path)
    equal, refused, different = [], {}, set()
    with recording() as recorder:
        for name, text in commands().items():
            by_curl = sorted(map(comparable, sent_by_curl(text, tmp_path, recorder)))
            try:
                by_jostle = sorted(map(comparable, sent_by_jostle(text, recorder)))
            except JostleError as error:
                if by_curl:
                    refused[name] = error.message
                else:
                    equal.append(name)  # curl refuses it as well, or has a proxy that is not there
                continue
            if by_jostle == by_curl:
                equal.append(name)
            else:
                different.add(name)
    assert len(equal) + len(refused) + len(different) == len(commands()) >= 180
    assert different == OTHERWISE
    assert refused.keys() == REFUSED.keys()
    for name, says in REFUSED.items():
        assert says in refused[name]
    assert len(equal) >= 0.95 * len(commands())


def test_words_that_a_shell_has_split_are_sent_alike() -> None:
    words = ["curl", "http://localhost:28139/a?b=$c", "--data-raw", "it's\n{x}", "-H", "X: 'y'"]
    with recording() as recorder:
        (sent,) = sent_by_jostle(words, recorder)
    assert sent.startswith(b"POST /a?b=$c HTTP/1.1\r\n")
    assert b"\r\nX: 'y'\r\n" in sent
    assert sent.endswith(b"\r\n\r\nit's\n{x}")
