"""Room lab: sums and reduction trees, as experiments that a reader can rerun on any callable."""
