"""The page in a real browser: what it asks for, what it shows, and what it does when used."""

import pytest

from bayesfloor.report.page.page import render_page
from bayesfloor.report.page.templating import FIRST_ROWS
from bayesfloor.runtime.text import percent, visible
from helpers import sample_regression, sample_summary

WORDS = ["sandal", "ankle boot", "T-shirt/top", "trouser", "pullover", "dress", "coat", "shirt"]
USUAL = {
    "digits": sample_summary.digits,
    "bare": sample_summary.bare,
    "rare": sample_summary.with_rare_class,
    "subgroups": sample_summary.with_subgroups,
    "gap": sample_summary.with_gap,
    "metrics": sample_summary.with_metrics,
    "costs": sample_summary.with_costs,
    "numbers": sample_regression.houses,
    "words": lambda: sample_summary.with_names(WORDS),
}
SUMMARIES = USUAL | {
    "hostile": sample_summary.hostile,
    "numbers, hostile": sample_regression.hostile,
    "long": lambda: sample_summary.with_names(sample_summary.LONG),
    "many": lambda: sample_summary.with_names([f"class {place}" for place in range(40)]),
}
#: All but these two are opened in `make test-all` alone.
EVERY_TIME = ("digits", "hostile")

# The contrast of every text on the page with what is behind it, after the rules of WCAG 2.
CONTRASTS = """(() => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
  const context = canvas.getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const channels = (colour) => {
    if (!known.has(colour)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      known.set(colour, [...context.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const style = getComputedStyle(element);
    if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
    if (["SCRIPT", "STYLE", "title", "desc"].includes(element.tagName) || style.fontSize === "0px") continue;
    const svg = element.closest("svg");
    const one = luminance(channels(svg ? style.fill : style.color));
    const two = luminance(behind(svg ? svg.parentElement : element));
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    found.push([contrast, walker.currentNode.data.trim().slice(0, 40)]);
  }
  return found;
})()"""

# What someone who cannot see the page would miss.
FAULTS = """(() => {
  const faults = [];
  const named = (e) => e.getAttribute("aria-label") || e.getAttribute("alt") || e.querySelector(":scope > title");
  for (const e of document.querySelectorAll("svg, img")) {
    if (e.getAttribute("aria-hidden") !== "true" && !named(e)) faults.push("no name: " + e.outerHTML.slice(0, 80));
  }
  for (const e of document.querySelectorAll("th")) {
    if (!["row", "col"].includes(e.scope)) faults.push("no scope: " + e.textContent);
  }
  for (const e of document.querySelectorAll("table")) if (!e.caption) faults.push("no caption: " + e.className);
  let level = 0;
  for (const e of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const next = Number(e.tagName[1]);
    if (next > level + 1) faults.push("skipped a level: " + e.textContent);
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
  for (const e of document.querySelectorAll("input")) {
    if (!e.labels.length || !e.labels[0].textContent.trim()) faults.push("no label: " + e.id);
  }
  for (const e of document.querySelectorAll("button")) {
    if (!e.closest("[hidden]") && !e.textContent.trim()) faults.push("a button without a name");
  }
  for (const e of document.querySelectorAll("[role=region], nav, section")) {
    const heading = e.querySelector("h2");
    const label = e.getAttribute("aria-label") || document.getElementById(e.getAttribute("aria-labelledby") || "-");
    if (!label && !heading) faults.push("a region without a name: " + e.id);
  }
  for (const e of document.querySelectorAll(".scroll")) {
    if (e.scrollWidth > e.clientWidth && e.tabIndex !== 0) faults.push("scrolls by mouse only");
  }
  for (const each of ["main", "header", "footer"]) if (!document.querySelector(each)) faults.push("no " + each);
  if (!document.documentElement.lang || !document.title) faults.push("no language or title");
  return faults;
})()"""

SIDEWAYS = "document.scrollingElement.scrollWidth"


def texts(browser, selector):
    """Texts of the elements that can be seen."""
    seen = f"[...document.querySelectorAll({selector!r})].filter((e) => e.checkVisibility())"
    return browser.evaluate(f"{seen}.map((e) => e.innerText.trim())")


