"""Errors about packages and files of the cloud that are not here name the option that brings them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lakeward.dbutils.failures import JavaError
from lakeward.error_formatting import describe_error
from lakeward.errors import LakewardError
from lakeward.hints.missing_inputs import package_hint
from lakeward.session import PathMap, Settings
from lakeward.session.missing_folders import (
    describe_missing_folder,
    describe_missing_workspace_path,
    folder_hint,
)
from tests.cli.inside import Inside
from tests.processes import outcome
from tests.trees import write_files

PLACES = ("/databricks-datasets/retail-org", "/mnt/raw", "/FileStore/tables", "/Volumes/main/raw/in.v2")
SPELLINGS = ("{}", "dbfs:{}", "file:{}", "/dbfs{}", "{}/", "{}/in/part 1.csv", "dbfs:{}/a.csv")
ERRORS = (
    "[PATH_NOT_FOUND] Path does not exist: {}. SQLSTATE: 42K03",
    "[CF_PATH_DOES_NOT_EXIST_FOR_READ_FILES] The path {} of read_files does not exist.",
    "[CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE] a.py:3: Cannot infer schema when the input path {} is empty.",
    "[DELTA_PATH_DOES_NOT_EXIST] {} doesn't exist, or is not a Delta table.",
    "[DELTA_TABLE_NOT_FOUND] Delta table `{}` doesn't exist.",
    '[DELTA_SCHEMA_NOT_SET] a.py:3: Table schema is not set.\n    .load("{}")',
    "java.io.FileNotFoundException: No such file or directory {}",
    "FileNotFoundError: [Errno 2] No such file or directory: '{}'",
)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("place", PLACES)
def test_a_missing_folder_of_the_cloud_names_its_mount(error: str, spelling: str, place: str) -> None:
    hint = describe_missing_folder(error.format(spelling.format(place)))
    assert hint is not None and f"`--mount {place}=FOLDER`" in hint


@pytest.mark.parametrize(
    "text",
    [
        *(
            error.format(path)
            for error in ERRORS
            for path in ("/home/ada/a.csv", "data/mnt/raw", "s3://b/mnt/a", "/Volumes/main/raw")
        ),
        "[DIVIDE_BY_ZERO] /mnt/raw/a.py:3: Division by zero.",
        "[PATH_NOT_FOUND] Path does not exist: /mnt/raw. Map it with --mount.",
    ],
)
def test_other_errors_name_no_mount(text: str) -> None:
    assert describe_missing_folder(text) is None


WORKSPACE_ERRORS = (
    "[PATH_NOT_FOUND] Path does not exist: {}. SQLSTATE: 42K03",
    "[PIPELINE_SOURCE_FAILED] /x/a.py:3: FileNotFoundError: [Errno 2] No such file or directory: '{}'",
    "java.io.FileNotFoundException: No such file or directory {}",
)


@pytest.mark.parametrize("error", WORKSPACE_ERRORS)
@pytest.mark.parametrize(
    ("path", "mount"),
    [
        ("/Workspace/Users/ann@example.com/shop/conf/jobs.json", "/Workspace/Users/ann@example.com/shop={}"),
        ("/Repos/ann/copy/conf/jobs.json", "/Repos/ann/copy={}"),
        ("/Workspace/Shared/jobs.json", "/Workspace/Shared={}/conf"),
        ("/Workspace/Users/ann@example.com/shop/conf", "/Workspace/Users/ann@example.com/shop={}"),
        ("/Workspace/Shared/conf/other.json", "/Workspace/Shared/conf=FOLDER"),
        ("/Workspace/Shared/twice.json", "/Workspace/Shared=FOLDER"),
    ],
)
def test_a_missing_workspace_file_names_the_mount_of_the_repository(
    tmp_path: Path, error: str, path: str, mount: str
) -> None:
    names = (".git/HEAD", "conf/jobs.json", "a/twice.json", "b/twice.json", "etl/load.py")
    root = write_files(tmp_path / "shop", dict.fromkeys(names, ""))
    hint = describe_missing_workspace_path(error.format(path), root / "etl")
    assert hint is not None and f"`--mount {mount.format(root)}`" in hint
    assert ("has conf" in hint or "has jobs.json" in hint) == ("=FOLDER" not in mount)


def test_the_hint_of_errors_searches_the_repository_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_files(tmp_path / "shop", {".git/HEAD": "", "conf/jobs.json": ""})
    monkeypatch.chdir(root / "conf")
    text = WORKSPACE_ERRORS[1].format("/Workspace/Users/ann/x/conf/jobs.json")
    settings = Settings.here()
    assert f"`--mount /Workspace/Users/ann/x={root}`" in (folder_hint(text, settings) or "")
    mounted = replace(settings, mounts=(("/Workspace/Users/ann", str(root)),))
    assert folder_hint(text, mounted) is None


@pytest.mark.parametrize("error", ["[DIVIDE_BY_ZERO] a", "No such file or directory: '/Workspace/Shared/x'"])
def test_an_error_in_a_deleted_working_folder_has_no_hint(
    error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pytest's session ended with an INTERNALERROR."""
    settings = Settings.here()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert folder_hint(error, settings) is None


