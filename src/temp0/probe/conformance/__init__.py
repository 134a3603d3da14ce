"""What a dialect promises, as a test that anyone can run on one of their own."""

from temp0.probe.conformance.fault import ROUNDS, faults
from temp0.probe.conformance.trial import Sample, described

__all__ = ["ROUNDS", "Sample", "described", "faults"]