#: Tables and pictures that do not fit, and names that are cut, of the elements that can be seen.
CUT = """[...document.querySelectorAll(".scroll, .heat th span")].filter((e) => e.checkVisibility()
  && (e.scrollWidth > e.clientWidth + 1 || (e.matches("span") && e.scrollHeight > e.clientHeight + 1)))
  .map((e) => `${e.getAttribute("aria-labelledby") ?? e.textContent}: ${e.scrollWidth} in ${e.clientWidth}`)"""


def background(browser):
    return browser.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in EVERY_TIME else pytest.mark.slow) for kind in SUMMARIES]
)
def test_opens_from_a_file_and_can_be_read_by_everyone(show, kind):
    browser = show(SUMMARIES[kind]())
    sent = [event for event in browser.events() if event["method"] == "Network.requestWillBeSent"]
    asked = [event["params"]["request"]["url"] for event in sent]
    assert any(url.startswith("file://") for url in asked)  # requests are seen at all
    assert [url for url in asked if not url.startswith(("file:///", "data:", "about:"))] == []
    assert browser.driver.get_log("browser") == []
    # nothing is missing for those who hear it, and nothing sticks out, on a desk or on a phone
    assert browser.evaluate(FAULTS) == []
    assert browser.evaluate(SIDEWAYS) <= 1280
    if kind in USUAL:  # a team lead needs no second screen
        steps = ["ol.next"] if kind != "bare" else []
        for selector in [".about", ".verdict", ".answer", "#answer figure", *steps]:
            assert 0 < browser.evaluate(f"document.querySelector('{selector}').getBoundingClientRect().bottom") <= 800
    if kind in ("digits", "bare"):
        light, seen = background(browser), {"light": browser.evaluate(CONTRASTS)}
        browser.emulate("dark")
        seen["dark"] = browser.evaluate(CONTRASTS)
        assert light != background(browser)
        for scheme, contrasts in seen.items():
            assert len(contrasts) > 30
            assert [entry for entry in contrasts if entry[0] < 4.5] == [], scheme
    browser.resize(375)
    assert browser.evaluate("innerWidth") == 375
    assert browser.evaluate(SIDEWAYS) <= 375
    if kind in USUAL:
        browser.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        for width in (1920, 1280, 768, 375):
            browser.resize(width)
            assert browser.evaluate(CUT) == [], width
            assert browser.evaluate(SIDEWAYS) <= width
        browser.resize(320)  # where some tables scroll in their own box
        assert browser.evaluate(SIDEWAYS) <= 320


@pytest.mark.slow
def test_the_tests_can_fail(chromium):
    digits = render_page(sample_summary.digits())
    chromium.open(
        digits.replace("</body>", "<script>alert(1)</script><img src='https://example.invalid/x.png'></body>")
    )
    complaints = " ".join(entry["message"] for entry in chromium.driver.get_log("browser"))
    assert complaints.count("Content Security Policy") >= 2
    chromium.open(digits.replace("</body>", "<p style='color: #999'>pale</p></body>"))
    assert [text for contrast, text in chromium.evaluate(CONTRASTS) if contrast < 4.5] == ["pale"]
    chromium.open(render_page(USUAL["words"]()))
    chromium.evaluate("document.querySelector('.heat tbody th span').style.maxWidth = '2rem'")
    assert len(chromium.evaluate(CUT)) == 1
    faulty = "<h4>x</h4><svg></svg><input id=q><table><tr><th>x</th></tr></table></body>"
    chromium.open(render_page(sample_summary.bare()).replace("</body>", faulty))
    faults = " ".join(chromium.evaluate(FAULTS))
    for fault in ("skipped a level", "no name", "no label", "no scope", "no caption"):
        assert fault in faults


@pytest.mark.slow
@pytest.mark.parametrize("way", ["hover", "focus"])
def test_a_square_of_the_heat_map_tells_its_pair(show, way):
    from selenium.webdriver.common.action_chains import ActionChains

    summary = sample_summary.digits()
    browser = show(summary)
    rows = {frozenset((row["first"], row["second"])): row for row in summary["pairs"]["rows"]}
    names = summary["pairs"]["names"]
    for first, second in [(0, 1), (3, 5), (8, 9)]:
        cell = browser.all("[data-heat] tbody tr")[second - 1].find_elements("css selector", "td")[first]
        assert browser.find("#tip").is_displayed() is False
        if way == "hover":
            browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", cell)
            ActionChains(browser.driver).move_to_element(cell).perform()
        else:
            browser.driver.execute_script("arguments[0].focus()", cell)
        row = rows[frozenset((names[first], names[second]))]
        tip = browser.find("#tip")
        assert tip.is_displayed()
        assert tip.text.split("\n") == [
            f"{row['first']} against {row['second']}",
            f"{percent(row['confused'])} confused",
            f"{row['n_rows']} rows",
        ]
        assert cell.get_attribute("aria-describedby") == "tip"
        if way == "hover":
            ActionChains(browser.driver).move_to_element(browser.find("#pairs h2")).perform()
        else:
            browser.driver.execute_script("arguments[0].blur()", cell)


