"""From the working folder and `-t` to a bundle, if there is one, and the settings of the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.cli import failures
from lakeward.errors import UsageError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings

__all__ = ["Place", "here", "home_of_pipeline"]


@dataclass(frozen=True)
class Place:
    """Where a command works: the bundle of this folder or none, and the settings that follow."""

    bundle: Bundle | None
    settings: Settings

    def the_bundle(self, asked: str) -> Bundle:
        """The bundle; `UsageError` where there is none to find `asked` in."""
        if self.bundle is None:
            raise no_bundle(f"`{asked}` was asked for", "run files with `lakeward pipeline PATH`")
        return self.bundle


def no_bundle(asked: str, otherwise: str) -> UsageError:
    return UsageError(
        "BUNDLE_NOT_FOUND",
        f"{asked}, but neither {Path.cwd()} nor a folder above it has a databricks.yml.",
        next_step=f"Change to the folder of a bundle, or {otherwise}.",
    )


def here(target: str | None = None, variables: Mapping[str, str] | None = None) -> Place:
    """The place of this process: target `local` and `main.default` outside a bundle.

    Raises `BundleError` for a bundle that cannot be read or a target that it has not, `UsageError` for a
    target outside any bundle.
    """
    from lakeward.bundle import find_root, load
    from lakeward.session import Settings

    root = find_root(Path.cwd())
    if root is None:
        if target not in (None, "local"):
            raise no_bundle(
                f"the target `{target}` was asked for", "leave -t out: the target is `local` then"
            )
        if variables:
            raise no_bundle("--var was given", "leave it out")
        place = Place(None, Settings.here(Path.cwd()))
    else:
        bundle = load(root, target, variables or {})
        place = Place(bundle, Settings.here(root, target=bundle.target))
    failures.state_folder.set(place.settings.state)
    return place


def home_of_pipeline(pipeline: Mapping[str, Any], settings: Settings) -> tuple[str, str]:
    """The catalog and the schema that a resolved pipeline writes to."""
    catalog = pipeline.get("catalog") or settings.catalog
    schema = pipeline.get("schema") or pipeline.get("target") or settings.schema
    return str(catalog), str(schema)
