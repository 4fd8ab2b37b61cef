"""The schema of a source: given, stored or inferred; how it is kept and how it grows."""

from lakeward.autoloader.schema.resolve import Resolved, hinted, resolve

__all__ = ["Resolved", "hinted", "resolve"]
