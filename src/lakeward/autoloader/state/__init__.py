"""The files that a stream has processed: an append-only log in the stream's checkpoint."""

from lakeward.autoloader.state.file_registry import FileRegistry, expire_entries
from lakeward.autoloader.state.state_log import (
    CleanedFile,
    FileEntry,
    Frame,
    SkippedFiles,
    SkipReason,
    StateLog,
    commit_times,
)

__all__ = [
    "CleanedFile",
    "FileEntry",
    "FileRegistry",
    "Frame",
    "SkipReason",
    "SkippedFiles",
    "StateLog",
    "commit_times",
    "expire_entries",
]
