"""How the large tables of events are stored: a day of new and late events replaces the files of few days."""

from __future__ import annotations

__all__ = ["CLUSTER_BY", "FILE_SIZE"]

CLUSTER_BY = ["time"]

FILE_SIZE = {"delta.targetFileSize": "8mb"}
"""About a day of 2,000 people; without it, OPTIMIZE makes one file of all days up to a gigabyte."""
