"""Which files are the code of a pipeline: what its sources import, and no module of other tasks of a job."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lakeward.pipelines.sources.user_modules import code_hash, user_files, user_modules
from tests.trees import write_files

FILES = {
    "company_of_test/__init__.py": "",
    "company_of_test/jobs/__init__.py": "",
    "company_of_test/jobs/land.py": "from company_of_test import shared\n",
    "company_of_test/rules.py": "import company_of_test.units as units\n",
    "company_of_test/units.py": "def later():\n    from . import shared\n",
    "company_of_test/shared.py": "",
    "company_of_test/unused.py": "",
    "gold.py": "from company_of_test import rules\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("company_of_test")]:
        del sys.modules[name]


def code(folder: Path) -> set[str]:
    with user_modules([folder]):
        importlib.import_module("company_of_test.rules")
        return {
            file.relative_to(folder).as_posix() for file in user_files([folder], [folder / "gold.py"])
        } - {"company_of_test/__init__.py"}


def test_modules_of_other_tasks_are_no_code_of_the_pipeline(folder: Path) -> None:
    alone = code(folder)
    assert alone == {"company_of_test/rules.py", "company_of_test/units.py"}
    importlib.import_module("company_of_test.jobs.land")
    # `units` imports it in a function, which a dataset may call.
    assert code(folder) == alone | {"company_of_test/shared.py"}
    importlib.import_module("company_of_test.unused")
    assert code(folder) == alone | {"company_of_test/shared.py"}


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nimportlib.import_module('company_of_test.unused')\n",
        "from importlib import import_module as load\nload('company_of_test.unused')\n",
        "__import__('company_of_test.unused')\n",
        "%pip install x\n",
    ],
)
def test_all_modules_are_code_if_a_source_may_import_dynamically(folder: Path, text: str) -> None:
    importlib.import_module("company_of_test.unused")
    (folder / "gold.py").write_text(text)
    assert "company_of_test/unused.py" in code(folder)


def test_modules_that_the_update_imports_are_code_however_they_were_found(folder: Path) -> None:
    (folder / "gold.py").write_text("")
    assert "company_of_test/rules.py" in code(folder)


def test_the_hash_of_code_is_of_its_text_and_not_of_its_folder(tmp_path: Path) -> None:
    """Views are not computed again because the repository was checked out elsewhere."""

    def files(place: str, **texts: str) -> list[Path]:
        write_files(tmp_path / place, {f"{name.replace('_', '/')}.py": text for name, text in texts.items()})
        return sorted((tmp_path / place).rglob("*.py"))

    first = code_hash(files("one", a_x="1", b_x="2"))
    assert code_hash(files("two", a_x="1", b_x="2")) == first
    assert len({first, code_hash(files("three", a_x="2", b_x="1")), code_hash(files("four", a_x="1"))}) == 3


def test_modules_of_a_package_that_stays_are_imported_again(folder: Path) -> None:
    """The package has a module as an attribute, which an import would find instead of the changed file."""
    package = importlib.import_module("company_of_test")
    rules = folder / "company_of_test" / "rules.py"
    for number in ("1", "22"):
        rules.write_text(f"NUMBER = {number}\n")
        with user_modules([folder]):
            namespace: dict[str, object] = {}
            exec("from company_of_test import rules\nnumber = rules.NUMBER", namespace)
            assert namespace["number"] == int(number)
            assert rules in user_files([folder], [])
        assert sys.modules["company_of_test"] is package
        assert not hasattr(package, "rules")


def test_other_code_can_import_while_the_files_are_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any allocation can collect garbage, and finalizers, as those of Py4J, let other threads run."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))

    class Garbage:
        def __init__(self, left: int) -> None:
            self.cycle, self.left = self, left

        def __del__(self) -> None:
            sys.modules[f"made_{self.left}"] = ModuleType("made")
            if self.left:
                Garbage(self.left - 1)

    # Pairs of names and modules are then allocated: Python keeps 2,000 that were freed.
    pairs = [(n, n) for n in range(10_000)]
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        Garbage(100)
        user_files([folder], [])
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    assert pairs
    assert len([name for name in sys.modules if name.startswith("made_")]) > 10
