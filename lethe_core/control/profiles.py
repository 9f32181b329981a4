"""The embedding models whose thresholds are known (algorithms.md 1.1), and what they were measured on.

``similar_threshold`` is the .995 quantile of cosines between passages of different sources,
``ga_floor`` the normalised .99 quantile of question-passage cosines.
"""

from collections.abc import Mapping
from types import MappingProxyType

from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.errors import ConfigError

WORDLLAMA_256 = EmbeddingProfile(
    name="wordllama-256",
    revision="l2_supercat",
    dimension=256,
    query_prompt="",
    matryoshka=True,
    similar_threshold=0.469,
    duplicate_threshold=0.95,
    ga_floor=0.68,
)

MINILM_L6 = EmbeddingProfile(
    name="sentence-transformers/all-MiniLM-L6-v2",
    revision="main",
    dimension=384,
    query_prompt="",
    matryoshka=False,
    similar_threshold=0.361,
    duplicate_threshold=0.95,
    ga_floor=0.67,
)

QWEN3_4B = EmbeddingProfile(
    name="Qwen/Qwen3-Embedding-4B",
    revision="main",
    dimension=2560,
    query_prompt=(
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
    ),
    matryoshka=True,
    similar_threshold=0.55,
    duplicate_threshold=0.95,
    ga_floor=0.65,
)

PROFILES: Mapping[str, EmbeddingProfile] = MappingProxyType(
    {profile.name: profile for profile in (WORDLLAMA_256, MINILM_L6, QWEN3_4B)}
)

MEASURED_ON: Mapping[str, str] = MappingProxyType(
    {
        WORDLLAMA_256.name: "994 passages (title and text) and 100 questions of HotpotQA",
        MINILM_L6.name: "994 passages (title and text) and 100 questions of HotpotQA",
        QWEN3_4B.name: "live research sessions: the largest similarities between topics lay at .46 to .61",
    }
)
"""For each profile, in words for a person, what its thresholds come from."""


def find_profile(name: str) -> EmbeddingProfile:
    """The profile of a model by its name, with or without the publisher before it, in any case.

    Raises ConfigError when nothing was measured for it.
    """
    wanted = name.strip().casefold()
    for known, profile in PROFILES.items():
        if wanted in (known.casefold(), known.casefold().rsplit("/", 1)[-1]):
            return profile
    raise ConfigError(
        f"no thresholds are known for the embedding model {name!r} (known: {', '.join(PROFILES)}; "
        "for another, derive them with `lethe eval calibrate` and put them into the configuration)"
    )
