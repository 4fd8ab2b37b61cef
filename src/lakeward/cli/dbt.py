"""`lakeward dbt ARGUMENTS`: dbt in its project, with the lakehouse of this folder as its warehouse."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.options import (
    bundle_options,
    cold_option,
    mount_option,
    runtime_option,
    schema_options,
    set_variable,
)

if TYPE_CHECKING:
    from lakeward.dbt import DbtProject, UserProfile
    from lakeward.environments import Layer

_PROFILES_OPTION = "--profiles-dir"
_DEFAULT_SCHEMA = "default"
_PACKAGES = ("dbt-core", "dbt-databricks")


@click.command(
    context_settings={
        "ignore_unknown_options": True,
        # What follows dbt's own command belongs to dbt: `-t` is its target there.
        "allow_interspersed_args": False,
    },
    short_help="Run dbt on the lakehouse of this folder.",
)
@bundle_options
@schema_options
@mount_option
@runtime_option
@click.option(
    "--with",
    "added",
    multiple=True,
    metavar="PKG",
    help="Install this package, too, as dbt-databricks==1.10.19.",
)
@cold_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="DBT ARGUMENTS…")
def dbt(
    arguments: tuple[str, ...],
    target: str | None,
    variables: dict[str, str],
    catalog: str | None,
    schema: str | None,
    added: tuple[str, ...],
) -> int:
    """Run dbt with the project and the profile of this folder; its warehouse is served here.

    Options come before dbt's command, everything from there on is dbt's: lakeward dbt build --select orders.
    Schema and catalog are those of the profile, without a profile main.default. dbt-databricks is installed
    on first use, in the version that the repository declares. dbt's exit code is returned.
    """
    from lakeward.cli.command_context import find_context
    from lakeward.cli.dbt_failures import failure_hints, results_file
    from lakeward.cli.workspace_on_demand import workspace_on_demand
    from lakeward.dbt import (
        DbtProject,
        connection_variables,
        dbt_process,
        declared_catalogs,
        find_project,
        write_profiles,
    )
    from lakeward.workspace import WAREHOUSE_ID

    place = Path(_value(arguments, "--project-dir") or os.environ.get("DBT_PROJECT_DIR") or ".")
    # Without a project, dbt has commands such as `init`, and reports it for others.
    project = find_project(place.absolute()) or DbtProject(place, {})
    layer = _layer(project, added)
    profile = _profile(project, arguments, catalog=catalog, schema=schema)
    # On the platform they exist.
    names = (profile.catalog(), *declared_catalogs(project, profile.given))
    _create_catalogs([name for name in names if name])
    context = find_context(target, variables, needs_bundle=False)
    with (
        tempfile.TemporaryDirectory(prefix="lakeward-dbt-") as temporary,
        workspace_on_demand(
            context.settings, lambda line: click.echo(line, err=True, nl=False), context.bundle
        ),
    ):
        # A profile of the user may read the variables with other defaults, so that they are not set for it.
        own = {"catalog": context.settings.catalog, "schema": _DEFAULT_SCHEMA} if profile.is_missing else {}
        connection = connection_variables(
            warehouse=WAREHOUSE_ID,
            catalog=catalog or os.environ.get("DBT_CATALOG") or own.get("catalog", ""),
            schema=schema or os.environ.get("DBT_SCHEMA") or own.get("schema", ""),
        )
        profiles = Path(temporary) / "profiles"
        write_profiles(profiles, profile.connected(connection))
        environ = {**(layer.environ() if layer is not None else os.environ), **connection}
        python = layer.python if layer is not None else None
        command = dbt_process(list(_without_profiles(arguments)), python)
        started = time.time()
        code = _run(command, {**environ, "DBT_PROFILES_DIR": str(profiles)})
    if code:
        results = results_file(project.folder, project.content, _value(arguments, "--target-path"))
        for hint in failure_hints(results, started, context.settings):
            click.echo(f"  → {hint}", err=True)
    return code


def _profile(
    project: DbtProject, arguments: Sequence[str], *, catalog: str | None, schema: str | None
) -> UserProfile:
    """Return the profile of a project.

    Args:
        project: The project.
        arguments: The command line of dbt.
        catalog: The catalog to use instead of the profile's.
        schema: The schema to use instead of the profile's.
    """
    from lakeward.dbt import UserProfile, find_profiles, parse_variables

    given = {"catalog": catalog, "schema": schema}
    return UserProfile(
        find_profiles(project.folder, _value(arguments, _PROFILES_OPTION)),
        _value(arguments, "--profile") or os.environ.get("DBT_PROFILE") or project.profile,
        _value(arguments, "--target") or _value(arguments, "-t") or os.environ.get("DBT_TARGET"),
        {field: value for field, value in given.items() if value is not None},
        parse_variables(_value(arguments, "--vars")),
    )


def _create_catalogs(names: Iterable[str]) -> None:
    """Let each session that starts during the command create these catalogs, as those of the project."""
    from lakeward.session import CATALOGS_VARIABLE, extend_catalogs

    set_variable(click.get_current_context(), CATALOGS_VARIABLE, extend_catalogs(os.environ, names))


def _layer(project: DbtProject, added: Sequence[str]) -> Layer | None:
    """Return the environment with dbt and its adapter; None where this one has them."""
    from packaging.utils import canonicalize_name

    from lakeward.dbt import has_dbt
    from lakeward.environments import Layers, declared_requirements

    if has_dbt("databricks") and not added:
        return None

    def say(line: str) -> None:
        click.echo(line, err=True)

    lines, relaxed = project.requirements(declared_requirements(project.folder, _PACKAGES))
    if relaxed:
        say(f"lakeward dbt: {', '.join(lines.values())} instead of {', '.join(relaxed)}")
    named = {canonicalize_name(re.split(r"[^\w.-]", each, maxsplit=1)[0]) for each in added}
    kept = [line for name, line in lines.items() if name not in named]
    return Layers(say=say).get([*kept, *added], origin="lakeward dbt", folder=project.folder)


def _value(arguments: Sequence[str], option: str) -> str | None:
    """Return the last value of an option of dbt."""
    from lakeward.cli.repository import values_of

    return next(reversed(values_of(arguments, option)), None)


def _without_profiles(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the arguments without the folder of the profiles, which are in another one now."""
    following = iter(arguments)
    for each in following:
        if each == _PROFILES_OPTION:
            next(following, None)
        elif not each.startswith(f"{_PROFILES_OPTION}="):
            yield each


def _run(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run dbt in this terminal; return its exit code. Ctrl-C is dbt's: it cancels what its threads run."""
    with subprocess.Popen(command, env=dict(environ)) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise
