"""YAML files of dbt. Of a key that a mapping has twice, dbt takes the last value, with a warning.

Source: https://docs.getdbt.com/reference/deprecations#duplicateyamlkeysdeprecation
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor


class _LastValues(SafeConstructor):
    """Takes the last value of a key that comes twice."""

    def check_mapping_key(self, *_: Any) -> bool:
        return True


def load_yaml(source: Path | str) -> Any:
    """Return the content of a YAML file, or of a text. Raises OSError, UnicodeError, YAMLError."""
    loader = YAML(typ="safe", pure=True)
    loader.Constructor = _LastValues
    return loader.load(source)


def read_mapping(source: Path | str) -> Mapping[str, Any]:
    """Return the mapping in a YAML file or text; empty for one that is missing, broken or something else."""
    from ruamel.yaml.error import YAMLError

    try:
        found = load_yaml(source)
    except (OSError, UnicodeError, YAMLError):
        return {}
    return found if isinstance(found, dict) else {}
