"""Entry points of the job `daily`."""
