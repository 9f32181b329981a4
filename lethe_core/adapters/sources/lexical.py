"""BM25 indexes on disk: written whole or not at all, read back or made anew."""

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lethe_core.context.lexical import LexicalIndex, library


@dataclass(frozen=True, slots=True)
class LexicalStorageConfig:
    kept: int = 4  # indexes left on disk: one for each recent state or set of folders


class StoredLexicalIndex(LexicalIndex):
    """A `LexicalIndex` that a folder can hold."""

    def save(self, path: Path, config: LexicalStorageConfig | None = None) -> None:
        """Write to a folder, whole or not at all; older indexes beside it go. Raises OSError."""
        if self._bm25 is None or path.exists():
            return
        config = config or LexicalStorageConfig()
        made = Path(tempfile.mkdtemp(prefix="new-", dir=path.parent))
        try:
            self._bm25.save(made, show_progress=False)
            (made / "sources.json").write_text(json.dumps(self._source.tolist()), encoding="ascii")
            made.rename(path)
        except OSError:
            shutil.rmtree(made, ignore_errors=True)
            if not path.exists():  # another process may have been faster
                raise
        others = [other for other in path.parent.iterdir() if other != path and other.is_dir()]
        for other in sorted(others, key=lambda folder: folder.stat().st_mtime)[: -config.kept + 1 or None]:
            shutil.rmtree(other, ignore_errors=True)

    @classmethod
    def load(cls, path: Path) -> "StoredLexicalIndex | None":
        """Read what `save` wrote; None when it is not there or damaged."""
        if not path.is_dir():
            return None
        try:
            index = cls.__new__(cls)
            numbers = json.loads((path / "sources.json").read_text(encoding="ascii"))
            index._source = np.array(numbers, np.int64)
            index._size = index._source.size
            index._bm25 = library().BM25.load(path, mmap=False, load_corpus=False)
            if index._bm25.scores["num_docs"] != index._size:
                raise ValueError("another number of chunks")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError):
            shutil.rmtree(path, ignore_errors=True)
            return None
        return index
