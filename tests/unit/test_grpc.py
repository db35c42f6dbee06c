"""Calls of gRPC: how a plan and the command line say them, and what is told of mistakes."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.generator.spec.address import Address
from jostle.generator.spec.recorded import without_secrets
from jostle.generator.spec.run import engine_spec
from jostle.plan import Plan, parse_plan, to_toml
from jostle.plan.hit.plan import hit_plan
from support import one_request
from support.one_request import asked, engine, plan

PROTO = """
syntax = "proto3";
package shop.v1;
import "items/item.proto";
service Shop {
  rpc Buy(Order) returns (Receipt);
  rpc Follow(Order) returns (stream Receipt);
  rpc Fill(stream Order) returns (Receipt);
}
message Order { string name = 1; repeated items.Item items = 2; }
message Receipt { int64 id = 1; }
"""
ITEM = """
syntax = "proto3";
package items;
message Item { int32 count = 1; }
"""
URL = "grpc://localhost:50051/shop.v1.Shop/Buy"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with shop.proto and what it imports."""
    (tmp_path / "items").mkdir()
    (tmp_path / "shop.proto").write_text(PROTO)
    (tmp_path / "items" / "item.proto").write_text(ITEM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hit(url: str = URL, **options: Any) -> Plan:
    return one_request.hit(url, **options)


def message(request: dict[str, Any]) -> Any:
    return json.loads(base64.b64decode(request["body_base64"]))


def test_messages_at_an_interval(folder: Path) -> None:
    fill = 'grpc = "shop.v1.Shop/Fill", proto = "shop.proto"'
    made = plan(f'{{ {fill}, message = [{{ name = "a" }}, {{}}], every = "20ms" }}', base=folder)
    assert asked(made)["grpc"]["every_ns"] == 20_000_000
    assert asked(hit(URL.replace("Buy", "Fill"), proto="shop.proto", message="[{}, {}]", every="20ms"))[
        "grpc"
    ]["every_ns"] == (20_000_000)
    with pytest.raises(PlanError, match="every is the time between messages, and message is one"):
        plan(f'{{ {fill}, message = {{ name = "a" }}, every = "20ms" }}', base=folder)
    with pytest.raises(PlanError, match="every is for gRPC"):
        plan('{ get = "/", every = "20ms" }', base=folder)
    with pytest.raises(PlanError, match="--every is for gRPC"):
        hit_plan("http://localhost/", {"every": "20ms"}, lambda name: f"--{name}")


def test_round_trips_have_a_bound_where_messages_are_sent_at_an_interval(folder: Path) -> None:
    (folder / "talk.proto").write_text(
        PROTO.replace("rpc Fill", "rpc Talk(stream Order) returns (stream Order); rpc Fill")
    )
    talk = 'grpc = "shop.v1.Shop/Talk", proto = "talk.proto", message = [{}]'
    stream = 'stream = { format = "messages", slo = "round trip p90 < 30 ms, gap < 1 s" }'
    bounds = asked(plan(f'{{ {talk}, every = "20ms", {stream} }}', base=folder))["stream"]["bounds"]
    assert (bounds["round_trip_ns"], bounds["gap_ns"]) == (30_000_000, 1_000_000_000)
    assert bounds["late_round_trips"] == pytest.approx(0.1)
    with pytest.raises(PlanError, match="only messages that are sent periodically have round trips"):
        plan(f"{{ {talk}, {stream} }}", base=folder)


def test_a_call_has_its_method_message_metadata_and_deadline(folder: Path) -> None:
    made = plan(
        '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", '
        'message = { name = "{n}", items = [{ count = 2 }] }, params.n = ["1"], '
        'metadata = { x-user = "{n}" }, deadline = "200ms" }',
        base=folder,
    )
    request = asked(made)
    assert (request["name"], request["method"], request["path"]) == (
        "shop.v1.Shop/Buy",
        "POST",
        "/shop.v1.Shop/Buy",
    )
    assert message(request) == {"name": "{n}", "items": [{"count": 2}]}
    assert request["headers"] == [["x-user", "{n}"]]
    assert (request["grpc"]["deadline_ns"], request["grpc"]["status"]) == (200_000_000, 0)
    assert b"items/item.proto" in base64.b64decode(request["grpc"]["schema_base64"])
    assert engine(made)["target"]["http2"] == {"connections": None}
    assert parse_plan(to_toml(made), "again") == made


@pytest.mark.usefixtures("folder")
def test_a_record_holds_neither_secrets_nor_the_whole_schema() -> None:
    made = hit(proto=["shop.proto"], headers=["authorization: Bearer hunter2"])
    (recorded,) = without_secrets({"workloads": [engine(made)]})["workloads"]
    assert recorded["requests"][0]["grpc"]["schema_base64"] is None
    assert "hunter2" not in json.dumps(recorded) + to_toml(made)


def test_the_command_line_says_the_same(folder: Path) -> None:
    made = hit(
        message='{"name": "x"}',
        proto=[Path("shop.proto")],
        headers=["x-user: me"],
        deadline="1s",
        expect="id",
    )
    request = asked(made)
    assert (request["path"], message(request)) == ("/shop.v1.Shop/Buy", {"name": "x"})
    assert request["headers"] == [["x-user", "me"]]
    assert request["expect"]["body"] == {"contains": "id"}
    assert request["grpc"]["deadline_ns"] == 1_000_000_000
    (folder / "orders.json").write_text('[{"name": "a"}, {}]')
    stream = hit(URL.replace("Buy", "Fill"), message="@orders.json", proto=["shop.proto"])
    assert message(asked(stream)) == [{"name": "a"}, {}]
    secure = hit(URL.replace("grpc:", "grpcs:"), proto=["shop.proto"], insecure=True)
    assert engine(secure)["target"]["tls"]["insecure"]
    events = hit(URL.replace("Buy", "Follow"), proto=["shop.proto"], stream_events="5")
    assert asked(events)["stream"]["format"] == "messages"


def test_imports_are_found_beside_the_file_and_where_the_plan_says(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "items").rename(folder / "other" / "items")
    with pytest.raises(PlanError, match=r"import 'items/item.proto' not found"):
        asked(hit(proto=["shop.proto"]))
    (folder / "shop.proto").rename(folder / "again.proto")
    assert asked(hit(proto=["again.proto"], import_path=["other"]))["grpc"]["schema_base64"]
    with pytest.raises(PlanError, match="there is no folder"):
        hit(proto=["again.proto"], import_path=["nowhere"])


def test_a_step_of_a_journey_fills_its_variables_in(folder: Path) -> None:
    made = parse_plan(
        """
        title = "x"
        contestants = ["node"]
        [[journey.buy.steps]]
        get = "/token"
        capture = { token = "body" }
        [[journey.buy.steps]]
        grpc = "shop.v1.Shop/Buy"
        proto = "shop.proto"
        message = { name = "{uuid}", items = [{ count = "{token}" }] }
        metadata = { authorization = "Bearer {token}" }
        capture = { id = "json:/id" }
        [workload.w]
        journeys = "buy"
        load = { clients = 1, for = "1s" }
        """,
        "plan.toml",
        base=folder,
    )
    workload = engine(made)
    assert workload["target"]["http2"] == {"connections": None}
    step = workload["requests"][1]
    assert step["fill"] == "json"
    assert set(step["params"]) == {"uuid", "token"}
    assert message(step)["name"] == "{uuid}"


@pytest.mark.parametrize(
    ("request_", "says", "hint"),
    [
        (
            '{ grpc = "shop.v1.Shop/By", proto = "shop.proto" }',
            "there is no method 'shop.v1.Shop/By'",
            "shop.v1.Shop/Buy",
        ),
        ('{ grpc = "Shop/Buy", proto = "shop.proto" }', "there is no method 'Shop/Buy'", "shop.v1.Shop/Buy"),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", message = { items = [{}, { cuont = 1 }] } }',
            r"message.items\[1\]: there is no field 'cuont'",
            "did you mean 'count'",
        ),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", message = { name = 5 } }',
            "message.name: invalid type: integer `5`, expected a string",
            "shop.v1.Shop/Buy",
        ),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", message = { items = [{ count = "{n}" }] }, '
            'params.n = ["x"] }',
            r"message.items\[0\].count: ",
            "",
        ),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", message = [{}] }',
            "takes one message and no list",
            "one table",
        ),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", stream = "messages" }',
            "answers with one message",
            "leave out stream",
        ),
        (
            '{ grpc = "shop.v1.Shop.Buy", proto = "shop.proto" }',
            "not the name of a method",
            "package.Service/Method",
        ),
        ('{ grpc = "shop.v1.Shop/Buy", proto = "nope.proto" }', "there is no file", ""),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", headers = { a = "b" } }',
            "headers is not for gRPC",
            "metadata",
        ),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", metadata = { grpc-timeout = "1S" } }',
            "grpc-timeout is no metadata",
            "deadline",
        ),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", expect = 200 }',
            "no HTTP status",
            "grpc-status",
        ),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", expect.grpc-status = "NOTFOUND" }',
            "is no grpc-status",
            "NOT_FOUND",
        ),
        (
            '{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", params.n = ["1"] }',
            "params.n is not used",
            "{n}",
        ),
        ('{ grpc = "shop.v1.Shop/Buy", proto = "shop.proto", message = "x" }', "is not a message", "name ="),
        ('{ get = "/", deadline = "1s" }', "deadline is for gRPC", "grpc ="),
        ('{ get = "/", expect.grpc-status = "NOT_FOUND" }', "only a call of gRPC", ""),
    ],
)
def test_mistakes_of_a_plan_are_told(folder: Path, request_: str, says: str, hint: str) -> None:
    with pytest.raises(PlanError, match=says) as refused:
        asked(plan(request_, base=folder))
    assert hint in refused.value.hint


