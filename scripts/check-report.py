#!/usr/bin/env python3
"""Opens a report in headless Chromium and checks that it works.

    check-report.py [--shots DIR] PAGE...

Checks that the console shows no error and that the page makes no network request. Every chart must be drawn, show
tooltips, and zoom with the mouse and with buttons. It must be possible to hide curves and show them again, and to
switch the theme, which must be remembered. Nothing may be wider than a window of 400 pixels, and the page must print as
a PDF. With --shots, the script also saves pictures of the page, in windows 1280 and 400 pixels wide and in both themes.
The exit code is 77 if Chromium is not installed.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TIMEOUT = 60


class Browser:
    """A browser that is controlled through its debugging pipe."""

    def __init__(self, program, profile):
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def pipes():
            # The browser reads from file descriptor 3 and writes to 4. The pipes may have these numbers, so copy them
            # first.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--hide-scrollbars", "--no-first-run", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        os.set_blocking(self.into, False)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            for reply in self.read():
                if reply.get("id") == self.number:
                    if "error" in reply:
                        raise RuntimeError(f"{method}: {reply['error']}")
                    return reply["result"]
                self.events.append(reply)
        raise RuntimeError(f"{method}: no answer within {TIMEOUT} s")

    def read(self):
        try:
            self.buffer += os.read(self.into, 1 << 20)
        except BlockingIOError:
            time.sleep(0.005)
        *messages, self.buffer = self.buffer.split(b"\0")
        return [json.loads(message) for message in messages]

    def run(self, script):
        """Evaluates JavaScript and returns its value. Promises are awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def wait(self, script, what):
        deadline = time.monotonic() + TIMEOUT
        while not self.run(script):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{what} within {TIMEOUT} s")
            time.sleep(0.05)

    def mouse(self, kind, x, y, **params):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **params)

    def window(self, width, height, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, page):
        self.call("Page.navigate", url=page.as_uri())
        self.wait("document.documentElement?.dataset.drawn", "not all charts were drawn")
        self.settle()

    def settle(self):
        self.run("new Promise((done) => setTimeout(done, 250))")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait(timeout=TIMEOUT)

    def complaints(self):
        """Returns the errors and warnings of the page, and its network requests."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(params["exceptionDetails"])[:400])
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(json.dumps(params["args"])[:400])
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(json.dumps(params["entry"])[:400])
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "blob:", "about:")):
                    found.append(f"a request to {url}")
        return found


# PLOT scrolls a chart into view and returns its draggable part. RANGE returns the range of the chart's x axis.
PLOT = """(() => {
  const chart = document.querySelectorAll('.chart')[%d];
  chart.scrollIntoView({block: 'center', behavior: 'instant'});
  const box = chart.querySelector('.nsewdrag')?.getBoundingClientRect();
  return box && {x: box.x, y: box.y, width: box.width, height: box.height,
    id: chart.dataset.figure, kind: chart._fullData[0]?.type ?? '',
    zooms: chart.parentElement.querySelector('.tools') !== null};
})()"""
RANGE = """(() => { const axis = document.querySelectorAll('.chart')[%d]._fullLayout.xaxis;
  return axis.range.map((value) => axis.r2l(value)); })()"""


def check(condition, what):
    if not condition:
        raise RuntimeError(what)


# Returns the positions of up to 40 points of a scatter chart, or the centres of up to 40 filled cells of a heat map.
# In these charts, only a few places may have a tooltip.
CELLS = """(() => { const chart = document.querySelectorAll('.chart')[%d];
  const { x, y, z, x0, dx, type, mode } = chart._fullData?.[0] ?? {};
  const { xaxis, yaxis } = chart._fullLayout;
  const area = chart.querySelector('.nsewdrag').getBoundingClientRect();
  if (type === 'scatter' && mode === 'markers')
    return Array.from(x).slice(0, 40).map((along, i) => [area.x + xaxis.l2p(xaxis.r2l(along)), area.y + yaxis.l2p(yaxis.r2l(y[i]))]);
  if (type !== 'heatmap' || x0 === undefined) return [];
  const places = [];
  z.forEach((cells, row) => cells.forEach((value, cell) => { if (value !== null && places.length < 40)
    places.push([area.x + xaxis.l2p(xaxis.r2l(x0 + cell * dx)), area.y + yaxis.l2p(yaxis.r2l(row))]); }));
  return places; })()"""


def tooltip(browser, number, box):
    """Moves the mouse over a chart until a tooltip appears."""
    # The first nine positions are at multiples of a tenth of the chart's width. If the number of bars is a multiple of
    # ten, all of these positions could be between two bars. One of the last two positions is then on a bar.
    shares = (0.5, 0.3, 0.7, 0.1, 0.9, 0.2, 0.4, 0.6, 0.8, 0.117, 0.883)
    heights = (0.5, 0.85, 0.15, 0.95)
    places = [(box["x"] + share * box["width"], box["y"] + height * box["height"])
              for share in shares for height in heights]
    # Bars may be low, so these points are close to the x axis.
    places += [(box["x"] + 0.02 * step * box["width"], box["y"] + 0.97 * box["height"])
               for step in range(1, 50)]
    for x, y in places + browser.run(CELLS % number):
        browser.mouse("mouseMoved", x, y)
        time.sleep(0.06)
        script = f"document.querySelectorAll('.chart')[{number}].querySelector('.hoverlayer').textContent"
        if browser.run(script):
            return True
    return False


def zoom(browser, number, box):
    whole = browser.run(RANGE % number)
    length = lambda span: span[1] - span[0]
    y = box["y"] + box["height"] / 2
    browser.mouse("mouseMoved", box["x"] + 0.4 * box["width"], y)
    browser.mouse("mousePressed", box["x"] + 0.4 * box["width"], y, button="left", clickCount=1)
    for share in (0.45, 0.5, 0.6):
        browser.mouse("mouseMoved", box["x"] + share * box["width"], y, button="left", buttons=1)
    browser.mouse("mouseReleased", box["x"] + 0.6 * box["width"], y, button="left", clickCount=1)
    browser.settle()
    dragged = browser.run(RANGE % number)
    check(length(dragged) < 0.3 * length(whole), f"{box['id']}: dragging does not zoom")
    for label, works in (("Zoom in", lambda a, b: length(b) < 0.6 * length(a)),
                         ("Move right", lambda a, b: b[0] > a[0]),
                         ("Move left", lambda a, b: b[0] < a[0]),
                         ("Zoom out", lambda a, b: length(b) > 1.9 * length(a)),
                         ("Show all", lambda a, b: abs(length(b) - length(whole)) < 0.01 * length(whole))):
        before = browser.run(RANGE % number)
        press = (f"document.querySelectorAll('.chart')[{number}].parentElement"
                 f".querySelector('.tools [title=\"{label}\"]').onclick()")
        browser.run(press)
        check(works(before, browser.run(RANGE % number)), f"{box['id']}: the button {label} does not work")


def toggle(browser, number, box):
    state = f"document.querySelectorAll('.chart')[{number}]._fullData.map((trace) => trace.visible)"
    press = f"document.querySelectorAll('.chart')[{number}].parentElement.querySelector('.keys button')?.onclick()"
    before = browser.run(state)
    if browser.run(f"document.querySelectorAll('.chart')[{number}].parentElement.querySelector('.keys button') === null"):
        return
    browser.run(press)
    check(browser.run(state) != before, f"{box['id']}: a curve cannot be hidden")
    browser.run(press)
    check(browser.run(state) == before, f"{box['id']}: a curve cannot be shown again")


def charts(browser):
    count = browser.run("document.querySelectorAll('.chart').length")
    for number in range(count):
        box = browser.run(PLOT % number)
        check(box and box["kind"], f"chart {number} was not drawn")
        drawn = browser.run(f"document.querySelectorAll('.chart')[{number}]"
                            ".querySelectorAll('.trace path, .point path, .heatmaplayer image').length")
        check(drawn > 0, f"{box['id']}: nothing is drawn")
        check(tooltip(browser, number, box), f"{box['id']}: no tooltip")
        if box["zooms"]:
            zoom(browser, number, box)
        toggle(browser, number, box)
    return count


def themes(browser, page):
    theme = "document.documentElement.dataset.theme"
    check(browser.run(theme) == "light", "the theme does not follow the system")
    browser.run("document.getElementById('theme').onclick()")
    check(browser.run(theme) == "dark", "the theme cannot be switched")
    browser.open(page)
    check(browser.run(theme) == "dark", "the theme is not remembered")
    browser.run("localStorage.clear()")


def narrow(browser, page):
    browser.window(400, 900, "dark")
    browser.open(page)
    check(browser.run("document.documentElement.dataset.theme") == "dark", "the theme does not follow the system")
    width = browser.run("document.documentElement.scrollWidth")
    check(width <= 400, f"the page is {width} pixels wide in a window of 400")


def accessible(browser):
    """Checks the elements that a screen reader announces: their names and their order."""
    problems = browser.run("""(() => {
      const found = [];
      const levels = [...document.querySelectorAll('h1, h2, h3')].map((h) => +h.tagName[1]);
      levels.forEach((level, i) => { if (i && level > levels[i - 1] + 1) found.push('a heading level is skipped'); });
      if (levels.filter((level) => level === 1).length !== 1) found.push('not exactly one h1');
      for (const name of ['header', 'main', 'nav', 'footer'])
        if (!document.querySelector(name)) found.push('no ' + name);
      for (const b of document.querySelectorAll('button'))
        if (!(b.getAttribute('aria-label') ?? b.textContent).trim()) found.push('a button without a name');
      for (const chart of document.querySelectorAll('.chart')) {
        if (!chart.getAttribute('aria-label')) found.push('a chart without a description');
        if (!chart.parentElement.querySelector('details table tbody tr')) found.push(chart.dataset.figure + ': no table');
      }
      const ids = [...document.querySelectorAll('main [id]')].map((e) => e.id);
      if (new Set(ids).size !== ids.length) found.push('a repeated id');
      return found;
    })()""")
    check(not problems, "; ".join(problems))


def shoot(browser, page, folder):
    for width in (1280, 400):
        for scheme in ("light", "dark"):
            browser.window(width, 900, scheme)
            browser.open(page)
            height = min(16000, browser.run("document.documentElement.scrollHeight"))
            browser.window(width, height, scheme)
            browser.settle()
            picture = browser.call("Page.captureScreenshot", format="png")
            name = f"{page.stem}-{width}-{scheme}.png"
            (folder / name).write_bytes(base64.b64decode(picture["data"]))


def main(arguments):
    shots = None
    if arguments[:1] == ["--shots"]:
        shots = pathlib.Path(arguments[1])
        shots.mkdir(parents=True, exist_ok=True)
        arguments = arguments[2:]
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("skipped: there is no Chromium")
        return 77
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            for page in map(lambda name: pathlib.Path(name).resolve(), arguments):
                browser.window(1280, 900)
                begun = time.monotonic()
                browser.open(page)
                took = time.monotonic() - begun
                count = charts(browser)
                accessible(browser)
                themes(browser, page)
                narrow(browser, page)
                pdf = browser.call("Page.printToPDF")["data"]
                check(len(pdf) > 10_000, "nothing is printed")
                complaints = browser.complaints()
                check(not complaints, "\n".join(complaints))
                print(f"{page.name}: {count} charts, drawn after {took:.1f} s")
                if shots:
                    shoot(browser, page, shots)
        except RuntimeError as error:
            print(f"FAILED: {error}")
            return 1
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
