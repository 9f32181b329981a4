"""Who holds a lease: ``host/pid/start/nonce``, and whether that process is certainly dead.

A process is judged only from where it can be seen: the same host name, the same boot and the same process
namespace (two containers may share a host name). Everywhere else, and in doubt, it counts as alive and its
lease has to run out.
"""

import os
import secrets
import socket
import sys
from pathlib import Path

_PROC = Path("/proc")


def make_owner(pid: int | None = None) -> str:
    """A name for this process, or another of this machine, as a holder; every call makes another one."""
    pid = os.getpid() if pid is None else pid
    return f"{_host()}/{pid}/{_start(pid) or '-'}/{secrets.token_hex(8)}"


def shown_owner(owner: str) -> str:
    """A holder in words for people: "process 3917 on vm"; one that ``make_owner`` did not name, as it is."""
    parts = owner.split("/")
    return f"process {parts[1]} on {parts[0]}" if len(parts) == 4 else owner


def owner_is_dead(owner: str) -> bool:
    """Whether the process that ``make_owner`` named has certainly ended."""
    parts = owner.split("/")
    if len(parts) != 4 or parts[0] != _host() or not parts[1].isdecimal() or len(parts[1]) > 18:
        return False
    pid, start = int(parts[1]), parts[2]
    here = _start(os.getpid())
    if here is None:
        return start == "-" and _is_gone(pid)
    if start.rpartition(".")[0] != here.rpartition(".")[0]:
        return False  # another boot or another process namespace
    return _start(pid) != start


def owner_is_alive(owner: str) -> bool:
    """Whether the process that ``make_owner`` named certainly runs: no other that was given its number.

    Where /proc does not tell, nothing is certain.
    """
    parts = owner.split("/")
    if len(parts) != 4 or parts[0] != _host() or not parts[1].isdecimal() or len(parts[1]) > 18:
        return False
    return parts[2] != "-" and _start(int(parts[1])) == parts[2]


def _host() -> str:
    return socket.gethostname().replace("/", "-")


def _start(pid: int) -> str | None:
    """``boot.namespace.ticks`` of a running process; None where /proc does not tell, or it has ended."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()[:8]
        namespace = (_PROC / "self/ns/pid").stat().st_ino
        # The name in parentheses may hold anything, parentheses included.
        state, *rest = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        ticks = int(rest[18])
    except (OSError, ValueError, IndexError):
        return None
    # A zombie has ended; its parent has not looked yet.
    return None if state in (b"Z", b"X") else f"{boot}.{namespace}.{ticks}"


def _is_gone(pid: int) -> bool:
    if sys.platform == "win32":
        return False  # there, signal 0 would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
