"""The embedding models whose thresholds are known (algorithms.md 1.1), and what they were measured on.

``similar_threshold`` is the .995 quantile of cosines between passages of different sources,
``ga_floor`` the normalised .99 quantile of question-passage cosines.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
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
    ga_floor=0.664,
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


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a configuration says about a model itself; None: as its profile does."""

    query_prompt: str | None = None
    similar_threshold: float | None = None
    duplicate_threshold: float | None = None
    ga_floor: float | None = None

    @property
    def suffice(self) -> bool:
        """Whether a model without a profile can be used with them."""
        return self.similar_threshold is not None and self.ga_floor is not None


def find_profile(name: str, given: Thresholds | None = None) -> EmbeddingProfile:
    """The profile of a model by its name, with or without the publisher before it, in any case.

    given: what is configured goes before what was measured; a model that nothing was measured for needs at
    least the two thresholds that have no default. Its dimension is then 0: the model tells it.
    Raises ConfigError when neither says enough.
    """
    given = given or Thresholds()
    known = known_profile(name)
    if known is None and not given.suffice:
        raise ConfigError(
            f"no thresholds are known for the embedding model {name!r} (known: {', '.join(PROFILES)}): "
            "derive them with `lethe eval calibrate --embedding NAME` and put what it prints into lethe.toml"
        )
    return adjusted(known or blank_profile(name), given)


def adjusted(profile: EmbeddingProfile, given: Thresholds) -> EmbeddingProfile:
    """A profile with what is configured put before its own."""
    changes = {field.name: getattr(given, field.name) for field in fields(given)}
    changes = {field: value for field, value in changes.items() if value is not None}
    return replace(profile, **changes) if changes else profile


def known_profile(name: str) -> EmbeddingProfile | None:
    """The profile that a name stands for, if any was measured."""
    wanted = name.strip().casefold()
    for known, profile in PROFILES.items():
        if wanted in (known.casefold(), known.casefold().rsplit("/", 1)[-1]):
            return profile
    return None


def blank_profile(name: str) -> EmbeddingProfile:
    """What is known of a model before anything was measured: its name, and the usual duplicate threshold."""
    return EmbeddingProfile(
        name=name,
        revision="",
        dimension=0,
        query_prompt="",
        matryoshka=False,
        similar_threshold=1.0,
        duplicate_threshold=0.95,
        ga_floor=1.0,
    )
