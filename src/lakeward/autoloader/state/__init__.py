"""The state of a stream: the log of its files, and markers of those that were skipped."""
