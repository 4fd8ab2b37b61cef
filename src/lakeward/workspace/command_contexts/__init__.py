"""Execution contexts of the command execution API: one process each."""
