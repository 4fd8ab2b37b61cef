"""Auto Loader streams: definition, start, file tracking, source cleaning and checkpoint state."""
