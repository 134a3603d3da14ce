"""Repeated answers that other tools kept, read as temp0 reads its own."""
