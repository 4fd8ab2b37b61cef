"""The documentation site: its navigation has every page; links and anchors are as Sphinx resolves them."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

from tests.workspace.test_page import BROWSERS

pytest.importorskip("pygments")
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_conf", DOCS / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepared(conf: ModuleType, name: str, text: str) -> str:
    source = [text]
    conf.prepare(None, name, source)
    return source[0]


def test_the_navigation_has_every_page(conf: ModuleType) -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^[\w/-]+$", conf.navigation(index), re.MULTILINE)
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")}
    assert set(listed) == pages - {"index"}
    assert prepared(conf, "index", index).startswith(index[:100])


def test_anchors_and_rules_become_targets(conf: ModuleType) -> None:
    assert prepared(conf, "sql", '| <a id="AL-1.1"></a>AL-1.1 | x |') == '| [AL-1.1]{id="AL-1.1"} | x |'
    assert prepared(conf, "sql", '### SDP-3 CDC <a id="SDP-3"></a>') == "(SDP-3)=\n### SDP-3 CDC"
    assert prepared(conf, "sql", "[r](spec/pipelines.md#SDP-3.3.a)") == "[r](#SDP-3.3.a)"
    assert prepared(conf, "sql", "[p](jobs.md#runs)") == "[p](jobs.md#runs)"


def test_links_to_files_of_the_repository_are_texts_and_must_exist(conf: ModuleType) -> None:
    assert prepared(conf, "sql", "[the license](../LICENSE)") == "the license"
    assert prepared(conf, "spec/domain", "[the license](../../LICENSE#x)") == "the license"
    with pytest.raises(ValueError, match=r"sql: \.\./LICENCE does not exist"):
        prepared(conf, "sql", "[the license](../LICENCE)")


def test_options_keep_their_dashes(conf: ModuleType) -> None:
    assert conf.smartquotes is False


def test_the_lock_is_installed_into_an_environment_of_its_own() -> None:
    lock = (ROOT / "requirements" / "site.lock").read_text()
    wanted = (ROOT / "requirements" / "site.in").read_text().splitlines()
    names = [line for line in wanted if line and not line.startswith("#")]
    assert [name for name in names if f"\n{name}==" not in lock] == []
    assert "site.lock" in (ROOT / "requirements" / "compile.sh").read_text()
    # A module `site` in a folder of PYTHONPATH would replace Python's own at every start.
    assert not (ROOT / "scripts" / "site.py").exists()


@pytest.mark.slow
@pytest.mark.process
def test_the_site_is_built_without_a_warning() -> None:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "scripts/build_site.py"],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    site = ROOT / "build" / "site"
    assert "CF_FILE_CHANGED" in (site / "troubleshooting" / "index.html").read_text()
    assert "small-files" in (site / "searchindex.js").read_text()
    # Nothing is loaded from other hosts but the graphs' program.
    page = (site / "quick-start" / "index.html").read_text()
    assert re.findall(r'(?:src|href)="https?://[^"]*\.(?:js|css)', page) == []
    _search_finds(site, "CF_FILE_CHANGED", page="troubleshooting")


def _search_finds(site: Path, word: str, *, page: str) -> None:
    """The page of the search, in a browser: it reads the index over HTTP."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/search/?q={word}"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=15000", "--dump-dom"]
        done = subprocess.run([browser, *options, address], capture_output=True, text=True, check=True)
    finally:
        server.shutdown()
        server.server_close()
    assert "Search finished, found" in done.stdout
    assert f'<a href="../{page}/' in done.stdout
