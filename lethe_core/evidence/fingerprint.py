"""What a whole page is known by: a hash of its content, and one embedding (algorithms.md 8).

The page embedding Σ w_i c_i, w_i = 1/√(i+1), normalised, lets the beginning count most. It serves
editions and mirrors; alignment and deduplication look at chunks, since one page may hold one good
paragraph.
"""

import numpy as np

from lethe_core.control.vectors import unit
from lethe_core.evidence.dedup import content_hash
from lethe_core.graph.arrays import Matrix, Vector


def page_fingerprint(text: str) -> str:
    """Hash of a page's content: the same for texts that differ in white space only; 64 hex digits."""
    return content_hash(text)


def page_embedding(chunks: Matrix) -> Vector:
    """One vector (d,) for a page from its chunks' (n, d), in the page's order.

    Unit norm; the zero vector when there is no chunk, or none with an embedding.
    """
    rows = np.asarray(chunks, dtype=np.float64)
    weights = 1.0 / np.sqrt(np.arange(1, rows.shape[0] + 1))
    return unit(weights @ rows).astype(np.float32)
