"""Prefect's page in a real browser: the form, the run, and the report that it leaves.

Screenshots lie in LETHE_TEST_SCREENSHOTS where that is set, else in the test's own folder.
"""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.prefect,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("chromium"),  # before anything is deployed in vain
]

CHROMIUM = "LETHE_TEST_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 120.0  # for anything on the page, on a busy machine


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is; the test is left out where there is none."""
    pytest.importorskip("playwright.sync_api", reason="no playwright: make install-dev")
    found = os.environ.get(CHROMIUM) or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip(f"no Chromium: apt-get install chromium, or name one in {CHROMIUM}")
    return found


@dataclass(frozen=True)
class Screen:
    """One page of the browser."""

    page: Any
    url: str
    folder: Path

    def open(self, path: str) -> None:
        self.page.goto(f"{self.url}{path}")

    def field(self, name: str) -> Any:
        """A parameter's field in the form, found by its label."""
        label = self.page.locator(
            ".schema-form-property__label", has_text=re.compile(rf"^{name}( \(Optional\))?$")
        )
        return self.page.locator(".schema-form-property", has=label)

    def fill(self, name: str, value: str) -> None:
        self.field(name).locator("textarea, input").first.fill(value)

    def sees(self, text: str | re.Pattern[str]) -> Any:
        """Wait until a text stands on the page."""
        found = self.page.get_by_text(text).first
        found.wait_for()
        return found

    def keep(self, name: str) -> None:
        self.page.wait_for_timeout(500)  # what moves has come to rest
        self.page.screenshot(path=self.folder / f"{name}.png")


@pytest.fixture
def screen(chromium: str, deployed: Any, tmp_path: Path) -> Iterator[Screen]:
    from playwright.sync_api import sync_playwright

    folder = Path(os.environ.get("LETHE_TEST_SCREENSHOTS") or tmp_path / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(viewport={"width": 1400, "height": 2200})
        page.set_default_timeout(SECONDS * 1000)
        try:
            yield Screen(page, deployed.api.removesuffix("/api"), folder)
        except BaseException:
            page.screenshot(path=folder / "failed.png")
            raise
        finally:
            browser.close()


def test_research_is_started_from_the_form_and_its_report_read_on_the_page(
    screen: Screen, deployed: Any, corpus: Path, question: str
) -> None:
    found = deployed.ask("GET", "/deployments/name/lethe/research")
    screen.open(f"/deployments/deployment/{found['id']}/run")
    screen.sees("Validate parameters")
    for name, field in found["parameter_openapi_schema"]["properties"].items():
        assert " ".join(field["description"].split()) in " ".join(screen.field(name).inner_text().split())
    screen.keep("1-form")

    # A wrong value: said on the page, and there is no run.
    before = deployed.ask("POST", "/flow_runs/count")
    screen.fill("question", question)
    screen.field("corpus").get_by_role("button", name="Add item").click()
    screen.fill("corpus", str(corpus))
    screen.fill("max_iterations", "500")
    screen.page.get_by_role("button", name="Submit").click()
    screen.sees(re.compile("500 is greater than the maximum of 100"))
    screen.keep("2-refused")
    assert deployed.ask("POST", "/flow_runs/count") == before

    # The right one.
    screen.fill("max_iterations", "5")
    screen.fill("session", "s-page")
    screen.keep("3-filled-in")
    screen.page.get_by_role("button", name="Submit").click()
    screen.sees("scheduled to start")
    assert deployed.ask("POST", "/flow_runs/count") == before + 1
    runs = deployed.ask("POST", "/flow_runs/filter")
    (run,) = [run["id"] for run in runs if run["parameters"].get("session") == "s-page"]
    screen.open(f"/runs/flow-run/{run}")
    screen.sees("goal_complete")
    screen.page.set_viewport_size({"width": 1400, "height": 1100})
    screen.sees(re.compile(r"^When was the lighthouse at Farrow Point.* · s-page$"))
    screen.keep("4-run")
    screen.page.get_by_text("Task Runs", exact=True).click()
    screen.sees("01 ready set")
    screen.keep("5-task-runs")
    screen.page.get_by_text("Details", exact=True).click()
    screen.sees(re.compile(r"^complete: \d+ findings? from \d+ sources?; every part of the question was"))
    screen.keep("6-details")

    screen.page.get_by_text("Artifacts", exact=True).last.click()
    screen.sees("signals-s-page").click()
    screen.sees("goal_coverage")
    screen.keep("7-signals")
    screen.page.go_back()
    screen.page.get_by_text("Artifacts", exact=True).last.click()
    screen.sees("report-s-page").click()
    screen.sees(re.compile("was built in 1871"))
    screen.keep("8-report")
    screen.page.locator("article a[href='#source-1']").first.click()
    assert screen.page.url.endswith("#source-1")
    assert screen.page.locator("#source-1").evaluate(
        "mark => { const at = mark.getBoundingClientRect(); return at.top >= 0 && at.top < innerHeight }"
    )
    screen.keep("9-source")
