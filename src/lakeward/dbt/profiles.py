"""Profiles of dbt whose connection is the local workspace.

Source: https://docs.getdbt.com/docs/core/connect-data-platform/databricks-setup and
https://docs.getdbt.com/docs/core/connect-data-platform/profiles.yml
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.dbt.variables import EXPRESSION, with_variables
from lakeward.dbt.yaml_files import load_yaml
from lakeward.dbutils import record_secret
from lakeward.errors import ConfigurationError
from lakeward.workspace_connection import NO_WORKSPACE, WORKSPACE_ID, process_connection

_PROFILES_FILE = "profiles.yml"
_DEFAULT_TARGET = "default"
_OWN_TARGET = "local"
# What the platform sets for the tasks of a cluster.
_CLUSTER = "lakeward-local"
_CONNECTION = {"host": "DBT_HOST", "http_path": "DBT_HTTP_PATH", "token": "DBT_ACCESS_TOKEN"}
_NAMES = {"catalog": "DBT_CATALOG", "schema": "DBT_SCHEMA"}
# Fields of a profile that say where the warehouse is and who connects.
_REPLACED = (
    *_CONNECTION,
    *("auth_type", "client_id", "client_secret", "azure_client_id", "azure_client_secret"),
    *("oauth_redirect_url", "oauth_scopes", "connection_parameters"),
)


def connection_variables(*, warehouse: str, catalog: str, schema: str) -> dict[str, str]:
    """Return the variables of the connection to this process's workspace, by which profiles name it.

    Args:
        warehouse: The id of a SQL warehouse; without one, profiles have a path of their own.
        catalog: The catalog; without one, that of the workspace.
        schema: The schema.
    """
    connection = process_connection() or NO_WORKSPACE
    record_secret(connection.token.encode())
    found = {
        # The name that the connector, and what else dbt-databricks uses, are led from to the workspace.
        "DBT_HOST": NO_WORKSPACE.host.removeprefix("https://"),
        "DBT_HTTP_PATH": f"/sql/1.0/warehouses/{warehouse}" if warehouse else "",
        "DBT_ACCESS_TOKEN": connection.token,
        "DBT_ORG_ID": str(WORKSPACE_ID),
        "DBT_CLUSTER_ID": _CLUSTER,
        "DBT_CATALOG": catalog,
        "DBT_SCHEMA": schema,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    }
    return {name: value for name, value in found.items() if value}


def warehouse_profile(
    name: str, variables: Mapping[str, str], *, target: str = "databricks"
) -> dict[str, Any]:
    """Return the profile that the platform generates for a warehouse: its values come from the variables."""
    fields = {
        field: _env_var(variable)
        for field, variable in (_CONNECTION | _NAMES).items()
        if variable in variables
    }
    output = {"type": "databricks", **fields, "threads": 4}
    return {name: {"target": target, "outputs": {target: output}}}


def local_profiles(
    profiles: Mapping[str, Any],
    name: str,
    variables: Mapping[str, str],
    *,
    target: str | None = None,
    replaced: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the profile `name` with the connection of the variables in its outputs for Databricks.

    Schema, catalog, threads and other fields are those of the user's profile. A profile that is missing is
    the one of a warehouse.

    Args:
        profiles: The content of the user's `profiles.yml`.
        name: The profile of the project.
        variables: The result of `connection_variables`.
        target: The output that the command line selects; that of the profile without one.
        replaced: Fields of the outputs that the command line has other values for.

    Raises:
        ConfigurationError: DBT_PROFILE_NOT_SUPPORTED where the selected output is for another platform.
    """
    profile = profiles.get(name)
    outputs = profile.get("outputs") if isinstance(profile, dict) else None
    if not isinstance(profile, dict) or not isinstance(outputs, dict):
        # As `has_outputs`, which types cannot follow.
        own = warehouse_profile(name, variables, target=target or _OWN_TARGET)
        return local_profiles(own, name, variables, replaced=replaced) if replaced else own
    selected = selected_output(profile, target)
    kind = (outputs.get(selected) or {}).get("type") if selected in outputs else None
    if kind is not None and kind != "databricks":
        others = [key for key, each in outputs.items() if _is_databricks(each)]
        raise ConfigurationError(
            "DBT_PROFILE_NOT_SUPPORTED",
            f"The output `{selected}` of the profile `{name}` is for {kind}, not for databricks.",
            next_step=f"Select another one: --target {others[0]}."
            if others
            else "Add an output of the type databricks to the profile.",
        )
    given = dict(replaced or {})
    connected = {
        key: {**_kept(each, given), **_connection(variables), **given} if _is_databricks(each) else each
        for key, each in outputs.items()
    }
    return {name: {**profile, "outputs": connected}}


