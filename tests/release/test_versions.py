"""One version in one place; a tag that fits nothing is refused; the wheels have what they promise."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import release
from lakeward import __version__

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The files of version 1.2.3, ready for its release."""
    (tmp_path / "src" / "lakeward").mkdir(parents=True)
    (tmp_path / "src" / "lakeward" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## Unreleased\n\n"
        "## 1.2.3 (2026-12-01)\n\n### Added\n\n- All of it.\n\n## 1.2.2\n\n- Less.\n"
    )
    (tmp_path / "README.md").write_text("pip install lakeward\n")
    return tmp_path


def test_the_version_is_declared_once(repository: Path) -> None:
    assert release.version() == __version__
    assert release.version(repository) == "1.2.3"
    for project in (ROOT / "pyproject.toml", ROOT / "packaging" / "lakeward-jars" / "pyproject.toml"):
        text = project.read_text()
        assert 'dynamic = ["version"]' in text
        assert f'version = "{__version__}"' not in text


def test_a_release_that_is_ready_has_no_problem(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["check", "v1.2.3"], repository) == 0
    assert release.main(["notes", "v1.2.3"], repository) == 0
    assert capsys.readouterr().out.endswith("### Added\n\n- All of it.\n")


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("src/lakeward/__init__.py", "1.2.3", "1.2.4", "The tag is v1.2.3, the package's version 1.2.4."),
        ("CHANGELOG.md", "## 1.2.3 (2026-12-01)", "## 1.2.1", "no entries under `## 1.2.3`"),
        ("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- More.\n", "move them to `## 1.2.3`"),
        ("README.md", "pip", f"{release.UNRELEASED_NOTICE}: pip", "remove the notice"),
    ],
)
def test_what_does_not_fit_is_named(
    repository: Path, file: str, old: str, new: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / file
    path.write_text(path.read_text().replace(old, new))
    assert release.main(["check", "v1.2.3"], repository) == 1
    assert says in capsys.readouterr().out


def test_a_version_without_a_section_has_no_notes(repository: Path) -> None:
    assert release.main(["notes", "9.9.9"], repository) == 1


@pytest.mark.parametrize("page", ["README.md", "docs/installation.md", "docs/your-repository.md"])
def test_pages_promise_an_installation_from_pypi_only_once_a_release_exists(page: str) -> None:
    text = (ROOT / page).read_text()
    assert (release.UNRELEASED_NOTICE in text) is not release.released()
    assert release.released() or "\npip install lakeward" not in text


@pytest.mark.process
def test_the_distributions_have_every_file_of_the_package(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        check=True, capture_output=True,
    )  # fmt: skip
    listed = subprocess.run(
        ["git", "ls-files", "src/lakeward"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    expected = {each.removeprefix("src/") for each in listed if (ROOT / each).is_file()}
    (wheel,) = tmp_path.glob("*.whl")
    (source,) = tmp_path.glob("*.tar.gz")
    assert wheel.name == f"lakeward-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert expected - set(archive.namelist()) == set()
        info = f"lakeward-{__version__}.dist-info"
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        entries = archive.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert (metadata["Name"], metadata["Version"], metadata["License-Expression"]) == (
        "lakeward",
        __version__,
        "Apache-2.0",
    )
    assert "lakeward = lakeward.cli:main" in entries
    assert "lakeward.testing.plugin" in entries
    with tarfile.open(source) as files:
        inside = {name.partition("/")[2] for name in files.getnames()}
    assert {f"src/{each}" for each in expected} - inside == set()
    # Neither tests nor the reference bundle are published.
    assert not [name for name in inside if name.startswith(("tests/", "src/wearables/"))]
