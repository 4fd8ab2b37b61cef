"""The schema of a source: given, stored or inferred, and how it evolves."""

from lakeward.autoloader.schema.schema_resolution import ResolvedSchema, apply_hints_option, resolve_schema

__all__ = ["ResolvedSchema", "apply_hints_option", "resolve_schema"]
