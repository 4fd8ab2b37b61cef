"""`lakeward bundle deploy`, `run` and `destroy`: commands in the local workspace of a target."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.deployed_runs import run_job, run_pipeline
from lakeward.cli.formatting import plain
from lakeward.cli.options import bundle_options, local_option, mappings_option, names_option, output_option
from lakeward.cli.workspace_client import open_workspace
from lakeward.errors import UsageError
from lakeward.hints import hints_of

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings


@click.command(short_help="Deploy the bundle to the local workspace.")
@bundle_options
@local_option
@output_option
def deploy(target: str | None, variables: dict[str, str], local: bool, output: str) -> int:
    """Deploy the bundle to the target's local workspace, which is started if it is not running.

    Other workspaces are for the Databricks CLI.
    """
    from lakeward.bundle import LOCAL_RULES, findings
    from lakeward.bundle import deploy as deploy_to

    bundle, settings = bundle_and_settings(target, variables)
    found = findings(bundle)
    wrong = [each for each in found if each.severity == "error"]
    left_out = [each for each in found if each.rule in LOCAL_RULES]
    if wrong:
        for each in wrong:
            print(plain(str(each)), file=sys.stderr)
        if output == "json":
            show({"findings": [each.as_json() for each in wrong]})
        return 2
    for each in left_out:
        print(plain(str(each)), file=sys.stderr)
    from lakeward.jobs import require_packages

    require_packages(bundle, settings)
    with (
        tempfile.TemporaryDirectory(prefix="lakeward-wheels-") as scratch,
        open_workspace(bundle, settings, local=local) as api,
    ):
        user = bundle.config["workspace"]["current_user"]["userName"]
        done = deploy_to(bundle, api, build_wheels_by_folder(bundle, Path(scratch)), user=user)
    if output == "json":
        show({**asdict(done), "findings": [each.as_json() for each in left_out]})
        return 0
    for what in ("created", "updated", "deleted"):
        for name in getattr(done, what):
            print(plain(f"  {what} {name}", keep=""))
    changed = sum(len(names) for names in (done.created, done.updated, done.deleted))
    title = plain(f"{bundle.name} as {bundle.target}", keep="")
    print(f"Deployed {title}: {done.files} files, {changed} resources changed.")
    runnable = next(iter((*bundle.jobs, *bundle.pipelines)), None)
    if runnable is not None:
        try_next = f"try next  lakeward bundle run {runnable} -t {bundle.target}{' --local' * local}"
        print(plain(try_next, keep=""))
        print(f"          lakeward workspace -t {bundle.target}")
    return 0


@click.command(short_help="Delete what was deployed to the local workspace.")
@bundle_options
@local_option
@output_option
@click.option("--auto-approve", is_flag=True, help="Delete without asking.")
def destroy(
    target: str | None, variables: dict[str, str], local: bool, output: str, auto_approve: bool
) -> int:
    """Delete everything that the bundle has deployed to the target's local workspace."""
    from lakeward.bundle import destroy as destroy_in

    bundle, settings = bundle_and_settings(target, variables)
    if not auto_approve and not ask_approval(f"Delete all of {bundle.name} in target {bundle.target}?"):
        print("Nothing was deleted.")
        return 1
    with open_workspace(bundle, settings, local=local) as api:
        done = destroy_in(bundle, api)
    if output == "json":
        show({"deleted": done.deleted})
        return 0
    for name in done.deleted:
        print(plain(f"  deleted {name}", keep=""))
    title = plain(f"{bundle.name} in target {bundle.target}", keep="")
    print(f"Destroyed {title}: {len(done.deleted)} resources.")
    return 0


@click.command(short_help="Run a deployed job or pipeline.")
@click.argument("key", default="")
@bundle_options
@local_option
@output_option
@mappings_option("--params", "parameters", help="Value of a job parameter.")
@names_option("--only", metavar="TASK", help="Run these tasks of the job alone.")
def run(
    key: str,
    target: str | None,
    variables: dict[str, str],
    local: bool,
    output: str,
    parameters: dict[str, str],
    only: tuple[str, ...],
) -> int:
    """Run the job or pipeline KEY that was deployed to the target's local workspace."""
    from lakeward.bundle import deployed_id

    bundle, settings = bundle_and_settings(target, variables)
    kind = bundle.kind_of(key)
    with open_workspace(bundle, settings, local=local) as api:
        identifier = deployed_id(bundle, api, f"{kind}s", key)
        quiet = output == "json"
        if kind == "job":
            done = run_job(api, identifier, parameters, only, quiet=quiet)
        else:
            done = run_pipeline(api, identifier, quiet=quiet)
    if quiet:
        show(done)
    errors = [each["error"] for each in done.get("tasks", ()) if each["error"]] + done.get("errors", [])
    for hint in hints_of("\n".join(errors), settings):
        print(plain(f"  → {hint}"), file=sys.stderr)
    return 0 if done["state"] == "COMPLETED" else 1


def ask_approval(question: str) -> bool:
    """Ask on the terminal and return the answer. Raises UsageError(APPROVAL_NEEDED) without a terminal."""
    if not sys.stdin.isatty():
        raise UsageError(
            "APPROVAL_NEEDED",
            f"Approval is needed, and stdin is not a terminal: {question}",
            next_step="Add --auto-approve.",
        )
    return bool(click.confirm(question, err=True))


def show(summary: Mapping[str, Any]) -> None:
    """Print the one object of `-o json`."""
    print(json.dumps(summary, ensure_ascii=False, indent=2))


def bundle_and_settings(target: str | None, variables: dict[str, str]) -> tuple[Bundle, Settings]:
    """Return the bundle of this folder and where its target's state is."""
    from lakeward.cli.command_context import find_context, no_bundle

    context = find_context(target, variables)
    if context.bundle is None:
        raise no_bundle("this command needs a bundle", "make one with `lakeward init`")
    return context.bundle, context.settings


def build_wheels_by_folder(bundle: Bundle, scratch: Path) -> dict[str, Path]:
    """Return every wheel of the bundle, built into `scratch`, by the folder that tasks name it in."""
    from lakeward.bundle import artifacts_of
    from lakeward.jobs import build_wheels

    built = build_wheels(bundle, scratch)
    return {
        str((artifact.folder / pattern).parent.relative_to(bundle.root)): built[artifact.key]
        for artifact in artifacts_of(bundle)
        if artifact.key in built
        for pattern in artifact.patterns
    }
