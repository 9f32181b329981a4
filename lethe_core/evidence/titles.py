"""Which of many titles a text contains as whole words (algorithms.md 5.1b).

Looking for each title in each text is quadratic: at 10,000 sources it takes minutes. Here the words of a
text are walked once, and only the runs that some title's first word and length allow are looked up.
"""

from collections import defaultdict
from collections.abc import Iterable


class TitleIndex:
    """Titles in the form of `terms.title_term`: words in lower case, one space between them."""

    def __init__(self, titles: Iterable[str] = ()) -> None:
        self._titles: dict[str, None] = {}
        self._lengths: dict[str, set[int]] = defaultdict(set)  # words of the titles with this first word
        self.add(titles)

    def __contains__(self, title: str) -> bool:
        return title in self._titles

    def add(self, titles: Iterable[str]) -> list[str]:
        """Take titles in; returns those that were not there, in order."""
        added = [title for title in dict.fromkeys(titles) if title and title not in self._titles]
        self._titles |= dict.fromkeys(added)
        for title in added:
            words = title.split(" ")
            self._lengths[words[0]].add(len(words))
        return added

    def in_text(self, spaced: str) -> set[str]:
        """The titles that a text contains. spaced: the text by `terms.spaced`."""
        words = spaced.split()
        found: set[str] = set()
        for start, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                run = " ".join(words[start : start + length])
                if run in self._titles:
                    found.add(run)
        return found
