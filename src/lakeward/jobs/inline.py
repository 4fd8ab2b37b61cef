"""A task carried out in this very process: what tests and debuggers want. Its limits are not enforced."""

from __future__ import annotations

from lakeward.bundle import Bundle
from lakeward.jobs.failures import described, traced
from lakeward.jobs.schedule import End
from lakeward.jobs.tasks import Action

__all__ = ["Done", "attempt"]


class Done:
    """An attempt that ended before anybody asked."""

    begun = True

    def __init__(self, end: End) -> None:
        self._end = end

    def poll(self) -> End:
        """Return how it ended."""
        return self._end

    def stop(self) -> None:
        """Nothing runs."""


def attempt(action: Action, bundle: Bundle) -> End:
    """Carry out `action` and return how it ended: what users' code raises is a failure, Ctrl-C a cancel."""
    try:
        update = action()
    except KeyboardInterrupt:
        return End("CANCELED", "Interrupted.")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever users' code raises is its result
        return End("FAILED", described(error, bundle.root), trace=traced(error))
    if update is None or update.state == "COMPLETED":
        return End("SUCCESS", update=update)
    first = next((dataset for dataset in update.datasets if dataset.state == "FAILED"), None)
    reason = update.error or (f"{first.name}: {first.error}" if first else None)
    return End("CANCELED" if update.state == "CANCELED" else "FAILED", reason, update=update)
