"""`catalogs` of [tool.lakeward] exist in every command of the project; others fail with the remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeward.errors import ConfigurationError
from lakeward.session import Settings, catalog_hint, missing_catalog, missing_schema, schema_hint
from lakeward.workspace.state.settings_json import settings_from_json, settings_to_json
from tests.cli.inside import Inside
from tests.trees import write_files

FILES = {
    "notebook.py": "# Databricks notebook source\nspark.sql('CREATE SCHEMA IF NOT EXISTS CATALOG.n')\n"
    "spark.range(2).write.mode('overwrite').saveAsTable('CATALOG.n.t')\n",
    "schema.py": "from pyspark import pipelines as dp\n\n"
    "spark.sql('CREATE SCHEMA IF NOT EXISTS CATALOG.p')\n\n"
    "@dp.materialized_view\ndef rows():\n    return spark.range(3)\n",
    "databricks.yml": """
        bundle: {name: shop}
        targets: {local: {default: true}}
        resources:
          jobs:
            nightly:
              tasks:
                - {task_key: a, notebook_task: {notebook_path: ./notebook.py}}
          pipelines:
            flow:
              catalog: main
              schema: default
              libraries: [{file: {path: ./schema.py}}]
    """,
}
COMMANDS = {
    "sql": ("sql", "-e", "CREATE SCHEMA CATALOG.s; CREATE TABLE CATALOG.s.t AS SELECT 1 AS id"),
    "use": ("sql", "-e", "USE CATALOG CATALOG; SELECT current_schema()"),
    "notebook": ("notebook", "notebook.py"),
    "pipeline": ("pipeline", "schema.py"),
    "job": ("run", "nightly"),
    "bundle pipeline": ("run", "flow"),
}
DECLARATIONS = {
    "table": ('[tool.lakeward]\ncatalogs = ["CATALOG"]\n', ""),
    "variable": ("[tool.lakeward]\n", "CATALOG,other"),
}


def project(inside: Inside, catalog: str, declared: str = "") -> None:
    write_files(
        inside.folder,
        {
            **{name: text.replace("CATALOG", catalog) for name, text in FILES.items()},
            "pyproject.toml": declared.replace("CATALOG", catalog),
        },
    )


def command(name: str, catalog: str) -> list[str]:
    return [
        part.replace("CATALOG CATALOG", f"CATALOG {catalog}")
        if name == "use"
        else part.replace("CATALOG.", f"{catalog}.")
        for part in COMMANDS[name]
    ]


@pytest.mark.parametrize("name", ["${catalog}", "{{ catalog }}", "<your_catalog>"])
def test_a_placeholder_is_not_a_catalog_to_declare(name: str) -> None:
    hint = catalog_hint(f"[CATALOG_NOT_FOUND] The catalog `{name}` not found.")
    assert hint == f"{name} is a placeholder, which nothing has replaced by the name of a catalog."
    hint = schema_hint(f"[SCHEMA_NOT_FOUND] The schema `main`.`{name}` cannot be found.")
    assert hint is not None and "is a placeholder" in hint and "CREATE SCHEMA" not in hint


@pytest.mark.parametrize("name", ["system.serving", "`system`.`serving`", "samples.other"])
def test_a_missing_schema_of_the_platform_is_not_created_by_a_statement(name: str) -> None:
    text = f"[SCHEMA_NOT_FOUND] The schema {name} cannot be found."
    hint = schema_hint(text)
    assert hint is not None and "CREATE SCHEMA" not in hint
    assert f"lakeward seed {name.replace('`', '')}.TABLE" in hint
    assert schema_hint(f"{text}\n → {hint}") is None


@pytest.mark.parametrize("declaration", DECLARATIONS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_declared_catalog_exists(
    inside: Inside, monkeypatch: pytest.MonkeyPatch, name: str, declaration: str
) -> None:
    table, variable = DECLARATIONS[declaration]
    project(inside, "declared_dev", table)
    monkeypatch.setenv("LAKEWARD_CATALOGS", variable.replace("CATALOG", "declared_dev"))
    ran = inside(*command(name, "declared_dev"))
    assert ran.returncode == 0, ran.stdout + ran.stderr


DEFAULT_FILES = {
    "databricks.yml": """
        bundle: {name: shop}
        targets: {local: {default: true}}
        resources:
          jobs:
            nightly:
              tasks:
                - {task_key: a, notebook_task: {notebook_path: ./notebook.py}}
          pipelines:
            flow:
              schema: p
              libraries: [{file: {path: ./rows.py}}]
    """,
    "notebook.py": "# Databricks notebook source\nspark.sql('CREATE SCHEMA IF NOT EXISTS p')\n"
    "spark.range(2).write.mode('overwrite').saveAsTable('p.rows')\n",
    "rows.py": "from pyspark import pipelines as dp\n\n"
    "@dp.materialized_view\ndef rows():\n    return spark.range(2)\n",
}
DEFAULT_COMMANDS = {
    "sql": (
        "sql",
        "-e",
        "CREATE SCHEMA IF NOT EXISTS p; CREATE OR REPLACE TABLE p.rows AS SELECT * FROM range(2)",
    ),
    "notebook": ("notebook", "notebook.py"),
    "pipeline": ("pipeline", "--schema", "p", "rows.py"),
    "job": ("run", "nightly"),
    "bundle pipeline": ("run", "flow"),
}


@pytest.mark.parametrize("name", DEFAULT_COMMANDS)
def test_names_without_a_catalog_are_in_the_default_catalog(inside: Inside, name: str) -> None:
    catalog = f"usual_{name.replace(' ', '_')}"
    declared = f'[tool.lakeward]\ndefault-catalog = "{catalog.upper()}"\n'
    write_files(inside.folder, {**DEFAULT_FILES, "pyproject.toml": declared})
    ran = inside(*DEFAULT_COMMANDS[name])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    statement = f"SELECT current_catalog() AS catalog, count(*) AS n FROM {catalog}.p.rows"
    assert inside("sql", "--format", "csv", "-e", statement).stdout.splitlines() == [
        "catalog,n",
        f"{catalog},2",
    ]


@pytest.mark.parametrize("value", ['["a"]', '""', '"a.b"', "true"])
def test_a_default_catalog_is_one_name(tmp_path: Path, value: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.lakeward]\ndefault-catalog = {value}\n")
    with pytest.raises(ConfigurationError, match="CATALOGS_INVALID"):
        Settings.here(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.lakeward]\n")
    assert Settings.here(tmp_path).catalog == "main"


def test_a_missing_schema_of_main_names_the_default_catalog() -> None:
    advice = 'default-catalog = "CATALOG" under [tool.lakeward]'
    hint = schema_hint("[SCHEMA_NOT_FOUND] The schema `main`.`bronze` cannot be found.")
    other = schema_hint("[SCHEMA_NOT_FOUND] The schema `dev`.`bronze` cannot be found.")
    assert hint is not None and advice in hint and other is not None and advice not in other


@pytest.mark.parametrize("name", COMMANDS)
def test_an_undeclared_catalog_fails_with_the_remedy(inside: Inside, name: str) -> None:
    project(inside, "nowhere", '[tool.lakeward]\ncatalogs = ["declared_dev"]\n')
    ran = inside(*command(name, "nowhere"))
    printed = " ".join((ran.stdout + ran.stderr).split())
    assert ran.returncode == 1
    assert "NO_SUCH_CATALOG_EXCEPTION" in printed
    assert 'catalogs = ["nowhere"] under [tool.lakeward]' in printed
    assert "CREATE CATALOG nowhere" in printed.replace("`", "")
    shown = inside("sql", "--format", "csv", "-e", "SHOW CATALOGS LIKE 'nowhere'")
    assert "nowhere" not in shown.stdout


def test_the_remedy_of_an_error_of_spark_is_a_hint(inside: Inside) -> None:
    write_files(
        inside.folder, {"a.py": "# Databricks notebook source\nspark.catalog.setCurrentCatalog('nowhere')\n"}
    )
    ran = inside("notebook", "a.py")
    assert ran.returncode == 1
    assert ran.stderr.count("[tool.lakeward]") == 1, ran.stderr


def test_a_declared_catalog_has_the_schema_default(inside: Inside) -> None:
    project(inside, "Declared_New", '[tool.lakeward]\ncatalogs = ["CATALOG"]\n')
    ran = inside("sql", "--format", "csv", "-e", "SHOW SCHEMAS IN declared_new")
    assert ran.returncode == 0, ran.stderr
    assert "default" in ran.stdout.split()


@pytest.mark.parametrize("declared", ['"../x"', '["a.b"]', "[1]", '[""]'])
def test_a_name_that_is_none_is_wrong_usage(without_spark: Inside, declared: str) -> None:
    (without_spark.folder / "pyproject.toml").write_text(f"[tool.lakeward]\ncatalogs = {declared}\n")
    with pytest.raises(ConfigurationError, match="CATALOGS_INVALID"):
        Settings.here(without_spark.folder)
    ran = without_spark("sql", "-e", "SELECT 1")
    assert (ran.returncode, "CATALOGS_INVALID" in ran.stderr) == (2, True)


def test_declared_catalogs_reach_the_processes_of_the_server(tmp_path: Path) -> None:
    settings = Settings.here(tmp_path, environ={"LAKEWARD_CATALOGS": "dev,Prod,dev"})
    assert settings.catalogs == ("dev", "prod")
    assert settings_from_json(json.loads(json.dumps(settings_to_json(settings)))) == settings


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[NO_SUCH_CATALOG_EXCEPTION] Catalog 'dev' was not found.", "dev"),
        ("[CATALOG_NOT_FOUND] The catalog `a-b` not found. Consider to set", "a-b"),
        ("[NO_SUCH_CATALOG_EXCEPTION] /it's/a.py:3: Catalog 'dev' was not found.", "dev"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view `dev`.`a` cannot be found", None),
    ],
)
def test_the_missing_catalog_is_read_from_the_error(text: str, name: str | None) -> None:
    assert missing_catalog(text) == name
    hint = catalog_hint(text)
    assert (hint is None) == (name is None)
    assert hint is None or catalog_hint(f"{text} {hint}") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[SCHEMA_NOT_FOUND] The schema `main`.`nowhere` cannot be found. Verify", "main.nowhere"),
        ("[SCHEMA_NOT_FOUND] cell 2, a.py:3: The schema `main`.`a b``c` cannot be found.", "main.`a b``c`"),
        ("[SCHEMA_NOT_FOUND] The schema `spark_catalog`.`gold` cannot be found.", "gold"),
        ("[SCHEMA_NOT_FOUND] The schema `dev`.`main`.`gold` cannot be found.", "main.gold"),
        ("[SCHEMA_NOT_FOUND] The schema main.gold cannot be found.", "main.gold"),
        ("[SCHEMA_NOT_FOUND]\nThe schema\n`main`.`gold`\ncannot be found.", "main.gold"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view `dev`.`a` cannot be found", None),
    ],
)
def test_the_missing_schema_is_read_from_the_error(text: str, name: str | None) -> None:
    assert missing_schema(text) == name
    hint = schema_hint(text)
    assert (hint is None) == (name is None)
    assert hint is None or f"'CREATE SCHEMA {name}'" in hint


@pytest.mark.parametrize("name", ["sql", "use", "notebook", "pipeline", "job", "bundle pipeline"])
def test_a_missing_schema_fails_with_the_remedy(inside: Inside, name: str) -> None:
    write_files(
        inside.folder,
        {
            **FILES,
            "notebook.py": "# Databricks notebook source\n"
            "spark.range(2).write.saveAsTable('main.nowhere.t')\n",
            "schema.py": "from pyspark import pipelines as dp\n\n"
            "spark.sql('USE SCHEMA main.nowhere')\n\n"
            "@dp.materialized_view\ndef rows():\n    return spark.range(3)\n",
        },
    )
    words = {
        **COMMANDS,
        "sql": ("sql", "-e", "CREATE TABLE main.nowhere.t AS SELECT 1 AS id"),
        "use": ("sql", "-e", "USE SCHEMA main.nowhere"),
    }
    ran = inside(*words[name])
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert ran.stderr.count("'CREATE SCHEMA main.nowhere'") == 1, ran.stdout + ran.stderr


BUNDLE_WITH_SCHEMA = """\
bundle: {name: b}
resources:
  pipelines:
    p: {catalog: main, SCHEMA_KEY: sql_start, libraries: [{file: {path: schema.py}}]}
targets: {dev: {default: true}}
"""


@pytest.mark.parametrize("key", ["schema", "target"])
def test_sql_begins_in_the_schema_of_the_pipeline_and_does_not_create_it(inside: Inside, key: str) -> None:
    text = BUNDLE_WITH_SCHEMA.replace("SCHEMA_KEY", key)
    write_files(inside.folder, {"databricks.yml": text, "schema.py": ""})
    where = ("sql", "--format", "csv", "-e", "SELECT current_schema()")
    before = inside(*where)
    assert before.stdout.split()[-1] == "default", before.stdout + before.stderr
    created = inside("sql", "-e", "CREATE SCHEMA main.sql_start")
    assert created.returncode == 0, created.stderr
    assert inside(*where).stdout.split()[-1] == "sql_start"
    assert inside("sql", "-e", "DROP SCHEMA main.sql_start").returncode == 0
