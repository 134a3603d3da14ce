"""Room kernels."""
