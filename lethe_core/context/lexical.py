"""BM25 over texts: words as they are compared, and the index in memory.

Words are folded (case, accents), stop words and possessive endings go, and Snowball's English stem is what
is compared, so that "cracked" finds "crack". Figures keep their points and commas' digits.
"""

import logging
import re
import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import Stemmer

from lethe_core.graph.arrays import FloatArray, IntArray

_WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:['’]\w+)?")
_STOP_WORDS = """
a about above after again against all also am among an and any are as at be because been before being
between both but by can could did do does doing during each either for from further had has have having he
her here hers him his how i if in into is it its itself just me more most much my no nor not of off on once
one only or other our out over own per same she should so some such than that the their them then there
these they this those through to too under until up upon us very was we were what when where whether which
while who whom whose why will with within without would you your der die das den dem des ein eine einer
eines einem einen und oder aber ist sind war waren wird werden wurde wurden hat haben mit von vom zu zum zur
auf für als auch an am im in aus bei nach nicht es sie er wir ich sich dass wie was le la les un une des du
de et ou est sont dans par pour sur avec que qui ne pas au aux ce cette il elle el los las una unos y o es
son en por para con no se su del al
"""
_STOP = frozenset(_STOP_WORDS.split())


_STEMMER = Stemmer.Stemmer("english", 0)


@lru_cache(maxsize=65_536)
def _word(word: str) -> str:
    word = unicodedata.normalize("NFKD", word.casefold())
    word = "".join(character for character in word if not unicodedata.combining(character))
    word = re.sub(r"['’](?:s|re|ve|ll|d|m|t)?$", "", word).replace("’", "'")
    if word in _STOP or not word:
        return ""
    if word[0].isdigit():
        return re.sub(r"[,.](?=\d{3}(?:\D|$))", "", word)  # 1,250 and 1.250 and 1250 are one figure
    return str(_STEMMER.stemWord(word))


def words(text: str) -> list[str]:
    """The words of a text as they are compared, in order; stop words left out."""
    return [word for match in _WORD.findall(text) if (word := _word(match))]


def library() -> Any:
    """bm25s, imported when an index is made: it costs what a command without one need not pay."""
    import bm25s

    # It sets its own logger to DEBUG, and every index would stand in a worker's log.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


@dataclass(frozen=True, slots=True)
class LexicalConfig:
    k1: float = 1.2
    b: float = 0.75


class LexicalIndex:
    """BM25 of queries against n chunks, with words weighted by how few sources have them.

    Counted over chunks, the name of what a whole corpus is about looks rare, since each source says it once
    and then goes on; counted over sources it says nothing.
    """

    def __init__(
        self,
        chunks: Sequence[Sequence[str]],
        sources: Sequence[Hashable] | None = None,
        config: LexicalConfig | None = None,
    ) -> None:
        """chunks: the words of each, by `words`; sources: what each is a part of; None: each is its own."""
        config = config or LexicalConfig()
        self._size = len(chunks)
        numbers: dict[Hashable, int] = {}
        names = range(self._size) if sources is None else sources
        self._source: IntArray = np.array(
            [numbers.setdefault(name, len(numbers)) for name in names], np.int64
        )
        self._bm25: Any = None  # of a corpus without a single word there is nothing to index
        if any(chunks):
            self._bm25 = library().BM25(k1=config.k1, b=config.b, method="lucene")
            self._bm25.index([list(chunk) for chunk in chunks], show_progress=False)

    def scores(self, query: Sequence[str]) -> FloatArray:
        """BM25 of each chunk, (n,) non-negative; 0 where no word of the query occurs."""
        scores = np.zeros(self._size)
        for word in dict.fromkeys(query):
            chunks, values = self._occurrences(word)
            if chunks.size:
                scores[chunks] += values * (self._rarity(chunks) / inverse_frequency(chunks.size, self._size))
        return np.maximum(scores, 0.0)

    def coverage(self, query: Sequence[str], *, most_words: int = 6) -> FloatArray:
        """Share of a query that each chunk has: (n,) in [0, 1], its different words weighted by rarity.

        most_words: of a longer query the whole is that many of its rarest word, since no one chunk
        answers all of a long query.
        """
        shares = np.zeros(self._size)
        rarities: list[float] = []
        for word in dict.fromkeys(query):
            chunks, _ = self._occurrences(word)
            rarity = self._rarity(chunks)
            rarities.append(rarity)
            shares[chunks] += rarity
        if not rarities:
            return shares
        return np.minimum(shares / min(sum(rarities), most_words * max(rarities)), 1.0)

    def _rarity(self, chunks: IntArray) -> float:
        """Inverse frequency over sources of a word that occurs in these chunks."""
        return inverse_frequency(np.unique(self._source[chunks]).size, int(self._source.max(initial=-1)) + 1)

    def _occurrences(self, word: str) -> tuple[IntArray, FloatArray]:
        """The chunks that have a word, and its BM25 in each; a word that occurs nowhere is the rarest."""
        if self._bm25 is None or word not in self._bm25.vocab_dict:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        index, matrix = int(self._bm25.vocab_dict[word]), self._bm25.scores
        span = slice(matrix["indptr"][index], matrix["indptr"][index + 1])
        return np.asarray(matrix["indices"][span], np.int64), np.asarray(matrix["data"][span], np.float64)


def inverse_frequency(having: int, total: int) -> float:
    """How much a word says that this many of all sources have: ln(1 + (N − n + .5)/(n + .5)), positive."""
    return float(np.log1p((total - having + 0.5) / (having + 0.5)))
