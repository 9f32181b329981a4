"""Cycle detection over SUBTASK_OF and DEPENDS_ON."""

from collections.abc import Iterable
from graphlib import CycleError as GraphlibCycleError
from graphlib import TopologicalSorter

from lethe_core.graph.nodes import NodeId


def detect_cycles(edges: Iterable[tuple[NodeId, NodeId]]) -> tuple[NodeId, ...]:
    """Return the nodes of one cycle in order, first and last the same; empty when there is none."""
    sorter: TopologicalSorter[NodeId] = TopologicalSorter()
    for source, target in edges:
        sorter.add(source, target)
    try:
        sorter.prepare()
    except GraphlibCycleError as error:
        cycle: list[NodeId] = error.args[1]
        return tuple(reversed(cycle))
    return ()
