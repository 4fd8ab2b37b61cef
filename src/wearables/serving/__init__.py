"""What readers see: charts, declared once, as a dashboard of the workspace and as a static page."""

from wearables.serving.charts import CHARTS, Chart
from wearables.serving.dashboard import dashboard
from wearables.serving.page import Plot, page

__all__ = ["CHARTS", "Chart", "Plot", "dashboard", "page"]
