"""Which files a stream has taken: an append-only log beside the stream's checkpoint."""

from lakeward.autoloader.state.log import StateLog
from lakeward.autoloader.state.registry import Registry

__all__ = ["Registry", "StateLog"]
