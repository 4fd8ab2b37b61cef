"""Options that several commands share, and the readers of their values."""

from __future__ import annotations

import csv
import os
import shlex
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import Any, TypedDict

import click

from lakeward.errors import UsageError
from lakeward.workspace_connection import restore_variables

Decorator = Callable[[Any], Any]


class KeyValue(click.ParamType):  # type: ignore[type-arg]  # no generic class before click 8.4
    """`key=value`, as a pair; the value may hold further `=`."""

    name = "key=value"

    def __init__(self, form: str = "key=value") -> None:
        self.form = form

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value[0], value[1]
        key, separator, rest = str(value).partition("=")
        if not separator or not key:
            self.fail(f"{value!r} is not of the form {self.form}.", param, ctx)
        return key, rest


class KeyValues(KeyValue):
    """`k=v` or `k=v,k=v`, as the Databricks CLI reads it: with one `=`, commas belong to the value."""

    name = "key=value"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        text = str(value)
        if text.count("=") < 2:
            return (super().convert(text, param, ctx),)
        try:
            rows = list(csv.reader([text], strict=True))
        except csv.Error:
            self.fail(f"{text!r} cannot be read as a list of {self.form}.", param, ctx)
        return tuple(super(KeyValues, self).convert(pair, param, ctx) for pair in rows[0])


class GivenPath(click.Path):
    """A path. An empty one, as of an unset variable of the shell, is a mistake, not the current folder."""

    def __init__(self) -> None:
        # Whether a file can be read is checked here, for a message with the way out.
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty. Name a file or folder; `.` is the current one.", param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.exists() and not os.access(path, os.R_OK):
            raise UsageError(
                "PATH_NOT_READABLE",
                f"You have no permission to read {path}.",
                next_step=f"Give yourself the permission: chmod u+r {shlex.quote(str(path))}",
            )
        return path


class Names(click.ParamType):  # type: ignore[type-arg]
    """`a,b`, as a tuple of names."""

    name = "names"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in str(value).split(",") if name.strip())
        if not names:
            self.fail("give at least one name.", param, ctx)
        return names


