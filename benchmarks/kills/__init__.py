"""Sessions that are killed at random moments and go on: nothing lost, nothing twice.

``python -m benchmarks.kills`` is the long form; ``tests/kills`` is the short one.
"""
