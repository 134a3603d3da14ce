"""Room workflow."""
