"""BM25 on disk: the same scores when it is read back, and nothing half written."""

from pathlib import Path

import numpy as np
import pytest

from lethe_core.adapters.sources.lexical import StoredLexicalIndex
from lethe_core.context.lexical import words

CHUNKS = [
    "The mill closed in 1987.",
    "The mills of Aldermere",
    "A bridge of steel",
    "A steel frame of 2,310 kg",
]


@pytest.fixture
def index() -> StoredLexicalIndex:
    return StoredLexicalIndex([words(chunk) for chunk in CHUNKS])


def test_an_index_without_words_leaves_nothing_on_disk(tmp_path: Path) -> None:
    StoredLexicalIndex([[], []]).save(tmp_path / "words-a")
    assert StoredLexicalIndex.load(tmp_path / "words-a") is None


def test_saved_and_loaded_it_scores_the_same_and_old_ones_go(
    index: StoredLexicalIndex, tmp_path: Path
) -> None:
    for name in "abcdefg":
        index.save(tmp_path / f"words-{name}")
    assert len(list(tmp_path.iterdir())) == 4
    loaded = StoredLexicalIndex.load(tmp_path / "words-g")
    assert loaded is not None
    for query in ("mill", "steel 2310"):
        np.testing.assert_array_equal(loaded.scores(words(query)), index.scores(words(query)))
        np.testing.assert_array_equal(loaded.coverage(words(query)), index.coverage(words(query)))