def has_outputs(profiles: Mapping[str, Any], name: str) -> bool:
    """Return whether the user's `profiles.yml` has the profile `name`, with outputs."""
    profile = profiles.get(name)
    return isinstance(profile, dict) and isinstance(profile.get("outputs"), dict)


def selected_output(
    profile: Mapping[str, Any], target: str | None, environ: Mapping[str, str] = os.environ
) -> str:
    """Return the name of the output that dbt uses: that of the command line, else that of the profile."""
    return target or with_variables(str(profile.get("target") or ""), environ) or _DEFAULT_TARGET


def catalog_of(
    profiles: Mapping[str, Any],
    name: str,
    target: str | None,
    environ: Mapping[str, str] = os.environ,
    given: Mapping[str, Any] | None = None,
) -> str | None:
    """Return the catalog of the output that dbt uses; None where it has none, or an expression of Jinja.

    Of expressions, those of variables are known: `dev_{{ env_var('CATALOG', 'main') | lower }}`.
    """
    output = _output(profiles, name, target, environ)
    stated = with_variables(str(output.get("catalog") or output.get("database") or ""), environ, given)
    return stated if stated and "{" not in stated else None


def missing_variables(
    profiles: Mapping[str, Any], name: str, target: str | None, environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the fields for catalog and schema whose variable is not set, with its name."""
    output = _output(profiles, name, target, environ)
    found = {}
    for field in ("catalog", "database", "schema"):
        for variable in EXPRESSION.finditer(str(output.get(field) or "")):
            is_set = variable["otherwise"] is not None or variable["name"] in environ
            if variable["kind"] == "env_var" and not is_set:
                found[field] = variable["name"]
    return found


def _output(
    profiles: Mapping[str, Any], name: str, target: str | None, environ: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return the output of a profile that dbt uses; empty without one."""
    profile = profiles.get(name) or {}
    outputs = profile.get("outputs") if isinstance(profile, dict) else None
    output = outputs.get(selected_output(profile, target, environ)) if isinstance(outputs, dict) else None
    return output if isinstance(output, dict) else {}


def find_profiles(
    project: Path, given: str | None, environ: Mapping[str, str] = os.environ, home: Path | None = None
) -> Mapping[str, Any]:
    """Return the content of the user's `profiles.yml`, from where dbt looks for it; empty without one.

    Args:
        project: The folder of the project; its own profiles come before those of the user.
        given: The folder of the option `--profiles-dir`.
        environ: The variables of the process.
        home: The folder of the user.

    Raises:
        ConfigurationError: DBT_PROFILE_INVALID for a file that cannot be read.
    """
    folder = given or environ.get("DBT_PROFILES_DIR")
    places = (Path(folder),) if folder else (Path.cwd(), project, (home or Path.home()) / ".dbt")
    files = (place / _PROFILES_FILE for place in places)
    return next((_read_profiles(file) for file in files if file.is_file()), {})


def _read_profiles(file: Path) -> Mapping[str, Any]:
    from ruamel.yaml.error import YAMLError

    try:
        found = load_yaml(file)
    except (OSError, UnicodeError, YAMLError) as error:
        message = f"{file} cannot be read: {' '.join(str(error).split())}"
        raise ConfigurationError(
            "DBT_PROFILE_INVALID", message, next_step="Correct the file, or name another one: --profiles-dir."
        ) from None
    return found if isinstance(found, dict) else {}


def write_profiles(folder: Path, profiles: Mapping[str, Any]) -> None:
    """Write `profiles.yml` into a new folder that only the user can read."""
    from ruamel.yaml import YAML

    folder.mkdir(mode=0o700)
    with (folder / _PROFILES_FILE).open("w", encoding="utf-8") as file:
        YAML(typ="safe").dump(dict(profiles), file)


def _is_databricks(output: object) -> bool:
    return isinstance(output, dict) and output.get("type") == "databricks"


def _kept(output: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    # `database` is another name of the catalog.
    left_out = (*_REPLACED, *(("database",) if "catalog" in given else ()))
    return {field: value for field, value in output.items() if field not in left_out}


def _connection(variables: Mapping[str, str]) -> dict[str, str]:
    return {field: _env_var(name) for field, name in _CONNECTION.items() if name in variables}


def _env_var(name: str) -> str:
    return f"{{{{ env_var('{name}') }}}}"
