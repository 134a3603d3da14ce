"""Room lab."""
