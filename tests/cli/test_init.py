"""`lakeward init` writes a bundle that breaks no rule, and touches nothing that is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts.actionlint import find_actionlint

from lakeward.cli import main
from lakeward.cli.project_template import bundle_name, template_files
from tests.processes import SharedDaemon, outcome

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my-lake"]) == 0
    monkeypatch.chdir(tmp_path / "my-lake")
    return tmp_path / "my-lake"


def test_it_passes_a_strict_validation_in_both_targets(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in ("dev", "prod"):
        assert main(["bundle", "validate", "--strict", "-t", target]) == 0
    assert capsys.readouterr().out.count("Validation OK.") == 2


def test_its_workflow_passes_actionlint(made: Path) -> None:
    actionlint, reason = find_actionlint(Path(sys.executable).parent)
    if actionlint is None:
        pytest.skip(str(reason))
    done = outcome([str(actionlint), str(made / ".github/workflows/ci.yml")])
    assert done.returncode == 0, done.stdout


def test_what_is_there_stays_as_it_is(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (made / "README.md").write_text("mine")
    (made / "databricks.yml").unlink()
    assert main(["init", "."]) == 2
    assert "README.md" in capsys.readouterr().err
    assert (made / "README.md").read_text() == "mine"
    assert not (made / "databricks.yml").exists()


@pytest.mark.parametrize(
    ("text", "name"), [("My Lake-House", "my_lake_house"), ("2026", "lake_2026"), ("ä", "lake")]
)
def test_any_folder_gives_a_name_that_schemas_take(text: str, name: str) -> None:
    assert bundle_name(text) == name
    assert all("@" not in content.replace("@dp.", "").replace("checkout@", "").replace("setup-uv@", "")
               for path, content in template_files(name).items() if not path.endswith(".pyi"))  # fmt: skip


@pytest.mark.process
def test_it_runs_and_its_test_passes_at_once(made: Path, shared_daemon: SharedDaemon) -> None:
    for command in (["-m", "lakeward", "run", "daily"], ["-m", "pytest", "-q", "-p", "no:cacheprovider"]):
        done = outcome([sys.executable, *command], cwd=made, env=shared_daemon.environ(), timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
