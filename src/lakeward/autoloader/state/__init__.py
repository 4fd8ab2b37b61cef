"""Which files a stream has taken: an append-only log beside the stream's checkpoint."""

from lakeward.autoloader.state.expiry import thinned
from lakeward.autoloader.state.frames import Cleaned, Entry, Frame
from lakeward.autoloader.state.log import StateLog
from lakeward.autoloader.state.registry import Registry
from lakeward.autoloader.state.skips import Skip, Skips
from lakeward.autoloader.state.times import commit_times

__all__ = ["Cleaned", "Entry", "Frame", "Registry", "Skip", "Skips", "StateLog", "commit_times", "thinned"]
