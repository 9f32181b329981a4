"""A server that went away is told from every other error."""

import httpx
import pytest

from flows.server_loss import ServerLostError, is_server_loss
from lethe_core.errors import LetheError, ModelUnavailableError


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectError("All connection attempts failed"),
        httpx.ReadError(""),
        RuntimeError("Cannot create flow run. Failed to reach API at http://127.0.0.1:9/api."),
        caused(ValueError("crashed"), httpx.RemoteProtocolError("disconnected")),
    ],
)
def test_what_prefect_s_client_raises_without_a_server_is_a_loss(error):
    assert is_server_loss(error)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        RuntimeError("no"),
        LetheError("no"),
        caused(ModelUnavailableError("the model is down"), httpx.ConnectError("refused")),
    ],
)
def test_other_errors_are_none(error):
    assert not is_server_loss(error)


def test_causes_that_go_round_end():
    first, second = ValueError("1"), ValueError("2")
    first.__cause__, second.__cause__ = second, first
    assert not is_server_loss(first)


def test_exit_code_is_that_of_an_error():
    assert ServerLostError("gone").exit_code == 1
