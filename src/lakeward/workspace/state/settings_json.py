"""Settings as JSON, for the processes that the server starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lakeward.session import Settings
from lakeward.workspace.state.store import Document

_PLACES = ("root", "home")


def settings_to_json(settings: Settings) -> Document:
    """Return what JSON can hold of the settings; tables are always in `home`."""
    return {
        **asdict(settings),
        **{place: str(getattr(settings, place)) for place in _PLACES},
        "warehouse_dir": None,
    }


def settings_from_json(known: Mapping[str, Any]) -> Settings:
    """Return the settings that `settings_to_json` returned, once they were JSON.

    >>> settings = Settings(Path("/shop"), Path("/shop/.lakeward"), mounts=(("s3://raw", "/raw"),))
    >>> settings_from_json(settings_to_json(settings)) == settings
    True
    """
    places = {name: Path(known[name]) for name in _PLACES}
    tuples = {
        "mounts": tuple(map(tuple, known.get("mounts") or ())),
        "catalogs": tuple(known.get("catalogs") or ()),
    }
    return Settings(**{**known, **places, **tuples})
