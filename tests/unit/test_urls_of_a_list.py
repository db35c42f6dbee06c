"""A file of URLs in place of one: what its lines mean, and what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.plan import Plan, parse_plan, to_toml
from jostle.plan.hit.plan import hit_plan
from jostle.plan.requests.url_list import MAX_URLS


def planned(folder: Path, text: str, url: str = "http://localhost:8080", **options: Any) -> Plan:
    file = folder / "urls.txt"
    file.write_text(text, encoding="utf-8")
    return hit_plan(url, {"urls": file, **options})


def listed(
    folder: Path, text: str, url: str = "http://localhost:8080", **options: Any
) -> list[tuple[str, int]]:
    plan = planned(folder, text, url, **options)
    return [(request.label, request.weight) for request in plan.workload["hit"].request]


def test_each_line_is_a_request_with_a_method_and_a_weight(tmp_path: Path) -> None:
    text = "\ufeff# the shop\n\n/hello\nitems/1?a=b  3\r\nPOST /orders 2\nhttp://localhost:8080/x\n/hello 4\n"
    assert listed(tmp_path, text) == [("/hello", 5), ("/items/1?a=b", 3), ("POST /orders", 2), ("/x", 1)]
    plan = planned(tmp_path, text)
    assert (plan.title, plan.workload["hit"].order) == ("4 requests to http://localhost:8080", "weighted")


def test_a_method_in_small_letters_is_the_same(tmp_path: Path) -> None:
    assert listed(tmp_path, "post /c\nPOST /c 2\nGET /d\n/d") == [("POST /c", 3), ("/d", 2)]


def test_paths_come_behind_the_url(tmp_path: Path) -> None:
    assert listed(tmp_path, "/users\nitems", "http://h/api/v1/") == [
        ("/api/v1/users", 1),
        ("/api/v1/items", 1),
    ]
    assert listed(tmp_path, "http://h/a\nhttp://h:80/b", "") == [("/a", 1), ("/b", 1)]


def test_options_hold_for_all_of_them(tmp_path: Path) -> None:
    plan = planned(tmp_path, "/a\nPUT /b\n", headers=["X-A: 1"], user="ann:pw", body="x", expect="ok")
    first, second = plan.workload["hit"].request
    assert (first.method, second.method) == ("POST", "PUT")
    for request in (first, second):
        assert request.headers == {"X-A": "1", "Authorization": "Basic YW5uOnB3"}
        assert (request.body, request.expect.contains) == ("x", "ok")


@pytest.mark.parametrize(
    ("text", "url", "says"),
    [
        ("# nothing\n", "http://h", "has no URL"),
        ("/a\n/b 0\n", "http://h", "line 2: a weight of 0 sends nothing"),
        ("/a b c\n", "http://h", "line 1: '/a b c' is no URL"),
        ("/a\n", "", "line 1: '/a' names no server"),
        ("/a\n", "http://h/?x=1", "line 1: 'http://h/.x=1': paths come behind it"),
        ("http://h/\nhttps://h/\n", "", "https://h:443/ is on another server than http://h:80"),
        ("http://h/\nhttp://h:81/\n", "", "on another server"),
        ("ws://h/\n", "", "'ws' is not supported"),
        ("http://h/\nftp://h/\n", "", "'ftp' is not supported"),
        (f"/a {'9' * 5000}\n", "http://h", "is no URL"),
    ],
)
def test_wrong_lines_are_told(tmp_path: Path, text: str, url: str, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        planned(tmp_path, text, url)


def test_a_list_and_a_journey_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="urls and journey both say what is sent"):
        planned(tmp_path, "/a\n", journey="x.toml")
    with pytest.raises(PlanError, match=r"none\.txt cannot be read"):
        hit_plan("http://h", {"urls": tmp_path / "none.txt"})


def in_a_plan(folder: Path, text: str, request: str, more: str = "") -> Plan:
    (folder / "urls.txt").write_text(text, encoding="utf-8")
    return parse_plan(
        f'title = "x"\ncontestants = ["node"]\n[workload.w]\nload = {{ clients = 1, for = "1s" }}\n'
        f"request = {request}\n{more}",
        "plan.toml",
        base=folder,
    )


def test_a_plan_may_name_the_file(tmp_path: Path) -> None:
    text = "/a 3\n/b?x={y}\nPUT /c\n"
    plan = in_a_plan(tmp_path, text, '[{ urls = "urls.txt", headers = { A = "b" } }, { get = "/d" }]')
    requests = plan.workload["w"].request
    assert [(one.method, one.path, one.weight) for one in requests] == [
        ("GET", "/a", 3),
        ("GET", "/b?x=%7By%7D", 1),
        ("PUT", "/c", 1),
        ("GET", "/d", 1),
    ]
    assert [one.headers for one in requests] == [{"A": "b"}] * 3 + [{}]
    assert parse_plan(to_toml(plan), "again") == plan  # the record has the URLs themselves
    (whole,) = in_a_plan(tmp_path, "/a#x\n", '{ urls = "urls.txt" }').workload["w"].request
    assert [(whole.label, 1)] == listed(tmp_path, "/a#x\n")
    (posted,) = in_a_plan(tmp_path, "/a\n", '{ urls = "urls.txt", body = "x" }').workload["w"].request
    assert posted.method == "POST"


@pytest.mark.parametrize(
    ("text", "request_", "more", "says"),
    [
        ("http://h/a\n", '{ urls = "urls.txt" }', "", "line 1: 'http://h/a' is not a path"),
        ("/a\n", '{ urls = "none.txt" }', "", "there is no file"),
        ("/a\n", '{ urls = "urls.txt", get = "/b" }', "", "urls and get: each line of the file says it"),
        ("/a\n", '{ urls = "urls.txt", params = {} }', "", "urls and params"),
        (
            "/a\n",
            '{ get = "/" }',
            'background = { urls = "urls.txt", clients = 1 }',
            "urls is for the requests that are measured",
        ),
    ],
)
def test_wrong_files_of_a_plan_are_told(
    tmp_path: Path, text: str, request_: str, more: str, says: str
) -> None:
    with pytest.raises(PlanError, match=says):
        in_a_plan(tmp_path, text, request_, more)


def test_a_list_is_no_longer_than_its_figures_are_useful(tmp_path: Path) -> None:
    lines = [f"/{number}" for number in range(MAX_URLS + 1)]
    with pytest.raises(PlanError, match="has 2,001 different URLs"):
        planned(tmp_path, "\n".join(lines))
    assert len(listed(tmp_path, "\n".join(lines[:MAX_URLS]))) == MAX_URLS
