"""Room core."""