def test_a_workspace_path_below_a_mount_and_other_paths_have_no_such_hint(tmp_path: Path) -> None:
    text = "No such file or directory: '{}'"
    missing = text.format("/Workspace/Shared/x.json")
    assert describe_missing_workspace_path(missing, tmp_path, ["/Workspace/Shared"]) is None
    assert describe_missing_workspace_path(missing, tmp_path, ["/Workspace/Share"]) is not None
    for path in ("/tmp/Workspace/x", "Workspace/x", "/Workspaces/x", "s3://b/Workspace/x"):
        assert describe_missing_workspace_path(text.format(path), tmp_path) is None
    assert describe_missing_workspace_path("[DIVIDE_BY_ZERO] /Workspace/a.py:3", tmp_path) is None


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("spelling", ["{}", "dbfs:{}", "/dbfs{}", "{}/", "dbfs:{}/_delta_log/0.json"])
@pytest.mark.parametrize(("place", "table"), [("sales", "default.sales"), ("crm.db/sales", "crm.sales")])
def test_a_missing_table_of_the_hive_warehouse_names_the_default_catalog(
    error: str, spelling: str, place: str, table: str
) -> None:
    text = error.format(spelling.format(f"/user/hive/warehouse/{place}"))
    settings = replace(Settings.here(), catalog="dev")
    hint = folder_hint(text, settings)
    assert hint is not None
    assert f"`{table}` without a catalog is dev.{table} here" in hint
    assert 'default-catalog = "hive_metastore"' in hint
    # The table is not there at all.
    assert folder_hint(text, replace(settings, catalog="hive_metastore")) is None


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(
    "path", ["/user/hive/warehouse", "/mnt/user/hive/warehouse/t", "s3://b/user/hive/warehouse/t", "/user/t"]
)
def test_other_paths_name_no_default_catalog(error: str, path: str) -> None:
    hint = folder_hint(error.format(path), Settings.here())
    assert hint is None or "default-catalog" not in hint


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("spelling", ["{}/customers", "dbfs:{}/customers/a.csv", "/dbfs{}/customers"])
@pytest.mark.parametrize("place", PLACES)
def test_a_folder_that_has_files_is_listed_and_not_mounted(
    tmp_path: Path, error: str, spelling: str, place: str
) -> None:
    text = error.format(spelling.format(place))
    mapped = PathMap(((place, str(tmp_path)),))
    write_files(tmp_path, {"_hidden.csv": "", "landing/.keep": "", "b.csv": ""})
    hint = describe_missing_folder(text, mapped=mapped)
    assert hint == f"{place} has b.csv, landing/ here: correct the path, or put the files there first."
    write_files(tmp_path, dict.fromkeys(("a1.csv", "a2.csv", "a3.csv", "a4.csv"), ""))
    hint = describe_missing_folder(text, mapped=mapped)
    assert hint is not None and "a1.csv, a2.csv, a3.csv, a4.csv, b.csv, … here" in hint


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/Volumes/main/raw/in/orders/2024/a.json", "/Volumes/main/raw/in/orders/2024"),
        ("dbfs:/Volumes/main/raw/in/orders/2025/a.json.", "/Volumes/main/raw/in/orders"),
        ("/Volumes/main/raw/in/orders/empty/*.json", "/Volumes/main/raw/in/orders"),
        ("/Volumes/main/raw/in/order", "/Volumes/main/raw/in"),
    ],
)
def test_the_deepest_folder_that_has_files_is_listed(tmp_path: Path, path: str, folder: str) -> None:
    mapped = PathMap((("/Volumes/main/raw/in", str(tmp_path)),))
    write_files(tmp_path, {"orders/2024/b.json": "{}", "orders/empty/.keep": ""})
    hint = describe_missing_folder(
        f"[PATH_NOT_FOUND] Path does not exist: {path}. SQLSTATE: 42K03", mapped=mapped
    )
    assert hint is not None and hint.startswith(f"{folder} has ")


def test_an_empty_folder_of_the_state_names_its_mount(tmp_path: Path) -> None:
    write_files(tmp_path, {"_hidden.csv": ""})
    text = "[PATH_NOT_FOUND] Path does not exist: /Volumes/main/raw/in/a.csv."
    hint = describe_missing_folder(text, mapped=PathMap((("/Volumes/main/raw/in", str(tmp_path)),)))
    assert hint is not None and "`--mount /Volumes/main/raw/in=FOLDER`" in hint
    assert f"is the folder {tmp_path} here, which has no files: put them there" in hint


