"""The array types that the whole core speaks."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
"""Signals and solvers: float64."""

Vector: TypeAlias = NDArray[np.float32]
"""One embedding: (d,) unit float32; the zero vector stands for "no embedding"."""

Matrix: TypeAlias = NDArray[np.float32]
"""Embeddings, a row each: (n, d) unit float32."""

IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyFloats: TypeAlias = NDArray[np.floating[Any]]
