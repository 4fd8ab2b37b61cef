"""`lakeward bundle …`: validating and showing a bundle without a workspace."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.deployment import deploy, destroy, run
from lakeward.cli.options import bundle_options, output_option

if TYPE_CHECKING:
    from lakeward.bundle import Bundle, Finding

__all__ = ["bundle"]


@click.group()
def bundle() -> None:
    """Validate and show the bundle in this folder, deploy and run it in a local workspace."""


@bundle.command()
@bundle_options
@output_option
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
def validate(target: str | None, variables: dict[str, str], output: str, strict: bool) -> int:
    """Tell what a deployment or a run of the bundle would refuse.

    With `-o json` the configuration of the target is printed with all of its references resolved, and what
    was found under `findings`.
    """
    from lakeward.bundle import findings

    found = load_here(target, variables)
    told = findings(found)
    errors = [each for each in told if each.severity == "error"]
    if output == "json":
        config = {**found.config, "findings": [each.as_json() for each in told]}
        print(json.dumps(config, ensure_ascii=False, indent=2))
    else:
        for each in told:
            print(each, file=sys.stderr)
        print(verdict(found, told))
    return 2 if errors or (strict and told) else 0


@bundle.command()
@bundle_options
@output_option
def summary(target: str | None, variables: dict[str, str], output: str) -> int:
    """Show what the bundle deploys, where to, and when its jobs start."""
    from lakeward.bundle import summarised, summary_text

    told = summarised(load_here(target, variables), now=datetime.now(timezone.utc))
    print(json.dumps(told, ensure_ascii=False, indent=2) if output == "json" else summary_text(told))
    return 0


def load_here(target: str | None, variables: dict[str, str]) -> Bundle:
    """The bundle of this folder or one above it; UsageError where there is none."""
    from lakeward.bundle import find_root, load
    from lakeward.cli.target import no_bundle

    root = find_root(Path.cwd())
    if root is None:
        raise no_bundle("a bundle was asked for", "make one with `lakeward init`")
    return load(root, target, variables)


def verdict(bundle: Bundle, told: tuple[Finding, ...]) -> str:
    """The last lines of a validation."""
    workspace = bundle.config["workspace"]
    mode = f" ({bundle.mode})" if bundle.mode else ""
    lines = [f"Bundle  {bundle.name}", f"Target  {bundle.target}{mode}"]
    lines += [f"User    {workspace['current_user']['userName']}", f"Path    {workspace['root_path']}", ""]
    counts = {word: sum(each.severity == word for each in told) for word in ("error", "warning")}
    said = [f"{number} {word}{'s' * (number != 1)}" for word, number in counts.items() if number]
    return "\n".join([*lines, f"Found {' and '.join(said)}." if said else "Validation OK."])


for command in (deploy, run, destroy):
    bundle.add_command(command)
