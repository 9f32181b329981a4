"""Who holds a lease, and when a process counts as dead."""

import os
import socket
import subprocess
import sys

import pytest

from lethe_core.adapters.stores import owner
from lethe_core.adapters.stores.owner import make_owner, owner_is_dead, shown_owner

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")  # noqa: PTH110


def test_an_owner_names_host_and_process_and_is_never_the_same_twice():
    first, second = make_owner(), make_owner()
    host, pid, start, nonce = first.split("/")
    assert (host, pid) == (socket.gethostname(), str(os.getpid()))
    assert start
    assert nonce
    assert first != second


def test_people_are_told_the_process_and_its_machine():
    assert shown_owner("vm/3917/d23c68d7.4026531836.815/7e55a0b1") == "process 3917 on vm"
    assert shown_owner("somebody") == "somebody"


def test_this_process_is_alive():
    assert not owner_is_dead(make_owner())


@needs_proc
def test_an_ended_process_is_dead_and_a_reused_number_does_not_revive_it():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    host, _, start, nonce = make_owner().split("/")
    boot = start.rpartition(".")[0]
    theirs = f"{host}/{process.pid}/{owner._start(process.pid)}/{nonce}"
    assert not owner_is_dead(theirs)
    assert owner_is_dead(f"{host}/{process.pid}/{boot}.1/{nonce}")  # same number, started at another time
    process.kill()
    process.wait()
    assert owner_is_dead(theirs)


@needs_proc
def test_nothing_is_concluded_from_another_host_boot_or_namespace():
    host, _, start, nonce = make_owner().split("/")
    boot, namespace, ticks = start.split(".")
    gone = 2**22 + 1  # above the largest process number
    assert owner_is_dead(f"{host}/{gone}/{start}/{nonce}")
    for other in (
        f"{host}-2/{gone}/{start}/{nonce}",
        f"{host}/{gone}/0{boot[1:]}x.{namespace}.{ticks}/{nonce}",
        f"{host}/{gone}/{boot}.1.{ticks}/{nonce}",
        f"{host}/{gone}/-/{nonce}",
    ):
        assert not owner_is_dead(other)


@pytest.mark.parametrize(
    "text", ["", "x", "a/b/c/d", "/-1//", "a/1/b/c/d", "h/" + "9" * 400 + "/x/y", "h/²/x/y"]
)
def test_text_that_names_no_owner_is_never_dead(text):
    assert not owner_is_dead(text)
    assert not owner_is_dead(text.replace("h/", socket.gethostname() + "/", 1))


def test_without_proc_only_a_missing_process_is_dead(tmp_path, monkeypatch):
    monkeypatch.setattr(owner, "_PROC", tmp_path)
    mine = make_owner()
    assert mine.split("/")[2] == "-"
    assert not owner_is_dead(mine)
    if sys.platform != "win32":
        assert owner_is_dead(mine.replace(f"/{os.getpid()}/", f"/{2**22 + 1}/"))
