"""Writes the file of the dashboard."""

import json

from wearables.serving.dashboard import FILE, dashboard

FILE.write_text(json.dumps(dashboard(), indent=2) + "\n", encoding="utf-8")
