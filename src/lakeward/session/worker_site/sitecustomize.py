"""Imported by Python at start-up of workers; installs the path map, then runs the next `sitecustomize`."""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

from lakeward.session.installed_pyspark import prefer_installed
from lakeward.session.worker_paths import install_from_environment

prefer_installed(sys.path)
install_from_environment()

_others = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
_next = PathFinder.find_spec("sitecustomize", _others)
if _next is not None and _next.loader is not None:
    _next.loader.exec_module(module_from_spec(_next))
