"""The rules: what passes the platform's own `validate` and fails when it is deployed or run."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.bundle.model import Bundle
from lakeward.bundle.permissions import LEVELS
from lakeward.bundle.rules import access, compute, files, tasks, timing
from lakeward.bundle.rules.model import Finding, Rule, place_of

__all__ = ["RULES", "findings"]

_PATHS = "Paths are relative to the file that says them."

RULES: Sequence[Rule] = (
    Rule("task-key", "error", "Every task has a key of its own.", "Give it a task_key.", tasks.keys),
    Rule(
        "task-kind", "error", "A task runs exactly one thing.", "For example python_wheel_task.", tasks.kinds
    ),
    Rule(
        "depends-on",
        "error",
        "A task depends on tasks of its job.",
        "Correct depends_on.",
        tasks.dependencies,
    ),
    Rule(
        "cycle",
        "error",
        "Tasks do not wait for each other in a circle.",
        "Take one dependency away.",
        tasks.cycles,
    ),
    Rule(
        *("outcome", "error", "`outcome` is `true` or `false`, of a condition task."),
        *("Name a condition_task, or leave the outcome out.", tasks.outcomes),
    ),
    Rule("run-if", "error", "`run_if` is one of six conditions.", "Correct run_if.", tasks.run_conditions),
    Rule(
        *("for-each", "error", "A loop has inputs and one task, which is no loop."),
        *("Put the inner loop into a job of its own, with run_job_task.", tasks.loops),
    ),
    Rule(
        *("job-parameter", "error", "`{{job.parameters.x}}` names a parameter of the job."),
        *("Declare it under `parameters:`.", tasks.parameters),
    ),
    Rule(
        *("task-value", "error", "`{{tasks.t.values.v}}` reads from a task upstream."),
        *("Add it to depends_on.", tasks.task_values),
    ),
    Rule(
        *("wheel-arguments", "error", "A wheel task has positional or named parameters."),
        *("Keep one of them.", tasks.wheel_arguments),
    ),
    Rule(
        *("serverless-cluster", "error", "A task runs on serverless compute or on a cluster."),
        *("Take environment_key or the cluster away.", compute.serverless_tasks),
    ),
    Rule(
        *("serverless-pipeline", "error", "A serverless pipeline has no clusters."),
        *("Take `serverless: true` or the clusters away.", compute.serverless_pipelines),
    ),
    Rule(
        *(
            "environment-needed",
            "error",
            "Python, wheel and dbt tasks on serverless compute name an environment.",
        ),
        *(
            "Add an environment_key and define it under the job's `environments:`.",
            compute.environment_needed,
        ),
    ),
    Rule(
        *("environment-unknown", "error", "An environment_key is one that the job defines."),
        *("Define it under the job's `environments:`.", compute.unknown_environments),
    ),
    Rule(
        *("job-cluster-unknown", "error", "A job_cluster_key is one that the job defines."),
        *("Define it under the job's `job_clusters:`.", compute.job_clusters),
    ),
    Rule(
        *("wheel-missing", "error", "A local wheel is built by an artifact, or is there."),
        *("Add it to `artifacts:`, or build it.", compute.wheels),
    ),
    Rule(
        *("entry-point", "error", "A wheel has the entry point that a task calls."),
        *("Add it to [project.scripts] of the wheel's pyproject.toml.", compute.entry_points),
    ),
    Rule("notebook-missing", "error", "A task's notebook is in the bundle.", _PATHS, files.notebooks),
    Rule(
        *("notebook-marker", "error", "A source file that runs as a notebook says that it is one."),
        *("Write the marker as its first line, or use spark_python_task.", files.notebook_markers),
    ),
    Rule("file-missing", "error", "A task's Python or SQL file is in the bundle.", _PATHS, files.files),
    Rule(
        "source-missing", "error", "A pipeline's sources are in the bundle.", _PATHS, files.pipeline_sources
    ),
    Rule(
        *("permission-level", "error", "A permission has a level that its resource knows."),
        *(
            "Levels by kind: "
            + "; ".join(f"{kind} {', '.join(each.known)}" for kind, each in LEVELS.items())
            + ".",
        ),
        access.levels,
    ),
    Rule(
        *("permission-principal", "error", "A permission is for one user, group or service principal."),
        *("Name one.", access.principals),
    ),
    Rule("owners", "error", "A job or pipeline has one owner.", "Keep one IS_OWNER.", access.owners),
    Rule(
        *("scope-name", "error", "A scope is called by up to 128 of `A-Z a-z 0-9 - _ @ .`"),
        *("Rename it.", access.scope_names),
    ),
    Rule(
        *(
            "scope-shared",
            "warning",
            "In mode development a scope, which gets no prefix, carries the user's name.",
        ),
        *("Put ${workspace.current_user.short_name} into its name.", access.shared_scopes),
    ),
    Rule(
        *("scope-opened", "warning", "Common permissions reach the secrets of the bundle's scopes, too."),
        *("Give the group its permission on the jobs and pipelines instead.", access.opened_scopes),
    ),
    Rule(
        *("literal-secret", "warning", "Passwords and tokens are not written into a bundle."),
        *("Put it into a secret scope, and pass the names of scope and key.", access.literal_secrets),
    ),
    Rule(
        *("host", "warning", "A bundle names no workspace, so that it can go to another."),
        *("Set DATABRICKS_HOST, or a profile, outside of it.", access.hosts),
    ),
    Rule(
        *("schedule", "error", "A schedule is a Quartz expression in a time zone, and comes again."),
        *("For example `0 30 5 * * ?` and Etc/UTC: every day at 5:30.", timing.schedules),
    ),
    Rule(
        *(
            "trigger",
            "error",
            "A trigger watches a folder (with `/` at its end) or tables, at most once a minute.",
        ),
        *("Correct the trigger.", timing.triggers),
    ),
    Rule(
        *("several-timers", "error", "A job has one of schedule, trigger and continuous."),
        *("Keep one of them.", timing.several_timers),
    ),
)
"""In the order of the documentation. Each is a rule of a workspace that needs no workspace to be told."""


def findings(bundle: Bundle) -> tuple[Finding, ...]:
    """Return what is wrong with `bundle`, errors first, each kind in the order of the files."""
    found = [
        Finding(
            rule.name, rule.severity, place_of(bundle, path), message[:1].upper() + message[1:], rule.cure
        )
        for rule in RULES
        for path, message in rule.breaches(bundle)
    ]

    def order(finding: Finding) -> tuple[bool, str, int]:
        place = finding.position
        return finding.severity != "error", place.file if place else "", place.line if place else 0

    return tuple(sorted(found, key=order))
