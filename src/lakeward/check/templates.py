"""Files with the placeholders of a template, which are no YAML, JSON, SQL or Python before it is rendered."""

from __future__ import annotations

import re
from pathlib import Path

SCHEMA = "databricks_template_schema.json"
"""The file that makes a folder a template of bundles."""

# Actions of Go templates, Jinja and Cookiecutter. References of jobs (`{{job.id}}`) begin with another name.
_ACTION = re.compile(
    r"\{\{-?\s*(?:[.$]|/\*|(?:block|define|else|end|if|print|printf|range|skip|template|with)\b|cookiecutter\.)"
    r"[^}\n]*\}\}|\{%[^\n]*?%\}"
)
_NEXT = "Render it, for bundles with `databricks bundle init`, and check the result."


def template_reason(path: Path, text: str, reason: str) -> str:
    """Return why a file with this text cannot be read: `reason`, unless it is a template."""
    found = _ACTION.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        return f"It is a template: line {line} has `{found[0]}`. {_NEXT}"
    schema = next((file for above in path.absolute().parents if (file := above / SCHEMA).is_file()), None)
    return reason if schema is None else f"{reason} It belongs to the template of {schema}. {_NEXT}"
