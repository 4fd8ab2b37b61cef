"""The project around the path that is checked: its mounts, its lakehouses, its runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.check.model import Place, Unread
from lakeward.errors import ConfigurationError, LakewardError

if TYPE_CHECKING:
    from lakeward.session import Settings


@dataclass(frozen=True)
class Project:
    """What the files and folders around `path` declare; `environ` has the environment's variables.

    Methods with `unread` add invalid declarations of pyproject.toml to it.
    """

    path: Path
    environ: Mapping[str, str]

    @property
    def base(self) -> str:
        """The prefix of the paths of the report."""
        return "" if self._folder == Path() else f"{self._folder.as_posix().rstrip('/')}/"

    def mounts(self, unread: list[Unread]) -> tuple[tuple[str, str], ...]:
        """Return the mounts of the project and of the environment."""
        from lakeward.session import project_file, project_table, read_mounts

        folder = self._folder.absolute()
        try:
            return read_mounts(project_file(folder), project_table(folder), self.environ)
        except ConfigurationError as error:
            if error.condition == "MOUNT_INVALID":
                unread.append(Unread(Place("pyproject.toml"), str(error)))
            return ()

    def tables(self, unread: list[Unread]) -> list[str]:
        """Return the tables that are there already, in a lakehouse of the project or as a declared seed."""
        from lakeward.seeds import declared_seeds

        if self._settings is None:
            return []
        try:
            declared = [str(name) for name in declared_seeds(self._settings)]
        except LakewardError as error:
            if error.condition == "SEED_DECLARATION_INVALID":
                unread.append(Unread(Place("pyproject.toml"), str(error)))
            return []
        tables = self._settings.home.glob("*/warehouse/*/*/*/_delta_log")
        return declared + [".".join(table.parts[-4:-1]) for table in tables]

    @cached_property
    def lakehouses(self) -> list[Path]:
        """The folders of the project's lakehouses, one for each target."""
        if self._settings is None:
            return []
        try:
            return [folder for folder in self._settings.home.glob("*") if folder.is_dir()]
        except OSError:
            return []

    def schemas(self) -> Iterator[str]:
        """Yield the declared catalogs, and the catalogs and schemas of the project's lakehouses."""
        if self._settings is not None:
            yield from self._settings.catalogs
        for folder in (each / "warehouse" for each in self.lakehouses):
            for schema in folder.glob("*/*"):
                if schema.is_dir():
                    yield from (schema.parent.name, f"{schema.parent.name}.{schema.name}")

    def runtime(self, target: str | None) -> str:
        """Return the runtime of the bundle that the path is a part of, else that of the project."""
        return self._runtime_of_bundle(target) or self._runtime_of_pins()

    @property
    def _folder(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent

    @cached_property
    def _settings(self) -> Settings | None:
        """The settings of the folder; None where they cannot be read."""
        from lakeward.session import Settings

        try:
            return Settings.here(self._folder, environ={})
        except (LakewardError, OSError):
            return None

    def _runtime_of_bundle(self, target: str | None) -> str | None:
        from lakeward.bundle import find_root, load_statically, runtime_of, targets_to_read

        root = find_root(self.path.absolute())
        if root is None:
            return None
        try:
            name = targets_to_read(root, target, self.environ)[0]
            return runtime_of(load_statically(root, name, self.environ))
        except (LakewardError, OSError, ValueError, RecursionError):
            return None

    def _runtime_of_pins(self) -> str:
        """Return the runtime that the project names or its pins choose, else the default.

        A file of the project that cannot be read chooses none.
        """
        from lakeward.environments import pinned_by
        from lakeward.session import DEFAULT_PROFILE, Settings, project_table

        whole = self.path.absolute()
        try:
            profile = Settings.here(whole, environ={}).profile
            pinned = None if project_table(whole).get("runtime") else pinned_by(whole)
            return pinned.runtime if pinned else profile
        except ConfigurationError:
            return DEFAULT_PROFILE
