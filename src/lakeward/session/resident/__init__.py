"""The resident JVM: one that stays when a command ends, for the next command to attach to.

A command holds it alone. The JVM's side (`jvm/Resident.java`) notices the end of the process that holds it,
takes away what that process left, and ends the JVM when nobody came for a while.
"""

from lakeward.session.resident.acquiring import acquire
from lakeward.session.resident.lease import Lease, drain, held
from lakeward.session.resident.loss import is_lost, jvm_lost
from lakeward.session.resident.stopping import Stopped, stop_residents
from lakeward.session.resident.when import is_wanted, use_resident

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
