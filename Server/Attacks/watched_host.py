"""A watched host with 64 addresses presents a new chain at each handshake, and wants to fill the server's database and
memory, so that it is killed, and killed again after each start.

Time is shortened: between two probes the program sets the time of the next probe in the database, nothing else.
Bounds: `--probes` probes (12), each with at most 128 handshakes, and `--seconds` (240).
"""
import os
import random
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from server import (  # noqa: E402
    Server, Verdict, arguments, certificate, key, missing, pem, private_pem, wait_until)

from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: E402

HOST = "many.example.com"
ADDRESSES = 64


class HostileHost:
    """Answers TLS on all addresses of 127.0.0.0/8 with a chain of about `size` bytes that nobody has seen before."""

    # Made once, since making them at each handshake would take longer than the server does.
    POOL = 128

    def __init__(self, server, size, authorities=15, socket_of_host=None):
        self.server = server
        self.authorities = authorities
        self.handshakes = 0
        self.rsa = rsa.generate_private_key(65537, 2048)
        self.resize(size)
        self.lock = threading.Lock()
        self.socket = socket_of_host or socket.create_server(("0.0.0.0", 0), backlog=256)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def resize(self, size):
        """Presents chains of about so many bytes from now on."""
        self.padding = max(1, size // (1 + self.authorities) - 400)
        self.pool = [
            pem(certificate("Authority of nothing", key(), is_authority=True, padding=self.padding))
            for _ in range(self.POOL)]

    def listen(self):
        while True:
            try:
                connection, peer = self.socket.accept()
            except OSError:
                return
            if not peer[0].startswith("127."):
                connection.close()
                continue
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def chain(self, private):
        """A new leaf, and some authorities that nobody needs. Each is signed by itself."""
        leaf = pem(certificate(HOST, private, names=[HOST], padding=self.padding))
        return private_pem(private) + leaf + b"".join(random.sample(self.pool, self.authorities))

    def answer(self, connection):
        with self.lock:
            self.handshakes += 1
            number = self.handshakes
        # A client that asks for another kind of key gets another chain.
        files = [
            self.server.write(f"chain-{number}-{place}.pem", self.chain(private))
            for place, private in enumerate([key(), self.rsa])]
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            for file in files:
                context.load_cert_chain(file)
            connection.settimeout(10)
            with context.wrap_socket(connection, server_side=True) as tls:
                tls.recv(1)
        except OSError:
            pass
        finally:
            for file in files:
                os.unlink(file)
            connection.close()

    def close(self):
        self.socket.close()


def in_namespace():
    """Starts this program again where the name of the host has 64 addresses, without changing this machine."""
    if os.environ.get("HOLDFAST_ATTACK_HOSTS"):
        return
    lines = ["127.0.0.1 localhost"] + [f"127.0.{1 + n // 200}.{1 + n % 200} {HOST}" for n in range(ADDRESSES)]
    file = f"/tmp/holdfast-attack-hosts-{os.getpid()}"
    with open(file, "w") as hosts:
        hosts.write("\n".join(lines) + "\n")
    options = ["-m"] if os.geteuid() == 0 else ["-r", "-m"]
    try:
        probe = subprocess.run(["unshare", *options, "mount", "--bind", file, "/etc/hosts"], capture_output=True)
        if probe.returncode != 0:
            missing("no private mount namespace, so no name with 64 addresses: " + probe.stderr.decode().strip())
        done = subprocess.run(
            ["unshare", *options, "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', file, sys.executable,
             *sys.argv], env={**os.environ, "HOLDFAST_ATTACK_HOSTS": "1"})
        sys.exit(done.returncode)
    except FileNotFoundError:
        missing("unshare")
    finally:
        os.unlink(file)


def figures(server):
    """What the database has, read beside the server."""
    database = sqlite3.connect(f"file:{server.data}/server.db?mode=ro", uri=True, timeout=20)
    try:
        def one(text):
            return database.execute(text).fetchone()[0] or 0
        return {
            "chains": one("SELECT count(*) FROM chain"),
            "chain bytes": one("SELECT sum(length(certificates)) FROM chain"),
            "keys": one("SELECT count(*) FROM public_key"),
            "observations": one("SELECT count(*) FROM observation"),
            "alerts": one("SELECT count(*) FROM audit WHERE CAST(entry AS TEXT) LIKE '%\"event\":\"alarm\"%'"),
            "entries": one("SELECT count(*) FROM audit"),
        }
    finally:
        database.close()


def probe_now(server, host, seconds):
    """Lets one probe happen."""
    before = host.handshakes
    database = sqlite3.connect(server.data / "server.db", timeout=20)
    try:
        with database:
            database.execute("UPDATE host SET next_poll_at = 0")
        wait_until(lambda: host.handshakes > before, 30, "a probe")
        # It ends when its lease is given back.
        def is_over():
            row = database.execute("SELECT lease_token FROM host WHERE next_poll_at > 0").fetchone()
            return not server.is_running() or row is not None and row[0] is None
        wait_until(is_over, seconds, "the end of a probe")
    finally:
        database.close()


def main():
    given = arguments(
        "A watched host that presents a new chain at each handshake.",
        ("--probes", {"type": int, "default": 12}), ("--seconds", {"type": int, "default": 240}),
        ("--size", {"type": int, "default": 90_000, "help": "bytes of a chain"}),
        ("--memory", {"type": int, "default": 64, "help": "MiB that the server may grow by"}))
    in_namespace()
    end = time.monotonic() + given.seconds
    verdict = Verdict()
    with Server(given) as server:
        server.init()
        backup = server.write("backup.pub", public_pem(key()))
        host = HostileHost(server, given.size)
        server.run("app", "key", "bank", "--data", "pins")
        server.run("host", "add", "bank", HOST, "--port", str(host.port), "--data", "pins")
        # Something is published, so that a key which nobody announced gets an alert.
        server.run("next", "key", "bank", f"{HOST}:{host.port}", "--key", backup, "--data", "pins")
        publish(server)
        server.start("--allow", "127.0.0.0/8")
        idle, _ = server.memory()
        probes = 0
        while probes < given.probes and time.monotonic() < end and server.is_running():
            probe_now(server, host, 120)
            probes += 1
            if probes % 10 == 0:
                print(f"{probes} probes, {host.handshakes} handshakes: {figures(server)}, {server.memory()}")
        found = figures(server)
        print(f"{probes} probes, {host.handshakes} handshakes: {found}")
        verdict.require(server.is_running(), "the server runs")
        if server.is_running():
            now, most = server.memory()
            grown = (most - idle) >> 20
            verdict.require(grown <= given.memory, f"its memory grew by {grown} MiB, at most {given.memory}")
            verdict.require(server.get("/health/live")[0] == 200, "it answers")
        # 1 MiB for a host, twice because of what it takes to say so.
        verdict.require(found["chain bytes"] <= 2 << 20, f"its chains have {found['chain bytes']} bytes, at most 2 MiB")
        verdict.require(found["chains"] <= 256, f"it has {found['chains']} chains, at most 256")
        verdict.require(found["keys"] <= 16, f"it has {found['keys']} keys, at most 16")
        verdict.require(found["alerts"] <= 16, f"it raised {found['alerts']} alerts, at most 16")
        verdict.require(found["observations"] <= 2_048, f"it has {found['observations']} observations, at most 2048")
        server.stop()
        server.start("--allow", "127.0.0.0/8", "--no-watch")
        time.sleep(10)
        verdict.require(server.is_running(), "the server runs 10 s after another start")
        if server.is_running():
            grown = (server.memory()[1] - idle) >> 20
            verdict.require(grown <= given.memory, f"then its memory is {grown} MiB above the first start's")
        host.close()
    verdict.end()


def public_pem(private):
    from cryptography.hazmat.primitives import serialization
    return private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def publish(server):
    """Publishes the announced key, as a pin file."""
    server.publish(
        "--format", "pin-file", "--force", "lint", "--force", "replay", "--force", "outlook", "--force", "readback")


if __name__ == "__main__":
    main()
