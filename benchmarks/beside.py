"""What benchmarks have in common: processor time on one thread, peak memory, libraries to compare with.

The machine may have other work: so processor time is taken, the best of several runs, and a ratio is taken
between figures of one run.
"""

import importlib.util
import time
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

INSTALL = "pip install 'lethe-research[benchmarks]'"


def best_seconds(run: Callable[[], Result], repeats: int) -> tuple[float, Result]:
    """Processor seconds of the fastest of several runs, and what the last one returned."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        result = run()
        best = min(best, time.process_time() - started)
    return best, result


def peak_megabytes(run: Callable[[], object]) -> float:
    """What a run allocates at most, beyond what there was before (numpy tells tracemalloc of its arrays)."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def installed(module: str, name: str) -> bool:
    """Whether a library is there to be compared with; says how to get it when it is not."""
    if importlib.util.find_spec(module):
        return True
    print(f"{name:34}not installed: {INSTALL}")
    return False
