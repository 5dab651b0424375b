"""A pin server in a temporary folder for the attack programs: one approver, one app, loopback only.

The program to attack is named by `--program PATH` or HOLDFAST_SERVER; without either it is the debug build of this tree.
An attack ends with PASSED if its effect is gone, with ATTACKED if it succeeds, and with MISSING if something that it
needs is not there.
"""
import argparse
import base64
import datetime
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PASSED, ATTACKED, MISSING = 0, 1, 77

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID
except ImportError:
    print("skipped: the Python package cryptography is missing")
    sys.exit(MISSING)

ROOT = pathlib.Path(__file__).resolve().parents[3]


def missing(what):
    """Ends the program: something that it needs is not there."""
    print(f"skipped: {what}")
    sys.exit(MISSING)


def arguments(description, *extra):
    """The arguments of an attack program. `extra` are (name, keyword arguments) of `add_argument`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--program", default=os.environ.get("HOLDFAST_SERVER"), help="the holdfast-server to attack")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    for name, options in extra:
        parser.add_argument(name, **options)
    given = parser.parse_args()
    given.program = pathlib.Path(given.program or ROOT / "Server/.build/debug/holdfast-server").resolve()
    if not os.access(given.program, os.X_OK):
        missing(f"{given.program} is missing; build it, or name it with --program")
    return given


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_until(condition, seconds, what):
    """Waits for a condition, and raises TimeoutError after so many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)


# Certificates


def key():
    return ec.generate_private_key(ec.SECP256R1())


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def private_pem(private):
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def certificate(subject, private, issuer=None, issuer_key=None, names=(), is_authority=False, padding=0, days=90):
    """A certificate; self-signed without an issuer. `padding` is the size of an extension that means nothing."""
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder().subject_name(name(subject)).issuer_name(issuer.subject if issuer else name(subject))
        .public_key(private.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(n) for n in names]), critical=False)
    if padding:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.55555.1"), os.urandom(padding)),
            critical=False)
    return builder.sign(issuer_key or private, hashes.SHA256())


# The server


class Server:
    """A pin server with the approver alice and the app bank, whose anchor is `self.authority`."""

    def __init__(self, given):
        self.program = given.program
        self.keep = given.keep
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-attack-"))
        self.data = self.folder / "pins"
        self.process = None
        self.prefix = []
        self.authority_key = key()
        self.authority = certificate("Attack authority", self.authority_key, is_authority=True, days=3650)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        if self.keep:
            print(f"kept {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, file):
        return str(self.folder / file)

    def write(self, file, content):
        (self.folder / file).write_bytes(content)
        return self.path(file)

    def run(self, *words, check=True, timeout=120):
        """Runs a command of the server and returns what it prints."""
        done = subprocess.run(
            [*self.prefix, str(self.program), *words], capture_output=True, text=True, timeout=timeout,
            stdin=subprocess.DEVNULL, cwd=self.folder)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def init(self, *app_options):
        """Makes the folder, the approver alice and the app bank."""
        alice = key()
        self.write("alice.pem", private_pem(alice))
        os.chmod(self.path("alice.pem"), 0o600)
        point = alice.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        self.write("alice.pub", base64.b64encode(point) + b"\n")
        self.write("ca.pem", pem(self.authority))
        self.run("genesis", "--approver", "alice=alice.pub", "--number", "1", "--output", "genesis.txt")
        self.run("sign", "genesis.txt", "--key", "alice.pem", "--output", "alice.sig", "--yes")
        self.run(
            "init", "--data", "pins", "--secret", "secret", "--no-recovery-copy", "--genesis", "genesis.txt",
            "--signature", "alice.sig")
        options = app_options or ("--no-shipped-pins", "--canary", "0")
        self.run("app", "add", "bank", "--data", "pins", "--anchors", "ca.pem", *options)

    def token(self, label, *options):
        """A token for the administration; by default for the app bank."""
        text = self.run("token", "add", label, "--data", "pins", *(options or ("--app", "bank", "--scope", "administer")))
        return text.strip().splitlines()[-1].split()[-1]

    def publish(self, *options):
        """Proposes what follows from the catalog, approves it as alice, and publishes it. Returns the change."""
        text = self.run(
            "change", "propose", "bank", "--data", "pins", "--reason", "attack program", "--no-proposer", *options)
        change = next(word for word in text.replace(":", " ").split() if len(word) == 32 and is_hex(word))
        self.run("approve", change, "--data", "pins", "--key", "alice.pem", "--yes")
        self.run("publish", change, "--data", "pins")
        return change

    def start(self, *options):
        """Starts `serve` and waits until it answers. `self.prefix` is put before the program."""
        self.public, self.admin = free_port(), free_port()
        log = open(self.folder / "serve.log", "ab")
        self.process = subprocess.Popen(
            [*self.prefix, str(self.program), "serve", "--data", "pins", "--listen", f"127.0.0.1:{self.public}",
             "--admin-listen", f"127.0.0.1:{self.admin}", *options],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)
        log.close()
        wait_until(
            lambda: not self.is_running() or self.get("/health/live")[0] == 200 and listens(self.admin), 60,
            "an answer of the server")
        if not self.is_running():
            raise RuntimeError("the server ended: " + (self.folder / "serve.log").read_text()[-2000:])

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(20)
        self.process = None

    def request(self, method, path, body=None, headers=None, admin=False, timeout=10):
        """One request. Returns status and body; status 0 if there is no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin if admin else self.public, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(1 << 20)
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def memory(self):
        """Resident memory of the server in bytes: now, and at most."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        found = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith("Vm")}
        return found["VmRSS"], found["VmHWM"]


def listens(port):
    """Whether a port of this machine takes connections, in plain text or with TLS."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError:
        return False


def is_hex(word):
    return all(letter in "0123456789abcdef" for letter in word)


class Verdict:
    """Collects what does not hold."""

    def __init__(self):
        self.faults = []

    def require(self, holds, words):
        print(("ok: " if holds else "FAULT: ") + words, flush=True)
        if not holds:
            self.faults.append(words)

    def end(self):
        if self.faults:
            print(f"the attack succeeds: {len(self.faults)} of its effects are there")
        sys.exit(ATTACKED if self.faults else PASSED)
