"""Profiles of dbt whose connection is the local workspace.

Source: https://docs.getdbt.com/docs/core/connect-data-platform/databricks-setup and
https://docs.getdbt.com/docs/core/connect-data-platform/profiles.yml
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    fields = _fields(variables, _CONNECTION | _NAMES)
    output = {"type": "databricks", **fields, "threads": 4}
    return {name: {"target": target, "outputs": {target: output}}}


@dataclass(frozen=True)
class UserProfile:
    """The profile that a command line of dbt uses.

    Attributes:
        profiles: The content of the user's `profiles.yml`, empty without one.
        name: The profile of the project.
        target: The output that the command line selects, None without one.
        replaced: Fields of the outputs, catalog and schema, that the command line has other values for.
        given: The variables of the option `--vars`.
    """

    profiles: Mapping[str, Any]
    name: str
    target: str | None = None
    replaced: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_missing(self) -> bool:
        """Return whether dbt gets the profile of a warehouse, because the user has no such profile."""
        return self._profile is None

    def catalog(self, environ: Mapping[str, str] = os.environ) -> str | None:
        """Return the catalog of the output that dbt uses; None where it has none, or an expression of Jinja.

        Of expressions, those of variables are known: `dev_{{ env_var('CATALOG', 'main') | lower }}`.
        """
        if "catalog" in self.replaced:
            return self.replaced["catalog"]
        output = self._output(environ)
        name = str(output.get("catalog") or output.get("database") or "")
        stated = with_variables(name, environ, self.given)
        return stated if stated and "{" not in stated else None

    def connected(
        self, variables: Mapping[str, str], environ: Mapping[str, str] = os.environ
    ) -> dict[str, Any]:
        """Return the content of a `profiles.yml` with this profile, its outputs connected by `variables`.

        Schema, catalog, threads and other fields are those of the user's profile. A profile that is
        missing is the one of a warehouse.

        Args:
            variables: The result of `connection_variables`.
            environ: The other variables of the process.

        Raises:
            ConfigurationError: DBT_VARIABLE_MISSING where a variable for the catalog or the schema is not
                set, DBT_PROFILE_NOT_SUPPORTED where the output is for another platform.
        """
        environ = {**environ, **variables}
        self._require_variables(environ)
        profile = self._profile
        if profile is None:
            profile = warehouse_profile(self.name, variables, target=self.target or _OWN_TARGET)[self.name]
        self._require_databricks(profile, environ)
        connected = {
            key: {**self._kept(output), **_fields(variables, _CONNECTION), **self.replaced}
            if _is_databricks(output)
            else output
            for key, output in profile["outputs"].items()
        }
        return {self.name: {**profile, "outputs": connected}}

    @property
    def _profile(self) -> Mapping[str, Any] | None:
        """Return the declared profile; None without outputs."""
        profile = self.profiles.get(self.name)
        if isinstance(profile, dict) and isinstance(profile.get("outputs"), dict):
            return profile
        return None

    def _output(self, environ: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the declared output that dbt uses; empty without one."""
        profile = self._profile
        output = profile["outputs"].get(self._selected(profile, environ)) if profile is not None else None
        return output if isinstance(output, dict) else {}

    def _selected(self, profile: Mapping[str, Any], environ: Mapping[str, str]) -> str:
        """Return the name of the output that dbt uses: that of the command line, else that of the profile."""
        stated = str(profile.get("target") or "")
        return self.target or with_variables(stated, environ, self.given) or _DEFAULT_TARGET

    def _require_variables(self, environ: Mapping[str, str]) -> None:
        """Raise ConfigurationError (DBT_VARIABLE_MISSING) if a variable for catalog or schema is not set."""
        output = self._output(environ)
        for name in ("catalog", "database", "schema"):
            option = "schema" if name == "schema" else "catalog"
            for variable in EXPRESSION.finditer(str(output.get(name) or "")):
                is_set = variable["otherwise"] is not None or variable["name"] in environ
                if variable["kind"] == "env_var" and not is_set and option not in self.replaced:
                    unset = variable["name"]
                    raise ConfigurationError(
                        "DBT_VARIABLE_MISSING",
                        f"The profile `{self.name}` reads its {name} from {unset}, which is not set.",
                        next_step=f"Set it, or name one: lakeward dbt --{option} NAME …",
                    )

    def _require_databricks(self, profile: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        """Raise ConfigurationError (DBT_PROFILE_NOT_SUPPORTED) if dbt uses an output of another platform."""
        outputs, selected = profile["outputs"], self._selected(profile, environ)
        kind = (outputs.get(selected) or {}).get("type")
        if kind is None or kind == "databricks":
            return
        others = [key for key, output in outputs.items() if _is_databricks(output)]
        raise ConfigurationError(
            "DBT_PROFILE_NOT_SUPPORTED",
            f"The output `{selected}` of the profile `{self.name}` is for {kind}, not for databricks.",
            next_step=f"Select another one: --target {others[0]}."
            if others
            else "Add an output of the type databricks to the profile.",
        )

    def _kept(self, output: Mapping[str, Any]) -> dict[str, Any]:
        # `database` is another name of the catalog.
        left_out = (*_REPLACED, *(("database",) if "catalog" in self.replaced else ()))
        return {name: value for name, value in output.items() if name not in left_out}


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


def _fields(variables: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of an output that read `variables`; `names` has the variable of each field."""
    return {key: f"{{{{ env_var('{name}') }}}}" for key, name in names.items() if name in variables}
