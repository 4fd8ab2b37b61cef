"""Task types that can be run: each function validates a task and returns its action."""
