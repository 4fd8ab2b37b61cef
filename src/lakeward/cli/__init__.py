"""The command `lakeward`.

Nothing here needs Spark until a command has read its arguments and its bundle: a wrong word on the
command line is answered at once.
"""

from __future__ import annotations

import signal
import threading

# Ctrl-C while modules are loaded ends the process without a traceback; `main` answers later ones.
_handler = signal.getsignal(signal.SIGINT)
_is_ours = threading.current_thread() is threading.main_thread() and _handler is signal.default_int_handler
if _is_ours:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
try:
    from lakeward.cli.main import main
finally:
    if _is_ours:
        signal.signal(signal.SIGINT, _handler)
