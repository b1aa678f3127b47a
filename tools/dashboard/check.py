"""Opens the page of examples/dashboard in a browser, and checks what it shows over a cycle.

    python3 tools/dashboard/check.py

Needs cargo, chromium and chromedriver (on Debian `apt-get install chromium chromium-driver`), and
takes two minutes. Screenshots go to `out` beside this file.
"""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = HERE / "out"
PHASES = {"healthy": "0 %", "some faults": "15 %", "many faults": "40 %", "outage": "100 %", "recovery": "5 %"}
KINDS = ["successful_without_retry", "successful_with_retry", "failed_with_retry", "failed_without_retry"]
REASONS = ["error", "hint", "now", "value"]
CHARTS = ["calls", "retries", "breaker", "budget", "waiting"]
WIDE, PHONE = (1280, 900), (390, 844)

# no proxy: all of it is on this machine
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

# What the page shows, as text; and where its parts are
READ = """
const text = node => node ? node.textContent.trim() : null;
const keyed = root => Object.fromEntries([...root.querySelectorAll("output[data-key]")].map(o => [o.dataset.key, text(o)]));
const box = card => { const b = card.getBoundingClientRect(); return [b.x, b.y + scrollY, b.width, b.height].map(Math.round); };
return {
  status: text(document.getElementById("status")),
  phase: text(document.getElementById("phase")),
  rate: text(document.getElementById("rate")),
  slider: document.getElementById("slider").value,
  pressed: [...document.querySelectorAll("button[aria-pressed=true]")].map(b => b.dataset.set),
  cards: Object.fromEntries([...document.querySelectorAll(".card[id]")].map(card => [card.id, {
    big: text(card.querySelector(".big")),
    values: keyed(card),
    paths: [...card.querySelectorAll("svg path[data-key]")].map(p => p.getAttribute("d")),
    states: [...card.querySelectorAll("svg rect[data-state]")].map(r => r.dataset.state),
    box: box(card),
  }])),
  table: [...document.querySelectorAll("tbody tr")].map(row => [...row.children].map(text)),
  overflow: document.documentElement.scrollWidth - innerWidth,
};
"""


