"""The review that the GitHub Action and the GitLab template run: what is hostile stays text, and nothing runs unverified."""
import hashlib
import html
import http.server
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REVIEW = ROOT / "Deploy/action/review"
loader = importlib.machinery.SourceFileLoader("review", str(REVIEW))
review = importlib.util.module_from_spec(importlib.util.spec_from_loader("review", loader))
loader.exec_module(review)

HOSTILE = [
    "@octocat and @org/team", "#1 GH-1 org/repo#1 !1 ~1 %1 &1", "https://evil.example/ www.evil.example evil@evil.example",
    "**bold** __bold__ ~~gone~~ # heading", "`code` ``` fence", "[x](https://evil.example) ![x](https://evil.example/x.png)",
    "<img src=x onerror=alert(1)> <!-- --> </code></details>", "a | b | c", "line\n\n# heading\r\n/merge\u2028::error::x",
    "&lt;b&gt; &#64; &amp;", "\u202eevil\u200b\ufeff", "::set-output name=x::y ##[error]z", "\\` \\< \\\\", "$x$ :smile: \0 \x1b[31m",
    "a" * 5_000, "1. x\n- [ ] y\n> z\n\n    code", "0123456789abcdef0123456789abcdef01234567",
    "<!-- holdfast 00000000000000000000000000000000 -->", "\t", "", "]]>", "javascript:alert(1)", "&commat;octocat",
]
CODE = re.compile(r"(?<!`)(`+) (\S(?:.*?\S)?) \1(?!`)")


def answers(text):
    """What holdfastctl prints, with a text wherever something from outside may stand."""
    return {
        "gate": {"answer": text, "host": text, "port": text, "cause": {"code": text, "text": text}, "servedUntil": text,
                 "clients": {"kind": text, "holders": text, "document": text, "appVersions": [text], "platform": text},
                 "lockedOutSince": text, "openUntil": text, "error": {"code": text, "message": text}, "premises": [text]},
        "check": {"outcome": text, "host": text, "port": text, "address": text, "chain": [{"subject": text, "issuer": text}],
                  "published": {"text": text}, "failure": {"code": text, "expected": text, "found": text},
                  "error": {"message": text}, "premises": [text]},
        "pins diff": {"lockedOut": [text], "changes": [text], "findings": [{"text": text + "."}], "warnings": [text],
                      "premises": [text]},
    }


class Comment(unittest.TestCase):
    def bodies(self):
        for text in HOSTILE:
            for verb, answer in answers(text).items():
                for code in review.VERDICTS:
                    yield text, review.comment(verb, code, [answer], text, review.marker(verb, {"HOLDFAST_HOSTS": text}))

    def test_hostile_text_is_only_in_code_spans_of_one_line(self):
        for text, body in self.bodies():
            rest = CODE.sub("", body)
            self.assertNotIn("`", rest, text)
            self.assertTrue(body.isprintable() or set(filter(lambda c: not c.isprintable(), body)) == {"\n"}, text)
            for line in rest.splitlines():
                self.assertRegex(
                    line, r"^(?:<!-- holdfast [0-9a-f]{32} -->|### \S+ Holdfast [a-z ]+: [A-Za-z:, .]+|- (?:[A-Z][a-z ]+: )?"
                    r"|</?details>|<details><summary>Premises</summary>|)$", text)

    def test_what_people_read_is_what_was_found(self):
        body = review.comment("pins diff", 1, [answers("a **b** <c> @d")["pins diff"]], "", "")
        self.assertEqual(CODE.search(body)[2], "a **b** <c> @d")
        self.assertIn("Clients would be locked out.", body)

    def test_what_cannot_be_seen_is_shown(self):
        self.assertEqual(review.visible("a\u202eb\nc"), "a\\u{202E}b\\u{A}c")

    def test_a_comment_has_an_end(self):
        many = [answers("@" * 390)["pins diff"] | {"lockedOut": ["@" * 390] * 500}] * 100
        body = review.comment("pins diff", 1, many, "", "")
        self.assertLess(len(body), 65_536)

    def test_answers_of_another_shape_stop_nothing(self):
        for value in (None, 1, "x", [], {}, [[{"a": 1}]], True):
            for verb, answer in answers("x").items():
                review.comment(verb, 1, [{name: value for name in answer}], "", "")

    def test_githubs_own_renderer_makes_nothing_of_it(self):
        try:
            import cmarkgfm
        except ImportError:
            self.skipTest("no cmarkgfm: scripts/check deploy has it")
        for text, body in self.bodies():
            rendered = cmarkgfm.github_flavored_markdown_to_html(body, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)
            tags = set(re.findall(r"<(/?[a-z0-9]+)", rendered)) - {
                "h3", "/h3", "ul", "/ul", "li", "/li", "code", "/code", "details", "/details", "summary", "/summary", "p", "/p"}
            self.assertEqual(tags, set(), text)
            if text.strip():
                self.assertIn(review.visible(text).strip(), map(html.unescape, re.findall("<code>(.*?)</code>", rendered)))
            # Mentions and references are made of what is outside of code.
            outside = re.sub(r"<code>.*?</code>", "", rendered)
            self.assertNotRegex(outside, r"@|#\d|https?:|www\.|\bGH-", text)

    def test_the_log_has_no_commands(self):
        for text in HOSTILE:
            stdout, sys.stdout = sys.stdout, io.StringIO()
            try:
                review.log(text)
                line = sys.stdout.getvalue()
            finally:
                sys.stdout = stdout
            self.assertRegex(line, r"^\| [^\n\r\u2028]*\n$")
            self.assertNotIn("##[", line)


