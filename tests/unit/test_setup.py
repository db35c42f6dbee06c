"""`make setup` and `make demo` on machines that lack something.

Compilers and registries are stand-ins, which say what the real ones do.
"""

import os
import shutil
import subprocess
import tempfile
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("Cargo.toml", "rust-toolchain.toml", "pyproject.toml", "scripts")
CONTESTANTS = ("python/jostle/roster/node/contestant.toml", "python/jostle/roster/go/contestant.toml")
REAL = (
    *("bash", "cat", "chmod", "cp", "cut", "dirname", "env", "grep", "head", "id", "mkdir", "mktemp", "rm"),
    *("sed", "sort", "tail", "touch", "tr"),
)

SERVER = "python/jostle/bin/jostle-reference"
CARGO = '[ "$1" = --version ] && echo "cargo 1.95.0 (f2d3ce0bd 2026-03-21)"; true'
PYTHON3 = """case "$*" in
--version) echo Python 3.11.2 ;;
*"pip install"*) mkdir -p .tools/bin && cp fakes/uv .tools/bin ;;
esac"""
UV = f"""echo "uv $*" >>did
case "$*" in
--version) echo "uv $(sed -n 's/^uv==\\([0-9.]*\\).*/\\1/p' scripts/uv.txt)" ;;
*--no-install-project*) mkdir -p .venv/bin && cp fakes/python .venv/bin ;;
*--reinstall*) cp fakes/jostle {SERVER} ;;
sync*) mkdir -p python/jostle/bin
    echo "${{JOSTLE_PROFILE:-release}}" >python/jostle/bin/profile
    cp fakes/jostle .venv/bin
    [ -e installed ] || cp fakes/jostle {SERVER}
    touch installed ;;
esac"""
JOSTLE = 'echo "jostle $*" >>did'
COMMANDS = {
    **{"cargo": CARGO, "python3": PYTHON3, "apt-get": "exit 100"},
    **dict.fromkeys(("make", "gcc", "g++", "node", "npm", "go"), "true"),
}

NO_NETWORK = {
    "cargo": """error: failed to get `serde` as a dependency of package `jostle-discipline v0.1.0`

Caused by:
  [6] Could not resolve hostname (Could not resolve host: an.index)""",
    "uv": """error: Failed to download `markupsafe==3.0.4`
  cause: error sending request for url (https://an.index/markupsafe)
  cause: dns error""",
    "python3": """ERROR: Could not find a version that satisfies the requirement uv (from versions: none)
ERROR: No matching distribution found for uv""",
}
NOT_WRITABLE = {
    "cargo": """error: failed to create directory `/caches/cargo/registry/cache/an.index`

Caused by:
  Permission denied (os error 13)""",
    "uv": """error: Failed to initialize cache at `/caches/uv`
  cause: failed to create directory `/caches/uv`: Permission denied (os error 13)""",
    "python3": "PermissionError: [Errno 13] Permission denied: '/caches/.tools'",
}
STEPS = [("cargo", "build*"), ("uv", "sync*"), ("python3", '*"pip install"*')]
WRITING_STEPS = [*STEPS, ("uv", '"python find"')]
"""Looking for a Python writes into the cache, too."""


