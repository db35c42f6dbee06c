"""HTTP/2 without TLS against servers that others wrote: each has its own way with frames and windows."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jostle.host.ports import claim
from support.real import Jostle, as_json
from support.waiting import listening

# As large as HAProxy's buffer lets it be.
BODY = b"served over HTTP/2\n" * 800

APACHE = """
ServerName localhost
ServerRoot {folder}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
PidFile {folder}/pid
ErrorLog {folder}/log
Listen 127.0.0.1:{port}
Protocols h2c http/1.1
DocumentRoot {folder}/root
User nobody
"""

H2O = """
listen: {{host: 127.0.0.1, port: {port}}}
user: nobody
hosts: {{default: {{paths: {{"/": {{file.dir: {folder}/root}}}}}}}}
"""

HAPROXY = """
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 1s
frontend f
  bind 127.0.0.1:{port} proto h2
  http-request return status 200 content-type text/plain file {folder}/root/file
"""

NODE = """
const [port, file] = process.argv.slice(1);
const body = require("fs").readFileSync(file);
require("http2").createServer((request, response) => response.end(body)).listen(port, "127.0.0.1");
"""

GO = """
package main

import ("net/http"; "os")

func main() {{
	body, _ := os.ReadFile("{folder}/root/file")
	server := http.Server{{Addr: "127.0.0.1:{port}", Protocols: new(http.Protocols)}}
	server.Protocols.SetUnencryptedHTTP2(true)
	handle := func(response http.ResponseWriter, _ *http.Request) {{ response.Write(body) }}
	server.Handler = http.HandlerFunc(handle)
	server.ListenAndServe()
}}
"""

JETTY_POM = """
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>jostle</groupId>
  <artifactId>jetty</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.eclipse.jetty.http2</groupId>
      <artifactId>jetty-http2-server</artifactId>
      <version>12.0.15</version>
    </dependency>
  </dependencies>
</project>
"""

JETTY = """
import java.nio.ByteBuffer;
import java.nio.file.*;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.util.Callback;

class Main {{
  public static void main(String[] arguments) throws Exception {{
    byte[] body = Files.readAllBytes(Path.of("{folder}/root/file"));
    Server server = new Server();
    var http2 = new HTTP2CServerConnectionFactory(new HttpConfiguration());
    ServerConnector connector = new ServerConnector(server, http2);
    connector.setHost("127.0.0.1");
    connector.setPort({port});
    server.addConnector(connector);
    server.setHandler(new Handler.Abstract() {{
      public boolean handle(Request request, Response response, Callback callback) {{
        response.write(true, ByteBuffer.wrap(body), callback);
        return true;
      }}
    }});
    server.start();
  }}
}}
"""


def _written(folder: Path, name: str, text: str, port: int) -> str:
    path = folder / name
    path.write_text(text.format(folder=folder, port=port))
    return str(path)


def _apache(folder: Path, port: int) -> list[str]:
    return [
        "/usr/sbin/apache2",
        "-d",
        str(folder),
        "-f",
        _written(folder, "apache.conf", APACHE, port),
        "-DFOREGROUND",
    ]


def _h2o(folder: Path, port: int) -> list[str]:
    return ["h2o", "-c", _written(folder, "h2o.conf", H2O, port)]


def _haproxy(folder: Path, port: int) -> list[str]:
    return ["/usr/sbin/haproxy", "-db", "-f", _written(folder, "haproxy.cfg", HAPROXY, port)]


def _nghttpd(folder: Path, port: int) -> list[str]:
    return ["/usr/sbin/nghttpd", "--no-tls", "--address=127.0.0.1", "-d", str(folder / "root"), str(port)]


def _node(folder: Path, port: int) -> list[str]:
    return ["node", "-e", NODE, "--", str(port), str(folder / "root/file")]


def _go(folder: Path, port: int) -> list[str]:
    source = _written(folder, "main.go", GO, port)
    build = ["go", "build", "-o", folder / "server", source]
    subprocess.run(build, check=True, cwd=folder, env={**os.environ, "CGO_ENABLED": "0"})
    return [str(folder / "server")]


def _jetty(folder: Path, port: int) -> list[str]:
    pom = _written(folder, "pom.xml", JETTY_POM, port)
    copied = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}/lib"]
    subprocess.run(["mvn", "--batch-mode", "--quiet", "--file", pom, *copied], check=True, cwd=folder)
    return ["java", "-cp", f"{folder}/lib/*", _written(folder, "Main.java", JETTY, port)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """With the file that is served; some servers become nobody, who may not enter pytest's own folders."""
    with TemporaryDirectory(prefix="jostle-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "root").mkdir()
        (folder / "root/file").write_bytes(BODY)
        yield folder


@pytest.mark.parametrize("server", [_apache, _h2o, _haproxy, _nghttpd, _node, _go, _jetty])
def test_a_server_is_understood(
    jostle_command: Jostle, folder: Path, server: Callable[[Path, int], list[str]]
) -> None:
    port = claim(0)
    command = server(folder, port)
    assert shutil.which(command[0]), f"{command[0]} is missing: scripts/install-test-tools.sh"
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        listening(port, process)
        options = [
            "--http2-connections",
            "2",
            "-c",
            "20",
            "-n",
            "400",
            "--expect",
            "served over HTTP/2",
            "--json",
        ]
        result = as_json(jostle_command("hit", f"http://127.0.0.1:{port}/file", *options))
    finally:
        process.terminate()
        process.wait(20)
    assert result["trials"][0]["outcomes"] == {"ok": 400}, (folder / "output").read_text()
    assert result["summaries"][0]["parts"]["connect"]["p50"]["n"] == 2
