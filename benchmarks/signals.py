"""Time of an iteration's signals beside a full decomposition: ``python benchmarks/signals.py``.

10,000 pieces of evidence of 256 dimensions, 20 tasks; an iteration adds 200, supersedes 5, weighs 20 anew.
Lethe keeps the evidence's Gram matrix by blocks of rows; the reference decomposes all evidence before and
after by a singular value decomposition. Shown is how far apart the signals are, too. Goal: .3 s. Processor
time, one thread.
"""

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from beside import best_seconds

from lethe_core.control.basis import EvidenceBasis
from lethe_core.control.gram import EvidenceSubspace
from lethe_core.control.signals import INITIAL_SIGNALS, IterationArrays, IterationSignals, compute_signals
from lethe_core.control.vectors import unit
from lethe_core.graph.arrays import FloatArray, Matrix

ADDED, SUPERSEDED, REWEIGHED, TASKS = 200, 5, 20, 20


def full_basis(rows: Matrix, weights: FloatArray) -> EvidenceBasis:
    counted = weights > 0.0
    scaled = rows[counted].astype(np.float64) * np.sqrt(weights[counted])[:, None]
    _, sigma, vt = np.linalg.svd(scaled, full_matrices=False)
    energy = np.cumsum(sigma**2)
    n_energy = int(np.searchsorted(energy, 0.9 * energy[-1] * (1.0 - 1e-12))) + 1
    return EvidenceBasis(np.ascontiguousarray(vt[:32].T), sigma[:32], min(n_energy, 32))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--evidence", type=int, default=10_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=5)
    arguments = parser.parse_args()
    n, d = arguments.evidence, arguments.dimension
    rng = np.random.default_rng(9)
    topics = rng.normal(size=(50, d))
    total = n + ADDED * arguments.iterations
    rows = unit(topics[rng.integers(0, 50, total)] + 1.5 * rng.normal(size=(total, d))).astype(np.float32)
    goal, tasks = unit(topics[0]), unit(topics[:TASKS] + rng.normal(size=(TASKS, d)))

    def signals(bases: tuple[EvidenceBasis, EvidenceBasis], end: int) -> IterationSignals:
        new = unit(rows[end - ADDED : end])
        return compute_signals(
            INITIAL_SIGNALS,
            IterationArrays(
                goal, tasks, np.ones(TASKS, dtype=np.bool_), *bases, True, new, np.full(ADDED, 0.5)
            ),
        )

    kept, before = EvidenceSubspace(), rng.uniform(0.3, 0.95, n)
    kept.basis(rows[:n], before)
    own, full, apart = [], [], 0.0
    for number in range(arguments.iterations):
        end = n + ADDED * (number + 1)
        after = np.concatenate([before, rng.uniform(0.3, 0.95, ADDED)])
        after[rng.integers(0, n, SUPERSEDED)] = 0.0
        after[rng.integers(end - 5 * ADDED, end, REWEIGHED)] = 0.6

        def bases(of, at: FloatArray = before, to: FloatArray = after, end: int = end):
            return of(rows[: at.size], at), of(rows[:end], to)

        seconds, ours = best_seconds(lambda e=end, b=bases: signals(b(kept.basis), e), 1)
        own.append(seconds)
        seconds, theirs = best_seconds(lambda e=end, b=bases: signals(b(full_basis), e), 1)
        full.append(seconds)
        pairs = zip(ours.as_record().values(), theirs.as_record().values(), strict=True)
        apart = max(apart, *(float(np.max(np.abs(np.subtract(a, b)))) for a, b in pairs))
        before = after
    print(f"{n} evidence nodes × {d}, {ADDED} added, {SUPERSEDED} superseded, {REWEIGHED} weighed anew")
    print(f"{'lethe':30}{np.median(own):8.3f} s   (goal .3 s at 10,000)")
    ratio = np.median(own) / np.median(full)
    print(f"{'full decomposition':30}{np.median(full):8.3f} s   lethe takes {ratio:.3f} of it")
    print(f"signals differ by at most {apart:.1e}")


if __name__ == "__main__":
    main()