class Machine:
    """A clone, and all commands that there are."""

    def __init__(self, folder: Path) -> None:
        self.clone, self.bin, self.fakes = folder / "clone", folder / "bin", folder / "clone" / "fakes"
        for name in NEEDED:
            (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, self.clone / name)
        for name in CONTESTANTS:
            (self.clone / name).parent.mkdir(parents=True)
            (self.clone / name).write_text((ROOT / name).read_text().replace('"/usr/', '"/nowhere/'))
        self.bin.mkdir()
        self.fakes.mkdir()
        for name in REAL:
            (self.bin / name).symlink_to(shutil.which(name) or name)
        for name, does in COMMANDS.items():
            self.script(self.bin / name, does)
        for name, does in {"uv": UV, "python": "true", "jostle": JOSTLE}.items():
            self.script(self.fakes / name, does)

    def script(self, path: Path, does: str) -> None:
        path.write_text(f"#!{self.bin}/bash\n{does}\n")
        path.chmod(0o755)

    def fails(self, name: str, message: str, when: str) -> None:
        """The command fails with the message if its words are like `when`."""
        path = (self.fakes if name == "uv" else self.bin) / name
        does = path.read_text().partition("\n")[2]
        says = f"cat >&2 <<'END'\n{message}\nEND\nexit 101"
        self.script(path, f'case "$*" in {when}) {says} ;; esac\n{does}')

    def run(
        self, *words: str, user: int | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        known = {"PATH": str(self.bin), "TMPDIR": str(self.bin.parent), **environment}
        return subprocess.run(words, cwd=self.clone, env=known, capture_output=True, text=True, user=user)

    def did(self) -> str:
        path = self.clone / "did"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def refused(done: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    """The sentence and the remedy. Nothing else is printed."""
    assert done.returncode == 1, done.stdout + done.stderr
    sentence, remedy = done.stderr.splitlines()
    assert sentence.startswith("setup: ")
    return sentence, remedy


def test_where_nothing_is_missing_it_is_silent_but_for_what_it_installs(machine: Machine) -> None:
    done = machine.run("scripts/setup.sh")
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.startswith("setup: uv ")
    again = machine.run("scripts/setup.sh")
    assert (again.stdout, again.stderr, again.returncode) == ("", "", 0)
    assert "--all-extras" in machine.did()


def test_for_the_command_neither_extras_nor_the_tools_of_developers_are_installed(machine: Machine) -> None:
    assert machine.run("scripts/setup.sh", "command").returncode == 0
    syncs = [line for line in machine.did().splitlines() if line.startswith("uv sync")]
    assert syncs
    assert all("--no-dev" in line and "--inexact" in line for line in syncs)
    assert "--all-extras" not in machine.did()


def test_a_missing_toolchain_is_installed_by_rustup(machine: Machine) -> None:
    install = 'echo "rustup $*" >>did; touch toolchain'
    machine.script(machine.bin / "rustup", f'case "$1" in run) [ -e toolchain ] ;; *) {install} ;; esac')
    machine.script(machine.bin / "cargo", f"[ -e toolchain ] || exit 1\n{CARGO}")
    assert machine.run("scripts/setup.sh", RUSTUP_AUTO_INSTALL="0").returncode == 0
    did = machine.did()
    assert "--profile minimal --component rustfmt --component clippy" in did
    assert "--no-self-update" in did  # which fails where rustup is not in CARGO_HOME
    assert machine.run("scripts/setup.sh", RUSTUP_AUTO_INSTALL="0").returncode == 0
    assert machine.did().count("rustup") == 1


def test_without_rust_rustup_is_named(machine: Machine) -> None:
    (machine.bin / "cargo").unlink()
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert sentence == "setup: Rust is missing"
    assert "rustup" in remedy


def test_a_rust_that_is_too_old_is_named_with_its_version(machine: Machine) -> None:
    machine.script(machine.bin / "cargo", "echo cargo 1.63.0")
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert sentence == "setup: jostle needs Rust 1.95, and cargo is 1.63.0"
    assert "rustup" in remedy


def test_a_rust_that_cannot_be_downloaded(machine: Machine) -> None:
    says = "error: could not download file from 'https://a.host/channel'\n\nStack backtrace:\n  0: x"
    machine.script(machine.bin / "rustup", f'case "$1" in run) false ;; *) echo "{says}" >&2; exit 1 ;; esac')
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert sentence.startswith("setup: installing Rust 1.95.0 failed, because nothing could be downloaded")
    assert "is there a network?" in remedy


@pytest.mark.parametrize("missing", ["python3", "make", "gcc", "g++"])
def test_what_debian_has_is_named_with_its_command(machine: Machine, missing: str) -> None:
    (machine.bin / missing).unlink()
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert sentence == f"setup: {missing} is missing"
    assert missing in remedy


def test_a_python_that_is_too_old_is_named_with_its_version(machine: Machine) -> None:
    machine.script(machine.bin / "python3", PYTHON3.replace("3.11.2", "3.9.2"))
    machine.fails("uv", "error: No interpreter found for Python >=3.11", when='"python find"')
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert sentence == "setup: jostle needs Python 3.11 or later, and python3 is 3.9.2"
    assert "beside it" in remedy


@pytest.mark.parametrize(("tool", "when"), STEPS)
def test_a_clone_without_a_network(machine: Machine, tool: str, when: str) -> None:
    machine.fails(tool, NO_NETWORK[tool], when)
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert "failed, because nothing could be downloaded" in sentence
    assert "is there a network?" in remedy


def test_where_nothing_can_be_downloaded_one_message_is_enough(machine: Machine) -> None:
    for tool, when in STEPS:
        machine.fails(tool, NO_NETWORK[tool], when)
    refused(machine.run("scripts/setup.sh"))


@pytest.mark.parametrize(("tool", "when"), WRITING_STEPS)
def test_a_cache_that_may_not_be_written(machine: Machine, tool: str, when: str) -> None:
    machine.fails(tool, NOT_WRITABLE[tool], when)
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert "failed, because a file may not be written" in sentence
    assert "/caches/" in sentence
    assert "CARGO_HOME, UV_CACHE_DIR" in remedy


def test_a_folder_for_temporary_files_that_may_not_be_written(machine: Machine) -> None:
    (machine.bin / "mktemp").unlink()  # a link to the real one
    says = "mktemp: failed to create file via template '/others/tmp.XXXXXXXXXX': Permission denied"
    machine.script(machine.bin / "mktemp", f'echo "{says}" >&2; exit 1')
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert "failed, because a file may not be written" in sentence
    assert "/others/" in sentence
    assert "TMPDIR" in remedy


def test_what_else_fails_is_shown_whole_with_what_may_help(machine: Machine) -> None:
    machine.fails("cargo", "error: linking with `cc` failed\n  = note: ld: cannot find -lstdc++", "build*")
    done = machine.run("scripts/setup.sh")
    assert done.returncode == 1
    assert "ld: cannot find -lstdc++" in done.stderr
    assert "make clean, and try again" in done.stderr


def test_files_that_an_interrupted_build_left_broken(machine: Machine) -> None:
    says = "error[E0786]: found invalid metadata files for crate `serde`\n" + "error[E0223]: no type\n" * 99
    machine.fails("cargo", says, "build*")
    sentence, remedy = refused(machine.run("scripts/setup.sh"))
    assert "because an earlier build left broken files: error[E0786]" in sentence
    assert remedy == "  make clean, and try again"


@pytest.mark.parametrize("left_out", ["server", "engine"])
def test_what_an_interrupted_build_left_out_is_built_again(machine: Machine, left_out: str) -> None:
    assert machine.run("scripts/setup.sh").returncode == 0
    assert "--reinstall-package" not in machine.did()
    if left_out == "engine":
        machine.script(machine.fakes / "python", 'case "$*" in *_engine*) false ;; esac')
    else:
        (machine.clone / SERVER).unlink()
    assert machine.run("scripts/setup.sh").returncode == 0
    assert "--reinstall-package jostle" in machine.did()
    assert (machine.clone / SERVER).exists()


def test_a_clone_of_another_user() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # others may read it, which they may not the folders of pytest
        machine = Machine(Path(folder))
        machine.clone.chmod(0o555)
        nobody = 65534 if os.geteuid() == 0 else None  # root may write everywhere
        sentence, _ = refused(machine.run("scripts/setup.sh", user=nobody))
        machine.clone.chmod(0o755)
    assert "belongs to another user" in sentence


@pytest.mark.parametrize(
    ("missing", "remedy"),
    [("node", "recommends nodejs"), ("npm", "recommends npm"), ("go", "unpack Go 1.25 or newer")],
)
def test_the_demo_names_what_it_needs_before_anything_is_compiled(
    machine: Machine, missing: str, remedy: str
) -> None:
    (machine.bin / missing).unlink()
    sentence, told = refused(machine.run("scripts/demo.sh"))
    assert f"which needs {missing}, and that is missing" in sentence
    assert remedy in told
    assert machine.did() == ""


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (3, 0), (2, 2)])  # 3: measured, and judged invalid
def test_the_demo_races_two_servers_and_says_how_it_was_compiled(
    machine: Machine, code: int, ends: int
) -> None:
    machine.script(machine.fakes / "jostle", f"{JOSTLE}; exit {code}")
    done = machine.run("scripts/demo.sh", JOSTLE_PROFILE="quick")
    assert done.returncode == ends, done.stderr
    assert "jostle race starvation --quick --contestants node,go" in machine.did()
    assert "make wheel" in done.stdout


def test_the_demo_of_an_optimised_build_has_nothing_to_say_of_it(machine: Machine) -> None:
    assert "make wheel" not in machine.run("scripts/demo.sh", JOSTLE_PROFILE="release").stdout


def test_what_is_compiled_beside_the_download_has_the_features_of_the_wheel() -> None:
    """Otherwise it is compiled a second time, and what is released may lack its allocator."""
    aliases = tomllib.loads((ROOT / ".cargo/config.toml").read_text())["alias"]
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["features"]
    words = [*aliases["build-package"], *aliases["build-release"].split()]
    chosen = {after for word, after in pairwise(words) if word == "--features"}
    assert chosen == {f"jostle-bindings/{feature}" for feature in wheel}
    assert {"build-checked", "build-quick"} < aliases.keys()
