"""Type conversion: text and Arrow columns to Spark types, and the merging and widening of types."""
