"""The index that grows against one that is made of the same chunks at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.context.lexical import LexicalIndex
from lethe_core.context.lexical_growing import GrowingLexicalIndex
from lethe_core.errors import ConfigError

words = st.lists(st.sampled_from(["ash", "birch", "cedar", "date", "elm", "fir", "gum"]), max_size=12)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(words, st.integers(0, 3), st.booleans()), min_size=1, max_size=14), words)
def test_scores_are_those_of_an_index_of_the_chunks_that_count(chunks, query):
    growing = GrowingLexicalIndex()
    for row, (text, source, _) in enumerate(chunks):
        assert growing.add(text, source) == row
        growing.scores(query, np.arange(row + 1))  # asked in between, it goes on growing
    rows = np.array([row for row, (_, _, counts) in enumerate(chunks) if counts], dtype=np.int64)
    fixed = LexicalIndex([chunks[row][0] for row in rows], [chunks[row][1] for row in rows])
    # The other index keeps float32.
    assert growing.scores(query, rows) == pytest.approx(fixed.scores(query), rel=1e-5, abs=1e-9)


def test_nothing_scores_nothing_and_an_unknown_row_is_refused():
    index = GrowingLexicalIndex()
    assert index.scores(["ash"], np.zeros(0, dtype=np.int64)).size == 0
    index.add([], "a")
    assert index.scores(["ash"], np.array([0])).tolist() == [0.0]
    with pytest.raises(ConfigError, match="not all among the 1 chunks"):
        index.scores(["ash"], np.array([1]))
