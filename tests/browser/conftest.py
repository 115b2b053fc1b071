"""A browser without a window: Debian's chromium, or another one that Selenium finds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
CORE = DOCS / "_static" / "lab" / "core.js"


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


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """The page as the documentation has it, without the other pages."""
    if not CORE.exists():
        pytest.skip("the lab is not built: make lab, which needs the target wasm32-unknown-unknown")
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in ("lab.rst", "lab.html"):
        shutil.copy(DOCS / name, source)
    (source / "index.rst").write_text("Pages\n=====\n\n.. toctree::\n\n   lab\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-c",
        DOCS,
        "-D",
        "extensions=sphinx.ext.autodoc,sphinx.ext.mathjax",
    ]
    subprocess.run([*command, "-D", "html_math_renderer=mathjax", source, built], check=True)
    return built


#: Asks a core of its own, one call after the other; returns what it says.
CALLS = """
const [calls, done] = arguments;
const packed = new Blob([Uint8Array.from(atob(LAB_CORE), letter => letter.charCodeAt(0))]);
const binary = new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
binary.then(WebAssembly.instantiate).then(({ instance }) => {
  const core = instance.exports;
  const call = (name, ...numbers) => {
    const n = core[name](...numbers);
    const said = JSON.parse(new TextDecoder().decode(new Uint8Array(core.memory.buffer, core.output(), n)));
    if ("error" in said) throw new Error(said.error);
    return said.ok;
  };
  const open = link => {
    const text = new TextEncoder().encode(link), at = core.input(text.length);
    new Uint8Array(core.memory.buffer, at, text.length).set(text);
    return call("open");
  };
  const epochs = until => {
    let made;
    do made = call("epoch"); while (made.known < until && !made.ended);
    return made;
  };
  done(calls.map(([name, ...values]) => ({ open, epochs })[name]?.(...values) ?? call(name, ...values)));
}).catch(error => done(String(error)));
"""


class Lab:
    """The page, as somebody uses it."""

    def __init__(self, browser, folder: Path) -> None:
        self.browser, self.address = browser, (folder / "lab.html").as_uri()

    def open(self, link: str = "") -> list[str]:
        self.browser.open("about:blank")
        asked = self.browser.open(f"{self.address}#{link}")
        self.rest()
        return asked

    def run(self, script: str):
        return self.browser.run(script)

    def rest(self) -> None:
        """Wait until all of a place is shown, or that nothing can be."""
        end = time.monotonic() + 120
        while not self.run(
            "const lab = document.getElementById('lab');"
            "return lab.dataset.at !== undefined || !!lab.querySelector('.lab-error')"
        ):
            assert time.monotonic() < end, self.text("status")
            time.sleep(0.01)

    def text(self, name: str) -> str:
        """Return what is written there, with signs that Python reads."""
        said = self.run(f"return document.getElementById('lab-{name}').textContent")
        return said.replace("\N{MINUS SIGN}", "-")

    def table(self) -> list[list[str]]:
        """Return the rows of the table but the next one, with signs that Python reads."""
        script = "return [...document.querySelectorAll('#lab-table tbody tr:not(.lab-next)')]"
        rows = self.run(f"{script}.map(row => [...row.cells].map(cell => cell.textContent))")
        return [[cell.replace("\N{MINUS SIGN}", "-") for cell in row] for row in rows]

    def core(self, calls: list[list[Any]]) -> list[Any]:
        """Ask a core of its own: ``["open", link]``, ``["epochs", until]``, or a function and its numbers."""
        found = self.browser.driver.execute_async_script(CALLS, calls)
        assert isinstance(found, list), found
        return found

    def model(self):
        """Run the code that is shown; return the model, and the digest that the page shows."""
        names: dict[str, object] = {"print": lambda *args: None}
        exec(self.text("code"), names)
        return names["model"], self.text("digest")

    def focused(self):
        return self.browser.driver.switch_to.active_element

    def press(self, *keys: str) -> None:
        """Press keys where the focus is, and wait for what they do."""
        self.focused().send_keys(*keys)
        self.rest()

    def reach(self, selector: str) -> None:
        """Press Tab until an element has the focus."""
        from selenium.webdriver.common.keys import Keys

        for _ in range(120):
            if self.run(f"return document.activeElement.matches({selector!r})"):
                return
            self.focused().send_keys(Keys.TAB)
        raise AssertionError(f"Tab does not reach {selector}")


@pytest.fixture
def lab(browser, folder) -> Lab:
    browser.resize(1400)
    return Lab(browser, folder)
