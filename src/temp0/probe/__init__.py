"""Room probe."""
