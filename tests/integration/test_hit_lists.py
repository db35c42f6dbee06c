"""`jostle hit` with a file of URLs or a pasted curl command: what is sent, and figures for each request."""

import json
from pathlib import Path

from support.handlers import Handler, serving
from support.real import Jostle


class Routes(Handler):
    """Answers 404 to what is gone, and 401 without the right login."""

    def do_GET(self) -> None:
        if self.path.startswith("/private") and self.headers["Authorization"] != "Basic YW5uOnMzY3IzdA==":
            self.response(401)
        else:
            self.response(404 if "gone" in self.path else 200, "hello")

    def do_POST(self) -> None:
        self.response(200 if self.body() == '{"a":1}' else 400)


def test_each_url_of_a_file_has_its_figures(jostle_command: Jostle, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("# a shop\n/hello 3\n/gone\n/x?a=ü\n", encoding="utf-8")
    with serving(Routes) as url:
        command = ("hit", url, "-f", "urls.txt", "-n", "300", "-c", "3")
        done = jostle_command(*command, "--json")
        told = jostle_command(*command)
    requests = json.loads(done.stdout)["requests"]
    assert [one["name"] for one in requests] == ["/hello", "/gone", "/x?a=%C3%BC"]
    hello, gone, other = (one["outcomes"] for one in requests)
    assert (set(hello), set(gone), set(other)) == ({"ok"}, {"wrong_status"}, {"ok"})
    assert sum(one["requests"] for one in requests) == 300
    assert hello["ok"] > other["ok"] > 20
    assert "/x?a=%C3%BC" in told.stdout


def test_a_curl_command_is_sent_as_it_is_pasted(jostle_command: Jostle, tmp_path: Path) -> None:
    with serving(Routes) as url:
        words = ("curl", f"{url}/private", "-u", "ann:s3cr3t", "-s", "-o", "/dev/null")
        assert jostle_command("hit", "-c", "2", "-n", "20", "--", *words).returncode == 0
        text = (
            f"curl '{url}/orders' \\\n  -H 'Content-Type: application/json' \\\n  --data-raw $'{{\"a\":1}}'"
        )
        assert jostle_command("hit", "-n", "20", text).returncode == 0
        (tmp_path / "pasted.txt").write_text(text, encoding="utf-8")
        assert jostle_command("hit", "-n", "20", "@pasted.txt").returncode == 0
        wrong = jostle_command("hit", "-n", "20", "--", "curl", f"{url}/private", "-u", "ann:other")
        assert "401" in wrong.stdout


def test_neither_password_nor_cookie_of_a_command_reaches_the_record(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    (tmp_path / "image").write_bytes(b"\xff password=s3cr3t")
    with serving(Routes) as url:
        save = ("-n", "20", "--into", "runs")
        own = ("-u", "ann:s3cr3t", "--json-body", '{"password":"s3cr3t"}', f"{url}/private")
        words = ("curl", f"{url}/private", "-u", "ann:s3cr3t", "-b", "a=c00kie", "-H", "X-Api-Key: k3y9")
        form = "-F password=s3cr3t -F f=@image"
        text = f"curl -u 'ann:s3cr3t' \\\n -ba=c00kie -H 'X-Api-Key: k3y9' {form} {url}/private"
        for given in (own, ("--", *words), (text,)):
            assert jostle_command("hit", *save, *given).returncode in (0, 3)
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        content = path.read_bytes()
        for secret in (b"s3cr3t", b"c00kie", b"k3y9", b"YW5uOnMzY3IzdA", b"s3cr3t".hex().encode()):
            assert secret not in content, (path, secret)
