"""All shapes of simulated endpoints, in the order of the tables."""

from __future__ import annotations

from simulation.chance_shapes import AMBIGUOUS, INDEPENDENT, NONE, STRANGERS
from simulation.effect_shapes import EFFECTS
from simulation.history_shapes import HISTORIES
from simulation.scene import Shape

SHAPES: tuple[Shape, ...] = (*NONE, *INDEPENDENT, *STRANGERS, *EFFECTS, *HISTORIES, *AMBIGUOUS)
