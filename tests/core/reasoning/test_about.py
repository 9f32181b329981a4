"""Evidence in other words is about a question; noise of the same field, or about another name, is not."""

import pytest

from lethe_core.adapters.models.wordllama import WordLlamaEmbedder
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.nodes import ShortId
from lethe_core.reasoning.reading import read

TEXTS = {
    "tokens": "Ask the owner for a token and keep it in a file. Tokens expire after 90 days.",
    "limits": "The bot answers at most 30 requests a minute for each channel and drops the rest.",
    "review": "Every change needs one approving review. Drawings are kept in the folder of art.",
    "sensor": "The pressure sensor must be calibrated twice a year against the staff gauge.",
    "fonts": "Two typefaces come with it. Photographs wider than the page are cut off.",
    "ferry": "The collector asks 14 feeds. A year of data takes 2.1 GB.",
    "tide": "Over the winter the predicted time of high water was off by 7 minutes on average.",
}
BLOCKS = tuple(
    EvidenceBlock(ShortId(f"e-{n:04x}"), title, f"notes/{title}.md", "", None, False, "", False, "", text)
    for n, (title, text) in enumerate(TEXTS.items())
)


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("After how many days does a token stop working?", "90 days"),
        ("How many messages per minute does the bot handle?", "30 requests"),
        ("How precise are the tide predictions?", "7 minutes"),
    ],
)
def test_other_words_are_understood(question: str, told: str, embedder: WordLlamaEmbedder) -> None:
    found = read(question, BLOCKS, embedder)
    assert found.about
    assert any(told in found.pieces[i].text for i in found.quoted)


def test_a_figure_in_the_unit_asked_for_speaks_for_a_text(embedder: WordLlamaEmbedder) -> None:
    def berths(price: str) -> EvidenceBlock:
        text = f"Boats that stay overnight pay {price} at the office. Dogs are welcome."
        return EvidenceBlock(
            ShortId("e-00aa"), "charges", "notes/charges.md", "", None, False, "", False, "", text
        )

    question = "How much does it cost to moor for a night?"
    assert read(question, (*BLOCKS, berths("£14")), embedder).about
    assert not read(question, (*BLOCKS, berths("their due")), embedder).about


@pytest.mark.parametrize(
    "question",
    [
        "What is the boiling point of liquid nitrogen at two bar?",
        "Which enzyme limits the rate of cholesterol synthesis?",
        "What does the tax code say about depreciation of leased machines?",
        "How many requests a minute does Zorbex answer?",
    ],
)
def test_noise_is_not_about_the_question(question: str, embedder: WordLlamaEmbedder) -> None:
    assert not read(question, BLOCKS, embedder).about


def test_a_synthesis_of_the_question_itself_proves_nothing(embedder: WordLlamaEmbedder) -> None:
    own = EvidenceBlock(
        ShortId("e-ffff"), "Zorbex", "synthesis", "", None, False, "", True, "", "About Zorbex."
    )
    assert not read("How many requests a minute does Zorbex answer?", (*BLOCKS, own), embedder).about


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Who keeps the accounts at Harrowmere?", True),
        ("Who is the mayor of Harrowmere?", False),
        ("When was Marit Osei born?", False),
        ("What happens to Marit Osei's chair?", True),
    ],
)
def test_what_is_asked_of_a_name_must_be_told_beside_the_name(
    question: str, about: bool, embedder: WordLlamaEmbedder
) -> None:
    text = "Harrowmere: Marit Osei looks after the desk, Colm Devaney keeps the accounts. It opened in 1998."
    block = EvidenceBlock(ShortId("e-0abc"), "about us", "about.md", "", None, False, "", False, "", text)
    assert read(question, (*BLOCKS, block), embedder).about == about
