"""What natural-language inference says about two alike texts: nine edge properties (algorithms.md 7).

A model classifies each pair in both directions. Without a model (None, a legal setting) there are no
relations: edges carry null scores and strengths stay as they are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
from scipy.special import entr

from lethe_core.control.vectors import clamp01
from lethe_core.errors import ConfigError, ModelResponseError
from lethe_core.graph.arrays import AnyFloats, FloatArray

_SUM_TOLERANCE = 1e-3  # half-precision softmax

# Two pairs that no working model gets wrong, to find labels that are in another order than they say.
_ENTAILED = ("A man is playing a guitar on stage.", "A man is playing an instrument.")
_CONTRADICTED = ("The door is open.", "The door is closed.")


class NliModel(Protocol):
    """Classifies premise and hypothesis."""

    @property
    def name(self) -> str:
        """What reports and logs call it."""
        ...

    def classify(self, pairs: Sequence[tuple[str, str]]) -> AnyFloats:
        """Probabilities (n, 3) of entailment, neutrality, contradiction for (premise, hypothesis)."""
        ...


@dataclass(frozen=True, slots=True)
class NliRelations:
    """Nine properties of p edges a–b, each (p,); all in [0, 1] but direction and polarity, [-1, 1]."""

    entail_fwd: FloatArray  # a entails b
    entail_bwd: FloatArray  # b entails a
    support: FloatArray
    contradiction: FloatArray
    equivalence: FloatArray
    independence: FloatArray
    confidence: FloatArray
    direction: FloatArray
    polarity: FloatArray

    def __len__(self) -> int:
        return self.support.size

    def at(self, k: int) -> dict[str, float]:
        """The nine properties of edge k by name."""
        return {field.name: float(getattr(self, field.name)[k]) for field in fields(self)}


def nli_relations(forward: AnyFloats, backward: AnyFloats) -> NliRelations:
    """Combine both directions.

    forward, backward: (p, 3) probabilities (entailment, neutrality, contradiction) of a→b and b→a.
    Raises ModelResponseError when a row is no probability distribution.
    """
    ahead, back = _distributions(forward), _distributions(backward)
    (e1, n1, c1), (e2, n2, c2) = ahead.T, back.T
    support, contradiction = np.maximum(e1, e2), np.sqrt(c1 * c2)
    entropy = entr(ahead).sum(axis=1) + entr(back).sum(axis=1)
    confidence = clamp01(np.asarray(1.0 - entropy / (2.0 * math.log(3.0))))
    return NliRelations(
        entail_fwd=e1,
        entail_bwd=e2,
        support=support,
        contradiction=contradiction,
        equivalence=np.sqrt(e1 * e2),
        independence=np.sqrt(n1 * n2),
        confidence=confidence,
        direction=e1 - e2,
        polarity=confidence * (support - contradiction),
    )


def classify_edges(
    model: NliModel | None, texts_a: Sequence[str], texts_b: Sequence[str]
) -> NliRelations | None:
    """Classify p edges, both directions in one batch; None when NLI is off."""
    if model is None:
        return None
    if not texts_a:
        return nli_relations(np.zeros((0, 3)), np.zeros((0, 3)))
    pairs = [*zip(texts_a, texts_b, strict=True), *zip(texts_b, texts_a, strict=True)]
    probabilities = np.asarray(model.classify(pairs))
    if probabilities.shape != (len(pairs), 3):
        raise ModelResponseError(
            f"the NLI model {model.name} answered {len(pairs)} pairs with an array of shape "
            f"{probabilities.shape} instead of {(len(pairs), 3)}; use a three-label NLI model"
        )
    return nli_relations(probabilities[: len(texts_a)], probabilities[len(texts_a) :])


def label_order(id2label: Mapping[int, str]) -> tuple[int, int, int]:
    """Columns of entailment, neutrality and contradiction in a model's output, by its own label names.

    Raises ConfigError when the labels are not these three.
    """
    found = {
        wanted: [at for at, label in id2label.items() if label.strip().lower().startswith(wanted)]
        for wanted in ("entail", "neutral", "contradict")
    }
    if len(id2label) != 3 or any(len(columns) != 1 for columns in found.values()):
        raise ConfigError(
            f"the NLI model's labels are {dict(id2label)}; needed are entailment, neutral and contradiction, "
            "one column each (choose a model of the MNLI family)"
        )
    return found["entail"][0], found["neutral"][0], found["contradict"][0]


def verify_labels(model: NliModel) -> None:
    """Refuse a model whose outputs are not in the order that its labels say.

    Raises ConfigError when it misjudges a plain entailment or a plain contradiction.
    """
    probabilities = np.asarray(model.classify([_ENTAILED, _CONTRADICTED]))
    if probabilities.shape == (2, 3) and probabilities.argmax(axis=1).tolist() == [0, 2]:
        return
    raise ConfigError(
        f"the NLI model {model.name} misjudges a plain entailment or contradiction "
        f"(probabilities {np.round(probabilities, 2).tolist()}): its labels are in another order than its "
        "configuration says, or it is no NLI model; choose another, or turn NLI off"
    )


def _distributions(probabilities: AnyFloats) -> FloatArray:
    rows = np.asarray(probabilities, dtype=np.float64).reshape(-1, 3)
    sums = rows.sum(axis=1)
    wrong = ~np.isfinite(sums) | (np.abs(sums - 1.0) > _SUM_TOLERANCE) | (rows.min(axis=1, initial=0.0) < 0)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise ModelResponseError(
            f"the NLI model gave {rows[first].tolist()} for pair {first}, which is no probability "
            "distribution; use a model that gives softmax probabilities, or turn NLI off"
        )
    return np.asarray(rows / sums[:, None])
