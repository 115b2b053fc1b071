"""Every page of the built documentation, in a browser, wide and narrow: ``make test-pages``."""

from __future__ import annotations

import html
import re
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
BUILT = Path(__file__).parents[2] / "docs" / "_build"
PAGES = sorted(path.relative_to(BUILT).as_posix() for path in BUILT.rglob("*.html"))
PAGES = [page for page in PAGES if not page.startswith(("_static/", "_modules/"))]

#: Returns what a reader cannot see, each as a line that names it.
FAULTS = r"""
const found = [], wide = window.innerWidth;
const name = e => `<${e.tagName.toLowerCase()} class="${e.getAttribute('class') || ''}"> `
    + JSON.stringify((e.textContent || e.alt || '').trim().slice(0, 70));
if (document.documentElement.scrollWidth > wide) found.push(`page: ${document.documentElement.scrollWidth}`);
for (const e of document.querySelectorAll('.bd-header *, .bd-main *, .bd-footer *')) {
    if (e.closest('svg, .visually-hidden, .headerlink, .sr-only') || !e.checkVisibility()) continue;
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (!box.width || !box.height) continue;
    // Inside of what scrolls, the container is what is too small.
    if (box.right > wide + 1 || box.left < -1) found.push(`outside, ${Math.round(box.right)}: ${name(e)}`);
    const inside = e.scrollWidth - e.clientWidth;
    if (style.display !== 'inline' && e.clientWidth && inside > 1)
        found.push(`cut off by ${inside}: ${name(e)}`);
}
for (const e of document.images)
    if (e.checkVisibility() && (!e.complete || !e.naturalWidth))
        found.push(`broken: ${e.getAttribute('src')}`);
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
    const text = walk.currentNode, raw = /\\[a-zA-Z]{2,}|:math:|\$\$/.exec(text.data);
    if (raw && !text.parentElement.closest('pre, code, script, style'))
        found.push(`raw: ${text.data.slice(0, 70)}`);
}
for (const e of document.querySelectorAll('merror, .problematic')) found.push(`error: ${name(e)}`);
return found;
"""


def test_there_are_pages():
    assert len(PAGES) > 100, "make docs builds them"


@pytest.mark.parametrize("page", PAGES)
def test_page(page, browser):
    found = []
    for width in (1400, 400):
        browser.resize(width)
        asked = browser.open((BUILT / page).as_uri())
        found += [
            f"{width}: asks for {url}" for url in asked if not url.startswith(("file:", "data:", "blob:"))
        ]
        if width == 400:  # Selenium waits for the pictures of a page, but not for those that come into sight
            browser.run("for (const e of document.images) e.loading = 'eager';")
        browser.run("for (const e of document.querySelectorAll('details')) e.open = true;")
        found += [f"{width}: {fault}" for fault in browser.run(FAULTS)]
    assert not found, "\n".join([page, *found])


def links_to_the_lab() -> set[str]:
    text = "\n".join((BUILT / page).read_text(encoding="utf-8") for page in PAGES if page != "lab.html")
    return {html.unescape(link) for link in re.findall(r'href="(?:\.\./)*lab\.html(#[^"]+)"', text)}


def test_links_to_the_lab_are_places_in_it(browser):
    links = links_to_the_lab()
    assert len(links) >= 5
    for link in links:
        browser.open("about:blank")  # else only the place of the page would change
        browser.open((BUILT / "lab.html").as_uri() + link)
        for _ in range(1200):  # the core is compiled first
            if browser.run("return document.getElementById('lab').dataset.at !== undefined"):
                break
            time.sleep(0.1)
        status = browser.run("return document.getElementById('lab-status').textContent")
        assert not browser.run("return !!document.querySelector('.lab-error')"), (link, status)
        assert status.startswith(("Example ", "At the start.")), (link, status)
        assert ("&t=0" in link) == status.startswith("At the start."), (link, status)


def test_faults_are_seen(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<body><main class='bd-main'><p style='width:2000px'>wide</p>"
        "<pre style='overflow:auto;width:90px'>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</pre>"
        r"<img src='none.png' alt='a picture' width=9 height=9><p>\gamma</p><code>\gamma</code></main>",
        encoding="utf-8",
    )
    browser.resize(400)
    browser.open(page.as_uri())
    found = browser.run(FAULTS)
    for fault in ("page: ", "outside, ", "cut off by ", "broken: none.png", r"raw: \gamma"):
        assert [line for line in found if line.startswith(fault)], fault
    assert len([line for line in found if line.startswith("raw")]) == 1
