#!/usr/bin/env python3
"""People at the pages, each with a browser and an authenticator of their own, in Chromium.

usage: browser_story.py CHROMIUM STORY FOLDER

STORY is a JSON file: an array of steps, each with "person", "address", and what the person does there:
  "press"    a selector: the button to press, if any; what uses a passkey is used at once
  "text"     what to write into the field of the page before that, if any
  "fill"     what to write into other fields before that, texts by selectors
  "tick"     which boxes to tick before that, selectors
  "keys"     true for somebody who reaches the button and presses it by the keyboard
  "choose"   what to choose before that, values by selectors
  "script"   false for somebody whose browser runs no script
Passkeys are kept in FOLDER, one file for each person, and are there in the next story. Prints a JSON array with an object
for each step: "words", what the page says about a passkey; "address", where the browser is then; "main", what stands there;
"signature", if there is one; and "problems", what axe and the browser find wrong with it.
"""
import json
import os
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], "resultTypes": ["violations"]}
AUTHENTICATOR = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True}
LIMIT = 60_000  # milliseconds for each step


class Person:
    def __init__(self, browser, name, folder):
        self.file = os.path.join(folder, f"{name}.json")
        self.page = browser.new_context().new_page()
        self.page.set_default_timeout(LIMIT)
        self.problems = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        self.tools = self.page.context.new_cdp_session(self.page)
        self.tools.send("WebAuthn.enable")
        self.authenticator = self.tools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                for credential in json.load(file):
                    self.tools.send("WebAuthn.addCredential", {**self.authenticator, "credential": credential})

    def keep(self):
        credentials = self.tools.send("WebAuthn.getCredentials", self.authenticator)["credentials"]
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump(credentials, file)

    def look(self):
        """What is wrong with the page that is there."""
        for violation in Axe().run(self.page, options=RULES).response["violations"]:
            nodes = [node["html"][:120] for node in violation["nodes"][:3]]
            self.problems.append(f"{violation['id']}: {nodes}")

    def press(self, selector, by_keys):
        if not by_keys:
            return self.page.click(selector)
        for _ in range(100):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return self.page.keyboard.press("Enter")
        raise ValueError(f"{selector} is out of the keyboard's reach")

    def does(self, step):
        page, self.problems = self.page, []
        has_script = step.get("script", True)
        self.tools.send("Emulation.setScriptExecutionDisabled", {"value": not has_script})
        page.goto(step["address"])
        # What looks at a page is a script itself.
        if has_script:
            self.look()
        if step.get("text") is not None:
            page.fill("textarea", step["text"])
        for selector, value in step.get("fill", {}).items():
            page.fill(selector, value)
        for selector in step.get("tick", []):
            page.check(selector)
        for selector, value in step.get("choose", {}).items():
            page.select_option(selector, value)
        words = ""
        if step.get("press") and not has_script:
            with page.expect_navigation():
                self.press(step["press"], step.get("keys"))
        elif step.get("press"):
            # Another page comes, or this one says something.
            page.evaluate("document.documentElement.dataset.before = 'here'")
            self.press(step["press"], step.get("keys"))
            page.wait_for_function(
                "() => document.readyState === 'complete' && (!document.documentElement.dataset.before"
                " || (document.querySelector('[data-passkey-words]')?.textContent ?? '') !== '')")
            words = page.evaluate("document.querySelector('[data-passkey-words]')?.textContent ?? ''")
            self.look()
        # A browser asks for an icon by itself, and says that there is none.
        return {
            "words": words, "address": page.url, "main": page.inner_text("main"),
            "signature": page.evaluate("document.querySelector('#signature')?.textContent ?? ''"),
            "problems": [problem for problem in self.problems if "404 (Not Found)" not in problem]}


def main(chromium, story, folder):
    with open(story, encoding="utf-8") as file:
        steps = json.load(file)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        people = {}
        answers = []
        for step in steps:
            name = step["person"]
            if name not in people:
                people[name] = Person(browser, name, folder)
            answers.append(people[name].does(step))
        for person in people.values():
            person.keep()
        browser.close()
    print(json.dumps(answers))


main(*sys.argv[1:])
