"""Words that mean alike: an asker seldom uses the words of the document (algorithms.md 9.3).

A word of the question is matched, besides by its stem, by words of the evidence whose embeddings are
close to its own, closer than the words shown are on average. This finds other forms (precise, precision)
as well as other words (evening, night). Names and figures have no kin: another name is another thing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from lethe_core.control.embedding import Embedder
from lethe_core.reasoning.terms import STOP, fold, stem, words

Kin = Mapping[str, Mapping[str, float]]

# A season is told by its months (the north's: a document's date is a month's, and who asks says "summer").
SEASONS = {
    "spring": ("march", "april", "may"),
    "summer": ("june", "july", "august"),
    "autumn": ("september", "october", "november"),
    "fall": ("september", "october", "november"),
    "winter": ("december", "january", "february"),
}
_WORKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday")
# The days of which "weekdays" and "weekends" speak, and these for the days.
DAYS = {
    **dict.fromkeys(_WORKDAYS, ("weekday",)),
    **dict.fromkeys(("saturday", "sunday"), ("weekend",)),
    "weekday": _WORKDAYS,
    "weekend": ("saturday", "sunday"),
}
CALENDAR = {**SEASONS, **DAYS}


@dataclass(frozen=True, slots=True)
class KinConfig:
    calendar: float = 0.8  # of a month for its season, of "weekend" for a Sunday
    floor: float = 0.5  # cosine less the background's; lower, and words of the same field begin to match


def kin_of(
    terms: Iterable[str],
    asked: str,
    shown: Iterable[str],
    embedder: Embedder,
    config: KinConfig | None = None,
) -> Kin:
    """For each term that has any, the stems among the shown texts that mean alike, with how much so.

    terms: stems to look for. asked: the text that they are from. shown: the texts of the evidence.
    The weights are in (0, 1); a term is no kin of its own.
    """
    config = config or KinConfig()
    wanted = {t: w for t, w in _forms([asked]).items() if t in set(terms)}
    vocabulary = _forms(shown)
    if not wanted or not vocabulary:
        return {}
    rows = embedder.embed_documents(list(wanted.values())).astype(np.float64)
    columns = embedder.embed_documents(list(vocabulary.values())).astype(np.float64)
    cosines = rows @ columns.T
    ground = np.maximum(cosines.mean(axis=1, keepdims=True), 0.0)
    margins = (cosines - ground) / np.maximum(1.0 - ground, 1e-6)
    stems = list(vocabulary)
    found: dict[str, dict[str, float]] = {}
    for row, term in enumerate(wanted):
        near = {
            stems[i]: float(min(margins[row, i], 1.0))
            for i in np.flatnonzero(margins[row] >= config.floor)
            if stems[i] != term
        }
        near |= {s: config.calendar for word in CALENDAR.get(term, ()) if (s := stem(word)) in vocabulary}
        if near:
            found[term] = near
    return found


def _forms(texts: Iterable[str]) -> dict[str, str]:
    """Each stem with the first word that has it; words with digits and function words aside."""
    found: dict[str, str] = {}
    for text in texts:
        for word in words(text):
            lowered = fold(word).replace("’", "'").removesuffix("'s")
            if len(lowered) > 2 and lowered not in STOP and lowered.isalpha():
                found.setdefault(stem(word), lowered)
    return found
