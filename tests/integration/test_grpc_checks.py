"""The checks of gRPC, against servers that answer otherwise."""

import pytest

from jostle.contestant import Server
from jostle.contestant.contract import CheckResult, verify
from jostle.plan.servers.contestant import ContestantFile
from support.real import reference_server

FILE = ContestantFile(command=["x"], speaks=["gRPC"])


def checked(kind: str) -> list[CheckResult]:
    with reference_server(kind) as url:
        return verify(Server("mine", "127.0.0.1", int(url.rpartition(":")[2]), None), FILE)


def test_a_server_of_another_service_is_told_by_the_status() -> None:
    found = {result.part: result for result in checked("grpc")}
    assert list(found) == ["Say", "Count", "Talk", "unknown method", "parallel calls"]
    assert not found["Count"].ok
    assert "Count: grpc-status: '12' instead of '0'" in found["Count"].message


def test_a_server_of_http2_is_no_server_of_grpc() -> None:
    found = checked("workers")
    assert [result.part for result in found if result.ok] == []
    assert found[0].message == "/roster.Echo/Say: HTTP status 405 and not gRPC"


@pytest.mark.parametrize("parts", [["Talk"], []])
def test_only_what_is_named_is_checked(parts: list[str]) -> None:
    with reference_server("null") as url:
        server = Server("mine", "127.0.0.1", int(url.rpartition(":")[2]), None)
        assert [result.part for result in verify(server, FILE, parts=parts)] == parts
