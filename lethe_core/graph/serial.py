"""How a session's state and an embedding are written down: JSON text and float32 little-endian bytes.

Both stores keep them in this form, so that a copy between them is exact. Nothing here executes what it
reads.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from pydantic import TypeAdapter, ValidationError

from lethe_core.errors import InvalidValueError, StoreVersionError
from lethe_core.graph.arrays import Vector
from lethe_core.graph.session_state import SessionState

_STATE: Final = TypeAdapter(SessionState)
_FLOAT32: Final = np.dtype("<f4")


def encode_state(state: SessionState) -> str:
    """A session's state as JSON text, NaN and infinity as their JavaScript names.

    Raises InvalidValueError for lone surrogates, for keys that are no text and for values that JSON does
    not have.
    """
    try:
        values = _STATE.dump_python(state, warnings=False)
        _check_keys(values)
        text = json.dumps(values, ensure_ascii=False, default=_plain, separators=(",", ":"))
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidValueError(
            f"the state of session {state.session_id} holds a lone surrogate: "
            f"decode bytes with errors='replace' first ({error.reason})"
        ) from None
    except (TypeError, ValueError) as error:
        raise InvalidValueError(
            f"the state of session {state.session_id} cannot be written as JSON: {error}"
        ) from None
    return text


def decode_state(text: str, session: str) -> SessionState:
    """The state that ``encode_state`` wrote; fields added since then have their defaults.

    session: whose it is, for the error. Raises StoreVersionError for text that does not hold a state.
    """
    try:
        return _STATE.validate_python(json.loads(text))
    except (ValidationError, ValueError) as error:
        raise StoreVersionError(
            f"the state of session {session} cannot be read ({str(error).splitlines()[0]}): it was "
            "written by another version of Lethe, or changed by hand"
        ) from error


def stored_form(state: SessionState) -> tuple[SessionState, str]:
    """The state as a later ``decode_state`` gives it back, and its text.

    Raises InvalidValueError for what ``encode_state`` refuses and for a field of the wrong type.
    """
    text = encode_state(state)
    try:
        return _STATE.validate_python(json.loads(text)), text
    except ValidationError as error:
        where = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidValueError(f"the state of session {state.session_id} is not valid: {where}") from None


def encode_vector(vector: Vector) -> bytes:
    """4 bytes a component; a (0,) vector gives none."""
    return vector.astype(_FLOAT32, copy=False).tobytes()


def decode_vector(data: bytes) -> Vector:
    """A read-only (d,) float32 vector."""
    return np.frombuffer(data, dtype=_FLOAT32).astype(np.float32, copy=False)


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _check_keys(value: Any) -> None:
    # json.dumps turns 1, None and True into text without a word.
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no text")
            _check_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_keys(inner)
