"""Settings on their way from the server to a process of its own, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lakeward.session import Settings

__all__ = ["as_sent", "received"]

_PLACES = ("root", "home")


def as_sent(settings: Settings) -> dict[str, Any]:
    """What JSON can hold of the settings; tables are always in `home`."""
    return {
        **asdict(settings),
        **{place: str(getattr(settings, place)) for place in _PLACES},
        "warehouse_dir": None,
    }


def received(known: Mapping[str, Any]) -> Settings:
    """The settings that `as_sent` gave, once they were JSON.

    >>> settings = Settings(Path("/shop"), Path("/shop/.lakeward"), mounts=(("s3://raw", "/raw"),))
    >>> received(as_sent(settings)) == settings
    True
    """
    places = {name: Path(known[name]) for name in _PLACES}
    return Settings(**{**known, **places, "mounts": tuple(map(tuple, known.get("mounts") or ()))})
