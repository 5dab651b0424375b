#!/usr/bin/env python3
"""Opens pages in Chromium, at three widths, light and dark, and says what is wrong with them.

usage: browse_pages.py CHROMIUM PAGES [FOLDER]

PAGES is a JSON file: an object with an array of answers by their addresses, each with "address", "status", "headers" as pairs
and "body", and "open", an array of the addresses to open with the "name" of each. They are served on loopback, headers
included. With FOLDER, pictures are written there. Prints a JSON array of problems: what axe finds, what the browser
complains about or refuses, a page that is wider than the screen, what the keyboard does not reach or shows no focus, and
what is missing where no script runs.
"""
import http.server
import json
import os
import sys
import threading

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

WIDTHS = [360, 768, 1280]
SCHEMES = ["light", "dark"]
# A page is longer than anybody looks at in a document.
GREATEST_HEIGHT = 2000
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], "resultTypes": ["violations"]}


def serve(answers):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer = answers.get(self.path)
            body = answer["body"].encode() if answer else b""
            self.send_response(answer["status"] if answer else 404)
            for name, value in answer["headers"] if answer else []:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def small(file):
    from PIL import Image

    picture = Image.open(file).convert("RGB")
    picture = picture.crop((0, 0, picture.width, min(picture.height, GREATEST_HEIGHT)))
    picture.quantize(128, dither=Image.Dither.NONE).save(file, optimize=True)


def look(page, width, where, problems):
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        problems.append(f"{where}: {wide} wide")
    for violation in Axe().run(page, options=RULES).response["violations"]:
        nodes = [node["html"][:120] for node in violation["nodes"][:3]]
        problems.append(f"{where}: {violation['id']}: {nodes}")


def use(page, where, problems):
    if page.evaluate("getComputedStyle(document.querySelector('a')).position") != "absolute":
        problems.append(f"{where}: no style")
    # The first key leads past the navigation, and is seen.
    page.keyboard.press("Tab")
    skip = page.evaluate("[document.activeElement.className, document.activeElement.getBoundingClientRect().left]")
    if skip != ["skip", 0]:
        problems.append(f"{where}: the first tab leads to {skip}")
    page.evaluate("document.activeElement.blur()")
    page.evaluate(
        "() => { window.missed = new Set([...document.querySelectorAll("
        "'a[href]:not(.skip), button, input:not([type=hidden]), select, textarea, summary, [tabindex=\"0\"]')]"
        ".filter(element => element.checkVisibility() && !element.disabled)); }")
    count = page.evaluate("missed.size")
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        unseen = page.evaluate(
            "() => { const element = document.activeElement; const style = getComputedStyle(element);"
            " return missed.delete(element) && style.outlineStyle == 'none'"
            " ? element.outerHTML.slice(0, 80) : null; }")
        if unseen:
            problems.append(f"{where}: no focus is shown at {unseen}")
    missed = page.evaluate("[...missed].map(element => element.outerHTML.slice(0, 80))")
    if missed:
        problems.append(f"{where}: out of the keyboard's reach: {missed}")
    page.evaluate("document.activeElement.blur()")


def still(page):
    """Everything that stands there, whether or not it is in a part that is closed."""
    return page.evaluate(
        "() => { const main = document.querySelector('main').cloneNode(true);"
        " main.querySelectorAll('noscript').forEach(element => element.remove()); return main.textContent; }")


def without_script(browser, address, where, whole, needs_passkey, problems):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(address)
    if still(page) != whole:
        problems.append(f"{where}: something else stands there without a script")
    has_words = page.locator("noscript").count() > 0 and page.locator("noscript").first.is_visible()
    if has_words != needs_passkey:
        problems.append(f"{where}: a page that {'needs' if needs_passkey else 'does not need'} a script says something else")
    page.context.close()


def main(chromium, pages, folder=None):
    with open(pages, encoding="utf-8") as file:
        told = json.load(file)
    base = serve({answer["address"]: answer for answer in told["answers"]})
    problems = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for opened in told["open"]:
            name = opened["name"]
            page = browser.new_page()
            page.on("console", lambda message: problems.append(f"{name}: {message.text}"))
            page.on("pageerror", lambda error: problems.append(f"{name}: {error}"))
            page.on("dialog", lambda dialog: (problems.append(f"{name}: a dialog"), dialog.dismiss()))
            page.on(
                "response", lambda answer: answer.status >= 400 and not answer.url.endswith("/favicon.ico")
                and problems.append(f"{name}: {answer.url} {answer.status}"))
            page.goto(base + opened["address"])
            use(page, name, problems)
            needs_passkey = page.locator("button[data-passkey]").count() > 0
            without_script(browser, base + opened["address"], name, still(page), needs_passkey, problems)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                for scheme in SCHEMES:
                    page.emulate_media(color_scheme=scheme)
                    look(page, width, f"{name}, {width}, {scheme}", problems)
                    if folder:
                        file = os.path.join(folder, f"{name}-{width}-{scheme}.png")
                        page.screenshot(path=file, full_page=True)
                        small(file)
            page.close()
        browser.close()
    # A browser asks for an icon by itself, and says that there is none.
    print(json.dumps([problem for problem in problems if "404 (Not Found)" not in problem]))


main(*sys.argv[1:])
