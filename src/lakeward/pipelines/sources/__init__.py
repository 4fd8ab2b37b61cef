"""Source files: discovery, execution of Python files and notebooks, the collected graph."""
