"""WebSocket to Rails' Action Cable: a subprotocol, a greeting, and pings that are messages of JSON."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.real import Jostle, as_json

APP = """
require "rails"
require "action_controller/railtie"
require "action_cable/engine"

class App < Rails::Application
  config.root = __dir__
  config.eager_load = false
  config.secret_key_base = "0" * 64
  config.logger = Logger.new(nil)
  config.hosts.clear
  config.action_cable.disable_request_forgery_protection = true
  config.action_cable.cable = { "adapter" => "async" }
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base
    def connect
      4.times { |number| transmit({ number: number }) }
    end
  end
end

class Chat < ActionCable::Channel::Base
end

App.initialize!
run App
"""


@pytest.fixture(scope="module")
def cable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its URL."""
    puma = shutil.which("puma")
    assert puma, "puma is missing: scripts/install-test-tools.sh"
    folder = tmp_path_factory.mktemp("cable")
    (folder / "config.ru").write_text(APP)
    words = [puma, "--bind", "tcp://127.0.0.1:0", "--threads", "4:4", "config.ru"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = ""
            while not (found := re.search(r"Listening on http://(127\.0\.0\.1:\d+)", said)):
                line = process.stdout.readline()
                assert line, said
                said += line
            yield f"ws://{found[1]}/cable"
        finally:
            process.terminate()
            process.wait(20)


PLAN = """
title = "Subscriptions"
contestants = ["rails"]
[contestant.rails]
url = "http://{host}"
[workload.chat]
load = {{ clients = 4, requests = 200 }}
timeout = "2s"
[workload.chat.request]
ws = "/cable"
headers = {{ "Sec-WebSocket-Protocol" = "actioncable-v1-json" }}
send = {{ command = "subscribe", identifier = '{{"channel":"Chat","room":"{{n}}"}}' }}
params.n = {{ from = 1, to = 1000000000 }}
match = "json:/identifier"
expect = {{ contains = "confirm_subscription" }}
"""


def outcomes(result: dict[str, Any]) -> dict[str, int]:
    return dict(result["trials"][0]["outcomes"])


def test_a_subscription_is_confirmed_by_its_identifier(
    jostle_command: Jostle, cable: str, tmp_path: Path
) -> None:
    """Action Cable now and then forgets a socket's first message, if it has not greeted yet."""
    (tmp_path / "plan.toml").write_text(PLAN.format(host=cable.split("/")[2]))
    finished = jostle_command("run", "plan.toml", "--rounds", "1", "-o", "result.json", "--no-pages")
    assert (tmp_path / "result.json").exists(), finished.stderr
    found = outcomes(json.loads((tmp_path / "result.json").read_text()))
    assert set(found) <= {"ok", "response_timeout"}
    assert found["ok"] >= 190


def test_what_is_pushed_is_a_stream(jostle_command: Jostle, cable: str) -> None:
    """Four messages and the greeting."""
    options = ["-H", "Sec-WebSocket-Protocol: actioncable-v1-json", "--no-keepalive", "-c", "4", "-n", "20"]
    stream = ["--stream", "messages", "--stream-events", "5", "--json"]
    result = as_json(jostle_command("hit", cable, *options, *stream))
    assert outcomes(result) == {"ok": 20}
    (seen,) = result["streams"]
    assert (seen["whole"], seen["events"]) == (20, 100)