def gather_names(
    _ctx: click.Context, _param: click.Parameter, value: Iterable[tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the names of an option given several times, in order, each once."""
    return tuple(dict.fromkeys(name for names in value for name in names))


def as_mapping(
    _ctx: click.Context, _param: click.Parameter, value: Iterable[tuple[str, str]]
) -> dict[str, str]:
    return dict(value)


def as_merged_mapping(
    _ctx: click.Context, _param: click.Parameter, value: Iterable[Iterable[tuple[str, str]]]
) -> dict[str, str]:
    return dict(pair for pairs in value for pair in pairs)


def mapping_option(flag: str, name: str, *, help: str) -> Decorator:
    """Return a repeatable option with values `K=V`; the command gets a dictionary as `name`."""
    return click.option(
        flag, name, type=KeyValue(), multiple=True, callback=as_mapping, metavar="K=V", help=help
    )


def mappings_option(flag: str, name: str, *, help: str) -> Decorator:
    """Return `mapping_option` as in the Databricks CLI: `K=V,K=V` is a value, too."""
    return click.option(
        *(flag, name),
        type=KeyValues(),
        multiple=True,
        callback=as_merged_mapping,
        metavar="K=V[,K=V…]",
        help=help,
    )


def names_option(*names: str, metavar: str, help: str) -> Decorator:
    """Return an option that may be given several times, `A,B` each; the command gets all names, each once."""
    return click.option(
        *names, type=Names(), multiple=True, callback=gather_names, metavar=metavar, help=help
    )


def combine_decorators(*decorators: Decorator) -> Decorator:
    """Return the decorators as one, in the order in which `--help` shows them."""
    return lambda function: reduce(lambda inner, wrap: wrap(inner), reversed(decorators), function)


def be_verbose(_ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        os.environ["LAKEWARD_VERBOSE"] = "1"
        os.environ.setdefault("LAKEWARD_LOG_LEVEL", "warn")


verbose_option: Decorator = click.option(
    "--verbose", is_flag=True, expose_value=False, callback=be_verbose, help="Show Spark's own log too."
)


watch_option: Decorator = click.option(
    "--watch",
    is_flag=True,
    help="Show the micro-batches of streaming queries: rates, backlog, state, watermark.",
)


def be_cold(_ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        os.environ["LAKEWARD_COLD"] = "1"


def set_variable(ctx: click.Context, name: str, value: str) -> None:
    """Set a variable of the environment until the command ends."""
    before = {name: os.environ.get(name)}
    ctx.call_on_close(lambda: restore_variables(before))
    os.environ[name] = value


def keep_mounts(ctx: click.Context, _param: click.Parameter, value: Iterable[tuple[str, str]]) -> None:
    """Keep the mounts of the command line in LAKEWARD_MOUNTS until the command ends."""
    from lakeward.session import MOUNTS_VARIABLE, encode_mounts, read_mount, read_mounts

    given = dict(read_mount(prefix, folder, Path.cwd(), "--mount") for prefix, folder in value)
    if not given:
        return
    set_variable(ctx, MOUNTS_VARIABLE, encode_mounts({**dict(read_mounts(None, {})), **given}))


mount_option: Decorator = click.option(
    "--mount",
    type=KeyValue("FROM=TO"),
    multiple=True,
    expose_value=False,
    callback=keep_mounts,
    metavar="FROM=TO",
    help="Folder for a path prefix, as s3://bucket=./bucket; [tool.lakeward.mounts] lists permanent ones.",
)


def keep_runtime(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Keep the runtime of the command line in LAKEWARD_PROFILE until the command ends."""
    from lakeward.session import get_profile

    if value is None:
        return
    set_variable(ctx, "LAKEWARD_PROFILE", get_profile(value).name)


runtime_option: Decorator = click.option(
    "--runtime",
    expose_value=False,
    callback=keep_runtime,
    metavar="R",
    help="Databricks runtime, as 16.4 or serverless; the bundle's, the project's or the newest without it.",
)


def _environment_options(*, expose_value: bool) -> Decorator:
    texts = {
        ("--with", "added"): "Install this package into the repository's environment, too.",
        ("--without", "excluded"): "Leave this package out of the repository's environment.",
    }
    return combine_decorators(
        *(
            click.option(*names, multiple=True, expose_value=expose_value, metavar="PKG", help=text)
            for names, text in texts.items()
        )
    )


environment_options = _environment_options(expose_value=True)
"""The command gets `added` and `excluded`, tuples of requirements and of package names."""
entered_environment_options = _environment_options(expose_value=False)
"""The same for commands that run inside the environment: `repository` has read the values before."""

cold_option: Decorator = click.option(
    "--cold", is_flag=True, expose_value=False, callback=be_cold, help="Start a JVM for this command alone."
)

output_option: Decorator = click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What is printed on stdout.",
)
json_option: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else."
)

bundle_options: Decorator = combine_decorators(
    click.option("-t", "--target", metavar="T", help="Target of the bundle; its default when left out."),
    mappings_option("--var", "variables", help="Value of a bundle variable."),
)


def schema_name(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and (not value or any(sign in value for sign in "./ ")):
        raise click.BadParameter(f"{value!r} is not a name: names have no `.`, `/` or blank.")
    return value


schema_options: Decorator = combine_decorators(
    click.option(
        "--catalog", callback=schema_name, help="Catalog to begin in; it is created if it is missing."
    ),
    click.option(
        "--schema", callback=schema_name, help="Schema to begin in; it is created if it is missing."
    ),
)
"""What editors of the platform let users select above their code."""

local_option: Decorator = click.option(
    "--local", is_flag=True, help="Use this machine's workspace, whatever host the bundle names."
)


class RefreshOptions(TypedDict):
    """The options of `refresh_options` that select datasets, by the name of their parameter."""

    refresh: tuple[str, ...]
    full_refresh: tuple[str, ...]
    full_refresh_all: bool
    reset_checkpoints: tuple[str, ...]
    dry_run: bool


refresh_options: Decorator = combine_decorators(
    names_option("--refresh", metavar="A,B", help="Update these datasets alone."),
    names_option("--full-refresh", metavar="A,B", help="Truncate these datasets and reprocess all input."),
    click.option("--full-refresh-all", is_flag=True, help="Truncate all datasets and reprocess all input."),
    names_option(
        *("--reset-checkpoint", "reset_checkpoints"),
        metavar="A,B",
        help="Reset the checkpoints of these flows; their tables keep their rows.",
    ),
    click.option("--dry-run", is_flag=True, help="Find the errors without writing anything."),
    click.option(
        "--continuous",
        is_flag=True,
        help="Go on until Ctrl-C or SIGTERM; pipelines.trigger.interval is the time between two passes.",
    ),
    json_option,
    cold_option,
    verbose_option,
)
