"""`lakeward bundle …`: a bundle without a workspace, and in the local workspace of its target."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.formatting import plain
from lakeward.cli.local_workspace import run_job, run_pipeline, workspace
from lakeward.cli.options import bundle_options, local_option, mapping_option, names_option, output_option
from lakeward.errors import UsageError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle, Finding
    from lakeward.session import Settings


@click.group()
def bundle() -> None:
    """Validate and show the bundle in this folder, deploy and run it in a local workspace."""


@bundle.command()
@bundle_options
@output_option
@click.option("--strict", is_flag=True, help="Warnings fail, except on what local deployments leave out.")
def validate(target: str | None, variables: dict[str, str], output: str, strict: bool) -> int:
    """Tell what a deployment or a run of the bundle would refuse.

    With `-o json` the configuration of the target is printed with all of its references resolved, and what
    was found under `findings`.
    """
    from lakeward.bundle import LOCAL_RULES, findings

    found = load_here(target, variables)
    problems = findings(found)
    errors = [each for each in problems if each.severity == "error"]
    if output == "json":
        config = {**found.config, "findings": [each.as_json() for each in problems]}
        print(json.dumps(config, ensure_ascii=False, indent=2))
    else:
        for each in problems:
            print(plain(str(each)), file=sys.stderr)
        print(verdict(found, problems))
    counted = [each for each in problems if each.rule not in LOCAL_RULES]
    return 2 if errors or (strict and counted) else 0


@bundle.command()
@bundle_options
@local_option
@output_option
def summary(target: str | None, variables: dict[str, str], local: bool, output: str) -> int:
    """Show what the bundle deploys, where to, and when its jobs start.

    With `--local` the host is this machine's workspace, and ids are those of its deployed resources.
    """
    from lakeward.bundle import summarised, summary_lines

    bundle = load_here(target, variables)
    host, ids = _local_deployment(bundle) if local else (bundle.config["workspace"].get("host"), {})
    summary = summarised(bundle, now=datetime.now(timezone.utc), host=host, deployed=ids)
    if output == "json":
        print(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        for line in summary_lines(summary):
            print(plain(line, keep=""))
    return 0


@bundle.command()
@bundle_options
@local_option
@output_option
def deploy(target: str | None, variables: dict[str, str], local: bool, output: str) -> int:
    """Deploy the bundle to the target's local workspace, which is started if it is not running.

    Other workspaces are for the Databricks CLI.
    """
    from lakeward.bundle import LOCAL_RULES, findings
    from lakeward.bundle import deploy as deploy_to

    bundle, settings = of_target(target, variables)
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
        workspace(bundle, settings, local=local) as api,
    ):
        user = bundle.config["workspace"]["current_user"]["userName"]
        done = deploy_to(bundle, api, wheels_of(bundle, Path(scratch)), user=user)
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


@bundle.command()
@bundle_options
@local_option
@output_option
@click.option("--auto-approve", is_flag=True, help="Delete without asking.")
def destroy(
    target: str | None, variables: dict[str, str], local: bool, output: str, auto_approve: bool
) -> int:
    """Delete everything that the bundle has deployed to the target's local workspace."""
    from lakeward.bundle import destroy as destroy_in

    bundle, settings = of_target(target, variables)
    if not auto_approve and not approved(f"Delete all of {bundle.name} in target {bundle.target}?"):
        print("Nothing was deleted.")
        return 1
    with workspace(bundle, settings, local=local) as api:
        done = destroy_in(bundle, api)
    if output == "json":
        show({"deleted": done.deleted})
        return 0
    for name in done.deleted:
        print(plain(f"  deleted {name}", keep=""))
    title = plain(f"{bundle.name} in target {bundle.target}", keep="")
    print(f"Destroyed {title}: {len(done.deleted)} resources.")
    return 0


@bundle.command()
@click.argument("key", default="")
@bundle_options
@local_option
@output_option
@mapping_option("--params", "parameters", help="Value of a job parameter.")
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

    bundle, settings = of_target(target, variables)
    kind = bundle.kind_of(key)
    with workspace(bundle, settings, local=local) as api:
        identifier = deployed_id(bundle, api, f"{kind}s", key)
        quiet = output == "json"
        if kind == "job":
            done = run_job(api, identifier, parameters, only, quiet=quiet)
        else:
            done = run_pipeline(api, identifier, quiet=quiet)
    if quiet:
        show(done)
    return 0 if done["state"] == "COMPLETED" else 1


def approved(question: str) -> bool:
    """Ask on the terminal. Raises UsageError(APPROVAL_NEEDED) without a terminal."""
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


def of_target(target: str | None, variables: dict[str, str]) -> tuple[Bundle, Settings]:
    """Return the bundle of this folder and where its target's state is."""
    from lakeward.cli.command_context import here

    place = here(target, variables)
    return place.the_bundle("bundle"), place.settings


def wheels_of(bundle: Bundle, scratch: Path) -> dict[str, Path]:
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


def _local_deployment(bundle: Bundle) -> tuple[str | None, Mapping[str, str]]:
    """Return the host of the target's running local workspace, and the ids of what is deployed there."""
    from lakeward.bundle import deployed_ids
    from lakeward.cli.local_workspace import answering
    from lakeward.session import Settings

    api = answering(Settings.here(bundle.root, target=bundle.target))
    return (None, {}) if api is None else (api.host, deployed_ids(bundle, api))


def load_here(target: str | None, variables: dict[str, str]) -> Bundle:
    """Return the bundle of this folder or one above it; UsageError without one."""
    from lakeward.bundle import find_root, load
    from lakeward.cli.command_context import no_bundle

    root = find_root(Path.cwd())
    if root is None:
        raise no_bundle("this command needs a bundle", "make one with `lakeward init`")
    return load(root, target, variables)


def verdict(bundle: Bundle, problems: tuple[Finding, ...]) -> str:
    """Return the last lines of a validation."""
    workspace = bundle.config["workspace"]
    mode = f" ({bundle.mode})" if bundle.mode else ""
    lines = [f"Bundle  {bundle.name}", f"Target  {bundle.target}{mode}"]
    lines += [f"User    {workspace['current_user']['userName']}", f"Path    {workspace['root_path']}", ""]
    counts = {word: sum(each.severity == word for each in problems) for word in ("error", "warning")}
    said = [f"{number} {word}{'s' * (number != 1)}" for word, number in counts.items() if number]
    return "\n".join([*lines, f"Found {' and '.join(said)}." if said else "Validation OK."])
