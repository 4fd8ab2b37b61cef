"""Expressions of variables in dbt's YAML files: `{{ env_var('CATALOG', 'main') | lower }}`.

Other expressions of Jinja are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lakeward.dbt.yaml_files import read_mapping

_FILTERS: Mapping[str, Callable[[str], str]] = {"trim": str.strip, "lower": str.lower, "upper": str.upper}
EXPRESSION = re.compile(
    r"""\{\{-?\s*(?P<kind>env_var|var)\(\s*["'](?P<name>[\w.-]+)["']\s*"""
    r"""(?:,\s*["'](?P<otherwise>[^"']*)["']\s*)?\)"""
    r"""\s*(?P<filters>(?:\|\s*(?:as_text|as_native|string|trim|lower|upper)\s*)*)-?\}\}"""
)


def with_variables(
    text: str, environ: Mapping[str, str], given: Mapping[str, Any] | None = None
) -> str | None:
    """Replace the expressions of variables in a text, as dbt does; None where one has no value.

    >>> with_variables("dev_{{ env_var('TEAM') | lower }}", {"TEAM": "Sales"})
    'dev_sales'
    >>> with_variables("{{ var('catalog', 'main') }}", {}, {"catalog": "own"})
    'own'
    >>> with_variables("{{ env_var('TEAM') }}", {}) is None
    True

    Args:
        text: The text.
        environ: The variables of the process, for `env_var`.
        given: The variables of the option `--vars`, for `var`.
    """
    sources: dict[str, Mapping[str, Any]] = {"env_var": environ, "var": given or {}}
    missing = [
        found["name"]
        for found in EXPRESSION.finditer(text)
        if found["otherwise"] is None and found["name"] not in sources[found["kind"]]
    ]
    if missing:
        return None

    def value(match: re.Match[str]) -> str:
        found = str(sources[match["kind"]].get(match["name"], match["otherwise"]))
        for name in re.findall(r"\w+", match["filters"]):
            found = _FILTERS.get(name, str)(found)
        return found

    return EXPRESSION.sub(value, text)


def parse_variables(text: str | None) -> Mapping[str, Any]:
    """Return the variables of the option `--vars`, which is YAML; dbt reports what cannot be read.

    >>> parse_variables("{catalog: own}")
    {'catalog': 'own'}
    """
    return read_mapping(text or "")