def test_a_file_that_is_no_proto_names_its_line(folder: Path) -> None:
    (folder / "shop.proto").write_text('syntax = "proto3";\nmessage A { strin x = 1; }\n')
    with pytest.raises(PlanError, match=r"shop.proto:2:13: name 'strin' is not defined"):
        asked(hit(proto=["shop.proto"]))
    (folder / "shop.proto").write_text('syntax = "proto3";\nmessage A { string x = ')
    with pytest.raises(PlanError, match=r"shop\.proto or an import: expected an integer"):
        asked(hit(proto=["shop.proto"]))


@pytest.mark.parametrize("comment", ["", "// The shop.\n/* edition\n */\n"])
def test_a_file_of_an_edition_is_refused_by_that_name(folder: Path, comment: str) -> None:
    text = (folder / "shop.proto").read_text().strip()
    (folder / "shop.proto").write_text(comment + text.replace('syntax = "proto3"', 'edition = "2023"'))
    with pytest.raises(PlanError, match=r"^proto: shop\.proto is of edition 2023, .* proto3") as refused:
        asked(hit(proto=["shop.proto"]))
    assert "import" not in str(refused.value)
    (folder / "shop.proto").write_text(text)
    (folder / "items" / "item.proto").write_text('edition = "2024";\npackage items;\nmessage Item {}')
    with pytest.raises(PlanError, match=r"^proto: items/item\.proto is of edition 2024"):
        asked(hit(proto=["shop.proto"]))


