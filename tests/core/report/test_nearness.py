"""A claim in other words than the question's can be a finding; noise and other names' claims are not."""

from lethe_core.adapters.models.wordllama import WordLlamaEmbedder
from lethe_core.report.nearness import Nearness

TOKENS = "Tokens expire after 90 days, so ask for another one in time."
NOISE = (
    "Every change needs one approving review and a passing test run.",
    "The terrace is closed in high winds and the boiler house is kept warm.",
    "Two typefaces come with it, and others are read from the folder.",
)


def nearness(session, asked: str):
    session.embedder = WordLlamaEmbedder()
    task = session.task(asked)
    chunks = [session.chunk(text, f"notes-{n}.md", task=task) for n, text in enumerate((TOKENS, *NOISE))]
    nodes = [session.snapshot().evidence[getattr(chunk, "id", chunk)] for chunk in chunks]
    judge = Nearness(session.snapshot(), session.embedder)
    return lambda n: judge.near(asked, (TOKENS, *NOISE)[n], [nodes[n]])


def test_other_words_are_near_and_noise_is_not(session) -> None:
    near = nearness(session, "After how many days does a token stop working?")
    assert near(0)
    assert not any(near(n) for n in (1, 2, 3))


def test_a_question_from_elsewhere_has_nothing_near(session) -> None:
    near = nearness(session, "Which enzyme limits the rate of cholesterol synthesis?")
    assert not any(near(n) for n in range(4))


def test_of_a_question_that_names_something_the_names_decide(session) -> None:
    near = nearness(session, "After how many days does a token of Zorbex stop working?")
    assert not near(0)
