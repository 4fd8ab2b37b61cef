"""The schema of a source: given, stored or inferred, and how it evolves."""
