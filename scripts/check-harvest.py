#!/usr/bin/env python3
"""Opens the status page of `gleaner harvest` in headless Chromium and checks that it works.

    check-harvest.py URL|FILE...

Checks in both colour schemes, at window widths of 400 and 1280 pixels, that the page shows a state and that nothing is
wider than the window. The console must show no error, and the page must make requests only to its own server. The state
shown at a URL must also change within ten seconds. The exit code is 77 if Chromium is not installed.
"""

import importlib.util
import pathlib
import shutil
import sys
import tempfile
from urllib.parse import urlsplit

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("check_report", HERE / "check-report.py")
report = importlib.util.module_from_spec(spec)
spec.loader.exec_module(report)

SHOWN = "document.getElementById('when')?.textContent"
TILES = "document.querySelectorAll('.tile').length"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
WIDTH = "document.documentElement.scrollWidth"


def examine(browser, url):
    backgrounds = {}
    for scheme in ("light", "dark"):
        for width in (400, 1280):
            browser.window(width, 900, scheme)
            browser.call("Page.navigate", url=url)
            browser.wait(f"{TILES} > 0 && {SHOWN} !== ''", "no state is shown")
            report.check(browser.run(WIDTH) <= width, f"the page is wider than its window of {width} pixels")
        backgrounds[scheme] = browser.run(BACKGROUND)
    report.check(backgrounds["light"] != backgrounds["dark"], "the page ignores the colour scheme")
    if url.startswith("http"):
        before = browser.run(SHOWN)
        browser.wait(f"{SHOWN} !== {before!r}", "the state does not change")


def main(arguments):
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("skipped: there is no Chromium")
        return 77
    report.TIMEOUT = 10
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = report.Browser(program, profile)
        try:
            for place in arguments:
                is_url = place.startswith("http")
                url = place if is_url else pathlib.Path(place).resolve().as_uri()
                examine(browser, url)
                server = f"a request to http://{urlsplit(url).netloc}/"
                complaints = [line for line in browser.complaints() if not (is_url and line.startswith(server))]
                report.check(not complaints, "\n".join(complaints))
                browser.events.clear()
                print(f"{place}: sound")
        except RuntimeError as error:
            print(f"FAILED: {error}")
            return 1
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
