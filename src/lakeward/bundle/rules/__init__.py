"""Rules of a workspace that can be told without one: `findings(bundle)` applies all of them."""

from lakeward.bundle.rules.model import Finding, Rule
from lakeward.bundle.rules.table import RULES, findings

__all__ = ["RULES", "Finding", "Rule", "findings"]
