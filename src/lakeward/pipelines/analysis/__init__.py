"""Phase 1: evaluate all flows on empty tables, infer schemas, report every error; write nothing."""
