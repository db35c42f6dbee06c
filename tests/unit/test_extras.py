"""What an extra brings, hidden: one sentence names it and the command; the rest works."""

import sys
from pathlib import Path

import pytest

from jostle.cli.exit_codes import ExitCode
from jostle.errors import MissingExtra
from jostle.extras import EXTRAS, is_installed, require
from jostle.generator.cluster.node import stop_node
from jostle.generator.cluster.pki import write_credentials
from jostle.report.build import run_document
from jostle.report.export import notebook
from jostle.report.files import write_pictures
from support.commands import run_command
from support.results import make_hit
from support.synthetic import Trial, closed, lognormal, make_run


def hide(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in EXTRAS[extra]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_is_named_with_the_command_that_brings_it(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_installed(extra)
    require(extra, "this")
    hide(extra, monkeypatch)
    assert not is_installed(extra)
    with pytest.raises(MissingExtra) as missing:
        require(extra, "this")
    assert missing.value.message == f"this needs the extra '{extra}', which is not installed"
    assert missing.value.hint == f"pip install 'jostle[{extra}]'"


def test_a_cluster_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide("cluster", monkeypatch)
    with pytest.raises(MissingExtra, match="certificates"):
        write_credentials(tmp_path / "credentials", {"a": "127.0.0.1"})
    assert not (tmp_path / "credentials").exists()
    with pytest.raises(MissingExtra, match="a node of a cluster"):
        stop_node()


def test_picture_files_need_their_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide("pictures", monkeypatch)
    with pytest.raises(MissingExtra, match="a picture as a PNG file needs the extra 'pictures'"):
        write_pictures(make_hit(), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trial = Trial("it", "w", 1, closed(lognormal(0.002, 0.2), 2.0), load={"closed": {"clients": 1}})
    return make_run(tmp_path, [trial])


def test_a_report_without_them_has_its_page_and_says_how_to_get_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide("pictures", monkeypatch)
    code, printed = run_command("report", folder)
    assert code == ExitCode.DONE
    assert "pictures    as PNG and SVG files, too: pip install 'jostle[pictures]'" in printed
    assert (folder / "report.html").is_file()
    assert not list(folder.glob("*.png"))
    with pytest.raises(MissingExtra, match="a picture as a PNG file"):
        run_command("report", folder, "--format", "png")


def test_a_notebook_draws_charts_as_svg_or_else_leaves_it_to_the_notebook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chart = notebook.charts(run_document(make_hit())).popitem()[1]
    shown = chart._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert chart.png().startswith(b"\x89PNG")
    hide("pictures", monkeypatch)
    shown = chart._repr_mimebundle_()
    assert shown["application/vnd.vegalite.v6+json"] == chart.spec
    assert shown["text/plain"].endswith("pip install 'jostle[pictures]'")
    assert chart.spec["datasets"]
