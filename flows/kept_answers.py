"""Where this worker's runs keep what they have bought: as Prefect is told, a folder or a storage block."""

from pathlib import Path

from prefect.filesystems import LocalFileSystem, RemoteFileSystem
from prefect.results import get_default_result_storage
from prefect.settings import get_current_settings

from lethe_core.adapters.answers import AnswerFolder, AnswerStorage, RemoteAnswers
from lethe_core.errors import ConfigError


def kept_answers() -> AnswerStorage | None:
    """The storage, to be listed and cut; None for a block of a kind that does not list what it holds.

    Raises ConfigError for a block that there is none of, or that cannot be opened.
    """
    name = get_current_settings().results.default_storage_block
    try:
        storage = get_default_result_storage()
        if isinstance(storage, LocalFileSystem):
            return AnswerFolder(Path(storage.basepath or "").expanduser())
        if isinstance(storage, RemoteFileSystem):
            return RemoteAnswers(storage.filesystem, storage.basepath)
    except (ValueError, RuntimeError, ImportError) as error:
        raise ConfigError(
            f"the storage block {name!r} (PREFECT_DEFAULT_RESULT_STORAGE_BLOCK) cannot be opened: {error}"
        ) from error
    return None
