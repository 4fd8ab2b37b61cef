"""`lakeward check [PATH]`: what of a repository will run, without running it."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path

import click

from lakeward.cli.options import GivenPath, json_option, mount_option, runtime_option


@click.command(short_help="Show what of the code in a folder will run here.")
@click.argument("path", metavar="[PATH]", default=".", type=GivenPath())
@click.option(
    "-t", "--target", metavar="T", help="Target of bundles; without it the default one, else all targets."
)
@mount_option
@runtime_option
@json_option
@click.option(
    "--strict",
    is_flag=True,
    help="Exit 1 when something is refused, needs a seed, cannot be read, or fails on the runtime's compute.",
)
@click.option("--all", "everything", is_flag=True, help="List every finding, not only the first 60 lines.")
@click.option("--patches", is_flag=True, help="List instead what lakeward changes in other people's classes.")
def check(
    path: Path, target: str | None, as_json: bool, strict: bool, everything: bool, patches: bool
) -> int:
    """Report what of the code at PATH (default: this folder) will run here; nothing is started.

    Python, notebooks, SQL, the bundle and requirements are read. For each use of the platform there is a
    verdict, its places, and what to do.
    """
    if patches:
        return show_patches(as_json=as_json)
    from lakeward.check import as_object
    from lakeward.check import check as look_through
    from lakeward.cli.check_report import LIMIT, report_lines
    from lakeward.cli.command_context import require_path

    require_path(path)
    report = look_through(path, target=target)
    if as_json:
        print(json.dumps(as_object(report), ensure_ascii=False))
    else:
        for line in report_lines(report, terminal=sys.stdout.isatty(), limit=None if everything else LIMIT):
            print(line)
    return 1 if strict and (report.blocking or report.unread) else 0


def show_patches(*, as_json: bool) -> int:
    """Print every change with its reason, the changes of one reason together."""
    from lakeward.patching import list_patches

    found = list_patches()
    if as_json:
        rows = [
            {"owner": each.owner_name, "attribute": each.attribute, "layer": each.layer, "why": each.reason}
            for each in found
        ]
        print(json.dumps({"patches": rows}, ensure_ascii=False))
        return 0
    print(f"{len(found)} changes to other people's classes and modules; each can be removed alone.")
    for reason, patches in groupby(found, key=lambda patch: patch.reason):
        print(f"\n{reason}")
        for patch in patches:
            print(f"  {patch.owner_name}.{patch.attribute}")
    return 0