def request(url, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    call = urllib.request.Request(url, data, headers, method=method or ("GET" if body is None else "POST"))
    with OPENER.open(call, timeout=60) as response:
        return response.read().decode()


class Browser:
    """A session of chromedriver."""

    def __init__(self, profile):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        port = next(found[1] for line in self.driver.stdout if (found := re.search(r"successfully on port (\d+)", line)))
        self.url = f"http://127.0.0.1:{port}/session"
        arguments = [
            "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
            "disable-component-update", "disable-sync", f"user-data-dir={profile}", "no-proxy-server",
            "host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"window-size={WIDE[0]},{WIDE[1]}",
        ]
        capabilities = {
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        try:
            self.url += "/" + self.post("", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
        except Exception:
            self.driver.kill()
            raise

    def post(self, path, body):
        try:
            return json.loads(request(self.url + path, body))["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def open(self, url):
        self.post("/url", {"url": url})

    def run(self, script):
        return self.post("/execute/sync", {"script": script, "args": []})

    def read(self):
        return self.run(READ)

    def element(self, css):
        return f"/element/{next(iter(self.post('/element', {'using': 'css selector', 'value': css}).values()))}"

    def click(self, css):
        self.post(self.element(css) + "/click", {})

    def keys(self, css, text):
        self.post(self.element(css) + "/value", {"text": text})

    def point(self, css):
        element = self.post("/element", {"using": "css selector", "value": css})
        move = {"type": "pointerMove", "duration": 0, "origin": element, "x": 40, "y": 0}
        self.post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def devtools(self, command, **parameters):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def log(self, kind):
        return self.post("/se/log", {"type": kind})

    def size(self, width, height, mobile=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def screenshot(self, name, scheme):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        time.sleep(1.5)
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        (OUT / f"{name}-{scheme}.png").write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        request(self.url, method="DELETE")
        self.driver.terminate()
        self.driver.wait()


failed = 0


def check(what, holds, detail=""):
    global failed
    failed += not holds
    print(f"{'ok  ' if holds else 'FAIL'}  {what}{'' if holds else f': {detail}'}", flush=True)


def number(text):
    found = re.match(r"[\d.]+", text or "")
    return float(found[0]) if found else None


def until(browser, what, holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds(seen := browser.read()):
        if time.monotonic() > end:
            check(what, False, seen)
            return seen
        time.sleep(0.3)
    check(what, True)
    return seen


def value(seen, card, key):
    return number(seen["cards"][card]["values"].get(key))


def metric(text, name, pattern=""):
    lines = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.M)
    return sum(float(count) for labels, count in lines if re.search(pattern, labels))


def cycle(browser, url):
    """Watches a cycle, from the first phase to the first one again."""
    by_phase = {phase: [] for phase in PHASES}
    end = time.monotonic() + 90
    while time.monotonic() < end:
        seen = browser.read()
        if seen["phase"] == "healthy" and by_phase["recovery"]:
            break
        by_phase.get(seen["phase"], []).append(seen)
        time.sleep(0.7)
    every = [seen for phase in by_phase.values() for seen in phase][3:]
    check("each phase is seen", all(by_phase.values()), {phase: len(seen) for phase, seen in by_phase.items()})
    for phase, rate in PHASES.items():
        check(f"{phase}: {rate}", all(seen["rate"] == rate for seen in by_phase[phase]), by_phase[phase][0]["rate"])
    check("the slider follows", all(seen["rate"] == f"{seen['slider']} %" for seen in every))
    check("it stays live", all(seen["status"] == "live" for seen in every))

    for card, keys in [("calls", KINDS), ("retries", REASONS), ("breaker", ["requests", "refused", "opened"]),
                       ("budget", ["budget", "withdrawn", "uncovered"]), ("waiting", ["waiting"])]:
        for key in keys:
            values = {value(seen, card, key) for seen in every}
            check(f"{card}, {key}: changes", len(values) >= 3 and None not in values, values)
    for card in CHARTS:
        paths = [tuple(seen["cards"][card]["paths"]) for seen in every]
        check(f"{card}: the curves move", len(set(paths)) > 20 and not any("NaN" in d for paths in paths for d in paths))
    for card in ["attempts", "waits"]:
        rows = [[number(share) for share in seen["cards"][card]["values"].values()] for seen in every]
        check(f"{card}: shares of a whole", all(97 <= sum(row) <= 103 for row in rows), rows[0])
        check(f"{card}: each has its turn", all(max(column) > 0 for column in zip(*rows)), rows)
        check(f"{card}: changes", len({seen["cards"][card]["big"] for seen in every}) > 3)
    boxes = {json.dumps([(card, seen["cards"][card]["box"]) for card in seen["cards"]]) for seen in every}
    check("nothing jumps", len(boxes) == 1, boxes)

    apart = [abs(sum(value(seen, "calls", kind) for kind in KINDS) - number(seen["cards"]["calls"]["big"])) for seen in every]
    check("the kinds add up to the calls", max(apart) < 0.3, apart)
    apart = [abs(sum(value(seen, "retries", reason) for reason in REASONS) - number(seen["cards"]["retries"]["big"])) for seen in every]
    check("the reasons add up to the retries", max(apart) < 0.3, apart)
    calls = [number(seen["cards"]["calls"]["big"]) for seen in every]
    check("about fifty calls a second, whatever happens", all(25 < rate < 80 for rate in calls), calls)

    def mean(phase, card, key):
        seen = by_phase[phase][5:]
        return sum(value(one, card, key) for one in seen) / len(seen)

    check("healthy: nearly all succeed", sum(mean("healthy", "calls", kind) for kind in KINDS[2:]) < 4)
    check("some faults: retries hide them", mean("some faults", "calls", KINDS[1]) > 2 * sum(mean("some faults", "calls", kind) for kind in KINDS[2:]))
    check("many faults: the budget is used up", min(value(seen, "budget", "budget") for seen in by_phase["many faults"]) <= 2)
    check("many faults: retries are not covered", mean("many faults", "budget", "uncovered") > 1)
    check("many faults: the breaker stays closed", all(seen["cards"]["breaker"]["big"] == "closed" for seen in by_phase["many faults"][2:]))
    check("outage: the breaker opens", any(seen["cards"]["breaker"]["big"] == "open" for seen in by_phase["outage"]))
    check("outage: few requests reach the shop", mean("outage", "breaker", "requests") < 10, mean("outage", "breaker", "requests"))
    check("outage: nothing succeeds", sum(mean("outage", "calls", kind) for kind in KINDS[:2]) < 1)
    check("recovery: the breaker closes", by_phase["recovery"][-1]["cards"]["breaker"]["big"] == "closed")
    states = [state for state in by_phase["recovery"][-1]["cards"]["breaker"]["states"] if state != "half-open"]
    once = [state for index, state in enumerate(states) if states[index - 1:index] != [state]]
    check("the strip: closed, open, closed", once[-3:] == ["closed", "open", "closed"], once)
    waiting = [value(seen, "waiting", "waiting") for seen in every]
    check("some wait, and then nobody", max(waiting) >= 3 and min(waiting) == 0, waiting)
    names = [[row[0] for row in seen["table"]] for seen in every]
    check("each function has a row", all(name == ["order", "parcel", "price"] for name in names), names[-1])

    text = request(url + "metrics")
    check("as many calls as attempts are told of", metric(text, "retry_calls_total") == metric(text, "retry_attempts_count"))
    check("as many retries as waits", metric(text, "retry_retries_total") == metric(text, "retry_wait_seconds_count"))
    paid = metric(text, "retry_retries_total", 'name="(price|order)"')
    check("each retry is paid that must be", paid == metric(text, "retry_budget_withdrawn_total"))
    check("every metric is described", set(re.findall(r"^# TYPE (\w+)", text, re.M)) == set(re.findall(r"^# HELP (\w+)", text, re.M)))


def controls(browser):
    browser.click("button[data-set='1']")
    until(browser, "Outage is set", lambda seen: (seen["phase"], seen["rate"], seen["slider"], seen["pressed"]) == ("by hand", "100 %", "100", ["1"]))
    until(browser, "then the breaker opens", lambda seen: seen["cards"]["breaker"]["big"] == "open")
    browser.click("button[data-set='0']")
    until(browser, "Healthy is set", lambda seen: (seen["phase"], seen["rate"], seen["pressed"]) == ("by hand", "0 %", ["0"]))
    until(browser, "then the breaker closes", lambda seen: seen["cards"]["breaker"]["big"] == "closed")
    until(browser, "and nobody waits", lambda seen: value(seen, "waiting", "waiting") == 0)
    browser.keys("#slider", "\ue014" * 7)  # arrow right
    until(browser, "the slider sets the rate", lambda seen: (seen["phase"], seen["rate"], seen["pressed"]) == ("by hand", "7 %", []))

    browser.point("#calls svg")
    hovering = "return document.querySelector('#budget .hover').getAttribute('visibility')"
    check("a curve pointed at shows the time in all", browser.run(hovering) == "visible")
    browser.point("h1")
    check("and no longer", browser.run(hovering) == "hidden")

    browser.click("button[data-set='cycle']")
    until(browser, "Cycle starts anew", lambda seen: (seen["phase"], seen["rate"], seen["pressed"]) == ("healthy", "0 %", ["cycle"]))


def quiet(browser, url):
    """Nothing has failed, and the page has asked nobody else. The browser's own first tab is left out."""
    console = [entry for entry in browser.log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    check("the console is empty", not console, console)
    sent, failures = {}, []
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        parameters = message["params"]
        if message["method"] == "Network.requestWillBeSent" and parameters["documentURL"].startswith(url):
            sent[parameters["requestId"]] = parameters["request"]["url"]
        elif parameters.get("requestId") in sent and (
            message["method"] == "Network.loadingFailed"
            or message["method"] == "Network.responseReceived" and parameters["response"]["status"] >= 400
        ):
            failures.append(parameters)
    foreign = {one for one in sent.values() if not one.startswith((url, "data:"))}
    check(f"all {len(sent)} requests go to the example", len(sent) > 60 and not foreign, foreign)
    check("none fails", not failures, failures)


def main():
    OUT.mkdir(exist_ok=True)
    subprocess.run(["cargo", "build", "--example", "dashboard"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    example = subprocess.Popen([target / "debug/examples/dashboard", "--seconds", "240"], stdout=subprocess.PIPE, text=True)
    url = re.search(r"http://127\.0\.0\.1:\d+/", example.stdout.readline())[0]
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            browser.size(*WIDE)
            browser.open(url)
            until(browser, "the page is live", lambda seen: seen["status"] == "live")
            cycle(browser, url)
            for scheme in ["light", "dark"]:
                browser.screenshot("wide", scheme)
            browser.size(*PHONE, mobile=True)
            check("nothing is wider than a phone", browser.read()["overflow"] <= 0, browser.read()["overflow"])
            for scheme in ["light", "dark"]:
                browser.screenshot("phone", scheme)
            browser.size(*WIDE)
            controls(browser)
            quiet(browser, url)
            example.terminate()
            until(browser, "without the example, the page says so", lambda seen: seen["status"].startswith("no answer"))
        finally:
            browser.close()
            example.terminate()
            example.wait()
    print(f"\n{failed} failed" if failed else "\nall as it should be", f"; screenshots are in {OUT.relative_to(ROOT)}", sep="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