def test_an_edited_file_is_read_again(folder: Path) -> None:
    assert asked(hit(proto=["shop.proto"]))
    (folder / "shop.proto").write_text(PROTO.replace("rpc Buy", "rpc Sell"))
    with pytest.raises(PlanError, match=r"there is no method 'shop\.v1\.Shop/Buy'"):
        asked(hit(proto=["shop.proto"]))


class Reflecting:
    """In place of the engine: a server that describes itself with a schema, or fails with an error."""

    def __init__(self, response: bytes | OSError | ValueError) -> None:
        self.response = response
        self.asked: list[tuple[str, list[str], list[tuple[str, str]]]] = []

    def __call__(
        self, _target: str, service: str, types: list[str], metadata: list[tuple[str, str]], _patience: float
    ) -> tuple[bytes, list[str]]:
        self.asked.append((service, types, metadata))
        if isinstance(self.response, Exception):
            raise self.response
        return self.response, []


def reflected(made: Plan) -> dict[str, Any]:
    """The measured workload, as the engine gets it where the server runs."""
    (workload,) = made.workload.values()
    address = Address(host="h", port=80)
    return dict(engine_spec("w", workload, address, journeys=made.journey, reflect=True)["workloads"][0])


def test_a_server_is_asked_with_the_metadata_of_the_call_and_for_what_is_in_an_any(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    any_proto = PROTO.replace("import", 'import "google/protobuf/any.proto";\nimport').replace(
        "string name = 1;", "string name = 1; repeated google.protobuf.Any extra = 3;"
    )
    (folder / "shop.proto").write_text(any_proto)
    schema = base64.b64decode(asked(hit(proto=["shop.proto"]))["grpc"]["schema_base64"])
    server = Reflecting(schema)
    monkeypatch.setattr("jostle.generator.spec.grpc.grpc_reflected", server)
    url = "type.googleapis.com/items.Item"
    extra = [{"@type": url, "count": 1}, {"@type": url}]
    made = hit(headers=["authorization: Bearer t"], message=json.dumps({"name": "x", "extra": extra}))
    assert reflected(made)["requests"][0]["grpc"]["schema_base64"]
    assert server.asked == [("shop.v1.Shop", ["items.Item"], [("authorization", "Bearer t")])]
    unknown = hit(message=json.dumps({"extra": [{"@type": "x/items.Unknown"}]}))
    with pytest.raises(PlanError, match=r"items\.Unknown") as refused:
        reflected(unknown)
    assert "reflection" in refused.value.hint
    assert ".proto file has" not in refused.value.hint


@pytest.mark.usefixtures("folder")
def test_a_server_is_asked_once_for_all_calls_of_a_specification_and_again_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = base64.b64decode(asked(hit(proto=["shop.proto"]))["grpc"]["schema_base64"])
    server = Reflecting(schema)
    monkeypatch.setattr("jostle.generator.spec.grpc.grpc_reflected", server)
    call = (
        '{ grpc = "shop.v1.Shop/Buy", metadata = { x-user = "{n}", x-two = ["a", "b"] }, params.n = ["1"] }'
    )
    again = call.replace("grpc", 'name = "again", grpc', 1)
    made = plan(f"[{call}, {again}]")
    for times in (1, 2):
        assert len(reflected(made)["requests"]) == 2
        assert server.asked == [("shop.v1.Shop", [], [("x-two", "a"), ("x-two", "b")])] * times


@pytest.mark.parametrize(
    ("error", "says", "hint"),
    [
        (PermissionError("UNAUTHENTICATED: no token"), "refuses to describe .* UNAUTHENTICATED", "-H"),
        (ValueError("a.proto is of edition 2023"), "the server's description cannot be read: a.proto", ""),
        (ConnectionError("UNIMPLEMENTED"), r"does not describe its services \(reflection\)", ""),
        (ConnectionError("connection refused"), "connection refused", "is it running"),
    ],
)
def test_why_a_server_does_not_describe_itself_is_told(
    monkeypatch: pytest.MonkeyPatch, error: OSError | ValueError, says: str, hint: str
) -> None:
    monkeypatch.setattr("jostle.generator.spec.grpc.grpc_reflected", Reflecting(error))
    with pytest.raises(PlanError, match=says) as refused:
        reflected(hit())
    assert hint in refused.value.hint
    assert "--proto" in refused.value.hint
    assert ("running" in refused.value.hint) == (hint == "is it running")


@pytest.mark.parametrize(
    ("url", "options", "says"),
    [
        (URL, {"message": "{"}, "--message: .* is not JSON"),
        (URL, {"message": "@nope.json"}, "--message: nope.json cannot be read"),
        (URL, {"message": "@/dev/zero"}, "--message: /dev/zero cannot be read: it is not a regular file"),
        (URL, {"body": "x"}, "-b has no meaning for gRPC"),
        ("grpc://localhost:1", {}, "names no method"),
        ("http://localhost:1/", {"message": "{}"}, "--message is for gRPC"),
        ("ws://localhost:1/", {"send": "x", "deadline": "1s"}, "--deadline is for gRPC"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_mistakes_of_a_command_are_told(url: str, options: dict[str, Any], says: str) -> None:
    given = {"proto": ["shop.proto"], **options} if url == URL else options
    with pytest.raises(PlanError, match=says):
        hit(url, **given)