FAKE = """#!/bin/sh
printf '%s\\n' "$@" >"$(dirname "$0")/../arguments" 2>/dev/null
printf '%s\\n' '{answer}'
env >&2
exit {code}
"""


class Desk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = []

    def fake(self, answer, code):
        """A program that answers so, and its digest."""
        content = FAKE.format(answer=json.dumps(answer).replace("'", "\\u0027"), code=code).encode()
        (self.folder / "program").write_bytes(content)
        return {"HOLDFAST_PROGRAM": str(self.folder / "program"), "HOLDFAST_SHA256": hashlib.sha256(content).hexdigest()}

    def review(self, **environment):
        environment = {"PATH": os.environ["PATH"], "TMPDIR": str(self.folder), "HOLDFAST_COMMENT": "false",
                       "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "GITHUB_OUTPUT": str(self.folder / "output"),
                       **environment}
        done = subprocess.run([sys.executable, "-B", str(REVIEW)], env=environment, cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout, (self.folder / "summary").read_text()

    def check(self, code=1, answer=None, **environment):
        answer = answer or answers("@octocat")["check"]
        return self.review(**{"HOLDFAST_VERB": "check", "HOLDFAST_HOSTS": "www.example.com", **self.fake(answer, code),
                              **environment})


class Run(Desk):
    def test_the_exit_code_is_that_of_the_program(self):
        for code in (0, 1, 3, 4, 5):
            found, log, summary = self.check(code)
            self.assertEqual(found, code)
            self.assertIn(review.VERDICTS[code], log)
            self.assertIn(review.VERDICTS[code], summary)
            self.assertIn(f"exit-code={code}\n", (self.folder / "output").read_text())

    def test_another_digest_runs_nothing(self):
        code, log, _ = self.check(0, HOLDFAST_SHA256="0" * 64)
        self.assertEqual(code, 3)
        self.assertIn("Nothing of it was run.", log)
        self.assertFalse((self.folder / "arguments").exists())
        for digest in ("", "abc", "0" * 63):
            self.assertEqual(self.check(0, HOLDFAST_SHA256=digest)[0], 2)

    def test_without_a_program_the_lock_file_counts(self):
        code, log, _ = self.check(0, HOLDFAST_PROGRAM="", HOLDFAST_SHA256="")
        self.assertEqual(code, 2)
        self.assertIn("holdfastctl.lock has no program", log)

    def test_the_program_of_an_archive_is_run_and_nothing_of_it_is_written_elsewhere(self):
        self.fake({"outcome": "trusted"}, 0)
        content = (self.folder / "program").read_bytes()
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as members:
            for name, data in (("../../escaped", b"x"), ("holdfast/completions/holdfastctl", b"complete"),
                               ("holdfast/bin/holdfastctl", content)):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                members.addfile(member, io.BytesIO(data))
        (self.folder / "archive.tar.gz").write_bytes(archive.getvalue())
        digest = hashlib.sha256(archive.getvalue()).hexdigest()
        code, _, summary = self.review(
            HOLDFAST_VERB="check", HOLDFAST_HOSTS="a", HOLDFAST_PROGRAM="archive.tar.gz", HOLDFAST_SHA256=digest)
        self.assertEqual((code, "trusted" in summary), (0, True))
        self.assertFalse((self.folder.parent / "escaped").exists())

    def test_the_program_does_not_get_the_token(self):
        _, log, _ = self.check(3, HOLDFAST_TOKEN="s3cret", GITHUB_TOKEN="s3cret")
        self.assertIn("PATH=", log)
        self.assertNotIn("s3cret", log)

    def test_a_program_that_answers_nothing_found_nothing_out(self):
        content = b"#!/bin/sh\nexit 0\n"
        (self.folder / "program").write_bytes(content)
        code, _, _ = self.review(HOLDFAST_VERB="check", HOLDFAST_HOSTS="a", HOLDFAST_PROGRAM="program",
                                 HOLDFAST_SHA256=hashlib.sha256(content).hexdigest())
        self.assertEqual(code, 3)

    def test_inputs_are_no_options(self):
        for wrong in ({"HOLDFAST_HOSTS": "--ca=/etc/passwd"}, {"HOLDFAST_ARGUMENTS": "-o"}, {"HOLDFAST_VERB": "sign"},
                      {"HOLDFAST_ARGUMENTS": "--output=/x"}, {"HOLDFAST_ARGUMENTS": "x.pem"}, {"HOLDFAST_VERB": "gate"},
                      {"HOLDFAST_VERB": "pins diff", "HOLDFAST_NEW": "--offline", "HOLDFAST_OLD": "a"}):
            self.assertEqual(self.check(0, **wrong)[0], 2, wrong)
        self.assertFalse((self.folder / "arguments").exists())

    def test_pull_request_target_is_refused(self):
        code, log, _ = self.check(0, GITHUB_EVENT_NAME="pull_request_target")
        self.assertEqual((code, "does not run for pull_request_target" in log), (2, True))

    def test_the_old_pin_file_is_that_of_the_base(self):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.folder, check=True,
                           capture_output=True)
        git("init", "--initial-branch", "main")
        (self.folder / "bank.pins.json").write_text("old")
        git("add", "bank.pins.json")
        git("commit", "--message", "one")
        fake = self.fake(answers("x")["pins diff"], 1)
        call = {"HOLDFAST_VERB": "pins diff", "HOLDFAST_NEW": "bank.pins.json", "HOLDFAST_BASE": "main", **fake}
        self.assertEqual(self.review(**call)[0], 1)
        code, _, summary = self.review(**{**call, "HOLDFAST_NEW": "other.pins.json"})
        self.assertEqual((code, "new" in summary), (0, True))
        self.assertEqual(self.review(**{**call, "HOLDFAST_BASE": "nowhere"})[0], 3)
        self.assertEqual(self.review(**{**call, "HOLDFAST_BASE": "--output=x"})[0], 2)


