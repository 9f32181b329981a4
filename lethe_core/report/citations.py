"""How well the cited texts support a claim (algorithms.md 10).

An exact quotation is supported with 1. Else, when NLI is on, the entailment decides. Else the mean of
three terms: the cosine against the best window of three sentences, the share of the claim's facts
(numbers, names) that the texts have, and the idf-weighted share of its content words that they have;
at most .49 when a number of the claim stands in none of them.

Measured on WiCE dev with WordLlama: supported against not supported AUC .975; accepts .86 of the
supported and .06 of the not supported. Partial support can't be told from full (AUC .79).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from lethe_core.control.embedding import Embedder
from lethe_core.errors import ConfigError
from lethe_core.evidence.sentences import sentences
from lethe_core.evidence.tables import row_text
from lethe_core.graph.arrays import Matrix
from lethe_core.reasoning.terms import content_set
from lethe_core.report.quoting import quotes, quotes_row
from lethe_core.report.wording import Rarity, name_words, numbers

How = Literal["quotation", "entailment", "similarity", "none"]

Entailment: TypeAlias = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Probabilities that the first text of each pair entails the second, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class SupportConfig:
    """Constants of the support score."""

    threshold: float = 0.5
    window: int = 3  # sentences that are compared at once
    missing_number_cap: float = 0.49

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1 or not 0 <= self.missing_number_cap < self.threshold:
            raise ConfigError(
                f"support threshold {self.threshold} and cap {self.missing_number_cap}: "
                "the cap must lie below the threshold, both between 0 and 1"
            )
        if self.window < 1:
            raise ConfigError(f"the support window is {self.window} sentences; it must be at least 1")


DEFAULT_SUPPORT = SupportConfig()


@dataclass(frozen=True, slots=True)
class Support:
    """What measuring a claim against its cited texts gave."""

    score: float  # [0, 1]
    supported: bool
    how: How  # none: it cites nothing


UNCITED = Support(0.0, False, "none")


@dataclass(frozen=True, slots=True)
class Statement:
    """What is measured: a sentence, or the cells of a table row under their header."""

    text: str
    cells: tuple[str, ...] = ()  # of a table row
    header: tuple[str, ...] = ()

    @property
    def wording(self) -> str:
        """Its words; of a row "header: cell; header: cell"."""
        return row_text(self.header, self.cells) if self.cells else self.text


def support(
    claim: str | Statement,
    cited: Sequence[str],
    *,
    embedder: Embedder,
    rarity: Rarity,
    entail: Entailment | None = None,
    config: SupportConfig = DEFAULT_SUPPORT,
) -> Support:
    """Measure one claim against the texts that it cites; facts and words against their union.

    rarity: of words in the session's evidence. entail: None while NLI is off.
    """
    statement = claim if isinstance(claim, Statement) else Statement(claim)
    return measure([(statement, cited)], embedder=embedder, rarity=rarity, entail=entail, config=config)[0]


def measure(
    pairs: Sequence[tuple[Statement, Sequence[str]]],
    *,
    embedder: Embedder,
    rarity: Rarity,
    entail: Entailment | None = None,
    config: SupportConfig = DEFAULT_SUPPORT,
) -> list[Support]:
    """Measure many claims, each against its cited texts, embedding every text once."""
    found: list[Support | None] = [_at_once(statement, cited) for statement, cited in pairs]
    open_pairs = [(index, *pairs[index]) for index, result in enumerate(found) if result is None]
    if entail is not None:
        for index, statement, cited in open_pairs:
            found[index] = _entailed(statement, cited, entail, config)
    else:
        windows = {text: _windows(text, config.window) for _, _, cited in open_pairs for text in cited}
        vectors = _embed(
            [
                *(statement.wording for _, statement, _ in open_pairs),
                *(window for group in windows.values() for window in group),
            ],
            embedder,
        )
        for index, statement, cited in open_pairs:
            best = max(
                _cosine(vectors[statement.wording], vectors[window])
                for text in cited
                for window in windows[text]
            )
            found[index] = _similar(statement, cited, best, rarity, config)
    return [result if result is not None else UNCITED for result in found]


def _at_once(statement: Statement, cited: Sequence[str]) -> Support | None:
    """What needs no model: no citation, no text, a quotation; None for the rest."""
    if not any(text.strip() for text in cited) or not statement.wording.strip():
        return UNCITED
    for text in cited:
        if statement.cells:
            exact = quotes_row(statement.header, statement.cells, text)
        else:
            exact = quotes(statement.text, text)
        if exact:
            return Support(1.0, True, "quotation")
    return None


def _entailed(
    statement: Statement, cited: Sequence[str], entail: Entailment, config: SupportConfig
) -> Support:
    premises = [*cited, "\n".join(cited)] if len(cited) > 1 else list(cited)
    scores = entail([(premise, statement.wording) for premise in premises])
    score = max((float(s) for s in scores if math.isfinite(s)), default=0.0)
    score = min(max(score, 0.0), 1.0)
    return Support(score, score >= config.threshold, "entailment")


def _similar(
    statement: Statement, cited: Sequence[str], cosine: float, rarity: Rarity, config: SupportConfig
) -> Support:
    claim, union = statement.wording, "\n".join(cited)
    words = content_set(union)
    claim_numbers, union_numbers = numbers(claim), numbers(union)
    # In a table every cell begins with a capital; what the header says names a column.
    claim_names = frozenset[str]().union(*(name_words(part) for part in statement.cells or (claim,)))
    terms = [max(0.0, cosine), rarity.share(content_set(claim), words)]
    if claim_numbers or claim_names:
        present = len(claim_numbers & union_numbers) + len(claim_names & words)
        terms.append(present / (len(claim_numbers) + len(claim_names)))
    # A claim without facts is judged by the other two: counting an absent term as 1 would lift it.
    score = min(1.0, sum(terms) / len(terms))
    if not claim_numbers <= union_numbers:
        score = min(score, config.missing_number_cap)
    return Support(score, score >= config.threshold, "similarity")


def _windows(text: str, size: int) -> list[str]:
    parts = sentences(text) or (text,)
    return [" ".join(parts[i : i + size]) for i in range(max(1, len(parts) - size + 1))]


def _embed(texts: Sequence[str], embedder: Embedder) -> dict[str, Matrix]:
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return {}
    return dict(zip(distinct, embedder.embed_documents(distinct), strict=True))


def _cosine(a: Matrix, b: Matrix) -> float:
    return float(np.dot(a.astype(np.float64), b.astype(np.float64)))
