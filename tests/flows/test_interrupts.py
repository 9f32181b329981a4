"""The first signal ends in order, the second at once."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from flows.interrupts import held_back, interruptible


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
from flows.interrupts import held_back, interruptible
with interruptible(lambda: print("last words", flush=True)):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        os.kill(os.getpid(), signal.SIGINT)
    print("went on")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "last words\n", "")


def test_a_signal_that_is_held_back_comes_after_the_block():
    done = []

    def do() -> None:
        with held_back():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("whole")

    with interruptible(lambda: None), pytest.raises(KeyboardInterrupt):
        do()
    assert done == ["whole"]


def test_holding_back_is_no_business_of_other_threads():
    ran = threading.Thread(target=lambda: held_back().__enter__())
    ran.start()
    ran.join()
    before = signal.getsignal(signal.SIGINT)
    with held_back():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_after_the_last_word_a_signal_ends_with_the_code_of_the_run(number):
    code = f"""
import os
from flows.interrupts import leave_quietly
leave_quietly(5)
os.kill(os.getpid(), {int(number)})
print("went on")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (5, "", "")


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible(lambda: None):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
