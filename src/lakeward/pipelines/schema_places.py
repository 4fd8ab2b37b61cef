"""Where Auto Loader keeps the schemas that it infers, for streams whose author named no place.

    <storage>/schemas/<dataset>/<flow>/<n>/<k>      n: the checkpoint's number, k: the k-th reader of the flow

Phase 1 works on copies in a temporary folder, so that a dry run writes nothing; a first run takes over
what phase 1 has inferred instead of reading the files again.
"""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.elements import Flow

__all__ = ["SchemaPlaces"]


class SchemaPlaces:
    """Schema locations of one update; `trial` is its temporary folder."""

    def __init__(self, storage: Path, checkpoints: Checkpoints, trial: Path) -> None:
        self._storage, self._checkpoints, self._trial = storage / "schemas", checkpoints, trial

    def tried(self, flow: Flow, reader: int) -> str:
        """For phase 1: a copy of what is there."""
        place = self._trial / self._inside(flow, reader)
        real = self._storage / self._inside(flow, reader)
        if real.is_dir() and not place.exists():
            shutil.copytree(real, place)
        return str(place)

    def real(self, flow: Flow, reader: int) -> str:
        """For phase 2: the lasting one, begun with what phase 1 found."""
        inside = self._inside(flow, reader)
        place, tried = self._storage / inside, self._trial / inside
        if tried.is_dir() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            aside = place.with_name(f".{uuid.uuid4().hex}")
            shutil.copytree(tried, aside)
            aside.rename(place)
        return str(place)

    def _inside(self, flow: Flow, reader: int) -> Path:
        checkpoint = self._checkpoints.current(flow.target, flow.name)
        return Path(*checkpoint.parts[-3:]) / str(reader)
