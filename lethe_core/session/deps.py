"""What a session works with: the seed's ``SessionDeps``, frozen and replaced between iterations."""

from dataclasses import dataclass

from lethe_core.config import Settings
from lethe_core.context.tokens import TokenCounter
from lethe_core.control.budget import BudgetConfig
from lethe_core.control.embedding import Embedder
from lethe_core.evidence.provider import SearchProvider
from lethe_core.graph.store import GraphStore
from lethe_core.reasoning.protocol import Reasoner
from lethe_core.session.clock import Clock
from lethe_core.similar.nli import NliModel


@dataclass(frozen=True, slots=True)
class SessionDeps:
    """Shared state of one session's iterations; ``dataclasses.replace`` makes the next iteration's."""

    store: GraphStore
    embedder: Embedder
    reasoner: Reasoner
    search: tuple[SearchProvider, ...]
    tokens: TokenCounter
    nli: NliModel | None
    settings: Settings
    clock: Clock
    session_pressure: float = 0.0  # of the open iteration, [0, 1]
    time_budget_s: float = 0.0  # seconds left until the hard cap

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that an answer may call."""
        return ("web_search",) if self.search else ()

    @property
    def budget(self) -> BudgetConfig:
        usual = BudgetConfig()
        most = max(1, self.settings.llm_max_thinking_tokens)
        return BudgetConfig(
            thinking_min=min(usual.thinking_min, most),
            thinking_max=min(usual.thinking_max, most),
            max_iterations=self.settings.max_iterations,
            min_iterations=self.settings.min_iterations,
            time_budget=self.settings.time_budget,
            # A reasoner that always answers the same must not be steered by a shared machine's mood.
            time_counts=not self.reasoner.deterministic,
        )
