"""Settings: defaults, then ``lethe.toml``, then ``LETHE_*`` in the environment, then flags.

One flat model, so that a name is the same in the file (``max_iterations = 20``), in the environment
(``LETHE_MAX_ITERATIONS=20``) and as a flag (``--max-iterations 20``). Constants of the algorithms are not
here: they lie beside the algorithms, in their ``…Config`` classes.
"""

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from lethe_core.errors import ConfigError

FILE_NAME = "lethe.toml"
SECRETS = ("llm_api_key", "embedding_api_key", "neo4j_user", "neo4j_password")
FLAGS = {"llm_model": "--model"}  # where a flag is not named like its setting
DEFAULT_MIN_ITERATIONS = 3
MOST_ITERATIONS = 100  # twice that is what the cap allows, and what Prefect's page draws without being asked
MOST_SECONDS = 7 * 86400.0


def default_home() -> Path:
    return Path(platformdirs.user_data_dir("lethe"))


class Settings(BaseSettings):
    """Every setting that a user may set, with its meaning."""

    model_config = SettingsConfigDict(env_prefix="LETHE_", extra="forbid", frozen=True)

    home: Path = Field(default_factory=default_home, description="Where graphs, results and indexes lie.")
    store: str = Field(
        default="",
        description="The graph store, sqlite:///PATH or neo4j://HOST[:PORT]; empty: graph.db under home.",
    )
    # The store takes them from the environment by itself: they pass through nobody's hands.
    neo4j_user: SecretStr = Field(default=SecretStr(""), description="Neo4j's user; environment only.")
    neo4j_password: SecretStr = Field(default=SecretStr(""), description="Its password; environment only.")
    # NoDecode: split here at the path separator, not read as JSON.
    corpus: Annotated[tuple[Path, ...], NoDecode] = Field(
        default=(), description="Folders of documents to search."
    )

    series: str = Field(
        default="", description="A series of runs, each of which says what changed since the last good one."
    )
    if_running: Literal["wait", "skip"] = Field(
        default="wait", description="What a run does while another one of its series is at work."
    )

    max_iterations: int = Field(
        default=30,
        ge=1,
        le=MOST_ITERATIONS,
        description="Target for the iterations; the hard cap is twice that.",
    )
    min_iterations: int = Field(
        default=3, ge=1, le=MOST_ITERATIONS, description="Iterations before convergence may end it."
    )
    time_budget: float = Field(
        default=1800.0,
        gt=0,
        le=MOST_SECONDS,
        allow_inf_nan=False,
        description="Target in seconds at work; the hard cap is twice that.",
    )
    max_tokens: int | None = Field(default=None, ge=1, description="Hard cap on the model's tokens.")
    max_cost: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Hard cap on the model's cost; needs prices."
    )
    price_prompt: float | None = Field(default=None, ge=0, description="Price of a million prompt tokens.")
    price_completion: float | None = Field(
        default=None, ge=0, description="Price of a million completion tokens."
    )

    llm_base_url: str = Field(
        default="", description="An OpenAI-compatible server; empty: extractive reasoner."
    )
    llm_api_key: SecretStr = Field(default=SecretStr(""), description="Its key; environment only.")
    llm_model: str = Field(default="", description="The model's name on that server.")
    llm_context_window: int = Field(default=32768, ge=4096, description="Tokens that the model can hold.")
    llm_max_answer_tokens: int = Field(
        default=2048, ge=64, description="Tokens of an answer of the model at most, thinking aside."
    )
    llm_max_thinking_tokens: int = Field(
        default=12288, ge=0, description="Tokens it may think with at most; 0: it does not think."
    )
    llm_limit: str = Field(
        default="",
        description="Prefect's concurrency limit that each call takes a slot of; empty: none.",
    )
    llm_timeout: float = Field(default=600.0, gt=0, description="Seconds without a byte before a call fails.")

    embedding: str = Field(
        default="wordllama-256",
        min_length=1,
        description="The embedding model: a name, or a folder with a sentence-transformers model.",
    )
    embedding_base_url: str = Field(
        default="", description="An OpenAI-compatible server of embeddings; empty: the model runs here."
    )
    embedding_api_key: SecretStr = Field(default=SecretStr(""), description="Its key; environment only.")
    embedding_query_prompt: str | None = Field(
        default=None, description="Put before what is asked; default: the model's profile."
    )
    embedding_similar_threshold: float | None = Field(
        default=None, gt=0, le=1, description="Cosine of SIMILAR_TO; default: the model's profile."
    )
    embedding_duplicate_threshold: float | None = Field(
        default=None, gt=0, le=1, description="Cosine of a duplicate; default: the model's profile."
    )
    embedding_ga_floor: float | None = Field(
        default=None, ge=0, le=1, description="Normalised cosine of what is on topic; default: the profile."
    )
    nli: Literal["off"] = Field(default="off", description="The inference model; off is a legal setting.")

    context_tokens: int = Field(default=8192, ge=512, description="Tokens of context at most.")
    search_documents: int = Field(default=8, ge=1, le=100, description="New documents a search brings.")
    search_chunks: int = Field(default=60, ge=1, description="Chunks up to which a document is taken whole.")
    search_best_chunks: int = Field(default=40, ge=1, description="Best chunks of a longer document.")

    report_unsupported: Literal["mark", "drop"] = Field(
        default="mark", description="What becomes of a claim whose sources do not support it."
    )
    report_quotations: int = Field(
        default=8, ge=1, le=50, description="Quotations in the answer and in each section at most."
    )
    out: Path | None = Field(
        default=None, description="Folder for the report; default ./lethe-reports/SESSION."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # The sources are merged by load_settings, which remembers where each value came from.
        return (init_settings,)

    @field_validator("corpus", "home", "out", mode="before")
    @classmethod
    def _named(cls, value: object, info: ValidationInfo) -> object:
        """Folders of one text taken apart. An empty path would be the working folder: of a variable that is
        not set, nobody means that.
        """
        if info.field_name == "corpus" and isinstance(value, str):
            value = tuple(value.split(os.pathsep))
        for path in value if isinstance(value, list | tuple) else [value]:
            if isinstance(path, str) and not path.strip():
                raise ValueError("the path is empty: name one, or leave it out (the working folder is ./)")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> "Settings":
        if self.min_iterations > self.max_iterations:
            raise ValueError(
                f"min_iterations ({self.min_iterations}) is above max_iterations ({self.max_iterations})"
            )
        if self.max_cost is not None and (self.price_prompt is None or self.price_completion is None):
            raise ValueError(
                "max_cost needs price_prompt and price_completion (per million tokens) in the configuration"
            )
        if not self.store.startswith("sqlite:") and "@" in self.store:
            raise ValueError(
                "the store's URL holds a user or a password: set LETHE_NEO4J_USER and "
                "LETHE_NEO4J_PASSWORD in the environment instead"
            )
        for name in ("llm_base_url", "embedding_base_url"):
            if (url := getattr(self, name)) and not url.startswith(("http://", "https://")):
                raise ValueError(f"{name} must begin with http:// or https://, not {url!r}")
        if self.llm_base_url and not self.llm_model:
            raise ValueError("llm_base_url is set but llm_model is not: name the model (LETHE_LLM_MODEL)")
        return self

    @property
    def store_url(self) -> str:
        return self.store or f"sqlite:///{self.home / 'graph.db'}"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Effective settings and, for each field, where its value came from."""

    settings: Settings
    origins: Mapping[str, str]  # "default", "lethe.toml (/path)", "LETHE_MODEL", "--model"


def load_settings(
    flags: Mapping[str, Any] | None = None, *, config_file: Path | None = None
) -> LoadedSettings:
    """Merge all sources.

    flags: values by field name; None means "not given".
    config_file: the file named by ``--config``; otherwise the working folder's, else home's.
    Raises ConfigError that names the field, the value, its source and what is allowed.
    """
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    environment = {k: v for k, v in EnvSettingsSource(Settings)().items() if v != ""}
    home = Path(given.get("home") or environment.get("home") or default_home())
    path = _find_file(config_file, home)
    from_file = _read_file(path) if path is not None else {}
    merged = {**from_file, **environment, **given}
    origins = dict.fromkeys(Settings.model_fields, "default")
    origins |= {name: str(path) for name in from_file}
    origins |= {name: f"LETHE_{name.upper()}" for name in environment}
    origins |= {name: FLAGS.get(name, f"--{name.replace('_', '-')}") for name in given}
    # Somebody who asks for one iteration means it: a default must not refuse what was asked for.
    most = merged.get("max_iterations")
    if (
        "min_iterations" not in merged
        and str(most).isdecimal()
        and 1 <= int(str(most)) < DEFAULT_MIN_ITERATIONS
    ):
        merged["min_iterations"] = most
        origins["min_iterations"] = "lowered to max_iterations"
    try:
        settings = Settings(**merged)
    except ValidationError as error:
        raise ConfigError(_explain(error, origins)) from None
    _check_home(settings.home, origins["home"])
    return LoadedSettings(settings, origins)


def _check_home(home: Path, origin: str) -> None:
    """A file in the place of the folder is said here: later it would look like a fault of what lies in it."""
    home = home.expanduser()
    with suppress(OSError):  # what may not be looked at is refused when it is used
        for place in (home, *home.parents):
            if place.is_file():
                raise ConfigError(
                    f"Lethe's home cannot be {home} ({origin}): {place} is a file, not a folder (name "
                    "another --home or LETHE_HOME)"
                )


def _find_file(named: Path | None, home: Path) -> Path | None:
    if named is not None:
        if not named.is_file():
            raise ConfigError(f"configuration file not found: {named} (named by --config)")
        return named
    for folder in (Path.cwd(), home):
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
    return None


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"configuration file {path} cannot be read: {error}") from None
    for name in SECRETS:
        if name in values:
            raise ConfigError(
                f"{path} holds {name}: secrets belong into the environment (LETHE_{name.upper()})"
            )
    return values


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    lines = []
    for item in error.errors(include_url=False):
        name = ".".join(str(part) for part in item["loc"])
        message = item["msg"].removeprefix("Value error, ").removesuffix(" for <class 'pathlib.Path'>")
        if not name:
            lines.append(message)
            continue
        shown = "" if name in SECRETS else f" {item['input']!r}"
        if item["type"] == "extra_forbidden":
            lines.append(
                f"unknown setting {name!r} ({origins.get(name, 'given')}); `lethe doctor` lists them all"
            )
        else:
            origin = origins.get(str(item["loc"][0]), "given")
            lines.append(f"setting {name}{shown} ({origin}): {message}")
    return "; ".join(lines)