@pytest.mark.parametrize("mount", ["/mnt", "/mnt/raw", "dbfs:/mnt", "dbfs:/mnt/raw/"])
def test_a_folder_that_is_mapped_is_not_mapped_again(mount: str) -> None:
    text = "[PATH_NOT_FOUND] Path does not exist: dbfs:/mnt/raw/in.csv."
    assert describe_missing_folder(text, [mount]) is None
    assert describe_missing_folder(text, ["/mnt/other", "/mnt/ra"]) is not None


@pytest.mark.parametrize(
    "mount", ["/Volumes", "/Volumes/main", "dbfs:/Volumes/main/raw", "/Volumes/main/raw/in/"]
)
def test_a_volume_that_is_mapped_is_not_mapped_again(mount: str) -> None:
    text = "[PATH_NOT_FOUND] Path does not exist: dbfs:/Volumes/main/raw/in/a.csv."
    assert describe_missing_folder(text, [mount]) is None
    assert describe_missing_folder(text, ["/Volumes/main/raw/i", "/Volumes/other"]) is not None


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("yaml", "pyyaml"),
        ("pyparsing", "pyparsing"),
        ("psycopg2.extras", "psycopg2-binary"),
        ("azure.storage.blob", "azure-storage-blob"),
    ],
)
def test_a_missing_package_of_the_runtime_is_named(module: str, package: str) -> None:
    hint = package_hint(f"[ModuleNotFoundError] cell 2, a.py:1: No module named '{module}'", "17.3")
    assert hint is not None and hint.startswith("Runtime 17.3 brings ")
    assert hint.endswith(f"`--with {package}`.")


@pytest.mark.parametrize("module", ["helpers", "shop.orders", "dbldatagen", "google.nowhere"])
def test_no_other_name_is_made_up(module: str) -> None:
    hint = package_hint(f"ModuleNotFoundError: No module named '{module}'", None)
    assert hint is not None and hint.endswith("`--with PACKAGE`.")


@pytest.mark.parametrize(
    "text",
    [
        *(f"No module named '{each}'" for each in ("dlt", "pyspark.none", "dbruntime.display", "lakeward.x")),
        "ImportError: cannot import name 'a' from 'yaml'",
        "No module named 'yaml'. Call lakeward with `--with pyyaml`.",
    ],
)
def test_other_errors_name_no_package(text: str) -> None:
    assert package_hint(text, None) is None


def test_commands_print_both(inside: Inside) -> None:
    notebook = inside.folder / "a.py"
    notebook.write_text("# Databricks notebook source\nimport no_such_module\n")
    ran = inside("notebook", "a.py")
    assert (ran.returncode, ran.stderr.count("`--with PACKAGE`")) == (1, 1), ran.stderr
    ran = inside("sql", "-e", "SELECT * FROM csv.`/mnt/raw/a.csv`")
    assert (ran.returncode, ran.stderr.count("`--mount /mnt/raw=FOLDER`")) == (1, 1), ran.stderr
    (inside.folder / "p.py").write_text(
        "from pyspark import pipelines as dp\n\n@dp.table\ndef rows():\n"
        '    return spark.readStream.format("delta").load("/databricks-datasets/nyc/t")\n'
    )
    ran = inside("pipeline", "p.py")
    assert (ran.returncode, ran.stderr.count("`--mount /databricks-datasets/nyc=FOLDER`")) == (1, 1), (
        ran.stderr
    )


@pytest.mark.parametrize(
    ("message", "shown"),
    [("no key: k", "no key: k. Set it."), ("Gone.", "Gone. Set it."), ("Gone!", "Gone! Set it.")],
)
def test_the_next_step_begins_a_sentence(message: str, shown: str) -> None:
    assert describe_error(LakewardError("A", message, next_step="Set it.")).message == shown
    error = JavaError("o.get", "java.lang.IllegalArgumentException", message, next_step="Set it.")
    assert describe_error(error).message == shown
    assert error.java_exception.getMessage() == message


FILES = {
    "databricks.yml": """
bundle: {name: shop}
targets: {dev: {mode: development, default: true}}
resources:
  jobs:
    j:
      name: j
      environments: [{environment_key: e, spec: {environment_version: "4"}}]
      tasks:
        - {task_key: n, notebook_task: {notebook_path: ./code.py}}
        - {task_key: p, spark_python_task: {python_file: ./code.py}, environment_key: e}
""",
    "code.py": "# Databricks notebook source\nimport tools_without_package\n",
}


@pytest.mark.slow
@pytest.mark.process
def test_every_command_that_runs_code_says_how_to_install_a_missing_module(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    lakeward = [sys.executable, "-m", "lakeward"]
    assert outcome([*lakeward, "bundle", "deploy"], cwd=tmp_path).returncode == 0
    for command in (["notebook", "code.py"], ["run", "j"], ["bundle", "run", "j"]):
        done = outcome([*lakeward, *command], cwd=tmp_path)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "If a package has the module `tools_without_package`: declare it" in done.stderr, command
