"""A variable that no setting answers to is seen, and what was meant is guessed."""

from flows.unknown_variables import unknown_variables, warning_of


def test_slips_are_named_with_what_was_meant():
    environment = {"LETHE_MAX_ITERATION": "3", "LETHE_HOME": "/x", "HOME": "/y", "LETHE_QQQQQQ": "1"}
    assert unknown_variables(environment) == [
        ("LETHE_MAX_ITERATION", ": did you mean LETHE_MAX_ITERATIONS?"),
        ("LETHE_QQQQQQ", " (unset it)"),
    ]
    assert "LETHE_MAX_ITERATION: did you mean" in warning_of(environment)
    assert len(warning_of(environment).splitlines()) == 1


def test_settings_are_no_slips():
    assert warning_of({"LETHE_MAX_ITERATIONS": "3", "LETHE_LLM_API_KEY": "k", "PREFECT_HOME": "/"}) == ""
    assert unknown_variables({"LETHE_\x1b[2J": "1"})[0][0] == "LETHE_[2J"
