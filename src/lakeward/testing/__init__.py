"""Tests for code that runs on Databricks: pytest fixtures, and assertions on frames.

The plugin (`lakeward.testing.plugin`) registers itself with pytest; nothing here imports pyspark or
starts a JVM before a test asks for one.
"""

from __future__ import annotations

from lakeward.testing.frames import assert_frame_equal, assert_schema_equal
from lakeward.testing.lakehouse import Lakehouse

__all__ = ["Lakehouse", "assert_frame_equal", "assert_schema_equal"]
