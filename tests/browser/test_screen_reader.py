"""What a screen reader is told of the lab and of the course, and whether keys alone reach all of it."""

from __future__ import annotations

import pytest

from .test_pages import BUILT, PAGES

pytestmark = pytest.mark.browser
COURSE = [page for page in PAGES if page.startswith("course/")]
#: Places of the lab that show different controls.
PLACES = [
    "data=six&intercept=no&tie=positive&t=3",
    "data=three&order=shuffled&t=20",
    "data=moons&learner=kernel&kernel=poly&t=9",
    "data=moons&learner=multilayer&t=9",
    "data=line&learner=averaged&t=40&embed=weights",
    "data=six&embed=turned",
]
#: Numbers all that Tab must reach.
MARK = """
for (const e of document.querySelectorAll("details")) e.open = true;
document.activeElement.blur();
const all = [...document.querySelectorAll(
  "a[href], button, input, select, textarea, summary, [tabindex='0']")];
const reached = all.filter(e => !e.disabled && e.tabIndex >= 0 && e.type !== "hidden" && e.checkVisibility({
  visibilityProperty: true }));
reached.forEach((e, i) => { e.dataset.tab = i; });
getSelection().collapse(document.body, 0);
return reached.map(e => e.outerHTML.slice(0, 100));
"""


def unnamed(browser) -> list[str]:
    """Return what can have the focus, or is a picture, and has no name or no role."""
    driver, found = browser.driver, []
    driver.execute_cdp_cmd("Accessibility.enable", {})
    nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    driver.execute_cdp_cmd("Accessibility.disable", {})
    assert len(nodes) > 20
    for node in nodes:
        role, name = node.get("role", {}).get("value"), node.get("name", {}).get("value", "")
        marks = {mark["name"]: mark["value"].get("value") for mark in node.get("properties", [])}
        is_control = marks.get("focusable") and role not in ("RootWebArea", "generic", "scrollable")
        if node["ignored"] or not (is_control or role in ("image", "img")):
            continue
        if not name.strip() or role in ("none", "presentation"):
            found.append(f"{role}: {name!r}")
    return found


def missed(browser) -> list[str]:
    """Press Tab through the page; return what it does not reach, or does not leave."""
    from selenium.webdriver.common.keys import Keys

    controls, reached = browser.run(MARK), []
    while len(reached) < len(controls) + 100:
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        at, is_out = browser.run(
            "const e = document.activeElement; return [e.dataset.tab ?? null, e === document.body]"
        )
        if is_out or (reached and at is not None and at == reached[0]):
            break  # around
        if at is not None:
            if reached and reached[-1] == at:
                return [f"Tab does not leave {controls[int(at)]}"]
            reached.append(at)
    return [html for i, html in enumerate(controls) if str(i) not in reached]


@pytest.mark.parametrize("place", PLACES)
def test_the_lab_has_names_and_no_trap(lab, place):
    lab.open(place)
    assert unnamed(lab.browser) == []
    assert missed(lab.browser) == []


@pytest.mark.parametrize("page", COURSE)
def test_a_page_of_the_course_has_names_and_no_trap(browser, page):
    browser.resize(1400)
    browser.open((BUILT / page).as_uri())
    assert missed(browser) == []
    assert unnamed(browser) == []


def test_faults_are_seen(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<button></button><input type=checkbox><img src=x.png width=9 height=9><a href='#a'>named</a>"
        "<p>some</p>" * 5 + "<button id=trap>trap</button><a href='#b'>behind</a><script>"
        "document.getElementById('trap').onkeydown = event => event.preventDefault()</script>",
        encoding="utf-8",
    )
    browser.open(page.as_uri())
    assert sorted({fault.split(":")[0] for fault in unnamed(browser)}) == ["button", "checkbox", "image"]
    assert missed(browser) == ['Tab does not leave <button id="trap" data-tab="15">trap</button>'[:120]]
