"""Time of packing the context beside a log-determinant per candidate: ``python benchmarks/packing.py``.

2,000 candidates of 384 dimensions in 60 loose clusters, 40 to 120 tokens each, into 8,192 tokens. The
reference is the textbook greedy choice by gain per token, which asks numpy's slogdet for F of the set with
each candidate added, every time; a few of those calls are timed at each size and counted up.

Processor time on one thread: products as small as these would wait for each other's threads, and both figures
grow tenfold and more on a machine with other work. Goals: 90 ms, and .002 of the reference.
"""

import argparse
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from lethe_core.context.packing import Packing, PackingConfig, pack
from lethe_core.graph.arrays import FloatArray, IntArray, Matrix


def candidates(n: int, dimension: int, rng: np.random.Generator) -> tuple[Matrix, FloatArray, IntArray]:
    centres = rng.standard_normal((60, dimension))
    vectors = centres[rng.integers(0, 60, n)] + 0.9 * rng.standard_normal((n, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32), rng.uniform(0.2, 0.9, n), rng.integers(40, 121, n)


def slogdet_greedy_seconds(vectors: Matrix, scores: FloatArray, packing: Packing, sample: int) -> float:
    """What the reference takes for as many choices: sampled calls at each size, times the calls it makes."""
    rows = vectors * np.sqrt(scores)[:, None]
    scale = PackingConfig().regularisation
    seconds = 0.0
    for size in range(len(packing.chosen)):
        set_rows = rows[list(packing.chosen[:size])]
        started = time.process_time()
        for candidate in range(sample):
            joined = np.vstack([set_rows, rows[candidate]])
            np.linalg.slogdet(np.eye(size + 1) + joined @ joined.T / scale)
        seconds += (time.process_time() - started) / sample * (len(rows) - size)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=2000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--budget", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--sample", type=int, default=3)
    arguments = parser.parse_args()

    vectors, scores, tokens = candidates(arguments.candidates, arguments.dimension, np.random.default_rng(11))
    times = []
    for _ in range(arguments.repeats):
        started = time.process_time()
        packing = pack(vectors, scores, tokens, arguments.budget)
        times.append(time.process_time() - started)
    own = min(times)
    reference = slogdet_greedy_seconds(vectors, scores, packing, arguments.sample)

    print(f"{arguments.candidates} candidates × {arguments.dimension} into {arguments.budget} tokens")
    print(f"{len(packing.chosen)} chosen, {packing.tokens} tokens")
    print(f"F {packing.value:.2f}, bound {packing.bound:.2f}")
    print(f"lethe                    {own * 1000:10.1f} ms (median {np.median(times) * 1000:.1f})       1 x")
    print(f"slogdet per candidate    {reference * 1000:10.0f} ms (extrapolated)   {reference / own:.0f} x")
    print(f"ratio to the reference   {own / reference:10.5f} (goal .002)")


if __name__ == "__main__":
    main()
