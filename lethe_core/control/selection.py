"""Which ready task comes next (algorithms.md 3).

The goal, not the task, is turned towards the gap: turning the task raises most the tasks that point
away from it (Spearman between boost and alignment with the gap −.99, against +.99).
"""

from dataclasses import dataclass

import numpy as np

from lethe_core.control.basis import Gap
from lethe_core.control.vectors import alignments, clamp01, slerp
from lethe_core.graph.arrays import AnyFloats, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class SelectionConfig:
    """Constants of the score."""

    warp: float = 0.5  # share of the way to the gap at full pressure with nothing covered
    deficit_floor: float = 0.05  # keeps alignment in play when every task is covered
    score_floor: float = 0.01  # keeps depth and repetition in play when nothing aligns


DEFAULT_SELECTION = SelectionConfig()

_TIE_DIGITS = 12  # the last bits of a matrix product must not decide between equals


@dataclass(frozen=True, slots=True)
class TaskRanking:
    """The ready tasks in the order in which they should be worked on."""

    order: IntArray  # (m,) indexes into the tasks given, best first
    scores: FloatArray  # (m,) of each task given, > 0
    alignments: FloatArray  # (m,) with the warped goal, in [0, 1]


def warped_goal(
    goal: AnyFloats, gap: Gap, pressure: float, *, config: SelectionConfig = DEFAULT_SELECTION
) -> FloatArray:
    """The goal (d,) in query mode, turned towards what the evidence does not reach.

    Result (d,), unit when the goal is. pressure: budget pressure in [0, 1]; at 0, or without a gap, the goal
    itself. Source: algorithms.md 3.
    """
    if gap.direction is None:
        return np.asarray(goal, dtype=np.float64)
    return slerp(goal, gap.direction, config.warp * pressure * gap.norm**2)


def task_scores(
    alignment: FloatArray,
    deficit: FloatArray,
    depths: IntArray,
    n_productive: IntArray,
    *,
    config: SelectionConfig = DEFAULT_SELECTION,
) -> FloatArray:
    """Score m tasks: strictly falling in depth and in productive iterations.

    alignment, deficit: (m,) in [0, 1], cut to that, NaN counts 0; depths, n_productive: (m,) >= 0, the latter
    iterations that a task was worked on (`chances.times_worked_on`).
    Result (m,) in (0, 1]. Source: algorithms.md 3.
    """
    worth = clamp01(alignment) * (config.deficit_floor + (1.0 - config.deficit_floor) * clamp01(deficit))
    return np.asarray(np.maximum(worth, config.score_floor) / (1.0 + depths) / (1.0 + n_productive))


def rank_tasks(
    tasks: AnyFloats,
    *,
    goal: AnyFloats,
    gap: Gap,
    pressure: float,
    deficit: FloatArray,
    depths: IntArray,
    n_productive: IntArray,
    sequences: IntArray,
    config: SelectionConfig = DEFAULT_SELECTION,
) -> TaskRanking:
    """Order the ready tasks by score; equals by (depth, sequence).

    tasks: (m, d) control vectors in document mode; goal: (d,) in query mode; deficit: (m,) from
    `basis.deficits`; depths: (m,) steps from the root (`GraphSnapshot.depths`); n_productive: (m,), as for
    `task_scores`; sequences: (m,) creation numbers. pressure: [0, 1]. Broken numbers rank last, never NaN.
    """
    alignment = alignments(tasks, warped_goal(goal, gap, pressure, config=config))
    scores = task_scores(alignment, deficit, depths, n_productive, config=config)
    order = np.lexsort((sequences, depths, -np.round(scores, _TIE_DIGITS)))
    return TaskRanking(order.astype(np.int64), scores, alignment)
