"""Runs and pipeline updates: their states, their processes and what they print."""
