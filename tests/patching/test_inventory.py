"""The list of `lakeward check --patches` is complete, and the order of installation has no effect."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lakeward import patching
from lakeward.patching import layers

_WRITER = "pyspark.sql.streaming.readwriter.DataStreamWriter"
_READER = "pyspark.sql.streaming.readwriter.DataStreamReader"


def test_an_attribute_of_several_packages_is_listed_with_each_of_its_layers() -> None:
    """The earlier registry kept one reason per attribute, so the second package hid the first."""
    listed: dict[tuple[str, str], set[str]] = {}
    for patch in patching.list_patches():
        listed.setdefault((patch.owner_name, patch.attribute), set()).add(patch.layer)
    assert {name: listed[(_WRITER, name)] for name in ("start", "toTable", "trigger")} == {
        "start": {"autoloader", "streaming", "serverless"},
        "toTable": {"autoloader", "streaming", "serverless"},
        "trigger": {"streaming", "serverless"},
    }
    assert listed[(_READER, "table")] == {"seeds", "pipelines"}
    assert listed[("pyspark.sql.session.SparkSession", "sql")] == {
        "session",
        "seeds",
        "serverless",
        "pipelines",
        "pipeline tests",
    }
    assert listed[("delta.tables.DeltaTable", "forName")] == {"session", "seeds"}


@pytest.mark.parametrize("seed", [None, *range(4)])
def test_the_layers_of_every_attribute_are_the_same_in_any_order_of_installation(
    monkeypatch: pytest.MonkeyPatch, seed: int | None
) -> None:
    specs = [spec for spec in patching.declared_specs() if spec.make is not None and _is_installed(spec)]
    if seed is None:
        specs.reverse()  # serverless before Auto Loader: then `start` lost the layer of Auto Loader
    else:
        random.Random(seed).shuffle(specs)  # no secret
    for spec in specs:
        spec.find_owner()  # the test plugin installs its own layers when PySpark is imported
    monkeypatch.setattr(layers, "_chains", {})
    monkeypatch.setattr(layers, "_entries", [])
    expected: dict[tuple[str, str], list[str]] = {}
    for spec in sorted(specs, key=lambda each: (each.order, each.layer)):
        expected.setdefault((spec.patch.owner_name, spec.attribute), []).append(spec.layer)
    with patching.temporary():
        assert patching.install(specs) == specs
        assert patching.install(specs) == []
        found: dict[tuple[str, str], list[str]] = {}
        for patch in patching.installed_patches():
            found.setdefault((patch.owner_name, patch.attribute), []).append(patch.layer)
    assert found == expected


def test_listing_imports_no_pyspark() -> None:
    program = (
        "import sys\nfrom lakeward import patching\n"
        "assert patching.list_patches() and not patching.installed_patches()\n"
        "print(*(name for name in ('pyspark', 'pyarrow', 'databricks.sdk') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.process
def test_what_a_session_changes_in_other_code_is_what_is_declared(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.patching.changed_story", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    declared = {(owner, attribute) for owner, attribute, _ in found["declared"]}
    changed = {(owner, attribute) for owner, attribute in found["changed"]}
    assert changed - declared == set(), "changed, but not declared"
    # Two modules of the same functions share entries (`pyspark.sql.functions` and `…builtin`).
    assert declared - changed <= not_installed(found), "declared, but not changed"
    assert {tuple(row) for row in found["installed"]} <= {tuple(row) for row in found["declared"]}


def not_installed(found: dict[str, list[list[str]]]) -> set[tuple[str, str]]:
    """What is declared for modules that this process has not imported."""
    installed = {(owner, attribute) for owner, attribute, _ in found["installed"]}
    return {(o, a) for o, a, _ in found["declared"]} - installed


def _is_installed(spec: patching.PatchSpec) -> bool:
    try:
        return importlib.util.find_spec(spec.owner.partition(":")[0]) is not None
    except ModuleNotFoundError:  # not even its package
        return False
