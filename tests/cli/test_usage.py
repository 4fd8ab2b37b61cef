"""Mistakes that are known before Spark is needed: one message, the right exit code, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lakeward.cli import main
from tests.processes import environ_without, outcome, without_pyspark

BUNDLE = """\
bundle:
  name: shop
variables:
  schema:
    description: Where tables go.
    default: sales
resources:
  jobs:
    nightly:
      tasks:
        - task_key: refresh
          pipeline_task:
            pipeline_id: ${resources.pipelines.orders.id}
  pipelines:
    orders:
      catalog: dev
      schema: ${var.schema}
      libraries:
        - glob:
            include: ./pipelines/**
targets:
  dev:
    default: true
  prod: {}
"""


def lakeward(*arguments: str, cwd: Path, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    clean = environ_without("LAKEWARD_", "DATABRICKS_")
    return outcome(
        [sys.executable, "-m", "lakeward", *arguments],
        cwd=cwd,
        env={**clean, "PYTHONPATH": without_pyspark(cwd), **environ},
        input=stdin,
        timeout=60,
    )


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "databricks.yml").write_text(BUNDLE)
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "orders.py").write_text("import dlt\n")
    return tmp_path


@dataclass(frozen=True)
class Case:
    """A command line in the folder of the bundle, with changes to its files, and words of the answer."""

    arguments: tuple[str, ...]
    says: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)


CASES = {
    "unknown command": Case(("rnu", "nightly"), ("`rnu`", "Did you mean `run`")),
    "unknown option": Case(("run", "nightly", "--jsn"), ("--jsn", "--json")),
    "no key": Case(("run",), ("KEY", "jobs: nightly", "pipelines: orders")),
    "no key of a deployed job": Case(("bundle", "run"), ("KEY", "jobs: nightly", "pipelines: orders")),
    "unknown key": Case(("run", "nightli"), ("nightli", "Did you mean `nightly`")),
    "unknown target": Case(("run", "nightly", "-t", "prd"), ("prd", "Did you mean `prod`")),
    "unknown target of sql": Case(("sql", "-t", "prd", "-e", "select 1"), ("prd", "Did you mean `prod`")),
    "unknown pipeline of events": Case(("events", "ordrs"), ("ordrs", "Did you mean `orders`")),
    "events before the first run": Case(("events", "orders"), ("has not run", "lakeward run orders -t dev")),
    "malformed parameter": Case(("run", "nightly", "--param", "days"), ("'days'", "key=value")),
    "parameter for a pipeline": Case(("run", "orders", "--param", "a=b"), ("--param is for jobs",)),
    "a job for ever": Case(("run", "nightly", "--continuous"), ("--continuous is for pipelines",)),
    "task of a pipeline": Case(("run", "orders", "--only", "a"), ("--only is for jobs",)),
    "unknown task": Case(("run", "nightly", "--only", "refrsh"), ("refrsh", "refresh")),
    "unknown parameter": Case(("run", "nightly", "--param", "dais=1"), ("dais",)),
    "unknown variable": Case(("run", "nightly", "--var", "shema=x"), ("shema", "schema")),
    "broken yaml": Case(
        ("run", "nightly"), ("databricks.yml:3:",), {"databricks.yml": "bundle:\n  name: [unclosed\n"}
    ),
    "variable without a value": Case(
        ("run", "nightly"), ("schema",), {"databricks.yml": BUNDLE.replace("    default: sales\n", "")}
    ),
    "source folder that is not there": Case(
        ("run", "orders"), ("pipelnes",), {"databricks.yml": BUNDLE.replace("./pipelines/", "./pipelnes/")}
    ),
    "path that is not there": Case(("pipeline", "pipelins"), ("pipelins", "Did you mean pipelines")),
    **{
        f"empty path of {' '.join(command)}": Case((*command, ""), ("it is empty", "current"))
        for command in (("check",), ("init",), ("notebook",), ("pipeline",), ("sql", "-f"))
    },
    "folder as notebook": Case(("notebook", "."), ("is a folder", "lakeward pipeline")),
    "root as notebook": Case(("notebook", "/"), ("is a folder",)),
    "malformed mount": Case(("pipeline", "pipelines", "--mount", "s3://x"), ("FROM=TO",)),
    "no statement": Case(("sql", "-e", "-- nothing"), ("no SQL statement",)),
    "two sources of statements": Case(("sql", "-e", "select 1", "-f", "a.sql"), ("-e", "-f")),
    "statement file without -f": Case(("sql", "a.sql"), ("a.sql", "-f a.sql")),
    "statement without -e": Case(("sql", "--format", "csv", "select", "1"), ("select", "-e")),
    "statement file that is not there": Case(("sql", "-f", "a.sql"), ("a.sql", "No such file")),
    "seed that is not there": Case(("seed", "a.b.c", "--from", "a.csv"), ("a.csv", "working directory")),
    "schema of a seed that is not there": Case(
        ("seed", "a.b.c", "--from", "A.CSV", "--ddl", "a.sql"),
        ("a.sql", "working directory"),
        {"A.CSV": "a\n1\n"},
    ),
    "seed of no known kind": Case(("seed", "a.b.c", "--from", "a.xls"), (".csv, .tsv",), {"a.xls": ""}),
    "notebook that is not there": Case(("notebook", "lod.py"), ("lod.py in /", "load.py"), {"load.py": ""}),
    "notebook of a full path": Case(("notebook", "/nix/a.py"), ("notebook /nix/a.py.\n", "no folder /nix,")),
    "notebook in a folder that is not there": Case(
        ("notebook", "nix/a.py"), ("There is no folder /", "nix, either")
    ),
    "archive": Case(
        ("notebook", "a.DBC"), ("NOTEBOOK_INVALID", "export them as source files"), {"a.DBC": "PK"}
    ),
    "archive in lower case": Case(
        ("notebook", "a.dbc"), ("NOTEBOOK_INVALID", "export them as source files"), {"a.dbc": "PK"}
    ),
    "text file": Case(("notebook", "a.txt"), ("NOTEBOOK_INVALID", ".py, .sql, .ipynb"), {"a.txt": "1"}),
    "empty ipynb": Case(("notebook", "a.ipynb"), ("NOTEBOOK_INVALID", "is empty"), {"a.ipynb": " "}),
    "ipynb without cells": Case(("notebook", "a.ipynb"), ("it has no 'cells'",), {"a.ipynb": "{}"}),
    "group without a command": Case(("bundle",), ("`lakeward bundle` needs a command", "deploy, destroy")),
    "option without a value": Case(("run", "-t"), ("requires an argument", "lakeward run --help")),
    "option of a group's command without a value": Case(
        ("bundle", "validate", "-t"), ("requires an argument", "lakeward bundle validate --help")
    ),
    "choice that is missing": Case(("completion",), ("Choose from: bash, zsh, fish",)),
    "file as folder of a bundle": Case(("init", "databricks.yml"), ("a file is in its place", "init FOLDER")),
    "file above the folder of a bundle": Case(("init", "databricks.yml/a"), ("a file is in its place",)),
    "unknown format": Case(("sql", "-e", "select 1", "--format", "xml"), ("xml", "csv")),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_answered_on_stderr_with_code_2_and_no_traceback(case: Case, shop: Path) -> None:
    for name, text in case.files.items():
        (shop / name).write_text(text)
    ran = lakeward(*case.arguments, cwd=shop)
    assert ran.returncode == 2, ran.stderr
    assert ran.stdout == ""
    assert any(line.startswith("error: ") for line in ran.stderr.splitlines())
    assert "Traceback" not in ran.stderr
    for words in case.says:
        assert words in ran.stderr


def test_the_dry_run_of_a_job_starts_no_spark_and_reports_it(tmp_path: Path) -> None:
    (tmp_path / "job.yml").write_text(
        "name: j\ntasks: [{task_key: t, spark_python_task: {python_file: a.py}}]\n"
    )
    (tmp_path / "a.py").write_text("print(1)\n")
    ran = lakeward("run", "job.yml", "--dry-run", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "checking …" in ran.stderr
    assert "Spark" not in ran.stderr
    assert ran.stdout.endswith("\nNothing was written. Without --dry-run, the same command runs it.\n")
    assert "try next" not in ran.stdout
    assert not [line for line in ran.stdout.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize(
    "command",
    [
        ("pipeline", "a.py"),
        ("notebook", "a.py"),
        ("sql", "-f", "a.py"),
        ("check", "a.py"),
        ("seed", "a.b.c", "--from", "a.py"),
        ("seed", "a.b.c", "--from", "b.csv", "--ddl", "a.py"),
    ],
)
def test_a_file_without_permission_is_answered_by_the_way_to_get_it(
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "b.csv").touch()
    monkeypatch.chdir(tmp_path)
    access = os.access
    # Root can read every file.
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != "a.py" and access(path, mode))
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "[PATH_NOT_READABLE] You have no permission to read a.py." in said
    assert "→ Give yourself the permission: chmod u+r a.py" in said


INTERRUPTED = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, *rest):
        if name == "{}":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
import lakeward.cli
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.parametrize(
    ("module", "code"), [("lakeward.cli.main", -2), ("lakeward.cli.failures", -2), ("x", 0)]
)
def test_ctrl_c_while_modules_are_loaded_shows_no_traceback(module: str, code: int, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(module)],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (code, "")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_that_the_shell_has_closed_is_no_fault(stream: str, tmp_path: Path) -> None:
    (tmp_path / "job.yml").write_text(
        "name: j\ntasks: [{task_key: t, spark_python_task: {python_file: a.py}}]\n"
    )
    (tmp_path / "a.py").write_text("print(1)\n")
    closing = {"stdout": ">&-", "stderr": "2>&-"}[stream]
    ran = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m lakeward run job.yml --dry-run {closing}"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (ran.returncode, "error" in ran.stderr) == (0, False), ran.stderr


def test_a_mistake_leaves_nothing_behind(shop: Path) -> None:
    lakeward("run", "nightli", cwd=shop)
    assert not (shop / ".lakeward").exists()


@pytest.mark.parametrize(
    "arguments", [("run", "daily"), ("run",), ("events", "daily", "-t", "dev"), ("run", "a", "-t", "x")]
)
def test_outside_a_bundle_the_folder_is_named(arguments: tuple[str, ...], tmp_path: Path) -> None:
    ran = lakeward(*arguments, cwd=tmp_path)
    assert ran.returncode == 2
    assert str(tmp_path) in ran.stderr
    assert "databricks.yml" in ran.stderr


@pytest.mark.parametrize("command", ["deploy", "destroy", "run", "summary", "validate"])
def test_outside_a_bundle_its_commands_name_the_way_to_one(command: str, tmp_path: Path) -> None:
    ran = lakeward("bundle", command, *(["daily"] if command == "run" else []), cwd=tmp_path)
    assert ran.returncode == 2
    assert "error: [BUNDLE_NOT_FOUND] this command needs a bundle, but neither" in ran.stderr
    assert "lakeward init" in ran.stderr


@pytest.mark.parametrize(
    ("name", "advice"), [("ordrs", "Did you mean `orders`?"), ("x", "Event logs exist for: orders.")]
)
def test_events_outside_a_bundle_name_the_pipelines_that_have_run(
    name: str, advice: str, tmp_path: Path
) -> None:
    assert "Run it: `lakeward pipeline PATH`." in lakeward("events", name, cwd=tmp_path).stderr
    (tmp_path / ".lakeward/local/pipelines/orders/event_log").mkdir(parents=True)
    assert advice in lakeward("events", name, cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("command", "suffix"), [(("notebook",), "py"), (("notebook",), "ipynb"), (("sql", "-f"), "sql")]
)
def test_a_binary_file_is_named_and_not_quoted(command: tuple[str, ...], suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"a.{suffix}").write_bytes(bytes(range(128, 256)) * 20)
    ran = lakeward(*command, f"a.{suffix}", cwd=tmp_path)
    assert ran.returncode == 2
    assert f"a.{suffix}" in ran.stderr
    assert "it is not UTF-8 text." in ran.stderr
    assert len(ran.stderr) < 400


def test_with_json_a_mistake_is_one_object_too(shop: Path) -> None:
    ran = lakeward("run", "nightli", "--json", cwd=shop)
    document = json.loads(ran.stdout)
    assert ran.returncode == 2
    assert (document["state"], document["datasets"], document["tasks"]) == ("FAILED", [], [])
    assert "nightli" in document["error"]


def test_an_internal_error_names_the_file_with_its_traceback(shop: Path) -> None:
    # The blocked pyspark ends the process; a broken one is an unexpected error.
    (shop / ".blocked").mkdir()
    path = os.pathsep.join([str(broken(shop)), os.environ.get("PYTHONPATH", "")])
    ran = lakeward("sql", "-e", "select 1", cwd=shop, PYTHONPATH=path)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert "INTERNAL_ERROR" in ran.stderr
    (log,) = (shop / ".lakeward" / "dev").glob("crash-*.log")
    assert str(log) in ran.stderr
    assert "Traceback" in log.read_text()
    assert "no wings" in log.read_text()


def broken(folder: Path) -> Path:
    (folder / "broken").mkdir()
    (folder / "broken" / "pyspark.py").write_text("raise RuntimeError('no wings')\n")
    return folder / "broken"


def test_help_imports_neither_spark_nor_rich(tmp_path: Path) -> None:
    ran = lakeward("--help", cwd=tmp_path)
    assert ran.returncode == 0
    for command in ("run", "pipeline", "sql", "events"):
        assert command in ran.stdout
    loaded = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "lakeward", "--help"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stderr  # fmt: skip
    modules = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in loaded.splitlines()}
    assert not modules & {"pyspark", "py4j", "rich", "sqlglot", "pandas", "pyarrow", "prompt_toolkit"}


def test_a_command_line_imports_the_modules_of_its_own_command_alone(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom lakeward.cli import main\nmain(['sql', '--help'])\n"
        "print(*(name for name in sys.modules if name.startswith('lakeward.')), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(ran.stderr.split())
    assert "lakeward.cli.sql" in loaded
    others = {f"lakeward.cli.{name}" for name in ("run", "check", "workspace", "bundle", "notebook", "test")}
    assert not loaded & {*others, "lakeward.bundle.artifacts", "lakeward.bundle.deployment"}


@pytest.mark.parametrize("group", [(), ("bundle",)])
def test_the_list_of_commands_has_whole_sentences(group: tuple[str, ...], tmp_path: Path) -> None:
    ran = lakeward(*group, "--help", cwd=tmp_path, COLUMNS="80")
    commands = ran.stdout.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert commands
    for line in commands:
        assert line.endswith(".") and not line.endswith("..."), line


@pytest.mark.parametrize("command", ["run", "pipeline", "sql", "events"])
def test_every_command_has_help(command: str, tmp_path: Path) -> None:
    ran = lakeward(command, "--help", cwd=tmp_path)
    assert ran.returncode == 0
    assert f"lakeward {command}" in ran.stdout


def test_the_oldest_click_that_the_project_allows_loads_every_command(tmp_path: Path) -> None:
    """`click.ParamType` is generic since version 8.4; repositories may pin an older one."""
    code = (
        "import click\nclick.ParamType.__class_getitem__ = None\n"
        "from lakeward.cli.main import lakeward\n"
        "print(*(name for name in lakeward.commands if lakeward.commands[name]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert {"notebook", "pipeline", "sql", "run", "test"} <= set(ran.stdout.split())
