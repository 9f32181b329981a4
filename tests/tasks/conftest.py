"""What the flow's tests work with."""

import os
from pathlib import Path
from typing import Any

import pytest

PAGES = {
    "tarn-bridge.md": "# Tarn bridge\n\nDate: 2023-04-01\n\nThe Tarn bridge is 412 metres long.\n\n"
    "It was opened on 14 June 1931 by the mayor of Orle.\n",
    "ferry.md": "# Ferry\n\nThe ferry at Lisk carries 40 cars. It stops in winter.\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("LETHE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PREFECT_LOCAL_STORAGE_PATH", str(tmp_path / "home" / "results"))
    return tmp_path / "home"


@pytest.fixture
def chat(chat_server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The chat server, which the runs of this process are configured with."""
    monkeypatch.setenv("LETHE_LLM_BASE_URL", chat_server.url)
    monkeypatch.setenv("LETHE_LLM_MODEL", "test-model")
    return chat_server