@pytest.mark.slow
def test_arrow_keys_walk_over_the_heat_map(show):
    from selenium.webdriver.common.keys import Keys

    summary = sample_summary.digits()
    first, second, third = summary["pairs"]["names"][:3]
    assert {first, second} == {summary["pairs"]["rows"][0]["first"], summary["pairs"]["rows"][0]["second"]}
    browser = show(summary)
    reachable = browser.all("[data-heat] td[tabindex='0']")
    assert len(reachable) == 1  # one stop for the tab key, not forty-five
    reachable[0].send_keys(Keys.ARROW_DOWN)
    for _ in range(2):  # there is nothing beyond the diagonal
        browser.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        assert set(browser.find("#tip").text.split("\n")[0].split(" against ")) == {second, third}
    browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not browser.find("#tip").is_displayed()


@pytest.mark.slow
def test_sorting_takes_numbers_as_numbers_and_missing_ones_last(show):
    summary = sample_summary.digits()
    # as text "9" would come after "1000", and 0.5% after 12%
    for place, (row, n_rows) in enumerate(
        zip(summary["classes"], [9, 1000, 20, 300, 4, 50, 6, 70, 8, 100], strict=True)
    ):
        row |= {"n_rows": n_rows, "missed": 0.2 - 0.01 * place, "false_alarms": 0.01 * (place * 7 % 10)}
    browser = show(summary)
    browser.find("#classes .more button").click()
    buttons = {button.text: button for button in browser.all("#classes th button")}

    def order():
        return texts(browser, "#classes tbody th")

    def by(key, *, down):
        known = [row for row in summary["classes"] if row[key] is not None]
        missing = [row["name"] for row in summary["classes"] if row[key] is None]
        return [row["name"] for row in sorted(known, key=lambda row: row[key], reverse=down)] + missing

    assert order() == [row["name"] for row in summary["classes"]]
    for heading, key in [("rows", "n_rows"), ("missed", "missed"), ("false alarms", "false_alarms")]:
        buttons[heading].click()
        assert order() == by(key, down=True)
        assert browser.evaluate("document.querySelectorAll('#classes [aria-sort=descending]').length") == 1
        buttons[heading].click()
        assert order() == by(key, down=False)
    buttons["class"].click()
    assert order() == [str(digit) for digit in range(10)]
    assert browser.evaluate("document.querySelectorAll('#classes [aria-sort]').length") == 1


@pytest.mark.slow
def test_filtering_and_unfolding(show):
    browser = show(sample_summary.digits())
    assert len(texts(browser, "#pairs .listing tbody tr")) == FIRST_ROWS
    browser.find("#pairs .more button").click()
    assert len(texts(browser, "#pairs .listing tbody tr")) == 45
    browser.find("#pairs .more button").click()
    assert len(texts(browser, "#pairs .listing tbody tr")) == FIRST_ROWS
    field = browser.find("#find-pairs")
    field.send_keys("3")
    assert "9 of 45 pairs" in browser.find("#pairs .status").text  # 3 and each of nine others, although most are folded
    assert len(texts(browser, "#pairs .listing tbody tr")) == FIRST_ROWS
    assert browser.find("#pairs .more button").text == "Show all 9 pairs"
    field.send_keys(" 9")
    (row,) = browser.evaluate(
        "[...document.querySelectorAll('#pairs .listing tbody tr')].filter((e) => e.checkVisibility())"
        ".map((e) => [e.cells[0].innerText, e.cells[1].innerText])"
    )
    assert set(row) == {"3", "9"}
    field.clear()
    field.send_keys("nonsense")
    assert texts(browser, "#pairs .listing tbody tr") == []


