"""Bundles and requirements: tasks, sources of pipelines, the compute that is meant, pins."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from lakeward.check import check, what_will_run
from tests.check.conftest import Look

BUNDLE = """\
bundle:
  name: shop
include: [resources/*.yml]
targets:
  dev: {default: true}
"""
JOB = """\
resources:
  jobs:
    nightly:
      tasks:
        - task_key: load
          notebook_task:
            notebook_path: ../load.py
        - task_key: always
          run_if: ALL_DONE
          spark_python_task:
            python_file: ../load.py
        - task_key: check
          spark_python_task:
            python_file: ../load.py
  pipelines:
    orders:
      libraries:
        - file: {path: ../orders.sql}
        - jar: dbfs:/x.jar
"""
FILES = {
    "databricks.yml": BUNDLE,
    "resources/job.yml": JOB,
    "load.py": "",
    "orders.sql": "select 1",
}


def test_tasks_and_sources_are_judged_where_they_are_written(look: Look) -> None:
    found = look({f"etl/{name}": text for name, text in FILES.items()})
    assert found.places("notebook_task") == ["etl/resources/job.yml:6:11"]
    assert found.verdicts() == {
        "notebook_task": "runs_with_lakeward", "spark_python_task": "runs_with_lakeward",
        "library jar": "refused",
        "bundle rule environment-needed": "refused", "bundle rule notebook-marker": "refused",
    }  # fmt: skip


def test_what_validate_refuses_is_refused(look: Look) -> None:
    """Errors of `lakeward bundle validate` are found; ignored fields do not count as unread."""
    task = "{task_key: t, run_job_task: {job_id: 1}, depends_on: [{task_key: u}]}"
    job = f"{{name: a, job_cluster: [], tasks: [{task}]}}"
    found = look({"databricks.yml": BUNDLE + f"resources: {{jobs: {{a: {job}}}}}\n"})
    assert found.of("refused") == ["bundle rule depends-on"]
    assert "The task `t` of the job a depends on `u`." in found.one("bundle rule depends-on").cure
    assert found.of("differs") == ["bundle rule unknown-field"]
    assert "Did you mean `job_clusters`?" in found.one("bundle rule unknown-field").cure
    assert found.report.unread == ()


def test_pipelines_of_lakeflow_connect_are_refused_with_what_to_do(look: Look) -> None:
    text = BUNDLE + "resources: {pipelines: {crm: {ingestion_definition: {connection_name: crm}}}}\n"
    found = look({"databricks.yml": text})
    assert (
        found.one("pipeline crm").verdict == "refused" and "lakeward seed" in found.one("pipeline crm").cure
    )


def test_jobs_in_files_of_their_own_are_judged(look: Look) -> None:
    task = '{"task_key": "a", "notebook_task": {"notebook_path": "/x"}}'
    found = look(
        {
            "jobs/job.json": f'{{"name": "j",\n "tasks": [{task}]}}',
            "jobs/broken.yml": "tasks: [{notebook_task: ]",
            "data.json": "[1, 2]",
            "other.yml": "a: [",
        }
    )
    assert found.places("notebook_task") == ["jobs/job.json:2:30"] and found.report.files == {"job": 1}
    assert [each.place.file for each in found.report.unread] == ["jobs/broken.yml"]


@pytest.mark.parametrize("reference", ["${var.size}", "${resources.pipelines.p.id}"])
@pytest.mark.parametrize("folder", ["", "resources/", "etl/resources/jobs/"])
@pytest.mark.parametrize(
    ("draft", "advice"),
    [
        ("databricks.yml.template", "make one of {}, as"),
        ("template.databricks.yaml", "make one of {}, as"),
        (None, "add one that includes it"),
    ],
)
def test_jobs_of_a_bundle_whose_file_is_missing_are_one_finding(
    look: Look, reference: str, folder: str, draft: str | None, advice: str
) -> None:
    """Each of the files was reported as one that cannot be read, with the first variable that it names."""
    text = f"""
    resources:
      jobs:
        j:
          name: "{reference}"
          tasks: [{{task_key: a, notebook_task: {{notebook_path: /x}}}}]
    """
    project = folder.partition("resources")[0]
    files = {f"{folder}{name}.yml": text for name in ("a.job", "b.job")}
    found = look({**files, **({f"{project}{draft}": "bundle: {name: b}\n"} if draft else {})})
    assert found.report.unread == ()
    assert found.places("bundle file databricks.yml") == [f"{folder}{each}.job.yml" for each in "ab"]
    finding, _ = found.report.of("needs_seed")
    assert advice.format(f"{project}{draft}") in finding.cure


@pytest.mark.parametrize(
    "content",
    [
        "jobs: {nightly: {tasks: [{task_type: notebook_task}]}}",
        "tasks: {load: {kind: notebook_task}}",
        "resources: {pipelines: {p: {note: no notebook_task}}}",
        "- notebook_task",
    ],
)
def test_a_file_of_another_shape_that_names_a_kind_of_task_is_no_job(look: Look, content: str) -> None:
    found = look({"metadata.yml": content})
    assert not found.report.unread and not found.report.findings


@pytest.mark.parametrize(
    "content",
    [
        "notebook_task: {notebook_path: /x}",
        "resources: {jobs: {j: {tasks: {notebook_task: {}}}}}",
        "settings: {tasks: [{notebook_task: '${var.x}'}]}",
    ],
)
def test_a_mistake_in_a_file_of_the_shape_of_a_job_is_reported(look: Look, content: str) -> None:
    found = look({"job.yml": content})
    assert found.report.unread or found.of("refused")


def test_files_of_a_bundle_are_judged_once(look: Look) -> None:
    assert len(look(FILES).places("notebook_task")) == 1


def test_a_bundle_that_cannot_be_read_is_reported_with_its_place(look: Look) -> None:
    found = look({"databricks.yml": "bundle:\n  name: x\nresources: {jobs: {j: }}\n"})
    (unread,) = found.report.unread
    assert "databricks.yml:3" in unread.reason


TEMPLATES = {
    "databricks.yml": "bundle:\n  name: x\n{{if eq .kind `a`}}\nresources: {}\n{{- end}}\n",
    "job.yml": "tasks:\n{{- range .tasks}}\n  - notebook_task: {notebook_path: {{.}}}\n{{end}}\n",
    "job.json": '{"tasks": [\n{{range .tasks}} {"notebook_task": {"notebook_path": "{{.}}"}}, {{end}}]}',
    "nb.py": "x = 1\n{% if cookiecutter.dlt %}\nimport dlt\n{% endif %}\n",
    "land.py": "def f():\n    return {{ .project_name }}({{ cookiecutter.x }}\n",
    "nb.ipynb": '{"cells": [\n{{template "cells" .}}]}',
    "pyproject.toml": "[project]\n{{$name := .project_name}}\nname = {{$name}}\n",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_named_with_the_line_of_its_first_action(look: Look, name: str) -> None:
    (unread,) = look({name: TEMPLATES[name]}).report.unread
    assert unread.place.file == name
    assert "It is a template: line" in unread.reason and "databricks bundle init" in unread.reason
    line = next(n for n, text in enumerate(TEMPLATES[name].splitlines(), 1) if "{{" in text or "{%" in text)
    assert f"line {line} has `{{" in unread.reason


@pytest.mark.parametrize("name", ["{{job.parameters.day}}", "{{input.end}}", "{{tasks.if_new.values.x}}"])
def test_a_reference_of_a_job_makes_no_template(look: Look, name: str) -> None:
    text = (
        f"tasks: [{{task_key: a, notebook_task: {{notebook_path: ./x, base_parameters: {{a: '{name}'}}}}}}\n"
    )
    (unread,) = look({"job.yml": text}).report.unread
    assert "YAML_INVALID" in unread.reason and "template" not in unread.reason


def test_a_bundle_in_a_template_names_the_template(look: Look, tmp_path: Path) -> None:
    broken = {"template/x/databricks.yml": "bundle: {name: x}\ninclude: ['{{.a}}.yml\n"}
    (unread,) = look({**broken, "databricks_template_schema.json": "{}"}).report.unread
    assert "YAML_INVALID" not in unread.reason
    include = {"template/x/databricks.yml": "bundle: {name: x}\ninclude: [j.yml]\n"}
    job = {"template/x/j.yml": "resources:\n  jobs: {{.jobs}}\n"}
    (unread,) = look({**include, **job, "databricks_template_schema.json": "{}"}).report.unread
    assert f"the template of {tmp_path / 'databricks_template_schema.json'}" in unread.reason


def test_variables_without_a_value_are_reported_and_the_rest_is_read(look: Look) -> None:
    text = (
        "variables:\n  host: {description: x}\n  cluster: {description: y}\n  level: {default: 1}\n" + BUNDLE
    )
    text = text.replace("name: shop", "name: shop\nworkspace:\n  host: ${var.host}")
    found = look({**FILES, "databricks.yml": text})
    assert found.places("variable host") == ["databricks.yml:2:3"]
    assert (
        found.one("variable cluster").verdict == "refused"
        and "BUNDLE_VAR_host" in found.one("variable host").cure
    )
    assert found.report.unread == () and "notebook_task" in found.of("runs_with_lakeward")


@pytest.mark.parametrize(
    ("resources", "profile"),
    [
        ("pipelines: {p: {serverless: true}}", "serverless"),
        ("jobs: {j: {tasks: [{task_key: a, environment_key: default}]}}", "serverless"),
        ("jobs: {j: {job_clusters: [{new_cluster: {spark_version: 15.4.x-scala2.12}}]}}", "15.4.x-scala2.12"),
        ("jobs: {}", "19.3"),
    ],
)
def test_the_profile_is_what_the_bundle_runs_on(look: Look, resources: str, profile: str) -> None:
    text = f"bundle: {{name: x}}\nresources:\n  {resources}\n"
    assert look({"databricks.yml": text}).report.profile == profile


@pytest.mark.parametrize(
    ("more", "profile"),
    [("", "16.4"), ('[tool.lakeward]\nruntime = "17.3"\n', "17.3")],
)
def test_without_a_bundle_the_profile_is_what_the_pins_choose_for_the_tests_too(
    look: Look, tmp_path: Path, more: str, profile: str
) -> None:
    project = '[project]\nname = "x"\ndependencies = ["pyspark>=3.5,<4"]\n'
    assert look({"pyproject.toml": project + more, "src/a.py": ""}).report.profile == profile
    assert check(tmp_path / "src" / "a.py", environ={}).profile == profile


def test_a_part_of_a_bundle_is_meant_for_the_bundles_compute(look: Look, tmp_path: Path) -> None:
    text = "bundle: {name: x}\nresources:\n  pipelines: {p: {serverless: true}}\n"
    look({"databricks.yml": text, "src/deep/a.py": "df.cache()"})
    for part in (tmp_path / "src" / "deep", tmp_path / "src" / "deep" / "a.py"):
        assert len(check(part, environ={}).blocking) == 1
    (tmp_path / "databricks.yml").write_text("[")
    assert check(tmp_path / "src", environ={}).blocking == ()


def test_a_limit_of_serverless_blocks_only_where_compute_is_serverless(look: Look) -> None:
    classic, serverless = look("df.cache()").report, look("df.cache()", profile="serverless").report
    assert classic.blocking == () and what_will_run(classic).startswith("1 of 1 file will run;")
    assert len(serverless.blocking) == 1 and what_will_run(serverless).startswith("0 of 1 file will run;")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "# pins\npyspark[sql] == 3.5.0 ; python_version > '3.8'\n"),
        ("requirements-dev.txt", "-r requirements.txt\npyspark==3.5.0\n"),
        ("pyproject.toml", '[project]\nname="x"\ndependencies = ["pyspark==3.5.0"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\ndev = ["pyspark==3.5.0"]\n'),
        ("pyproject.toml", '[dependency-groups]\ndev = ["pyspark==3.5.0", {include-group = "x"}]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\npyspark = "3.5.0"\n'),
        ("pyproject.toml", '[tool.poetry.group.dev.dependencies]\npyspark = {version = "3.5.0"}\n'),
    ],
)
def test_pins_are_read_from_every_kind_of_file(look: Look, name: str, text: str) -> None:
    found = look({name: text})
    assert list(found.verdicts().values()) == ["differs"] and "pyspark" in found.report.findings[0].construct


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_requirements_file_may_have_any_unicode_encoding(encoding: str, tmp_path: Path) -> None:
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    text = "pyspark==3.5.0\r\nsurely-absent==1\r\n"
    (tmp_path / "requirements.txt").write_bytes(mark + text.encode(encoding))
    (tmp_path / "job.py").write_text("import surely_absent")
    report = check(tmp_path, environ={})
    assert report.unread == ()
    assert [each.construct for each in report.findings] == ["package pyspark==3.5.0"]


def test_what_lakeward_test_leaves_out_is_reported_in_its_own_words(look: Look) -> None:
    from lakeward.environments import STAND_INS

    for name, stand_in in STAND_INS.items():
        cure = look({"requirements.txt": f"{name}==0.1\n"}).report.findings[0].cure
        assert cure == f"`lakeward test` leaves it out: {stand_in.why}."


@pytest.mark.parametrize(
    ("version", "fits"), [("^3.5", False), ("~4.1", False), ("^4.1", True), ("~4", True)]
)
def test_poetrys_own_operators_are_understood(look: Look, version: str, fits: bool) -> None:
    found = look({"pyproject.toml": f'[tool.poetry.dependencies]\npyspark = "{version}"\n'})
    assert (found.report.findings == ()) is fits


TARGETS = """\
bundle: {name: shop}
resources: {jobs: {both: {tasks: [{task_key: t, dashboard_task: {dashboard_id: d}}]}}}
targets:
  dev: {DEV}
  prod: {PROD resources: {jobs: {only: {tasks: [{task_key: t, dashboard_task: {dashboard_id: d}}]}}}}
"""


def with_targets(dev: str = "{}", prod: str = "") -> str:
    return TARGETS.replace("{DEV}", dev).replace("PROD ", prod)


@pytest.mark.parametrize(
    "flags",
    [{}, {"dev": "{default: true}", "prod": "default: true, "}],
    ids=["no default", "two defaults"],
)
def test_without_a_default_every_target_is_read_and_each_finding_names_its_targets_once(
    look: Look, flags: dict[str, str]
) -> None:
    report = look({"databricks.yml": with_targets(**flags)}).report
    named = {str(each.place): each.targets for each in report.findings}
    assert not report.unread
    assert sorted(named.values()) == [("dev", "prod"), ("prod",)]


@pytest.mark.parametrize("how", ["option", "environment"])
@pytest.mark.parametrize("target", ["dev", "prod"])
def test_a_named_target_alone_is_read(tmp_path: Path, target: str, how: str) -> None:
    (tmp_path / "databricks.yml").write_text(with_targets())
    option = target if how == "option" else None
    environ = {"DATABRICKS_BUNDLE_TARGET": target} if how == "environment" else {}
    report = check(tmp_path, target=option, environ=environ)
    assert [each.targets for each in report.findings] == [()] * (2 if target == "prod" else 1)


def test_the_default_target_alone_is_read(look: Look) -> None:
    report = look({"databricks.yml": with_targets("{default: true}")}).report
    assert [each.targets for each in report.findings] == [()]


def test_a_failure_of_one_target_names_it_and_the_others_are_read(look: Look) -> None:
    text = with_targets(prod="run_as: {}, ")
    report = look({"databricks.yml": text}).report
    (unread,) = report.unread
    assert unread.reason.startswith("target prod: ") and "RUN_AS_INVALID" in unread.reason
    assert [each.targets for each in report.findings] == [("dev",)]


def test_a_target_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text(with_targets())
    (unread,) = check(tmp_path, target="prd").unread
    assert "TARGET_UNKNOWN" in unread.reason and "`prod`" in unread.reason


def test_a_key_that_is_ignored_is_named(look: Look) -> None:
    found = look({"databricks.yml": "bundle: {name: b}\nresorces: {jobs: {}}\n"})
    ignored = found.one("bundle rule unknown-field")
    assert (ignored.place.line, "Did you mean `resources`" in ignored.cure) == (2, True)


@pytest.mark.parametrize(("target", "profile"), [("dev", "16.4"), ("prod", "15.4")])
def test_a_part_of_a_bundle_is_meant_for_the_compute_of_the_named_target(
    tmp_path: Path, target: str, profile: str
) -> None:
    cluster = (
        "{resources: {jobs: {j: {job_clusters: [{job_cluster_key: c, new_cluster: {spark_version: V}}]}}}}"
    )
    targets = "".join(
        f"  {name}: {cluster.replace('V', version)}\n"
        for name, version in (("dev", "16.4.x-scala2.12"), ("prod", "15.4.x-scala2.12"))
    )
    (tmp_path / "databricks.yml").write_text(f"bundle: {{name: b}}\ntargets:\n{targets}")
    (tmp_path / "src").mkdir()
    assert check(tmp_path / "src", target=target, environ={}).profile.startswith(profile)


CATALOG = """\
bundle: {{name: b}}
variables: {{{variable}: {{default: lake_dev}}}}
targets: {{dev: {{default: true}}}}
resources:
  jobs: {{j: {{tasks: [{{task_key: a, spark_python_task: {{python_file: a.py}}, existing_cluster_id: c}}]}}}}
  {resources}
"""


@pytest.mark.parametrize("variable", ["catalog", "catalog_name", "uc_catalog", "Catalog"])
def test_a_catalog_that_only_a_variable_names_is_needed(look: Look, variable: str) -> None:
    found = look({"databricks.yml": CATALOG.format(variable=variable, resources=""), "a.py": ""})
    finding = found.one("catalog lake_dev")
    assert finding.verdict == "needs_seed" and "CREATE CATALOG lake_dev" in finding.cure
    assert (finding.place.file, finding.place.line) == ("databricks.yml", 2)


@pytest.mark.parametrize(
    "resources",
    [
        'pipelines: {p: {name: p, catalog: "${var.catalog}", libraries: [{file: {path: a.py}}]}}',
        'schemas: {s: {name: s, catalog_name: "${var.catalog}"}}',
        'volumes: {v: {name: v, schema_name: s, catalog_name: "${var.catalog}"}}',
        'catalogs: {c: {name: "${var.catalog}"}}',
    ],
)
def test_a_catalog_of_a_resource_is_made_by_the_run(look: Look, resources: str) -> None:
    found = look({"databricks.yml": CATALOG.format(variable="catalog", resources=resources), "a.py": ""})
    assert "catalog lake_dev" not in found.verdicts()


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "spark.sql('CREATE CATALOG IF NOT EXISTS lake_dev')"},
        {"a.py": "spark.sql(f'CREATE CATALOG IF NOT EXISTS {name}')"},
        {"a.py": "", "make.sql": "create catalog lake_dev"},
        {"a.py": "", "pyproject.toml": '[tool.lakeward]\ncatalogs = ["lake_dev"]\n'},
    ],
    ids=["code", "a computed name", "SQL", "declared"],
)
def test_a_catalog_that_the_repository_makes_is_there(look: Look, files: dict[str, str]) -> None:
    found = look({"databricks.yml": CATALOG.format(variable="catalog", resources=""), **files})
    assert "catalog lake_dev" not in found.verdicts()


@pytest.mark.parametrize("value", ["main", "samples", "MAIN", "a.b", "s3://x/y", "${workspace.host}"])
def test_other_values_are_no_missing_catalog(look: Look, value: str) -> None:
    text = CATALOG.format(variable="catalog", resources="").replace("lake_dev", f'"{value}"')
    assert not [name for name in look({"databricks.yml": text, "a.py": ""}).verdicts() if "catalog" in name]


@pytest.mark.parametrize(
    ("folder", "command"),
    [("", "lakeward dbt build"), ("etl/my shop/", "lakeward dbt build --project-dir 'etl/my shop'")],
)
def test_a_project_of_dbt_has_its_command(
    look: Look, folder: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("dbt_project.yml", "models/a.sql", "dbt_packages/dbt_utils/dbt_project.yml")
    monkeypatch.chdir(tmp_path)
    look({folder + name: "name: shop" if name.endswith("yml") else "select 1" for name in names})
    (finding,) = check(Path(), environ={}).findings
    assert finding.construct == f"dbt project (`{command}`)"
    assert (finding.verdict, finding.place.file) == ("runs_with_lakeward", f"{folder}dbt_project.yml")
