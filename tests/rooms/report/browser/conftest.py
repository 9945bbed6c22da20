"""One real Chromium for all tests of the page; where there is none they are skipped, and the summary says so."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

FLAGS = [
    "--headless=new",
    "--no-sandbox",  # root has no other way
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]

#: Pages by the summaries they show; several tests look at the same one.
_RENDERED: dict[str, str] = {}


class Browser:
    """Opens pages from files, and keeps what the browser asked for and complained about."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def open(
        self, page: str, *, width: int = 1280, scheme: str = "light", media: str = "", script: bool = True
    ) -> "Browser":
        file = self.folder / "page.html"
        file.write_text(page, encoding="utf-8")
        self.command("Emulation.setScriptExecutionDisabled", value=not script)
        self.resize(width)
        self.emulate(scheme, media)
        self.driver.get("about:blank")
        self.events()  # those of the page before
        self.driver.get_log("browser")
        self.driver.get(file.as_uri())
        self.wait_for(file.as_uri())
        return self

    def wait_for(self, address: str) -> None:
        """Wait for the end of a page: where scripts were off on the one before, the driver comes back too early."""
        deadline = monotonic() + 30.0
        while not self.evaluate(f"document.readyState === 'complete' && location.href === {json.dumps(address)}"):
            assert monotonic() < deadline, f"{address} is not read to its end"
            sleep(0.01)

    def resize(self, width: int) -> None:
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)

    def emulate(self, scheme: str = "light", media: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", media=media, features=features)

    def command(self, name: str, **options: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, options)

    def evaluate(self, expression: str) -> Any:
        """Evaluate an expression in the page; also where the page's own scripts are off."""
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip(f"NO BROWSER: {'chromium' if browser is None else 'chromedriver'} is not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="NO BROWSER: selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with pytest.MonkeyPatch.context() as environment:
        # no proxy between the test and the driver, which are on one machine
        environment.setenv("NO_PROXY", ",".join(filter(None, [os.environ.get("NO_PROXY"), "localhost,127.0.0.1"])))
        started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        # a page hears of focus where its window has it, which no window without a screen needs to have
        started.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        try:
            yield Browser(started, tmp_path_factory.mktemp("page"))
        finally:
            started.quit()


@pytest.fixture
def show(chromium: Browser) -> Callable[..., Browser]:
    """Render a summary and open it."""
    from bayesfloor.report.page.page import render_page

    def render_and_open(summary: dict[str, Any], **options: Any) -> Browser:
        key = json.dumps(summary)
        if key not in _RENDERED:
            _RENDERED[key] = render_page(summary)
        return chromium.open(_RENDERED[key], **options)

    return render_and_open
