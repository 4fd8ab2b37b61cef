"""Files as a batch, through the readers of Auto Loader: for read_files and COPY INTO."""

from lakeward.autoloader.batch.files import FileSource, Rescue, detected_format

__all__ = ["FileSource", "Rescue", "detected_format"]
