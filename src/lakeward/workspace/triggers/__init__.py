"""Schedules and triggers that start jobs."""
