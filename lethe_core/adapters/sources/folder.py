"""Walking corpus folders: which files there are, what each is called, and what is left out and why.

Opens nothing and follows no link: what a link leads to inside the folder is read under its own name, what
lies outside is left out. A source's address is
"folder/relative/path"; bytes that are no UTF-8, control characters and ``%`` are written as %XX, so that
different names have different addresses and none breaks a line of a report.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lethe_core.adapters.sources.reading import GONE
from lethe_core.errors import CorpusError
from lethe_core.evidence.page import Skipped


@dataclass(frozen=True, slots=True)
class WalkConfig:
    max_files: int = 100_000
    max_bytes: int = 50 * 1024 * 1024  # of one file


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A regular file of a corpus, as the folder's listing shows it."""

    root: Path
    path: Path
    address: str
    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Walk:
    files: tuple[SourceFile, ...]  # by address
    skipped: tuple[Skipped, ...]  # by address; hidden files are counted in `hidden`, not named
    hidden: int


def walk(roots: Sequence[Path], config: WalkConfig | None = None) -> Walk:
    """List the files of one or several folders, in the order of their addresses.

    roots: absolute paths. Folders of the same name are told apart by the shortest part of their
    paths that differs, or a number.
    Raises CorpusError when a root is missing, no folder, unreadable or lies inside another, and when
    all of them together hold no file.
    """
    config = config or WalkConfig()
    folders = [_checked(root) for root in roots]
    if not folders:
        raise CorpusError("no corpus folder given (pass --corpus DIR)")
    folders = list(dict.fromkeys(folders))
    for folder in folders:
        for other in folders:
            if folder != other and folder.is_relative_to(other):
                raise CorpusError(
                    f"corpus folder {shown(folder)} lies inside {shown(other)} (pass only the outer one)"
                )
    walker = _Walker(config)
    for folder, name in zip(folders, root_names(folders), strict=True):
        walker.walk(folder, name)
    if not walker.files and not walker.skipped:
        names = ", ".join(shown(folder) for folder in folders)
        hidden = f" ({walker.hidden} hidden ones are left out)" if walker.hidden else ""
        raise CorpusError(
            f"no file in the corpus folder {names}{hidden} (put documents there, or pass another --corpus)"
        )
    return Walk(
        files=tuple(sorted(walker.files, key=lambda file: file.address)),
        skipped=tuple(sorted(walker.skipped, key=lambda skipped: (skipped.source, skipped.reason))),
        hidden=walker.hidden,
    )


def root_names(folders: Sequence[Path]) -> list[str]:
    """What each folder is called in addresses: its name; of those that share it, the parent's before it."""
    parts = [[part for part in folder.parts if part != folder.anchor] or ["root"] for folder in folders]
    short = [_joined(own, 1) for own in parts]
    for length in range(1, 1 + max(map(len, parts), default=0)):
        chosen = [
            _joined(own, length if short.count(name) > 1 else 1)
            for own, name in zip(parts, short, strict=True)
        ]
        if len(set(chosen)) == len(chosen):
            return chosen
    return [f"{name}-{number}" for number, name in enumerate(short, 1)]


def _joined(parts: Sequence[str], length: int) -> str:
    return "-".join(escaped(os.fsencode(part)) for part in parts[-length:])


def escaped(name: bytes) -> str:
    """A file name as text: what is no UTF-8, no printable character, or ``%`` itself, as %XX."""
    text = ""
    for character in name.decode("utf-8", "surrogateescape"):
        if "\udc80" <= character <= "\udcff":
            text += f"%{ord(character) - 0xDC00:02X}"
        elif character == "%" or not (character.isprintable() or character == " "):
            text += "".join(f"%{byte:02X}" for byte in character.encode("utf-8"))
        else:
            text += character
    return text


def shown(path: Path) -> str:
    """A path for messages."""
    return "/".join(escaped(part) for part in os.fsencode(path).split(b"/"))


def _checked(root: Path) -> Path:
    try:
        resolved = root.resolve(strict=True)
    except FileNotFoundError:
        raise CorpusError(f"corpus folder not found: {shown(root)} (check the path)") from None
    except (OSError, RuntimeError) as error:  # a loop of links, a name too long
        raise CorpusError(f"corpus folder cannot be opened: {shown(root)}: {_why(error)}") from error
    if not resolved.is_dir():
        raise CorpusError(f"corpus is a file, not a folder: {shown(root)} (pass the folder that holds it)")
    if not os.access(resolved, os.R_OK | os.X_OK):
        raise CorpusError(f"corpus folder is not readable: {shown(root)} (check its permissions)")
    return resolved


def _is_gone(error: BaseException) -> bool:
    return isinstance(error, FileNotFoundError | NotADirectoryError)


def _why(error: BaseException) -> str:
    return (error.strerror or type(error).__name__).lower() if isinstance(error, OSError) else str(error)


class _Walker:
    def __init__(self, config: WalkConfig) -> None:
        self.config = config
        self.files: list[SourceFile] = []
        self.skipped: list[Skipped] = []
        self.hidden = 0

    def walk(self, root: Path, name: str) -> None:
        stack: list[tuple[Path, str]] = [(root, name)]
        while stack:
            folder, address = stack.pop()
            try:
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                self._skip(address, GONE if _is_gone(error) else f"folder not readable: {_why(error)}")
                continue
            below: list[tuple[Path, str]] = []
            for entry in entries:
                if entry.name.startswith("."):
                    self.hidden += 1
                    continue
                own = f"{address}/{escaped(os.fsencode(entry.name))}"
                if len(self.files) >= self.config.max_files:
                    limit = f"{self.config.max_files:,}"
                    self._skip(
                        own, f"this and all after it: the limit is {limit} files (pass a smaller folder)"
                    )
                    return
                if self._is_folder(root, entry, own):
                    below.append((Path(entry.path), own))
            stack.extend(reversed(below))

    def _is_folder(self, root: Path, entry: "os.DirEntry[str]", address: str) -> bool:
        """Whether an entry is a folder to be entered; a file is taken or skipped."""
        path = Path(entry.path)
        try:
            if entry.is_symlink():
                self._link(root, path.resolve(strict=True), address)
                return False
            status = entry.stat(follow_symlinks=False)
        except (OSError, RuntimeError) as error:
            link = "a broken link or a loop of links" if entry.is_symlink() else ""
            self._skip(address, link or (GONE if _is_gone(error) else _why(error)))
            return False
        if stat.S_ISDIR(status.st_mode):
            return True
        if not stat.S_ISREG(status.st_mode):
            self._skip(address, "no regular file")
        elif status.st_size > self.config.max_bytes:
            limit = self.config.max_bytes // (1024 * 1024)
            self._skip(address, f"{status.st_size / 1024 / 1024:,.0f} MB; the limit is {limit} MB a file")
        else:
            self.files.append(SourceFile(root, path, address, status.st_size, status.st_mtime_ns))
        return False

    def _link(self, root: Path, target: Path, address: str) -> None:
        """A link is never followed: what it leads to inside the folder is read under its own name."""
        if not target.is_relative_to(root):
            self._skip(address, "a link that leaves the folder")
        elif any(part.startswith(".") for part in target.relative_to(root).parts):
            self._skip(address, "a link to a hidden file")

    def _skip(self, address: str, reason: str) -> None:
        self.skipped.append(Skipped(address, reason))
