"""`tomllib` of the standard library, which Python 3.10 has as the package `tomli`."""

from __future__ import annotations

import importlib
import sys
from typing import Any

tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
