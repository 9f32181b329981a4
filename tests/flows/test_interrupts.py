"""The first signal ends in order, the second at once."""

import os
import signal
import subprocess
import sys

import pytest

from flows.interrupts import interruptible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_first_signal_interrupts_and_the_handlers_are_put_back(number):
    before = signal.getsignal(number)
    with interruptible(lambda: None) as interruption:
        assert not interruption.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert interruption.asked
    assert signal.getsignal(number) == before


def test_second_signal_ends_at_once_with_the_last_words():
    code = """
import os, signal, sys
from flows.interrupts import interruptible
with interruptible(lambda: print("last words", flush=True)):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        os.kill(os.getpid(), signal.SIGINT)
    print("went on")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "last words\n", "")


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible(lambda: None):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
