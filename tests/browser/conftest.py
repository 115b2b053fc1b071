"""A browser without a window: Debian's chromium, or another one that Selenium finds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


class Browser:
    """A browser, and what it asks for."""

    def __init__(self) -> None:
        from selenium.webdriver import Chrome, ChromeOptions, ChromeService

        options = ChromeOptions()
        # A container has no sandbox of its own; the pages are ours.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver: Any = Chrome(options, ChromeService(shutil.which("chromedriver")))

    def resize(self, width: int, height: int = 1000) -> None:
        """Make the page this large; a window has a least width of its own."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def open(self, address: str) -> list[str]:
        """Open a page, and return the addresses of all that was asked for to show it."""
        self.driver.get_log("performance")
        self.driver.get(address)
        return self.requests()

    def requests(self) -> list[str]:
        """Return the addresses of what was asked for since the last look."""
        messages = (json.loads(line["message"])["message"] for line in self.driver.get_log("performance"))
        sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the page."""
        return self.driver.execute_script(script, *arguments)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.driver.quit()
