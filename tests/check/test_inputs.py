"""Inputs that neither the repository nor lakeward has: packages, settings, notebooks, datasets."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from lakeward.check import imports
from lakeward.environments import packages_of_runtimes
from tests.check.conftest import Look


@pytest.mark.parametrize(
    ("code", "package"),
    [
        ("import surely_absent", "surely-absent"),
        ("import surely_absent.part as p", "surely-absent"),
        ("def f():\n    from surely_absent import a", "surely-absent"),
        ("import psycopg2", "psycopg2-binary"),
        ("from sklearn.linear_model import Ridge", "scikit-learn"),
        ("from azure.identity.aio import C", "azure-identity"),
        ("from runtime.nutterfixture import NutterFixture", "nutter"),
        ("from azure.core.exceptions import ResourceNotFoundError", "azure-core"),
        ("from azure.storage.blob.aio import C", "azure-storage-blob"),
        ("from azure.storage import blob", "azure-storage-blob"),
        ("from google.cloud import storage", "google-cloud-storage"),
        ("from google.cloud.bigquery import Client", "google-cloud-bigquery"),
        ("from llama_index import Document", "llama-index"),
        ("from azure.storage.filedatalake import C", "azure-storage-file-datalake"),
        ("from azure.keyvault.secrets import C", "azure-keyvault-secrets"),
        ("from airflow import DAG", "apache-airflow"),
        ("from airflow.models.baseoperator import chain", "apache-airflow"),
        (
            "from airflow.providers.databricks.operators.databricks import C",
            "apache-airflow-providers-databricks",
        ),
        (
            "from airflow.providers.microsoft.azure.hooks.wasb import C",
            "apache-airflow-providers-microsoft-azure",
        ),
        ("from opentelemetry import trace", "opentelemetry-api"),
        ("from opentelemetry.sdk.trace import C", "opentelemetry-sdk"),
        ("from llama_index.core.node_parser import C", "llama-index-core"),
        ("from llama_index.llms.openai.base import C", "llama-index-llms-openai"),
    ],
)
def test_an_import_of_a_package_that_is_not_there_is_a_finding(look: Look, code: str, package: str) -> None:
    found = look(code, profile="15.4").one(f"package {package}")
    if canonicalize_name(package.removesuffix("-binary")) in packages_of_runtimes()["15.4"]:
        assert (found.verdict, found.cure[:20]) == ("runs_with_lakeward", "Runtime 15.4 brings ")
    else:
        assert (found.verdict, f"--with {package}" in found.cure) == ("needs_seed", True)


@pytest.mark.parametrize(
    ("installed", "is_known"),
    [
        ("git+https://example.com/shop/companion", True),
        ("'companion @ git+ssh://git@example.com/shop/companion.git@v1'", True),
        ("https://example.com/companion-1.0-py3-none-any.whl", True),
        ("https://example.com/companion/archive/main.zip", True),
        ("--index-url https://example.com/simple companion", False),
        ("companion", False),
    ],
)
@pytest.mark.parametrize("magic", ["%pip", "%sh pip", "!pip"])
def test_what_a_notebook_installs_from_an_address_has_modules_of_any_name(
    look: Look, magic: str, installed: str, is_known: bool
) -> None:
    lines = ["# Databricks notebook source", f"# MAGIC {magic} install {installed}", "# COMMAND ----------"]
    code = "import surely_absent\nimport pandas"
    found = look({"n.py": "\n".join([*lines, code]), "other.py": code})
    places = found.places("package surely-absent")
    files = {each.partition(":")[0].partition("#")[0] for each in places}
    assert files == ({"other.py"} if is_known else {"n.py", "other.py"})


@pytest.mark.parametrize(
    "files",
    [
        {"requirements.txt": "surely-absent>=1"},
        {"pyproject.toml": "[project]\nname='a'\nversion='1'\ndependencies=['Surely_Absent']\n"},
        {"setup.py": "setup(install_requires=['surely-absent'])"},
        {"environment.yml": "dependencies:\n  - pip:\n    - surely-absent==1\n"},
        {"uv.lock": 'name = "surely-absent"\n'},
        {"databricks.yml": "bundle: {name: b}\nx: {pypi: {package: surely-absent}}\n"},
        {"n.py": "# Databricks notebook source\n# MAGIC %pip install surely-absent"},
        {"src/surely_absent/__init__.py": ""},
        {"lib/surely_absent.py": ""},
    ],
)
def test_a_package_that_the_repository_names_or_has_is_there(look: Look, files: dict[str, str]) -> None:
    found = look({"job.py": "import surely_absent.part", **files})
    assert "package surely-absent" not in found.of("needs_seed")


@pytest.mark.parametrize(
    ("code", "declared"),
    [
        ("from airflow.models import DAG", "apache-airflow==2.9"),
        (
            "from airflow.providers.databricks.hooks.databricks import C",
            "apache-airflow-providers-databricks",
        ),
        ("from azure.core.exceptions import C", "azure-identity"),
        ("import yaml", "PyYAML"),
        ("from pkg_resources import get_distribution", "setuptools<81"),
        ("import pylab, mpl_toolkits.mplot3d", "matplotlib"),
        ("import imblearn.over_sampling", "imbalanced-learn"),
        ("import faiss", "faiss-cpu"),
        ("import umap", "umap-learn"),
        ("import sparknlp", "spark-nlp"),
    ],
)
def test_a_package_is_declared_by_the_name_of_its_distribution(look: Look, code: str, declared: str) -> None:
    found = look({"job.py": code, "requirements.txt": declared}).verdicts()
    assert [name for name in found if name == f"package {declared.lower()}"] == []


@pytest.mark.parametrize(("module", "package"), [("pkg_resources", "setuptools"), ("zmq", "pyzmq")])
def test_a_missing_package_has_the_name_of_its_distribution(look: Look, module: str, package: str) -> None:
    missing = [
        each for each in look({"job.py": f"import {module}"}).verdicts() if each.startswith("package ")
    ]
    assert missing in ([], [f"package {package}"])


def test_a_declared_package_with_a_longer_name_is_another_one(look: Look) -> None:
    found = look(
        {"job.py": "import surely_absent", "requirements.txt": "surely-absent-extras\nnot-surely-absent"}
    )
    assert found.of("needs_seed") == ["package surely-absent"]


@pytest.mark.parametrize(
    "code",
    [
        "import os, json, pyspark, delta, dlt, pandas, numpy, pytest",
        "try:\n    import surely_absent\nexcept ImportError:\n    surely_absent = None",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import surely_absent",
        "from . import surely_absent",
    ],
)
def test_imports_that_need_nothing(look: Look, code: str) -> None:
    assert not look(code).of("needs_seed")


_MODULES = {
    "psycopg2": ("psycopg2-binary", "psycopg2"),
    "sklearn": ("scikit-learn",) * 2,
    "boto3": ("boto3",) * 2,
}


@pytest.mark.parametrize("module", _MODULES)
@pytest.mark.parametrize(
    ("runtime", "listed"),
    [
        *((each, each) for each in packages_of_runtimes()),
        ("13.3", "15.4"),
        ("16.1", "15.4"),
        ("19.3", "17.3"),
        ("serverless", "17.3"),
    ],
)
def test_a_package_of_the_runtime_is_named_with_its_version(
    look: Look, module: str, runtime: str, listed: str
) -> None:
    package, name = _MODULES[module]
    found = look(f"import {module}", profile=runtime).one(f"package {package}")
    assert found.verdict == "runs_with_lakeward"
    assert f"Runtime {listed} brings {name} {packages_of_runtimes()[listed][name]}: lakeward" in found.cure


def test_a_package_that_came_later_is_not_part_of_an_older_runtime(look: Look) -> None:
    found = {
        each: look("import pyiceberg", profile=each).one("package pyiceberg").cure
        for each in ("15.4", "17.3")
    }
    assert "is not a declared requirement" in found["15.4"]
    assert "Runtime 17.3 brings pyiceberg" in found["17.3"]


def test_every_runtime_has_packages_in_one_spelling() -> None:
    for versions in packages_of_runtimes().values():
        assert len(versions) > 100
        assert all(
            canonicalize_name(name) == name and version[0].isdigit() for name, version in versions.items()
        )


def test_a_setting_without_a_default_that_nothing_sets_needs_a_value(look: Look) -> None:
    found = look(
        'spark.conf.get("shop.source")\nspark.conf.get("shop.other", "x")\nspark.conf.get("spark.a.b")'
    )
    assert found.of("needs_seed") == ["setting shop.source"]


@pytest.mark.parametrize("key", ["id", "catalog", "schema", "target"])
def test_a_pipeline_sets_its_own_settings(look: Look, key: str) -> None:
    assert look(f'spark.conf.get("pipelines.{key}")').of("needs_seed") == []


@pytest.mark.parametrize(
    "files",
    [
        {
            "databricks.yml": "bundle: {name: b}\n"
            "resources: {pipelines: {p: {configuration: {shop.source: x}}}}"
        },
        {"pipeline.json": '{"configuration": {"shop.source": "x"}}'},
        {"set.py": 'spark.conf.set("shop.source", "x")'},
    ],
)
def test_a_setting_that_the_repository_sets_is_there(look: Look, files: dict[str, str]) -> None:
    assert "setting shop.source" not in look({"p.py": 'spark.conf.get("shop.source")', **files}).of(
        "needs_seed"
    )


NOTEBOOK = "# Databricks notebook source\n# MAGIC %run {}\n"


@pytest.mark.parametrize(
    ("path", "found"), [("./setup", True), ("../setup", False), ('"./none" $a="1"', False)]
)
def test_a_notebook_of_run_has_to_be_there(look: Look, path: str, found: bool) -> None:
    looked = look({"jobs/n.py": NOTEBOOK.format(path), "jobs/setup.py": "# Databricks notebook source\n"})
    assert ("%run" not in looked.of("refused")) is found


@pytest.mark.parametrize(
    "path",
    [
        "/databricks-datasets/airlines",
        "dbfs:/databricks-datasets/airlines/",
        "/dbfs/databricks-datasets/airlines/a",
    ],
)
def test_a_dataset_of_the_platform_needs_a_folder(look: Look, path: str) -> None:
    assert look(f'spark.read.csv("{path}")').of("needs_seed") == ["path /databricks-datasets/airlines"]


@pytest.mark.parametrize(
    "code",
    [
        'spark.read.json("s3a://%s/a" % bucket)',
        'spark.read.json("s3a://%(bucket)s/a" % names)',
        'spark.read.json("s3a://{}/a".format(bucket))',
        'spark.read.json("s3a://{0}/a".format(bucket))',
        'dbutils.fs.mount("s3a://{bucket}".format(bucket=bucket), "/mnt/a")',
        'x = "s3a://{}".format(bucket).strip()',
        'spark.read.json(f"s3a://{bucket}/a")',
    ],
)
def test_fields_of_a_path_are_shown_in_one_way(look: Look, code: str) -> None:
    assert look(code).of("needs_seed") == ["path s3a://{…}"]


def test_fields_with_a_constant_are_no_holes_elsewhere(look: Look) -> None:
    assert look('PATH = "s3a://bucket/%s"\nx = 7 % n\n').of("needs_seed") == ["path s3a://bucket"]


def test_a_mounted_dataset_is_there(look: Look) -> None:
    found = look(
        {
            "job.py": 'spark.read.csv("/databricks-datasets/airlines")',
            "pyproject.toml": '[tool.lakeward.mounts]\n"/databricks-datasets" = "data"\n',
        }
    )
    assert not found.of("needs_seed")


@pytest.mark.parametrize(
    "code",
    [
        'spark.sql("select bit_reverse(a, b) from values (1, 2) t(a, b)")',
        'df.select(F.expr("bit_reverse(a, b)"))',
        'df.selectExpr("upper(x)", "Bit_Reverse (a, b) as d")',
        'df.where("bit_reverse(a, b) > 1")',
    ],
)
def test_a_function_that_spark_lacks_is_refused_wherever_it_is_called(look: Look, code: str) -> None:
    assert look(code).of("refused") == ["SQL bit_reverse()"]


def test_a_column_or_a_method_of_that_name_is_no_such_function(look: Look) -> None:
    assert not look('spark.sql("select bit_reverse from (select 1 as bit_reverse)")').of("refused")


@pytest.mark.parametrize(
    ("statement", "needed"),
    [
        ("use shop.raw", ["catalog shop", "schema shop.raw"]),
        ("use main.raw", ["schema main.raw"]),
        ("USE SCHEMA raw", ["schema raw"]),
        ("use catalog shop", ["catalog shop"]),
        ("CREATE SCHEMA shop.raw", ["catalog shop"]),
        ("create database if not exists `shop`.raw", ["catalog shop"]),
        ("create schema raw", []),
        ("CREATE VOLUME shop.raw.files", ["catalog shop", "schema shop.raw"]),
        ("create volume if not exists raw.files", ["schema raw"]),
        ("CREATE EXTERNAL VOLUME IF NOT EXISTS main.raw.files LOCATION 's3://b'", ["schema main.raw"]),
        ("create volume files", []),
        ("create volume main.default.files", []),
    ],
)
@pytest.mark.parametrize("place", ["a.py", "a.sql", "constants.py"])
def test_a_catalog_or_schema_that_nothing_creates_has_to_be_there(
    look: Look, statement: str, needed: list[str], place: str
) -> None:
    code = {
        "a.py": f'spark.sql("{statement}")',
        "a.sql": statement,
        "constants.py": f"SHOP = 'shop'\nspark.sql(f\"{statement.replace('shop', '{SHOP}')}\")",
    }
    found = look({place: code[place]}).of("needs_seed")
    assert [each for each in found if each.startswith(("catalog", "schema"))] == needed


@pytest.mark.parametrize(
    "files",
    [
        {"make.sql": "create catalog shop; create schema if not exists shop.raw"},
        {"make.sql": "CREATE DATABASE raw"},
        {"make.py": 'lakehouse.seed("shop.raw.t")'},
        {"pipeline.sql": "CREATE OR REFRESH STREAMING TABLE shop.raw.t AS SELECT 1 AS a"},
        {"make.sql": "create schema if not exists {catalog}.raw"},
        {"databricks.yml": "bundle: {name: b}\nresources: {schemas: {s: {name: raw, catalog_name: shop}}}\n"},
    ],
)
def test_a_schema_that_the_repository_creates_is_there(look: Look, files: dict[str, str]) -> None:
    needed = look({"use.sql": "use shop.raw", **files}).of("needs_seed")
    assert not [each for each in needed if each.startswith("schema")]


@pytest.mark.parametrize(
    "files",
    [
        {"make.sql": "create catalog if not exists shop"},
        {"make.py": 'lakehouse.seed("shop.other.t")'},
        {"pipeline.sql": "CREATE OR REFRESH STREAMING TABLE shop.other.t AS SELECT 1 AS a"},
        {"databricks.yml": "bundle: {name: b}\nresources: {schemas: {s: {name: x, catalog_name: shop}}}\n"},
        {"pyproject.toml": '[tool.lakeward]\ncatalogs = ["shop"]\n'},
    ],
)
def test_a_catalog_that_the_repository_creates_is_there(look: Look, files: dict[str, str]) -> None:
    assert not look({"make_schema.sql": "create schema shop.raw", **files}).of("needs_seed")


@pytest.mark.parametrize(
    "statement", ["use main", "use default", "use catalog ${c}", "use identifier(:s)", "use main.default"]
)
def test_schemas_that_are_always_there_or_known_to_a_run_alone_need_nothing(
    look: Look, statement: str
) -> None:
    assert not look({"use.sql": statement}).of("needs_seed")


def test_a_notebook_with_a_broken_cell_still_names_the_notebooks_that_it_runs(look: Look) -> None:
    broken = NOTEBOOK.format("./none") + "\n# COMMAND ----------\n\nx = = 1\n"
    assert "%run" in look({"n.py": broken}).of("refused")


@pytest.mark.parametrize("library", ["polars", "duckdb", "rasterio", "subprocess"])
def test_a_library_that_opens_files_itself_is_named_where_paths_of_the_platform_are(
    look: Look, library: str
) -> None:
    used = look({"a.py": f"import {library}\nPATH = '/Volumes/c/s/v/x'", "requirements.txt": library})
    assert f"module {library}" in used.of("differs")
    assert f"module {library}" not in look({"a.py": f"import {library}\nPATH = 'x'"}).of("differs")


@pytest.mark.parametrize(
    "write",
    [
        'df.write.saveAsTable("{}")',
        'df.write.format("delta").mode("append").saveAsTable(name="{}")',
        'spark.readStream.table("main.default.x").writeStream.toTable("{}")',
        'spark.readStream.table("main.default.x").writeStream.table("{}")',
        'df.writeTo("{}").create()',
        'spark.sql("CREATE TABLE {} (a INT)")',
        'spark.sql("create or replace table if not exists {} as select 1")',
        'DeltaTable.createIfNotExists(spark).tableName("{}").execute()',
        'spark.catalog.createTable("{}")',
        'import dlt\ndlt.create_sink("s", "delta", {{"tableName": "{}"}})',
        'dp.create_sink("s", format="delta", options={{"tableName": "{}"}})',
        'from dlt import create_sink\ncreate_sink("s", format="delta", options={{"tablename": "{}"}})',
    ],
)
@pytest.mark.parametrize(
    ("table", "needed"),
    [
        ("prod.gold.orders", ["catalog prod", "schema prod.gold"]),
        ("gold.orders", ["schema gold"]),
        ("main.gold.orders", ["schema main.gold"]),
        ("main.default.orders", []),
        ("orders", []),
    ],
)
def test_a_table_needs_the_catalog_and_the_schema_that_it_is_written_to(
    look: Look, write: str, table: str, needed: list[str]
) -> None:
    found = look(
        f"from delta.tables import DeltaTable\ndf = spark.table('main.default.x')\n{write.format(table)}"
    )
    assert [each for each in found.of("needs_seed") if not each.startswith("table")] == needed


@pytest.mark.parametrize("maker", ["CREATE CATALOG prod; CREATE SCHEMA prod.gold", "create schema {c}.{s}"])
def test_a_table_is_written_where_the_repository_makes_the_schema(look: Look, maker: str) -> None:
    found = look({"a.py": 'df.write.saveAsTable("prod.gold.t")', "b.py": f'spark.sql(f"{maker}")'})
    assert [each for each in found.of("needs_seed") if each.startswith("schema")] == []


def test_a_schema_of_the_project_s_lakehouse_is_there(look: Look, tmp_path: Path) -> None:
    (tmp_path / ".lakeward/local/warehouse/prod/gold").mkdir(parents=True)
    assert look({"a.py": 'df.write.saveAsTable("prod.gold.t")'}).of("needs_seed") == []


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("databricks.labs.dqx.engine", "databricks-labs-dqx"),
        ("databricks.feature_engineering", "databricks-feature-engineering"),
        ("databricks.feature_store", "databricks-feature-engineering"),
        ("databricks.ml_features", "databricks-feature-engineering"),
        ("databricks.rag_eval", "databricks-agents"),
        ("databricks.automl_runtime", "databricks-automl-runtime"),
        ("databricks.sql", "databricks-sql-connector"),
        ("databricks.vector_search.client", "databricks-vectorsearch"),
        ("databricks.agents", "databricks-agents"),
    ],
)
def test_a_package_below_databricks_is_named_unless_it_is_there(
    look: Look, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "is_installed", lambda name: False)
    use = {"a.py": f"import {module}\n"}
    assert look(use).of("needs_seed") == [f"package {package}"]
    assert not look({**use, "requirements.txt": f"{package}>=0.1\n"}).of("needs_seed")
    folder = "src/" + "/".join(module.split("."))
    assert not look({"b.py": f"import {module}\n", f"{folder}/__init__.py": ""}).of("needs_seed")


@pytest.mark.parametrize("module", ["databricks.sdk", "databricks.connect", "databricks.sdk.runtime"])
def test_modules_of_databricks_that_lakeward_serves_need_no_package(look: Look, module: str) -> None:
    assert not look(f"import {module}\n").of("needs_seed")


def test_a_module_below_databricks_that_nothing_has_is_named(look: Look) -> None:
    assert look("from databricks.pipelines import table\n").of("differs") == ["module databricks.pipelines"]


@pytest.mark.parametrize(
    ("line", "served"),
    [
        ("import IPython", True),
        ("from IPython import get_ipython", True),
        ("from IPython.display import display, HTML", True),
        ("from IPython.core.display import HTML", True),
        ("from IPython.core.getipython import get_ipython", True),
        ("from IPython.core import magic", False),
        ("from IPython.core.magic import register_line_magic", False),
        ("import IPython.lib", False),
    ],
)
@pytest.mark.parametrize("file", ["job.py", "test_job.py"])
def test_ipython_is_there_in_runs_and_not_in_tests(look: Look, line: str, served: bool, file: str) -> None:
    found = look({file: f"{line}\n"}).of("needs_seed")
    assert found == ([] if served and file == "job.py" else ["package IPython"])