@pytest.mark.slow
def test_the_button_changes_the_scheme_for_this_page_only(show):
    browser = show(sample_summary.digits())
    before = background(browser)
    button = browser.find("#theme")
    assert button.text == "Dark"
    button.click()
    after = background(browser)
    assert after != before
    assert button.text == "Light"
    browser.driver.refresh()
    browser.wait_for(browser.driver.current_url)
    assert background(browser) == before


@pytest.mark.slow
def test_markup_in_names_stays_text(show):
    from selenium.common.exceptions import NoAlertPresentException

    browser = show(sample_summary.hostile())
    with pytest.raises(NoAlertPresentException):
        browser.driver.switch_to.alert.accept()
    assert browser.evaluate("document.querySelectorAll('img, b, main script').length") == 0
    names = texts(browser, "#classes tbody th")
    assert names == [visible(name) for name in sample_summary.HOSTILE]
    cell = browser.find("[data-heat] tbody td")
    browser.driver.execute_script("arguments[0].focus()", cell)
    first_line = browser.find("#tip").text.split("\n")[0]
    assert "<script>alert(1)</script>" in first_line
    assert browser.evaluate("document.querySelectorAll('#tip > div > *').length") == 0
    assert browser.driver.get_log("browser") == []


@pytest.mark.slow
def test_print_has_no_controls_and_leaves_nothing_folded(show):
    summary = sample_summary.digits()
    browser = show(summary, scheme="dark")
    assert len(texts(browser, ".control")) > 3
    assert len(texts(browser, "#pairs .listing tbody tr")) == FIRST_ROWS
    browser.emulate("dark", "print")
    assert texts(browser, ".control, nav, .skip, #tip") == []
    assert background(browser) == "rgb(255, 255, 255)"
    assert len(texts(browser, "#pairs .listing tbody tr")) == 45
    assert len(texts(browser, ".suspect")) == 6
    n_learners = sum(each["weight"] > 0 for each in summary["learners"])
    assert len(texts(browser, "#learners tbody tr")) >= min(n_learners, FIRST_ROWS)  # a detail
    heights = browser.evaluate("[...document.querySelectorAll('details > :not(summary)')].map((e) => e.offsetHeight)")
    assert heights
    assert min(heights) > 0
    assert browser.command("Page.printToPDF")["data"]


@pytest.mark.slow
def test_without_javascript_everything_can_be_read(show):
    summary = sample_summary.digits()
    browser = show(summary, script=False)
    assert texts(browser, ".control") == []  # no button that does nothing
    assert len(texts(browser, "#classes .listing > .scroll tbody tr")) == FIRST_ROWS
    pairs = "#pairs .listing > .scroll tbody tr"
    assert len(texts(browser, pairs)) == FIRST_ROWS
    assert texts(browser, "#pairs summary") == ["The other 37 pairs"]
    folded = browser.evaluate("document.querySelectorAll('#pairs details tbody tr').length")
    assert folded == 37
    titles = browser.evaluate("[...document.querySelectorAll('[data-heat] tbody td')].map((e) => e.title)")
    assert len(titles) == 45
    hardest = summary["pairs"]["rows"][0]
    assert f"{hardest['first']} against {hardest['second']}\n{percent(hardest['confused'])} confused" in titles[0]
    assert len(texts(browser, "#suspects > ul > li")) == 6
    for kind in ("digits", "long"):  # nor does a phone scroll sideways
        browser = show(SUMMARIES[kind](), width=375, script=False)
        assert browser.evaluate("innerWidth") == 375
        assert browser.evaluate(SIDEWAYS) <= 375


@pytest.mark.slow
def test_a_notebook_shows_the_page_and_keeps_its_own_style(chromium):
    fragment = render_page(sample_summary.digits(), fragment=True)
    style = "<style>td { background: rgb(255, 255, 0) } h1 { color: rgb(255, 0, 0) }</style>"
    chromium.open(f"<!doctype html><title>notebook</title>{style}<h1>mine</h1>{fragment}")
    assert chromium.evaluate("getComputedStyle(document.querySelector('h1')).fontSize") == "32px"
    chromium.driver.switch_to.frame(chromium.find("iframe"))
    try:
        assert "digits.csv" in chromium.find("h1").text
        assert chromium.find("h1").value_of_css_property("color") != "rgba(255, 0, 0, 1)"
        assert chromium.find("#theme").is_displayed()  # the script runs there, too
    finally:
        chromium.driver.switch_to.default_content()
    assert chromium.driver.get_log("browser") == []
