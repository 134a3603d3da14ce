"""Lets tests import what lies in bench/, which is no package that is installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
