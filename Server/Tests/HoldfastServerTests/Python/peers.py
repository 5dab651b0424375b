"""Clients that share no code with the server, in one process for all tests: curl, openssl, python-tuf, `holdfastctl check`,
and nginx as a cache before any server. A line of JSON on standard input is a question, a line on standard output its answer.
It ends, with what it has started, when its input ends.

usage: peers.py NGINX    (a path, or - for none)
"""
import base64
import concurrent.futures
import ctypes
import datetime
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

try:
    from tuf.ngclient import Updater
    from tuf.ngclient._internal import trusted_metadata_set
except ImportError:
    Updater = None

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-peers-"))
CHALLENGE = "AAECAwQFBgcICQoLDA0ODw=="
# What comes before the point in a SubjectPublicKeyInfo of P-256 (RFC 5480 2).
P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")

NGINX = """
{user} pid {folder}/pid; error_log {folder}/log; daemon off; master_process off; events {{ worker_connections 4096; }}
http {{
    access_log off; {scratch}
    proxy_cache_path {folder}/cache keys_zone=pins:1m;
    server {{
        listen 127.0.0.1:{port};
        location ~ ^/(?<upstream>[0-9]+)/[0-9a-f-]+/(?<rest>.*)$ {{
            proxy_pass http://127.0.0.1:$upstream/$rest$is_args$args;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_cache pins;
            proxy_cache_key $request_uri;
            proxy_cache_use_stale error timeout updating;
            add_header X-Cache $upstream_cache_status always;
        }}
    }}
}}
"""


class Time(threading.local):
    """python-tuf has no parameter for the time: each question has its own."""

    seconds = 0


TIME = Time()


