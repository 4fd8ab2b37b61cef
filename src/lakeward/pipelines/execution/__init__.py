"""Phase 2 and the update as a whole."""
