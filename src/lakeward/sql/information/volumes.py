"""Volumes."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.sql.information.catalog import CatalogView, Row

__all__ = ["volumes"]


def volumes(view: CatalogView) -> Iterator[Row]:
    """All volumes; the times are those of the folder."""
    for name, folder in view.volumes():
        about = view.note("VOLUME", name)
        owner, external = about.get("owner") or view.user, about.get("location")
        stat = folder.stat()
        yield {
            **dict(zip(("volume_catalog", "volume_schema", "volume_name"), name, strict=True)),
            "volume_type": "EXTERNAL" if external else "MANAGED",
            "volume_owner": owner,
            "comment": about.get("comment"),
            "storage_location": external or folder.as_uri(),
            "created": int(stat.st_ctime * 1_000_000),
            "created_by": owner,
            "last_altered": int(stat.st_mtime * 1_000_000),
            "last_altered_by": owner,
        }
