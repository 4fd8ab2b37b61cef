"""The table of rules: what passes the platform's `validate` and fails at deployment or run time."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.bundle.configuration.field_types import FIELD_TYPE
from lakeward.bundle.configuration.findings import Finding
from lakeward.bundle.configuration.known_fields import REPEATED_KEY, UNKNOWN_FIELD
from lakeward.bundle.configuration.permissions import LEVELS
from lakeward.bundle.configuration.workspace_paths import REPEATED_PREFIX
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.rules import access, compute, files, local, tasks, timing
from lakeward.bundle.rules.rule import Rule, position_of
from lakeward.session import MOUNT_ADVICE

_PATHS = "Paths are resolved relative to the YAML file that declares them."
_LEVELS = "Levels: {}.".format("; ".join(f"{kind} {', '.join(each.known)}" for kind, each in LEVELS.items()))

RULES: Sequence[Rule] = (
    Rule(
        name="task-key",
        holds="Every task has a task_key that is unique in its job.",
        fix="Add a task_key.",
        check=tasks.keys,
    ),
    Rule(
        name="task-kind",
        holds="A task runs exactly one thing.",
        fix="Keep one of the task types, for example python_wheel_task.",
        check=tasks.kinds,
    ),
    Rule(
        name="depends-on",
        holds="A task depends on tasks of its own job.",
        fix="Correct depends_on.",
        check=tasks.dependencies,
    ),
    Rule(
        name="cycle",
        holds="Task dependencies must be acyclic.",
        fix="Remove one dependency.",
        check=tasks.cycles,
    ),
    Rule(
        name="outcome",
        holds="`outcome` is `true` or `false`, and belongs to a condition task.",
        fix="Depend on a condition_task, or remove the outcome.",
        check=tasks.outcomes,
    ),
    Rule(
        name="run-if",
        holds="`run_if` is one of six conditions.",
        fix="Correct run_if.",
        check=tasks.run_conditions,
    ),
    Rule(
        name="for-each",
        holds="`for_each_task` needs `inputs` and one nested task; it cannot be nested.",
        fix="Move an inner loop to a job of its own and call it with run_job_task.",
        check=tasks.loops,
    ),
    Rule(
        name="job-parameter",
        holds="`{{job.parameters.x}}` names a parameter of the job.",
        fix="Declare it under `parameters:`.",
        check=tasks.parameters,
    ),
    Rule(
        name="task-value",
        holds="`{{tasks.t.values.v}}` reads from an upstream task.",
        fix="Add the task to depends_on.",
        check=tasks.task_values,
    ),
    Rule(
        name="wheel-arguments",
        holds="A wheel task has positional or named parameters, not both.",
        fix="Keep one of them.",
        check=tasks.wheel_arguments,
    ),
    Rule(
        name="serverless-cluster",
        holds="A task runs either on serverless compute or on a cluster.",
        fix="Remove environment_key or the cluster.",
        check=compute.serverless_tasks,
    ),
    Rule(
        name="serverless-pipeline",
        holds="A serverless pipeline has no clusters.",
        fix="Remove `serverless: true` or the clusters.",
        check=compute.serverless_pipelines,
    ),
    Rule(
        name="environment-needed",
        holds="Python, wheel and dbt tasks on serverless compute need an environment.",
        fix="Add an environment_key and define it under the job's `environments:`.",
        check=compute.environment_needed,
    ),
    Rule(
        name="environment-unknown",
        holds="The job defines every environment_key that its tasks use.",
        fix="Define it under the job's `environments:`.",
        check=compute.unknown_environments,
    ),
    Rule(
        name="job-cluster-unknown",
        holds="The job defines every job_cluster_key that its tasks use.",
        fix="Define it under the job's `job_clusters:`.",
        check=compute.job_clusters,
    ),
    Rule(
        name="single-node",
        severity="warning",
        holds="A cluster without workers has the settings of a single-node cluster.",
        fix="Set `is_single_node: true` with `kind: CLASSIC_PREVIEW`, or at least one worker.",
        check=compute.single_nodes,
    ),
    Rule(
        name="wheel-missing",
        holds="A local wheel is built by an artifact, or exists.",
        fix="Add it to `artifacts:`, or build it.",
        check=compute.wheels,
    ),
    Rule(
        name="entry-point",
        holds="A wheel has the entry point that a task calls.",
        fix="Add it to [project.scripts] of the wheel's pyproject.toml.",
        check=compute.entry_points,
    ),
    Rule(
        name="notebook-missing",
        holds="A task's notebook is in the bundle.",
        fix=_PATHS,
        check=files.notebooks,
    ),
    Rule(
        name="notebook-marker",
        holds="A source file that runs as a notebook begins with the notebook marker.",
        fix="Write the marker as its first line, or use spark_python_task.",
        check=files.notebook_markers,
    ),
    Rule(
        name="file-missing",
        holds="A task's Python or SQL file is in the bundle.",
        fix=_PATHS,
        check=files.files,
    ),
    Rule(
        name="source-missing",
        holds="A pipeline's sources are in the bundle.",
        fix=_PATHS,
        check=files.pipeline_sources,
    ),
    Rule(
        name="permission-level",
        holds="A permission has a level that its kind of resource supports.",
        fix=_LEVELS,
        check=access.levels,
    ),
    Rule(
        name="permission-principal",
        holds="A permission names one user, group or service principal.",
        fix="Name exactly one.",
        check=access.principals,
    ),
    Rule(
        name="owners",
        holds="A job or pipeline has one owner.",
        fix="Keep one IS_OWNER.",
        check=access.owners,
    ),
    Rule(
        name="scope-name",
        holds="The name of a secret scope has up to 128 of `A-Z a-z 0-9 - _ @ .`",
        fix="Rename it.",
        check=access.scope_names,
    ),
    Rule(
        name="scope-shared",
        severity="warning",
        holds="In mode development the name of a scope, which gets no prefix, contains the user's name.",
        fix="Put ${workspace.current_user.short_name} into its name.",
        check=access.shared_scopes,
    ),
    Rule(
        name="scope-opened",
        severity="warning",
        holds="Common permissions also grant access to the secrets of the bundle's scopes.",
        fix="Grant the group its permission on the jobs and pipelines instead.",
        check=access.opened_scopes,
    ),
    Rule(
        name="literal-secret",
        severity="warning",
        holds="A bundle contains no passwords or tokens.",
        fix="Store it in a secret scope, and pass the names of scope and key.",
        check=access.literal_secrets,
    ),
    Rule(
        name="host",
        severity="warning",
        holds="A bundle names no workspace, so that it can be deployed to any.",
        fix="Set DATABRICKS_HOST, or a profile, outside of it.",
        check=access.hosts,
    ),
    Rule(
        name="schedule",
        holds="A schedule is a Quartz expression with a time zone, and has a next run.",
        fix="For example `0 30 5 * * ?` and Etc/UTC: every day at 5:30.",
        check=timing.schedules,
    ),
    Rule(
        name="trigger",
        holds="A trigger watches a folder (`…/`), tables or up to 10 jobs, at most once a minute.",
        fix="Correct the trigger.",
        check=timing.triggers,
    ),
    Rule(
        name="several-timers",
        holds="A job has one of schedule, trigger and continuous.",
        fix="Keep one of them.",
        check=timing.several_timers,
    ),
    Rule(
        name=REPEATED_KEY,
        severity="warning",
        holds="A mapping has each key once.",
        fix="Remove one of them.",
    ),
    Rule(
        name=REPEATED_PREFIX,
        severity="warning",
        holds="References to folders of the bundle have no prefix `/Workspace` of their own.",
        fix="Write `${workspace.file_path}/x`, not `/Workspace/${workspace.file_path}/x`.",
    ),
    Rule(
        name=UNKNOWN_FIELD,
        severity="warning",
        holds="The configuration has known fields only, also in jobs and pipelines.",
        fix="Correct or remove it.",
    ),
    Rule(
        name=FIELD_TYPE,
        severity="warning",
        holds="The values of jobs and pipelines have the types of their fields; others are ignored.",
        fix="Write the type that the warning names.",
    ),
    Rule(
        name="python",
        severity="warning",
        holds="The Python code of the bundle reports no warning.",
        fix="See the named file.",
    ),
    Rule(
        name="not-deployed",
        severity="warning",
        holds="Every resource is of a kind that a local deployment creates.",
        fix="Deploy it with the Databricks CLI; references to it get a stable local value.",
        check=local.undeployed_resources,
        is_local=True,
    ),
    Rule(
        name="not-built",
        severity="warning",
        holds="Every artifact is a wheel (`type: whl`).",
        fix="Build it yourself if it is needed.",
        check=local.unbuilt,
        is_local=True,
    ),
    Rule(
        name="not-installed",
        severity="warning",
        holds="Libraries of tasks and pipelines are Python packages.",
        fix="Add a JAR for local runs with `spark.jars` or `spark.jars.packages`.",
        check=local.not_installed,
        is_local=True,
    ),
    Rule(
        name="not-ingested",
        severity="warning",
        holds="No pipeline is one of Lakeflow Connect (`ingestion_definition`, `gateway_definition`).",
        fix="Give the tables that it makes data with `lakeward seed`.",
        check=local.not_ingested,
        is_local=True,
    ),
    Rule(
        name="workspace-path",
        severity="warning",
        holds="A workspace path ends with exactly one path of the repository.",
        fix=MOUNT_ADVICE,
        check=files.workspace_paths,
        is_local=True,
    ),
    Rule(
        name="not-executed",
        severity="warning",
        holds="The deployment runs no scripts (`experimental.scripts`).",
        fix="Run it yourself if it is needed.",
        check=local.hooks,
        is_local=True,
    ),
)
"""All rules, in the order of the documentation. None of them needs a workspace."""

LOCAL_RULES = frozenset(rule.name for rule in RULES if rule.is_local)
"""Warnings about local deployments; `--strict` does not count them, since Databricks has no such limit."""


def findings(bundle: Bundle) -> tuple[Finding, ...]:
    """Return the broken rules of `bundle`, errors first, both in the order of files and lines."""
    found = [
        Finding(
            rule=rule.name,
            severity=rule.severity,
            position=position_of(bundle, path),
            message=message[:1].upper() + message[1:],
            cure=rule.fix,
        )
        for rule in RULES
        for path, message in rule.check(bundle)
    ]
    found += bundle.notices

    def order(finding: Finding) -> tuple[bool, str, int]:
        position = finding.position
        return (
            finding.severity != "error",
            position.file if position else "",
            position.line if position else 0,
        )

    return tuple(sorted(found, key=order))
