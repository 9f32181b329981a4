"""Lethe's core: the graph's types, the control algebra and what the loop computes with them.

No Prefect anywhere in it; I/O only under ``lethe_core.adapters``.
"""

__version__ = "0.1.0"
