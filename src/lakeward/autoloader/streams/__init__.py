"""Auto Loader streams: file tracking, source cleaning, progress and checkpoint state."""
