"""Settings of a lakehouse and its session."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lakeward.errors import ConfigurationError
from lakeward.patching import original
from lakeward.session.declared_catalogs import read_catalogs, read_default_catalog
from lakeward.session.mount_table import BIND_MOUNTS_VARIABLE, read_mounts
from lakeward.session.runtimes.profiles import DEFAULT_PROFILE


def project_file(folder: Path) -> Path | None:
    """Return the pyproject.toml of `folder` or of its nearest parent that has one."""
    return next((f for p in (folder, *folder.parents) if (f := p / "pyproject.toml").is_file()), None)


def project_table(folder: Path) -> dict[str, Any]:
    """Return `[tool.lakeward]` of the project that contains `folder`; empty without one.

    Raises ConfigurationError for invalid TOML.
    """
    file = project_file(folder)
    if file is None:
        return {}
    # Imported here: this package must be importable without any installed package.
    from lakeward.toml_parser import tomllib

    try:
        content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            "PYPROJECT_INVALID", f"{file} is not valid TOML: {error}.", next_step="Correct the file."
        ) from None
    except OSError:
        return {}
    table = (content.get("tool") or {}).get("lakeward") or {}
    if not isinstance(table, dict):
        raise ConfigurationError(
            "PYPROJECT_INVALID",
            f"{file}: `tool.lakeward` is not a table.",
            next_step="Write the settings below a line [tool.lakeward].",
        )
    return table


def _user(environ: Mapping[str, str]) -> str:
    name = environ.get("USER") or environ.get("LOGNAME")
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"


def _bind_mounts(table: Mapping[str, object], environ: Mapping[str, str]) -> bool:
    if environ.get(BIND_MOUNTS_VARIABLE):
        return environ[BIND_MOUNTS_VARIABLE] == "1"
    value = table.get("bind-mounts", False)
    if not isinstance(value, bool):
        raise ConfigurationError(
            "PYPROJECT_INVALID",
            f"`bind-mounts` in [tool.lakeward] must be true or false, found {value!r}.",
            next_step="Write `bind-mounts = true` or `bind-mounts = false`.",
        )
    return value


@dataclass(frozen=True)
class Settings:
    """The lakehouse of a session and its Spark settings.

    `root` is the working folder (the bundle's, if there is one), `home` the state folder, `target` one of its
    lakehouses. `conf` holds the user's Spark settings, which always win; `mounts` further path mappings as
    (prefix, folder), and `bind_mounts` makes the mapped paths visible to native libraries (Linux).
    `catalogs` are created with the session, besides `catalog`. `warehouse_dir` stores tables outside of
    `home`. `runtime_chosen` is False if `profile` is only the default.
    """

    root: Path
    home: Path
    target: str = "local"
    catalog: str = "main"
    schema: str = "default"
    profile: str = DEFAULT_PROFILE
    user: str = "user"
    conf: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[tuple[str, str], ...] = ()
    catalogs: tuple[str, ...] = ()
    warehouse_dir: Path | None = None
    bind_mounts: bool = False
    runtime_chosen: bool = field(default=True, compare=False)

    @classmethod
    def here(
        cls,
        root: Path | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
        target: str = "local",
        catalog: str | None = None,
        schema: str = "default",
        profile: str | None = None,
        conf: Mapping[str, str] | None = None,
        mounts: tuple[tuple[str, str], ...] = (),
    ) -> Settings:
        """Return the settings of a folder (default: the current one); LAKEWARD_HOME replaces its `.lakeward`.

        The runtime profile is LAKEWARD_PROFILE's, else `profile` (of the bundle), else `runtime` of
        `[tool.lakeward]` in the folder's pyproject.toml, else LAKEWARD_PINNED_RUNTIME's, else the newest.

        Mounts are those of `[tool.lakeward.mounts]` in the same file, of LAKEWARD_MOUNTS (`--mount`) and
        `mounts`; for one prefix the later wins.
        `bind_mounts` is LAKEWARD_BIND_MOUNTS, else `bind-mounts` of `[tool.lakeward]`. Declared catalogs are
        `catalogs` of `[tool.lakeward]` and those of LAKEWARD_CATALOGS, the catalog of names without one is
        `catalog`, else `default-catalog` of `[tool.lakeward]`, else `main`.

        Raises:
            ConfigurationError: PYPROJECT_INVALID, MOUNT_INVALID or CATALOGS_INVALID.
        """
        # Where paths are mapped already, os.getcwd() names the platform's path of a mounted folder.
        folder = root.absolute() if root else Path(original(os, "getcwd")())
        table = project_table(folder)
        runtime = table.get("runtime")
        known_mounts = dict(read_mounts(project_file(folder), table, environ))
        home = (
            Path(environ["LAKEWARD_HOME"]).absolute()
            if environ.get("LAKEWARD_HOME")
            else folder / ".lakeward"
        )
        chosen = (
            environ.get("LAKEWARD_PROFILE")
            or profile
            or (None if runtime is None else str(runtime))
            or environ.get("LAKEWARD_PINNED_RUNTIME")
        )
        return cls(
            root=folder,
            home=home,
            target=target,
            catalog=catalog or read_default_catalog(table),
            schema=schema,
            profile=chosen or DEFAULT_PROFILE,
            runtime_chosen=chosen is not None,
            user=_user(environ),
            conf=dict(conf or {}),
            mounts=tuple({**known_mounts, **dict(mounts)}.items()),
            catalogs=read_catalogs(table, environ),
            bind_mounts=_bind_mounts(table, environ),
        )

    def with_(self, **changes: object) -> Settings:
        """Return a copy with `changes`."""
        return replace(self, **changes)  # type: ignore[arg-type]  # dataclasses.replace checks the names

    @property
    def state(self) -> Path:
        """Return the folder of the target's state."""
        return self.home / self.target

    @property
    def warehouse(self) -> Path:
        """Return the folder of tables: `<catalog>/<schema>/<table>`."""
        return self.warehouse_dir or self.state / "warehouse"

    @property
    def volumes(self) -> Path:
        """Return the folder of `/Volumes`: `<catalog>/<schema>/<volume>`."""
        return self.state / "volumes"

    @property
    def dbfs(self) -> Path:
        """Return the folder of `dbfs:/` and `/dbfs`."""
        return self.state / "dbfs"

    @property
    def workspace(self) -> Path:
        """Return the folder of `/Workspace`."""
        return self.state / "workspace"

    @property
    def pipelines(self) -> Path:
        """Return the folder of checkpoints and event logs, one subfolder per pipeline."""
        return self.state / "pipelines"

    @property
    def jobs(self) -> Path:
        """Return the folder of runs and locks, one subfolder per job."""
        return self.state / "jobs"

    @property
    def secrets(self) -> Path:
        """Return the folder of secret scopes."""
        return self.state / "secrets"