class Clock:
    timezone = datetime.timezone

    class datetime(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.datetime.fromtimestamp(TIME.seconds, tz)


def ends_with_parent():
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG


def start_nginx(program):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = FOLDER / "nginx"
    folder.mkdir()
    names = ("client_body", "fastcgi", "uwsgi", "scgi", "proxy")
    scratch = " ".join(f"{name}_temp_path {folder}/{name};" for name in names)
    user = "user root;" if os.geteuid() == 0 else ""
    file = folder / "nginx.conf"
    file.write_text(NGINX.format(user=user, folder=folder, scratch=scratch, port=port))
    process = subprocess.Popen(
        [program, "-c", file, "-p", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, preexec_fn=ends_with_parent)
    for _ in range(3000):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.01)
    raise SystemExit("nginx does not listen")


def run(arguments, folder, **more):
    return subprocess.run(arguments, cwd=folder, capture_output=True, timeout=120, **more)


def pem(label, der):
    text = base64.encodebytes(der).decode()
    return f"-----BEGIN {label}-----\n{text}-----END {label}-----\n"


class Question:
    def __init__(self, question, folder):
        self.question, self.folder = question, folder
        self.problems, self.done = [], []

    def holds(self, condition, words):
        if not condition:
            self.problems.append(words)

    def curl(self, base, name):
        """Everything in one run; what an app with a challenge gets as well."""
        documents = self.question["documents"]
        place = self.folder / name
        place.mkdir()
        blocks = [f'url = "{base}/{one["path"]}"\noutput = "{place}/{number}"\n' for number, one in enumerate(documents)]
        challenge = self.question.get("challenge")
        if challenge:
            blocks.append(
                f'url = "{base}/app/init?appName={challenge["app"]}"\noutput = "{place}/body"\n'
                f'dump-header = "{place}/headers"\nheader = "X-Cert-Pinning-Challenge: {CHALLENGE}"\n')
        blocks = ["silent\nshow-error\nfail\n" + block for block in blocks]
        (place / "config").write_text("next\n".join(blocks))
        result = run(["curl", "-K", place / "config"], self.folder)
        self.holds(result.returncode == 0, f"curl, {name}: {result.stderr.decode()}")
        for number, one in enumerate(documents):
            file = place / str(number)
            octets = file.read_bytes() if file.exists() else b""
            self.holds(hashlib.sha256(octets).hexdigest() == one["sha256"], f"curl, {name}: another {one['path']}")
        self.done.append("curl")
        return place

    def openssl(self, place, name):
        paths = [one["path"] for one in self.question["documents"]]
        found = self.question.get("list")
        if found:
            entries = json.loads((place / str(paths.index(found["path"]))).read_bytes())["fingerprints"]
            for entry in entries[:2]:
                text = f"{entry['name']}&{entry['fingerprint']}&{entry['expires']}".encode()
                self.verify(found["key"], text, entry["signature"], f"openssl, {name}: an entry of the list")
        challenge = self.question.get("challenge")
        if challenge:
            headers = (place / "headers").read_text().splitlines()
            signature = [line.split(": ", 1)[1] for line in headers if line.lower().startswith("x-cert-pinning-sig")]
            text = f"{CHALLENGE}&".encode() + (place / "body").read_bytes()
            self.holds(len(signature) == 1, f"openssl, {name}: an answer without a signature")
            if signature:
                self.verify(challenge["key"], text, signature[0], f"openssl, {name}: the answer to a challenge")
        trust = self.question.get("trust")
        if trust:
            file = place / str(paths.index(trust["path"]))
            (self.folder / "signer.pem").write_text(pem("CERTIFICATE", base64.b64decode(trust["signer"])))
            result = run(
                ["openssl", "cms", "-verify", "-inform", "der", "-in", file, "-CAfile", "signer.pem", "-attime",
                 str(self.question["time"]), "-out", place / "content"], self.folder)
            self.holds(result.returncode == 0, f"openssl, {name}: {trust['path']}: {result.stderr.decode()}")
        self.done.append("openssl")

    def verify(self, key, text, signature, words):
        (self.folder / "key.pem").write_text(pem("PUBLIC KEY", P256 + base64.b64decode(key)))
        (self.folder / "text").write_bytes(text)
        (self.folder / "signature").write_bytes(base64.b64decode(signature))
        result = run(["openssl", "dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "text"], self.folder)
        self.holds(result.returncode == 0, f"{words} does not verify")

    def tuf(self, base, name):
        repository = self.question.get("repository")
        if not repository or Updater is None:
            return
        TIME.seconds = self.question["time"]
        metadata, targets = self.folder / f"{name}-metadata", self.folder / f"{name}-targets"
        metadata.mkdir()
        targets.mkdir()
        (metadata / "root.json").write_bytes(base64.b64decode(repository["root"]))
        place = f"{base}/{repository['path']}"
        try:
            updater = Updater(
                str(metadata), f"{place}/metadata/", str(targets), f"{place}/targets/", bootstrap=None)
            updater.refresh()
            pins = pathlib.Path(updater.download_target(updater.get_targetinfo("pins.json"))).read_bytes()
            self.holds(hashlib.sha256(pins).hexdigest() == repository["pins"], f"python-tuf, {name}: other pins")
        except Exception as error:  # Whatever it is, this client does not follow.
            self.holds(False, f"python-tuf, {name}: {type(error).__name__}: {error}")
        self.done.append("python-tuf")

    def check(self, place):
        """Whether clients that have the documents get in with a chain."""
        check = self.question.get("check")
        if not check:
            return
        paths = [one["path"] for one in self.question["documents"]]
        for name in ("chain", "roots"):
            blocks = [pem("CERTIFICATE", base64.b64decode(der)) for der in check[name]]
            (self.folder / f"{name}.pem").write_text("".join(blocks))
        options = []
        if "list" in self.question:
            options.append((self.question["list"]["path"], "--list", ["--public-key", self.question["list"]["key"]]))
        if "trust" in self.question:
            options.append((self.question["trust"]["path"], "--trust-server", ["--signer", "signer.pem"]))
        at = datetime.datetime.fromtimestamp(self.question["time"], datetime.timezone.utc).strftime("%FT%TZ")
        for path, word, more in options:
            result = run(
                [check["program"], "check", "--chain", "chain.pem", "--host", check["host"], word,
                 place / str(paths.index(path)), "--no-shipped-pins", "--ca", "roots.pem", "--at", at, "--brief", *more],
                self.folder)
            self.holds(
                result.returncode == 0,
                f"holdfastctl check, {path}: {result.returncode}: {(result.stdout + result.stderr).decode()}")
        self.done.append("holdfastctl")


def answer(line):
    question = json.loads(line)
    folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    asked = Question(question, folder)
    try:
        for name, base in question["bases"].items():
            place = asked.curl(base, name)
            if not asked.problems:
                asked.openssl(place, name)
                asked.tuf(base, name)
        if not asked.problems:
            asked.check(folder / "directly")
    except Exception as error:  # An answer always comes.
        asked.problems.append(f"{type(error).__name__}: {error}")
    shutil.rmtree(folder, ignore_errors=True)
    return {"id": question["id"], "problems": asked.problems, "done": sorted(set(asked.done))}


def main():
    if Updater is not None:
        trusted_metadata_set.datetime = Clock
    nginx, port = (None, 0) if sys.argv[1] == "-" else start_nginx(sys.argv[1])
    lock = threading.Lock()

    def say(value):
        with lock:
            print(json.dumps(value), flush=True)

    try:
        say({"nginx": port, "tuf": Updater is not None})
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for line in sys.stdin:
                pool.submit(lambda line=line: say(answer(line)))
    finally:
        if nginx:
            nginx.kill()
            nginx.wait()
        shutil.rmtree(FOLDER, ignore_errors=True)


main()
