"""How much of the budget is used, how hard that presses, and whether to stop (algorithms.md 4).

Pure functions of counters and signals: nothing here reads a clock. Convergence ends a session by
itself; pressure only when the evidence has settled to some degree (the gate).
"""

import math
from dataclasses import dataclass
from typing import Literal

from lethe_core.control.vectors import clamp01, soft_gate
from lethe_core.errors import ConfigError

SoftStop = Literal["converged", "budget"]
HardCap = Literal["wall_clock_cap", "iteration_cap"]


@dataclass(frozen=True, slots=True)
class BudgetConfig:
    """The targets a user sets, and the constants of the stop decision.

    Raises ConfigError on values that cannot be used.
    """

    max_iterations: int = 30  # a target: the hard cap is hard_factor times that
    min_iterations: int = 3
    time_budget: float = 1800.0  # seconds at work; a target likewise
    time_counts: bool = True  # False with a deterministic reasoner: its runs must be reproducible
    hard_factor: float = 2.0
    stop_threshold: float = 0.82
    alpha: float = 4.0  # curvature of pressure over progress
    convergence_weight: float = 0.5  # share of what is left that full convergence takes away
    readiness_sharpness: float = 4.0
    pressure_threshold: float = 0.85
    pressure_sharpness: float = 8.0
    resource_threshold: float = 0.95
    resource_sharpness: float = 12.0
    quality_threshold: float = 0.15
    quality_sharpness: float = 30.0
    thinking_min: int = 6144  # tokens
    thinking_max: int = 12288  # tokens

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise ConfigError(f"max_iterations is {self.max_iterations}; it must be at least 1")
        if self.min_iterations < 0:
            raise ConfigError(f"min_iterations is {self.min_iterations}; it must not be negative")
        if self.min_iterations > self.max_iterations:
            raise ConfigError(
                f"min_iterations is {self.min_iterations} but max_iterations only {self.max_iterations}; "
                "lower the one or raise the other"
            )
        if not (math.isfinite(self.time_budget) and self.time_budget > 0):
            raise ConfigError(f"time_budget is {self.time_budget}; it must be a positive number of seconds")
        if not 0 < self.stop_threshold < 1:
            raise ConfigError(f"stop_threshold is {self.stop_threshold}; it must lie between 0 and 1")
        if not (math.isfinite(self.hard_factor) and self.hard_factor >= 1):
            raise ConfigError(f"hard_factor is {self.hard_factor}; it must be at least 1")
        if not 1 <= self.thinking_min <= self.thinking_max:
            raise ConfigError(
                f"thinking_min is {self.thinking_min} and thinking_max {self.thinking_max}; "
                "they must be at least 1, and the first not above the second"
            )


@dataclass(frozen=True, slots=True)
class BudgetState:
    """What a session has used and reached when its next iteration would begin."""

    iterations: int  # completed
    seconds: float  # at work, summed over restarts
    convergence: float  # [0, 1], of the last iteration's signals
    plateau: float  # [0, 1], likewise
    all_tried: bool  # no ready task that was never selected


@dataclass(frozen=True, slots=True)
class BudgetAssessment:
    """Every quantity of the decision, for the log and the signals table."""

    resource_progress: float  # >= 0, not clamped
    readiness: float  # [0, 1]
    progress: float  # [0, 1]
    pressure: float  # [0, 1]
    urgency: float  # [0, 1]
    quality: float  # [0, 1]
    gate: float  # [0, 1]
    psi: float  # [0, 1], the termination potential
    stop: SoftStop | None


def resource_progress(config: BudgetConfig, iterations: int, seconds: float) -> float:
    """Share of the most depleted target that is used, >= 0: 1 at the target, 2 at the default hard cap.

    iterations: completed; seconds: at work, >= 0. Source of this and what follows: algorithms.md 4.
    """
    by_iterations = iterations / config.max_iterations
    if not config.time_counts:
        return by_iterations
    return max(by_iterations, seconds / config.time_budget)


def readiness(config: BudgetConfig, iterations: int, *, all_tried: bool) -> float:
    """How far the session may trust its convergence, in [0, 1]; 0 while a ready task was never tried.

    iterations: completed; all_tried: `BudgetState.all_tried`.
    """
    if not all_tried:
        return 0.0
    return soft_gate(iterations, config.min_iterations - 0.5, config.readiness_sharpness)


def progress_of(config: BudgetConfig, used: float, convergence: float, ready: float) -> float:
    """Resource progress, hastened by convergence: in [0, 1].

    used: of `resource_progress`, cut to 1; convergence, ready: [0, 1].
    """
    return 1.0 - (1.0 - clamp01(used)) * (1.0 - config.convergence_weight * convergence * ready)


def pressure_of(config: BudgetConfig, progress: float) -> float:
    """Budget pressure in [0, 1], convex in progress in [0, 1]: .119 half way, .540 at .85, 1 at the end."""
    return math.expm1(config.alpha * progress) / math.expm1(config.alpha)


def urgency_of(config: BudgetConfig, pressure: float, used: float) -> float:
    """How strongly the budget asks to stop, in [0, 1]; pressure in [0, 1], used of `resource_progress`."""
    return clamp01(
        max(
            soft_gate(pressure, config.pressure_threshold, config.pressure_sharpness),
            soft_gate(used, config.resource_threshold, config.resource_sharpness),
        )
    )


def assess_budget(config: BudgetConfig, state: BudgetState) -> BudgetAssessment:
    """Weigh convergence and budget; ``stop`` says whether the session should end, and why.

    NaN and what lies outside [0, 1] in the signals is cut (`clamp01`). It never asks to stop before
    ``min_iterations``. Hard limits come first and are not decided here.
    """
    convergence, plateau = clamp01(state.convergence), clamp01(state.plateau)
    used = resource_progress(config, state.iterations, state.seconds)
    ready = readiness(config, state.iterations, all_tried=state.all_tried)
    progress = progress_of(config, used, convergence, ready)
    pressure = pressure_of(config, progress)
    urgency = urgency_of(config, pressure, used)
    quality = convergence * plateau
    gate = soft_gate(quality, config.quality_threshold, config.quality_sharpness)
    psi = clamp01(1.0 - (1.0 - quality * ready) * (1.0 - urgency * gate))
    stop: SoftStop | None = None
    if state.iterations >= config.min_iterations and psi > config.stop_threshold:
        stop = "converged" if quality * ready > config.stop_threshold else "budget"
    return BudgetAssessment(used, ready, progress, pressure, urgency, quality, gate, psi, stop)


def hard_cap(config: BudgetConfig, iterations: int, seconds: float) -> HardCap | None:
    """The cap that is reached, if any, time first; seconds at work count here for every reasoner (4.1)."""
    if seconds >= config.hard_factor * config.time_budget:
        return "wall_clock_cap"
    if iterations >= config.hard_factor * config.max_iterations:
        return "iteration_cap"
    return None


def thinking_tokens(
    config: BudgetConfig, complexity: float, pressure: float, *, repair_round: int = 0
) -> int:
    """Tokens that the model may think with: more for complex material, fewer under pressure.

    complexity, pressure: cut to [0, 1]; repair_round: >= 0, each halves, never below 1.
    """
    room = (config.thinking_max - config.thinking_min) * clamp01(complexity) * (1.0 - clamp01(pressure))
    return max(1, int(config.thinking_min + room) >> repair_round)
