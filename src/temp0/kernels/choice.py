"""From logits to a token, to probabilities and to logprobs, each row by itself.

A sum of exponentials: in blocks of 1,024 columns lane j of 16 adds columns j, j+16, ...; lanes meet in the halving
tree; blocks are added in order in double precision.
"""

import numpy as np

from temp0.kernels import _native
from temp0.kernels.array import Floats, Integers


def argmax(logits: Floats) -> Integers:
    """The column int32[M] of the highest of logits[M,V]; the first one among equals.

    As in numpy, NaN counts as the highest, and -0.0 equals 0.0. ValueError without columns.
    """
    choices = np.empty(logits.shape[:1], np.int32)
    _native.argmax(logits, choices)
    return choices


def softmax(logits: Floats, out: Floats) -> None:
    """Write exp(logits - highest) / (sum of exp(logits - highest)) to out[M,V], which may be `logits[M,V]` itself.

    Order: the sum as above, rounded once to single precision, divides each exponential. Relative error against float64
    at most 6e-8 * (5 + highest - logit). A NaN or plus infinity makes its row NaN; minus infinity has probability 0.
    """
    _native.softmax(logits, out)


def log_softmax(logits: Floats, out: Floats) -> None:
    """Write logits - highest - ln(sum of exp(logits - highest)) to out[M,V], which may be `logits[M,V]` itself.

    Order: the sum as above; the logarithm is our own. Within 2e-7 plus one ulp of the result. A NaN or plus infinity
    makes its row NaN; minus infinity has logprob minus infinity.
    """
    _native.log_softmax(logits, out)
