"""BM25 over texts that come one after another, and of which some count no longer.

What `LexicalIndex` computes of the texts that count, without indexing them all anew: a query needs the
occurrences of its own words only, and these are kept as they come.
"""

from array import array
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from lethe_core.context.lexical import LexicalConfig, inverse_frequency
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import BoolArray, FloatArray, IntArray


class GrowingLexicalIndex:
    """n chunks by row, in the order in which they were added."""

    def __init__(self, config: LexicalConfig | None = None) -> None:
        self._config = config or LexicalConfig()
        self._rows: dict[str, array[int]] = {}  # of each word, the chunks that have it
        self._counts: dict[str, array[int]] = {}  # how often, likewise
        self._lengths = array("q")  # words of each chunk
        self._source = array("q")  # number of each chunk's source
        self._numbers: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, words: Sequence[str], source: Hashable) -> int:
        """Take in a chunk: its words by `lexical.words`, and what it is a part of. Returns its row."""
        row = len(self._lengths)
        for word, count in Counter(words).items():
            if word not in self._rows:
                self._rows[word], self._counts[word] = array("q"), array("q")
            self._rows[word].append(row)
            self._counts[word].append(count)
        self._lengths.append(len(words))
        self._source.append(self._numbers.setdefault(source, len(self._numbers)))
        return row

    def scores(self, query: Sequence[str], rows: IntArray) -> FloatArray:
        """BM25 among some chunks as if there were no others: (m,) non-negative.

        query: words by `lexical.words`; rows: (m,) different ones. Raises ConfigError for a row that there
        is not.
        """
        n, m = len(self), rows.size
        if m and not (rows.min() >= 0 and rows.max() < n):
            raise ConfigError(f"rows {rows.min()} to {rows.max()} are not all among the {n} chunks")
        if not m:
            return np.zeros(0)
        counted: BoolArray = np.zeros(n, dtype=np.bool_)
        counted[rows] = True
        lengths, source = _view(self._lengths)[:n], _view(self._source)[:n]
        n_sources = np.unique(source[rows]).size
        usual = lengths[rows].mean()
        scores = np.zeros(n)
        for word in dict.fromkeys(query):
            if word not in self._rows:
                continue
            having, counts = _view(self._rows[word]), _view(self._counts[word])
            present = counted[having]
            having, counts = having[present], counts[present]
            if not having.size:
                continue
            rarity = inverse_frequency(np.unique(source[having]).size, n_sources)
            long = 1.0 - self._config.b + self._config.b * lengths[having] / usual
            scores[having] += rarity * counts / (self._config.k1 * long + counts)
        return scores[rows]


def _view(values: "array[int]") -> IntArray:
    # A copy: an array that numpy looks into cannot grow.
    return np.array(values, dtype=np.int64)
