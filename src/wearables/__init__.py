"""The lakehouse of a fitness-wearable company: from landed files to one line a workout."""

__version__ = "0.1.0"
