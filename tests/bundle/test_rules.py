"""Every rule finds what it is about, at its place, and is silent about a bundle that is right."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent, indent

import pytest

from lakeward.bundle import RULES, Bundle, findings

NOTEBOOK = "# Databricks notebook source\nprint(1)\n"
FILES = {
    "a.py": "print(1)\n",
    "n.py": NOTEBOOK,
    "q.sql": "SELECT 1",
    "src/t/one.py": "",
    "pyproject.toml": '[project]\nname = "tool"\nversion = "1"\n[project.scripts]\nshow = "tool:main"\n',
}
GOOD = """
name: j
schedule: {quartz_cron_expression: "0 30 5 ? * MON-FRI", timezone_id: Europe/Vienna}
parameters: [{name: day, default: "1"}]
permissions: [{level: CAN_MANAGE_RUN, user_name: ann}]
environments: [{environment_key: e, spec: {environment_version: "4", dependencies: [dist/*.whl, numpy]}}]
job_clusters: [{job_cluster_key: c, new_cluster: {spark_version: 17.3.x-scala2.13}}]
tasks:
  - task_key: a
    environment_key: e
    spark_python_task: {python_file: a.py, parameters: ["{{job.parameters.day}}"]}
  - {task_key: n, job_cluster_key: c, depends_on: [{task_key: a}], notebook_task: {notebook_path: n.py}}
  - {task_key: w, environment_key: e, python_wheel_task: {package_name: tool, entry_point: show}}
  - task_key: s
    depends_on: [{task_key: w}]
    run_if: ALL_DONE
    sql_task: {warehouse_id: x, file: {path: q.sql}}
  - task_key: i
    depends_on: [{task_key: a}]
    condition_task: {op: EQUAL_TO, left: "{{tasks.a.values.v}}", right: "1"}
  - task_key: p
    depends_on: [{task_key: i, outcome: "true"}]
    pipeline_task: {pipeline_id: "${resources.pipelines.p.id}"}
  - task_key: l
    for_each_task:
      inputs: "[1, 2]"
      task:
        task_key: inner
        environment_key: e
        spark_python_task: {python_file: a.py, parameters: ["{{input}}"]}
"""
PIPELINE = "{name: p, serverless: true, catalog: main, schema: s, libraries: [{glob: {include: src/t/**}}]}"

Make = Callable[..., Bundle]


def of_job(bundle_of: Make, job: str, *, pipeline: str = PIPELINE, rest: str = "") -> Bundle:
    text = "bundle: {name: b}\nartifacts: {tool: {type: whl, path: ., build: make}}\n" + dedent(rest)
    text += f"resources:\n  pipelines:\n    p: {pipeline}\n  jobs:\n    j:\n" + indent(dedent(job), " " * 6)
    return bundle_of(text, files=FILES)


def broken_by(bundle: Bundle) -> list[str]:
    return [finding.rule for finding in findings(bundle)]


def test_a_bundle_that_is_right_breaks_no_rule(bundle_of: Make) -> None:
    assert [str(finding) for finding in findings(of_job(bundle_of, GOOD))] == []


# The rule, and what is changed in the job that is right: old text, new text.
IN_JOB = [
    ("task-key", "- task_key: l", "- description: l"),
    ("task-kind", "notebook_task: {notebook_path: n.py}", "description: x"),
    ("depends-on", "{task_key: w}]\n    run_if", "{task_key: v}]\n    run_if"),
    ("cycle", "task_key: w, env", "task_key: w, depends_on: [{task_key: s}], env"),
    ("outcome", "{task_key: w}]\n    run_if", '{task_key: w, outcome: "true"}]\n    run_if'),
    ("outcome", 'outcome: "true"', "outcome: perhaps"),
    ("run-if", "ALL_DONE", "ALL_WELL"),
    ("for-each", 'inputs: "[1, 2]"', 'inputs: ""'),
    ("job-parameter", "{{job.parameters.day}}", "{{job.parameters.dya}}"),
    ("task-value", "{{tasks.a.values.v}}", "{{tasks.w.values.v}}"),
    ("wheel-arguments", "entry_point: show", "entry_point: show, parameters: [a], named_parameters: {b: c}"),
    ("serverless-cluster", "task_key: w, env", "task_key: w, existing_cluster_id: c, env"),
    ("environment-needed", "task_key: w, environment_key: e", "task_key: w"),
    ("environment-unknown", "task_key: w, environment_key: e", "task_key: w, environment_key: f"),
    ("job-cluster-unknown", "{task_key: n, job_cluster_key: c", "{task_key: n, job_cluster_key: d"),
    ("single-node", "spark_version: 17", "num_workers: 0, spark_version: 17"),
    ("single-node", "spark_version: 17",
     "num_workers: 0, custom_tags: {ResourceClass: SingleNode}, spark_version: 17"),
    ("single-node", "job_cluster_key: c, depends_on", "new_cluster: {num_workers: 0}, depends_on"),
    ("wheel-missing", "dist/*.whl", "./other/dist/*.whl"),
    ("entry-point", "entry_point: show", "entry_point: shwo"),
    ("notebook-missing", "notebook_path: n.py", "notebook_path: m.py"),
    ("notebook-marker", "notebook_path: n.py", "notebook_path: a.py"),
    ("workspace-path", "notebook_path: n.py", "notebook_path: /Workspace/Users/ann/shop/m"),
    ("file-missing", "path: q.sql", "path: r.sql"),
    ("file-missing", "python_file: a.py", "python_file: b.py"),
    ("permission-level", "CAN_MANAGE_RUN", "CAN_RUN"),
    ("permission-principal", "user_name: ann", "user_name: ann, group_name: all"),
    ("owners", "[{level: CAN_MANAGE_RUN, user_name: ann}]",
     "[{level: IS_OWNER, user_name: ann}, {level: IS_OWNER, user_name: bob}]"),
    ("literal-secret", "spark_version: 17", "spark_env_vars: {DB_PASSWORD: hunter2}, spark_version: 17"),
    ("schedule", "0 30 5 ? * MON-FRI", "30 5 * * *"),
    ("schedule", "0 30 5 ? * MON-FRI", "0 0 0 1 1 ? 1999"),
    ("schedule", "Europe/Vienna", "Europe/Wien"),
    ("trigger", "schedule: {quartz_cron_expression: \"0 30 5 ? * MON-FRI\", timezone_id: Europe/Vienna}",
     "trigger: {file_arrival: {url: /Volumes/a/b/c}}"),
    ("trigger", "schedule: {quartz_cron_expression: \"0 30 5 ? * MON-FRI\", timezone_id: Europe/Vienna}",
     "trigger: {table_update: {table_names: [a.b.c], min_time_between_triggers_seconds: 5}}"),
    *(
        ("trigger", "schedule: {quartz_cron_expression: \"0 30 5 ? * MON-FRI\", timezone_id: Europe/Vienna}",
         "trigger: {job_completion: {jobs: [" + ", ".join(["{job_id: 1, workspace_id: 1}"] * jobs) + "]}}")
        for jobs in (0, 11)
    ),
    *(
        ("not-installed", f"{at}environment_key: e\n", f"{at}environment_key: e\n{at}libraries: [{x}]\n")
        for x in ("{jar: a.jar}", "{maven: {coordinates: a:b:1}}", "{cran: {package: p}}", "{egg: a.egg}")
        for at in (" " * 4, " " * 8)
    ),
    ("several-timers", "parameters: [{name", "continuous: {pause_status: PAUSED}\nparameters: [{name"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "old", "new"), IN_JOB)
def test_a_rule_about_jobs_finds_what_breaks_it(bundle_of: Make, rule: str, old: str, new: str) -> None:
    job = GOOD.replace(old, new, 1)
    assert job != GOOD
    (finding,) = findings(of_job(bundle_of, job))
    assert finding.rule == rule
    assert finding.position is not None
    assert finding.position.file == "databricks.yml"
    assert finding.position.line > 1
    assert finding.cure in str(finding)


LIBRARIES = "libraries: [{glob: {include: src/t/**}}]"
OUTSIDE_JOBS = [
    (
        "serverless-pipeline",
        {"pipeline": PIPELINE.replace("catalog", "clusters: [{label: default}], catalog")},
    ),
    ("single-node", {"pipeline": PIPELINE.replace("serverless: true", "clusters: [{num_workers: 0}]")}),
    ("source-missing", {"pipeline": PIPELINE.replace("src/t/**", "src/u/**")}),
    ("source-missing", {"pipeline": PIPELINE.replace(LIBRARIES, "libraries: []")}),
    ("host", {"rest": "workspace: {host: https://example.cloud.databricks.com}\n"}),
    ("scope-name", {"rest": "targets: {dev: {resources: {secret_scopes: {s: {name: my scope}}}}}\n"}),
    (
        "scope-shared",
        {"rest": "targets: {dev: {mode: development, resources: {secret_scopes: {s: {name: shared}}}}}\n"},
    ),
    ("repeated-key", {"rest": "targets: {dev: {mode: production, mode: development}}\n"}),
    (
        "workspace-prefix",
        {"rest": 'variables: {v: {default: "/Workspace${workspace.file_path}/x"}}\n'},
    ),
    ("unknown-field", {"rest": "resorces: {jobs: {}}\n"}),
    ("field-type", {"pipeline": PIPELINE.replace("serverless: true", "serverless: true, clusters: no")}),
    ("not-deployed", {"rest": "targets: {dev: {resources: {genie_spaces: {a: {title: a}}}}}\n"}),
    ("not-built", {"rest": "targets: {dev: {artifacts: {jar: {build: make, files: [{source: a.jar}]}}}}\n"}),
    (
        "not-installed",
        {"pipeline": PIPELINE.replace(LIBRARIES, LIBRARIES[:-1] + ", {maven: {coordinates: a:b:1}}]")},
    ),
    (
        "not-ingested",
        {"pipeline": PIPELINE.replace(LIBRARIES, "ingestion_definition: {connection_name: c}")},
    ),
    (
        "not-ingested",
        {"pipeline": PIPELINE.replace(LIBRARIES, "libraries: [], gateway_definition: {connection_name: c}")},
    ),
    ("not-executed", {"rest": "experimental: {scripts: {postdeploy: echo}}\n"}),
    (
        "scope-opened",
        {
            "rest": "permissions: [{level: CAN_VIEW, group_name: all}]\n"
            "targets: {dev: {resources: {secret_scopes: {s: {name: shared}}}}}\n"
        },
    ),
]


@pytest.mark.parametrize(("rule", "parts"), OUTSIDE_JOBS)
def test_a_rule_about_the_rest_finds_what_breaks_it(
    bundle_of: Make, rule: str, parts: dict[str, str]
) -> None:
    assert broken_by(of_job(bundle_of, GOOD, **parts)) == [rule]


@pytest.mark.parametrize(
    "cluster",
    [
        "num_workers: 0, kind: CLASSIC_PREVIEW, is_single_node: true",
        "num_workers: 0, policy_id: p",
        """num_workers: 0, custom_tags: {ResourceClass: SingleNode},
        spark_conf: {spark.master: "local[*, 4]", spark.databricks.cluster.profile: singleNode}""",
        "num_workers: 1",
        "autoscale: {min_workers: 0, max_workers: 2}",
    ],
)
def test_clusters_with_workers_and_single_nodes_are_right(bundle_of: Make, cluster: str) -> None:
    job = GOOD.replace("spark_version: 17", f"{cluster}, spark_version: 17")
    assert broken_by(of_job(bundle_of, job)) == []


def test_the_clusters_of_a_bundle_follow_the_rules_of_clusters(bundle_of: Make) -> None:
    rest = "targets: {dev: {resources: {clusters: {c: {num_workers: 0}}}}}\n"
    assert sorted(broken_by(of_job(bundle_of, GOOD, rest=rest))) == ["not-deployed", "single-node"]


def test_an_expression_and_a_time_zone_that_are_wrong_are_both_found(bundle_of: Make) -> None:
    job = GOOD.replace("0 30 5 ? * MON-FRI", "30 5 * * *").replace("Europe/Vienna", "Europe/Wien")
    assert broken_by(of_job(bundle_of, job)) == ["schedule", "schedule"]


def test_every_rule_has_its_test() -> None:
    tested = {rule for rule, *_ in IN_JOB} | {rule for rule, _ in OUTSIDE_JOBS} | {"python"}
    assert tested == {rule.name for rule in RULES}


def test_errors_come_before_warnings_and_name_near_misses(bundle_of: Make) -> None:
    job = GOOD.replace("run_if: ALL_DONE", "run_if: ALL_DNE")
    found = findings(of_job(bundle_of, job, rest="workspace: {profile: mine}\n"))
    assert [(each.rule, each.severity) for each in found] == [("run-if", "error"), ("host", "warning")]
    assert "Did you mean `ALL_DONE`" in found[0].message
