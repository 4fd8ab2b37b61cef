"""Handlers of the REST routes, one module for each API."""