class Site(http.server.BaseHTTPRequestHandler):
    """What GitHub and GitLab answer."""

    def do_GET(self):
        self.server.calls.append(("GET", self.path, None))
        self.answer({"id": 7} if self.path.endswith("/user") else self.server.comments)

    def change(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls.append((self.command, self.path, body["body"]))
        self.answer({}, self.server.status)

    do_POST = do_PATCH = do_PUT = change

    def answer(self, value, status=200):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


class Written(Desk):
    def setUp(self):
        super().setUp()
        self.site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        self.site.calls, self.site.comments, self.site.status = [], [], 200
        threading.Thread(target=self.site.serve_forever, daemon=True).start()
        self.addCleanup(self.site.server_close)
        self.addCleanup(self.site.shutdown)
        (self.folder / "event.json").write_text(json.dumps({"pull_request": {"number": 12}}))
        url = f"http://127.0.0.1:{self.site.server_port}"
        self.github = {
            "GITHUB_ACTIONS": "true", "GITHUB_API_URL": url, "GITHUB_REPOSITORY": "owner/app", "HOLDFAST_COMMENT": "true",
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"), "HOLDFAST_TOKEN": "s3cret"}
        self.gitlab = {"GITLAB_CI": "true", "CI_API_V4_URL": url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "12",
                       "HOLDFAST_TOKEN": "s3cret", "HOLDFAST_COMMENT": "true"}

    def test_the_comment_is_written_once_and_then_replaced(self):
        for platform, every, one in (
                (self.github, "/repos/owner/app/issues/12/comments", ("PATCH", "/repos/owner/app/issues/comments/5")),
                (self.gitlab, "/projects/3/merge_requests/12/notes", ("PUT", "/projects/3/merge_requests/12/notes/5"))):
            self.site.calls, self.site.comments = [], []
            self.assertEqual(self.check(1, **platform)[0], 1)
            method, path, body = self.site.calls[-1]
            self.assertEqual((method, path), ("POST", every))
            self.assertIn("Clients would be locked out.", body)
            self.assertNotIn("@", CODE.sub("", body))
            own = {"type": "Bot"} if platform is self.github else {}
            author = {"id": 7} if platform is self.gitlab else {}
            # Another's comment with the same mark is not touched.
            self.site.comments = [{"id": 4, "body": body, "user": {"type": "User"}, "author": {"id": 8}},
                                  {"id": 5, "body": body, "user": own, "author": author}]
            self.assertEqual(self.check(0, **platform)[0], 0)
            self.assertEqual(self.site.calls[-1][:2], one)

    def test_without_the_right_to_comment_the_verdict_is_the_same(self):
        self.site.status = 403
        code, log, summary = self.check(1, **self.github)
        self.assertEqual(code, 1)
        self.assertIn("could not be written", log)
        self.assertIn("Clients would be locked out.", summary)

    def test_runner_commands_in_answers_stop_nothing(self):
        _, log, _ = self.check(1, {"outcome": "x\n::error::y"}, **self.github)
        first, *rest = log.splitlines()
        stop = first.removeprefix("::stop-commands::")
        self.assertRegex(stop, "^[0-9a-f]{32}$")
        self.assertEqual([line for line in rest if line.lstrip().startswith("::")], [f"::{stop}::"])


class Files(unittest.TestCase):
    def test_inputs_reach_the_script_through_the_environment_alone(self):
        text = (ROOT / "Deploy/action/action.yml").read_text()
        runs = re.findall(r"^ +run: (.*)$", text, re.M)
        self.assertEqual(runs, ["'\"$GITHUB_ACTION_PATH/review\"'"])
        for line in text.splitlines():
            if "${{" in line and "inputs." in line:
                self.assertRegex(line, r"^        HOLDFAST_[A-Z0-9]+: \$\{\{ inputs\.[a-z0-9]+ \}\}$")
        named = re.findall(r"inputs\.([a-z0-9]+)", text)
        declared = re.findall(r"^  ([a-z0-9]+):$", text[:text.index("outputs:")], re.M)
        self.assertEqual(sorted(named), sorted(declared))
        self.assertNotRegex(re.sub("#.*", "", text), "pull_request_target")


class Template(Desk):
    def test_the_lines_of_the_template_run_the_same_script(self):
        text = (ROOT / "Deploy/gitlab/holdfast.gitlab-ci.yml").read_text()
        script = [line.strip()[2:].strip("'") for line in text.partition("  script:\n")[2].splitlines()]
        self.assertEqual(len(script), 4)
        mirror = self.folder / "mirror"
        shutil.copytree(ROOT / "Deploy", mirror / "Deploy")

        def git(*arguments):
            return subprocess.run(["git", "-C", str(mirror), "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
                                  check=True, capture_output=True, text=True).stdout.strip()
        git("init", "--initial-branch", "main")
        git("add", ".")
        git("commit", "--message", "one")
        environment = {
            "PATH": os.environ["PATH"], "TMPDIR": str(self.folder), "CI_BUILDS_DIR": str(self.folder / "builds"),
            "HOLDFAST_REPOSITORY": str(mirror), "HOLDFAST_COMMIT": git("rev-parse", "HEAD"), "HOLDFAST_VERB": "check",
            "HOLDFAST_HOSTS": "www.example.com", "GITLAB_CI": "true", "PYTHONDONTWRITEBYTECODE": "1",
            **self.fake({"outcome": "untrusted"}, 1)}
        done = subprocess.run(["bash", "-euc", "\n".join(script)], env=environment, cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, "Clients would be locked out." in done.stdout), (1, True), done.stderr)
        del environment["HOLDFAST_COMMIT"]
        shutil.rmtree(self.folder / "builds")
        done = subprocess.run(["bash", "-euc", "\n".join(script)], env=environment, cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertIn("name the commit of Holdfast", done.stderr)


@unittest.skipUnless((ROOT / ".build/debug/holdfastctl").exists(), "holdfastctl is not built")
class RealProgram(Desk):
    def test_a_real_pin_file_that_takes_a_key_away_is_said_to_lock_clients_out(self):
        content = (ROOT / ".build/debug/holdfastctl").read_bytes()
        pins = ["sha256/" + "A" * 42 + last + "=" for last in "AEIM"]
        for name, first in (("old", 0), ("new", 2)):
            host = {"host": "api.example.com", "pins": [
                {"pin": pin, "role": "leaf", "state": state}
                for pin, state in zip(pins[first:first + 2], ("active", "backup"))]}
            (self.folder / f"{name}.pins.json").write_text(json.dumps({"schema": 1, "hosts": [host]}))
        code, log, summary = self.review(
            HOLDFAST_VERB="pins diff", HOLDFAST_OLD="old.pins.json", HOLDFAST_NEW="new.pins.json",
            HOLDFAST_ARGUMENTS="--offline", HOLDFAST_PROGRAM=str(ROOT / ".build/debug/holdfastctl"),
            HOLDFAST_SHA256=hashlib.sha256(content).hexdigest())
        self.assertIn(code, (1, 3), log)
        self.assertIn("api.example.com", CODE.search(summary)[2])


if __name__ == "__main__":
    unittest.main()
