"""The daemon: a JVM that outlives a command, to which later commands attach.

A command holds it alone. The JVM's side (`jvm/Daemon.java`) notices the end of the process that holds it,
takes away what that process left, and ends the JVM when it was idle for a while.
"""

from lakeward.session.daemon.acquisition import acquire, is_wanted, use_daemon
from lakeward.session.daemon.lease import current_lease, drain, is_lost, jvm_lost
from lakeward.session.daemon.termination import stop_daemons
