"""What a store says of text that no database takes: the same words from every store."""

from collections.abc import Iterator
from contextlib import contextmanager

from lethe_core.errors import InvalidValueError


@contextmanager
def lone_surrogates_refused() -> Iterator[None]:
    """Say of a name with a lone surrogate, over which every driver stumbles, that nothing is called so.

    Raises InvalidValueError.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidValueError(
            f"text with a lone surrogate names nothing in the store: {error.object!r}"
        ) from None
