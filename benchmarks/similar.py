"""Time of finding alike pairs beside the bare matrix product: ``python benchmarks/similar.py``.

20,000 vectors of 384 dimensions about 200 topics under 200 parents. The reference is the same blocked float32
product of the upper triangle with nothing done to it; faiss's range search, which finds pairs of the same
parent and each pair twice, stands beside it. Goals: 1.4 of the product, and 60 ms for 200 new among 20,000.
``--break-even`` shows from how many rows on comparing groups by their centroids first pays: where groups are
tight, and where they are loose and nothing can be left out. Processor time, one thread.
"""

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from beside import best_seconds, installed

from lethe_core.graph.arrays import IntArray, Matrix
from lethe_core.similar.pairs import similar_pairs

BLOCK = 1024


def grouped(n: int, dimension: int, groups: int, noise: float, seed: int = 3) -> tuple[Matrix, IntArray]:
    """Vectors around their group's direction, noise times as long as that; and their groups."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((groups, dimension), dtype=np.float32)
    group = rng.integers(0, groups, n)
    rows = centres[group] + noise * rng.standard_normal((n, dimension), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), group


def bare_product(rows: Matrix) -> float:
    total = 0.0
    for top in range(0, len(rows), BLOCK):
        for left in range(top, len(rows), BLOCK):
            total += float((rows[top : top + BLOCK] @ rows[left : left + BLOCK].T)[0, 0])
    return total


def faiss_range_search(rows: Matrix, threshold: float) -> int:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    return int(index.range_search(rows, threshold)[0][-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--new", type=int, default=200)
    parser.add_argument("--threshold", type=float, default=0.3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--break-even", action="store_true")
    arguments = parser.parse_args()
    if arguments.break_even:
        break_even(arguments.dimension)
        return
    rows, group = grouped(arguments.rows, arguments.dimension, arguments.groups, 1.6)
    # Parents that have nothing to do with the topics: alike pairs are mostly found beneath different ones.
    parents = [{int(own)} for own in np.random.default_rng(4).permutation(group)]
    threshold, repeats = arguments.threshold, arguments.repeats

    product, _ = best_seconds(lambda: bare_product(rows), repeats)
    own, pairs = best_seconds(lambda: similar_pairs(rows, parents, threshold), repeats)
    print(f"{arguments.rows} × {arguments.dimension}, {arguments.groups} parents: {len(pairs)} pairs")
    print(f"{'bare blocked product':30}{product:8.2f} s")
    print(f"{'lethe':30}{own:8.2f} s    {own / product:.2f} of the product (goal 1.4)")
    if installed("faiss", "faiss range search"):
        other, found = best_seconds(lambda: faiss_range_search(rows, threshold), 1)
        print(
            f"{'faiss range search':30}{other:8.2f} s    {other / product:.2f} of the product, {found} found"
        )

    new = np.arange(arguments.rows - arguments.new, arguments.rows)
    product, _ = best_seconds(lambda: rows[new] @ rows.T, 5)
    own, _ = best_seconds(lambda: similar_pairs(rows, parents, threshold, new=new), 5)
    print(f"{arguments.new} new among {arguments.rows}:")
    print(f"{'bare product':30}{product * 1000:8.0f} ms")
    print(f"{'lethe':30}{own * 1000:8.0f} ms   {own / product:.2f} of the product (goal 60 ms)")


def break_even(dimension: int) -> None:
    print("time with the centroids compared first, of the time without:")
    print("    rows   groups    tight    loose")
    for n in (5_000, 10_000, 20_000, 50_000):
        cells = []
        for noise in (0.04, 1.6):
            rows, group = grouped(n, dimension, max(20, n // 100), noise / dimension**0.5 * 20)
            parents = [{int(own)} for own in group]
            seconds = [
                best_seconds(lambda f=first, r=rows, p=parents: similar_pairs(r, p, 0.5, prefilter=f), 2)[0]
                for first in (False, True)
            ]
            cells.append(seconds[1] / seconds[0])
        print(f"{n:8d} {max(20, n // 100):8d} {cells[0]:8.2f} {cells[1]:8.2f}", flush=True)


if __name__ == "__main__":
    main()
