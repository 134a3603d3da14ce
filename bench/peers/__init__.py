"""temp0's engine beside what a user would pick instead: everything behind `make bench-peers`."""
