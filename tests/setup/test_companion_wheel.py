"""The wheel `lakeward-jars`: built from local jars, found next to lakeward, offline."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lakeward.errors import SetupError
from lakeward.session.jvm.jars import JARS, locate_jars, pinned_jars
from lakeward.session.jvm.jvm_jar import jar_path
from lakeward.session.spark_context import compiled_jar
from tests.processes import outcome
from tests.setup.conftest import ROOT
from tests.setup.maven_server import MavenServer

pytestmark = pytest.mark.process


def build(folder: Path, out: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return outcome(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(out), str(folder)],
        env={**os.environ, **environ},
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    done = build(ROOT / "packaging" / "lakeward-jars", out)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = out.iterdir()
    return file


@pytest.fixture
def site(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on Python's path with the wheel's content."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def nowhere(tmp_path: Path, address: str) -> dict[str, str]:
    return {
        "HOME": str(tmp_path / "home"),
        "LAKEWARD_CACHE": str(tmp_path / "cache"),
        "LAKEWARD_MAVEN_MIRROR": address,
    }


def test_it_holds_the_jars_and_has_lakewards_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    from lakeward import __version__

    assert wheel.name == f"lakeward_jars-{__version__}-py3-none-any.whl"
    assert {f"lakeward_jars/{jar.name}" for jar in JARS} < names
    assert f"lakeward_jars/{compiled_jar().name}" in names
    assert not [file for file in (ROOT / "packaging").rglob("*.jar") if "dist" not in file.parts]


def test_its_compiled_classes_are_used_without_a_cache(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEWARD_CACHE", str(tmp_path / "cache"))
    jar = compiled_jar()
    assert jar.parent == site / "lakeward_jars"
    assert "lakeward/SqlParser.class" in zipfile.ZipFile(jar).namelist()
    assert not (tmp_path / "cache").exists()
    jar.unlink()
    assert jar_path(tmp_path, "spark 0 delta 0", [site / "lakeward_jars"]).parent == tmp_path / "java"


def test_installed_it_comes_before_any_download(
    site: Path, tmp_path: Path, closed_address: str, maven: MavenServer
) -> None:
    environ = nowhere(tmp_path, closed_address)
    assert pinned_jars(environ) == [site / "lakeward_jars" / jar.name for jar in JARS]
    assert not (tmp_path / "cache").exists()


def test_a_jar_that_it_lacks_or_that_was_cut_comes_as_without_it(
    site: Path, tmp_path: Path, maven: MavenServer
) -> None:
    other = maven.jar(b"other")
    (site / "lakeward_jars" / other.name).write_bytes(b"oth")
    files = locate_jars([JARS[0], other], nowhere(tmp_path, maven.url))
    assert files == [site / "lakeward_jars" / JARS[0].name, tmp_path / "cache" / "jars" / other.name]


def test_without_it_and_without_a_network_it_is_named(
    tmp_path: Path, closed_address: str, maven: MavenServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupError, match="lakeward-jars"):
        pinned_jars(nowhere(tmp_path, closed_address))
    monkeypatch.setenv("http_proxy", closed_address.replace("://", "://me:secret@"))
    with pytest.raises(SetupError) as raised:
        pinned_jars(nowhere(tmp_path, "http://maven.invalid/maven2"))
    host = closed_address.removeprefix("http://")
    assert f"through the proxy {host}, which HTTP_PROXY names" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_it_is_not_built_of_anything_but_deltas_own_jars(tmp_path: Path) -> None:
    for jar in JARS:
        (tmp_path / jar.name).write_bytes(b"my own build")
    done = build(ROOT / "packaging" / "lakeward-jars", tmp_path / "out", LAKEWARD_JARS=str(tmp_path))
    assert done.returncode != 0
    assert "is not the file that its authors published" in done.stdout + done.stderr


def test_lakeward_test_takes_it_along(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lakeward.environments.installation import own_installation
    from lakeward.environments.offline_copy import copy_installation

    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--target",
            "site",
            str(wheel),
        ],
        cwd=tmp_path,
        check=True,
    )
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "other").mkdir()
    put = copy_installation(own_installation(), tmp_path / "other", same_python=False, say=lambda _: None)
    assert "lakeward-jars" in put
    assert (tmp_path / "other" / "lakeward_jars" / JARS[0].name).stat().st_size == JARS[0].size
    shutil.rmtree(tmp_path / "other")
