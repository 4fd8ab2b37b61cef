"""One writer per flow type."""
