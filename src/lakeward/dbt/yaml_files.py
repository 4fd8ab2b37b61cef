"""YAML files of dbt. Of a key that a mapping has twice, dbt takes the last value, with a warning.

Source: https://docs.getdbt.com/reference/deprecations#duplicateyamlkeysdeprecation
"""

from __future__ import annotations

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
