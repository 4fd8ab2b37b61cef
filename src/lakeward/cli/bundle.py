"""`lakeward bundle …`: validation and summary of a bundle; `local_workspace` has deployments and runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.formatting import format_count, plain
from lakeward.cli.local_workspace import deploy, destroy, run
from lakeward.cli.options import bundle_options, local_option, output_option
from lakeward.cli.workspace_client import is_for_this_machine, running_workspace

if TYPE_CHECKING:
    from lakeward.bundle import Bundle, Finding


@click.group(short_help="Validate, show, deploy and run the bundle in this folder.")
def bundle() -> None:
    """Validate and show the bundle in this folder, deploy and run it in a local workspace."""


@bundle.command()
@bundle_options
@output_option
@click.option("--strict", is_flag=True, help="Warnings fail, except on what local deployments leave out.")
def validate(target: str | None, variables: dict[str, str], output: str, strict: bool) -> int:
    """Report what a deployment or a run of the bundle would refuse.

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
    open_problems = [each for each in problems if each.rule not in LOCAL_RULES]
    return 2 if errors or (strict and open_problems) else 0


@bundle.command()
@bundle_options
@local_option
@output_option
def summary(target: str | None, variables: dict[str, str], local: bool, output: str) -> int:
    """Show what the bundle deploys, where to, and when its jobs start.

    The ids are those of the resources that are deployed to this machine's workspace; `--local` chooses it
    whatever host the bundle names.
    """
    from lakeward.bundle import summarize_bundle, summary_lines

    bundle = load_here(target, variables)
    is_local = local or is_for_this_machine(bundle)
    host, ids = _local_deployment(bundle) if is_local else (bundle.config["workspace"].get("host"), {})
    summary = summarize_bundle(bundle, now=datetime.now(timezone.utc), host=host, deployed=ids)
    if output == "json":
        print(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        for line in summary_lines(summary):
            print(plain(line, keep=""))
    return 0


bundle.add_command(deploy)
bundle.add_command(destroy)
bundle.add_command(run)


def _local_deployment(bundle: Bundle) -> tuple[str | None, Mapping[str, str]]:
    """Return the host of the target's workspace, if it runs, and the ids of what is deployed there."""
    from lakeward.bundle import stored_ids
    from lakeward.session import Settings

    settings = Settings.here(bundle.root, target=bundle.target)
    api = running_workspace(settings)
    return (None if api is None else api.host, stored_ids(bundle, settings.workspace))


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
    found = [format_count(number, word) for word, number in counts.items() if number]
    return "\n".join([*lines, f"Found {' and '.join(found)}." if found else "Validation OK."])
