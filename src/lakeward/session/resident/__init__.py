"""The resident JVM: one that stays when a command ends, for the next command to attach to.

A command holds it alone. The JVM's side (`jvm/Resident.java`) notices the end of the process that holds it,
takes away what that process left, and ends the JVM when it was idle for a while.
"""

from lakeward.session.resident.acquisition import acquire, is_wanted, use_resident
from lakeward.session.resident.lease import Lease, drain, held, is_lost, jvm_lost
from lakeward.session.resident.registry import Stopped, stop_residents

__all__ = [
    "Lease",
    "Stopped",
    "acquire",
    "drain",
    "held",
    "is_lost",
    "is_wanted",
    "jvm_lost",
    "stop_residents",
    "use_resident",
]
