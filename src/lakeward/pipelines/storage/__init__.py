"""What an update keeps: Delta tables, checkpoints, schema locations, query fingerprints."""
