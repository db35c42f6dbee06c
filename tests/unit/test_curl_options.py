"""curl's options: all are known, and those that jostle cannot follow are refused by name."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.plan.curl.options import LETTERS, OPTIONS
from jostle.plan.curl.translate import pasted
from jostle.plan.hit.plan import hit_plan
from jostle.plan.workload import Workload


def test_every_option_of_the_installed_curl_is_known() -> None:
    curl = shutil.which("curl")
    assert curl is not None, "scripts/install-test-tools.sh installs curl"
    text = subprocess.run([curl, "--help", "all"], capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^ *(?:-(.), )?--(no-)?([\w.-]+)( .)?", text, re.MULTILINE)
    assert len(listed) > 200
    for letter, no, name, _ in listed:
        known = name if name in OPTIONS else f"{no}{name}"
        assert known in OPTIONS, name
        assert not letter or LETTERS[letter] == known
    for letter, name in LETTERS.items():
        assert name in OPTIONS, letter


def connected(command: str) -> dict[str, Any]:
    return dict(pasted(command, {}).options)


def test_how_curl_connects_becomes_options_of_hit() -> None:
    assert connected("curl http://h/ -m 2.5 --connect-timeout 1") == {
        "timeout": "2.5s",
        "connect_timeout": "1s",
    }
    assert connected("curl http://h/ -L") == {"redirects": 50}
    assert connected("curl http://h/ -L --max-redirs 3") == {"redirects": 3}
    assert connected("curl http://h/ --max-redirs 3") == {}
    assert connected("curl https://h/ -k --http2 --cacert ca.pem --cert c.pem --key k.pem --tlsv1.3") == {
        "insecure": True,
        "http2": True,
        "ca": "ca.pem",
        "cert": "c.pem",
        "key": "k.pem",
        "tls_version": "1.3",
    }
    assert connected("curl http://h/ -k --cert c.pem") == {}  # without TLS they mean nothing
    assert connected("curl https://h/ -E c.pem")["key"] == "c.pem"
    assert connected("curl http://h/ --http2-prior-knowledge") == {"http2": True}
    assert connected("curl http://h/ --http1.1") == {}
    assert connected("curl http://h/ --unix-socket /run/a") == {"connect_to": ["unix:/run/a"]}
    assert connected("curl http://h/ --interface 127.0.0.2") == {"source_addresses": ["127.0.0.2"]}


def test_addresses_that_curl_is_told_are_connected_to() -> None:
    def places(options: str, url: str = "http://h:81/") -> Any:
        return connected(f"curl {url} {options}").get("connect_to")

    assert places("--resolve h:81:10.0.0.1,[::1]") == ["10.0.0.1:81", "[::1]:81"]
    assert places("--resolve '*:81:10.0.0.1'") == ["10.0.0.1:81"]
    assert places("--resolve other:81:10.0.0.1 --resolve h:80:10.0.0.1") is None
    assert places("--connect-to h:81:10.0.0.1:82") == ["10.0.0.1:82"]
    assert places("--connect-to ::[::1]:") == ["[::1]:81"]
    assert places("--connect-to ::: --connect-to x::10.0.0.1:") is None
    assert places("-4", "http://127.0.0.1/") is None
    for wrong, says in (
        ("--connect-to h:81:other:82", "'other' is no IP address"),
        ("--connect-to h:81", "is not HOST1:PORT1:HOST2:PORT2"),
        ("-6", "connects to every address that the name h has"),
        ("--interface eth0", "'eth0' is no IP address"),
    ):
        with pytest.raises(PlanError, match=says):
            places(wrong)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("curl", "the curl command has no URL"),
        ("curl -H", "--header of curl has no value"),
        ("curl -x http://p http://h", "curl's --proxy: jostle connects to the server itself"),
        ("curl --digest -u a:b http://h", "curl's --digest: jostle knows a name and a password only as"),
        ("curl -u ann http://h", "curl would ask for the password of 'ann'"),
        ("curl --http2 http://h", "curl's --http2 asks an http:// server to change over"),
        ("curl --http3 https://h", "curl's --http3: jostle speaks HTTP/1.1 and HTTP/2"),
        ("curl -0 http://h", "curl's --http1.0"),
        ("curl --aws-sigv4 x http://h", "the signature holds only for the second"),
        ("curl --limit-rate 1k http://h", "curl's --limit-rate"),
        ("curl -H 'Host:' http://h", "takes out a header without which"),
        ("curl -H 'Transfer-Encoding: chunked' -d x http://h", "with their length, not in chunks"),
        ("curl -I -d x http://h", "-I and -d of curl exclude each other"),
        ("curl -d x -F y=z http://h", "-d and -F of curl exclude each other"),
        ("curl -F 'a=@b,c' http://h", "jostle sends one file in a part"),
        ("curl -F a http://h", "'a' is no name=content"),
        ("curl -d @none http://h", "none cannot be read"),
        ("curl --frob http://h", "curl has no option --frob"),
        ("curl -! http://h", "curl has no option -!"),
        ("curl 'http://h/[1-'", r"\[ without its other half"),
        ("curl 'http://h/[3-1]'", r"\[3-1\] is no range"),
        ("curl 'http://h/[1-99][1-99]'", "stands for 9,801 URLs"),
        ("curl http://h -c 50", "-c 50 behind curl is curl's: a file for cookies"),
        ("curl -k https://h/a\ncurl https://h/b", r"connect in different ways \(insecure\)"),
        ("curl --cert c.pem:phrase https://h", "without a pass phrase"),
        ("curl --tls-max 1.1 https://h", "jostle speaks TLS 1.2 and 1.3"),
        ("curl http://h -L --max-redirs x", "--max-redirs: 'x' is no number"),
        ("curl http://h -m abc", "--max-time: 'abc' is no number of seconds"),
        ("curl --connect-to h:80:1.2.3.4:abc http://h", "--connect-to: 'abc' is no number"),
        ("curl -g 'http://[h' -b c.txt", "is no host with a port"),
        (f"curl 'http://h/[1-{'9' * 5000}]'", "is no range"),
        (f"curl http://h:{'9' * 5000}/", "is no host with a port"),
        ("curl ftp://h/", "'ftp' is not supported"),
        ("curl http://h --request-target http://x/y", "jostle sends a path or \\*"),
    ],
)  # fmt: skip
def test_what_jostle_cannot_do_is_named(command: str, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        pasted(command, {})


def test_cookies_come_from_what_exists_and_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "jar.txt"
    columns = ("h\tFALSE\t/\tFALSE", "soon\tbad\t1", "0\tgood\t2")
    file.write_text("".join(f"{columns[0]}\t{rest}\n" for rest in columns[1:]))
    (request,) = pasted(["curl", "http://h/?a=/b", "-b", str(file), "-b", "x" * 5000], {}).requests
    assert ("Cookie", "good=2") in request.headers


def test_an_empty_upload_is_none() -> None:
    (request,) = pasted("curl -T '' http://h/", {}).requests
    assert (request.method, request.body) == ("GET", None)


def measured(given: Any, **options: Any) -> Workload:
    return hit_plan(given, options).workload["hit"]


def test_options_of_the_load_combine_with_a_command() -> None:
    workload = measured(["curl", "http://h/", "-m", "3"], clients=50, seconds="5s", expect_status="200,404")
    assert (workload.load.for_, workload.timeout) == (5.0, 3.0)
    assert workload.request[0].expect.status == [200, 404]
    assert measured("curl http://h/ -m 3", timeout="7s").timeout == 7.0  # jostle's own wins


def test_several_requests_are_sent_in_turn_and_have_names_of_their_own() -> None:
    plan = hit_plan("curl http://h/a -d 1; curl http://h/a -d 2; curl http://ann:pw@h/b", {})
    workload = plan.workload["hit"]
    assert workload.order == "sequence"
    assert [request.label for request in workload.request] == ["POST /a", "POST /a #2", "/b"]
    assert workload.request[2].headers["Authorization"] == "Basic YW5uOnB3"
    assert plan.title == "3 requests to http://h:80"
    turned = measured("curl http://ann:pw@h/b http://h/c -X PURGE")
    assert [request.label for request in turned.request] == ["PURGE /b", "PURGE /c"]
    assert ["Authorization" in request.headers for request in turned.request] == [True, False]
    with pytest.raises(PlanError, match="http://i:80/ is on another server than http://h:80"):
        measured("curl http://h/ http://i/")


@pytest.mark.parametrize("option", ["method", "body", "urls", "user", "journey"])
def test_a_command_and_an_option_do_not_both_say_what_is_sent(option: str) -> None:
    with pytest.raises(PlanError, match=f"the curl command and {option} both say what is sent"):
        measured("curl http://h/", **{option: "x"})


def test_a_body_that_is_no_text_is_kept_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\xff")
    (request,) = measured(f"curl http://h/ -F a=@{tmp_path}/a.png").request
    assert b"\r\nContent-Type: image/png\r\n\r\n\x89PNG\xff\r\n" in bytes.fromhex(request.body_hex)
