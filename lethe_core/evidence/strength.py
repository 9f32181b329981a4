"""How far a chunk serves the goal, and the strength it starts with (algorithms.md 8).

a = n · soft_gate(n, ga_floor, 12) with n the normalised cosine of chunk and goal;
s0 = .30 + .65 · clamp01(a). Nothing is dropped for a low one. What corroboration, contradiction and
being an older edition do to it later is another module's (section 7).
"""

from dataclasses import dataclass

import numpy as np

from lethe_core.control.vectors import alignments, clamp01, soft_gate
from lethe_core.graph.arrays import AnyFloats, FloatArray


@dataclass(frozen=True, slots=True)
class StrengthConfig:
    """The linear map's ends and the gate's steepness."""

    floor: float = 0.30
    ceiling: float = 0.95
    gate_sharpness: float = 12.0


DEFAULT_STRENGTH = StrengthConfig()


def gated_alignments(
    chunks: AnyFloats,
    goal: AnyFloats | None,
    ga_floor: float,
    config: StrengthConfig = DEFAULT_STRENGTH,
) -> FloatArray:
    """Alignment a of each chunk with the goal: (n,) in [0, 1].

    chunks: (n, d); goal: (d,), embedded as a query; ga_floor: the profile's, a normalised cosine.
    A missing or zero vector on either side gives 0.
    """
    normalised = alignments(chunks, goal)
    return np.asarray(normalised * soft_gate(normalised, ga_floor, config.gate_sharpness))


def base_strengths(
    chunks: AnyFloats,
    goal: AnyFloats | None,
    ga_floor: float,
    config: StrengthConfig = DEFAULT_STRENGTH,
) -> FloatArray:
    """Strength s0 of each chunk: (n,) in [.30, .95], increasing in its cosine with the goal."""
    gated = clamp01(gated_alignments(chunks, goal, ga_floor, config))
    return np.asarray(config.floor + (config.ceiling - config.floor) * gated)
