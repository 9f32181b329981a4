"""Whether a folder lies on a network file system, where SQLite's locks and shared memory do not hold."""

from pathlib import Path
from typing import Final

NETWORK_TYPES: Final = frozenset(
    {
        *("afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "smb3", "smbfs"),
        *("fuse.ceph", "fuse.davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
    }
)


def network_type(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The type of the network file system that the folder lies on; empty for a local or an unknown one."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        folder = folder.resolve()
    except OSError:
        return ""
    found, depth = "", -1
    for line in lines:
        columns = line.split(" ")
        if len(columns) < 3:
            continue
        point = Path(_unescaped(columns[1]))
        # Of two mounts on one point the later one is seen.
        if (folder == point or point in folder.parents) and len(point.parts) >= depth:
            found, depth = columns[2], len(point.parts)
    return found if found in NETWORK_TYPES else ""


def _unescaped(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
