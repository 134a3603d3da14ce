"""The plays: what servers of many kinds do, right or wrong, each a class that the scenario server loads by name."""
