"""Isolated environments for the tests of repositories that know nothing of lakeward.

`prepare` gives the one of a folder, made and cached when it is not there; `clash` tells of a package in this
environment that cannot stand beside lakeward. `STAND_INS` are the packages that lakeward stands in for.
"""

from lakeward.environments.own import CLASH, clash
from lakeward.environments.prepare import Environment, NoTests, prepare
from lakeward.environments.stand_ins import STAND_INS

__all__ = ["CLASH", "STAND_INS", "Environment", "NoTests", "clash", "prepare"]
