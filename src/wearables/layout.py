"""How the large tables of events are stored: a day of new and late events replaces the files of few days."""

from __future__ import annotations

__all__ = ["CLUSTER_BY", "FILE_SIZE", "MARKED"]

CLUSTER_BY = ["time"]

FILE_SIZE = {"delta.targetFileSize": "8mb"}
"""About a day of 2,000 people; without it, OPTIMIZE makes one file of all days up to a gigabyte."""

MARKED = {"delta.enableDeletionVectors": "true"}
"""For tables that are filled from outside: an erasure marks rows and does not rewrite the table.

Views that read it are refreshed from the marked rows. The task `purge` rewrites files with marked rows."""
