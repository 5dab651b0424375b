"""In a memory cgroup of 256 MiB: a hostile watched host, a report flood and a slow-request flood at once.

The server must live, documents and honest reports must pass, and the 99th percentile of the time of a document must be at
most 1.5 times that without the floods, measured in the same run just before and just after them (`--no-timing` leaves the
last out). The floods run at the lowest priority, so that the machine's cores, which they share with the server, are not
what is measured. Bounds: `--seconds` of floods (20; nightly 600), 1,000 slow connections, 200 reports per second.
"""
import json
import multiprocessing
import os
import pathlib
import random
import resource
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from server import Server, Verdict, arguments, key, missing  # noqa: E402
import watched_host  # noqa: E402

LIMIT = 256 << 20
# The fork of a process with threads could lock up, so nothing is started before these.
processes = multiprocessing.get_context("fork")


class Cgroup:
    """A memory cgroup of version 1 or 2 that holds one process."""

    def __init__(self):
        name = f"holdfast-attack-{os.getpid()}"
        first, second = pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup")
        self.is_first = first.is_dir()
        if not self.is_first and "memory" not in read(second / "cgroup.subtree_control").split():
            try:
                (second / "cgroup.subtree_control").write_text("+memory")
            except OSError as error:
                missing(f"no memory controller for cgroups: {error}")
        self.folder = (first if self.is_first else second) / name
        try:
            self.folder.mkdir()
            if self.is_first:
                (self.folder / "memory.limit_in_bytes").write_text(str(LIMIT))
                swap = self.folder / "memory.memsw.limit_in_bytes"
                if swap.exists():
                    swap.write_text(str(LIMIT))
            else:
                (self.folder / "memory.max").write_text(str(LIMIT))
                swap = self.folder / "memory.swap.max"
                if swap.exists():
                    swap.write_text("0")
        except OSError as error:
            self.remove()
            missing(f"no memory cgroup can be made here: {error}")

    @property
    def prefix(self):
        return ["sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh"]

    def most(self):
        """The most memory that was used, in bytes, with the pages of files; nil if the kernel does not say."""
        text = read(self.folder / ("memory.max_usage_in_bytes" if self.is_first else "memory.peak"))
        return int(text) if text.strip() else None

    def kills(self):
        """How many processes were killed for want of memory."""
        text = read(self.folder / ("memory.oom_control" if self.is_first else "memory.events"))
        found = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
        return int(found.get("oom_kill", 0))

    def remove(self):
        for _ in range(50):
            try:
                self.folder.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.1)


def read(path):
    try:
        return path.read_text()
    except OSError:
        return ""


# Honest clients: each with a connection of its own, as phones have them


def exchange(port, request, source="127.0.0.1", timeout=10):
    """One request. Returns the status, and how long it took in seconds; status 0 if there is no answer."""
    begun = time.perf_counter()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout, (source, 0)) as connection:
            connection.settimeout(timeout)
            connection.sendall(request)
            answer = b""
            while part := connection.recv(65_536):
                answer += part
        return int(answer.split(b" ", 2)[1]), time.perf_counter() - begun
    except (OSError, IndexError, ValueError):
        return 0, time.perf_counter() - begun


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: pins.example.com\r\nConnection: close\r\n\r\n".encode()


def report(label, number):
    name, port = label.split(":")
    body = json.dumps({
        "date-time": "2026-01-01T00:00:00Z", "hostname": name, "port": int(port), "noted-hostname": name,
        "validation-result": 0, "known-pins": [], "app-version": f"1.{number % 7}", "app-platform": "IOS",
    }).encode()
    return (
        f"POST /reports?appName=bank HTTP/1.1\r\nHost: pins.example.com\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode() + body


def honest(port, label, seconds, found):
    """Twenty documents and one report per second."""
    times, documents, reports = [], {}, {}
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        number += 1
        due = time.monotonic() + 0.05
        status, took = exchange(port, get("/pins/bank.pins.json"))
        documents[status] = documents.get(status, 0) + 1
        times.append(took)
        if number % 20 == 0:
            # Phones are not all behind one address.
            status, _ = exchange(port, report(label, number), f"127.0.{number // 20 % 200}.9")
            reports[status] = reports.get(status, 0) + 1
        time.sleep(max(0, due - time.monotonic()))
    found.put((times, documents, reports))


def measure(port, label, seconds):
    """Runs the honest client in a process of its own."""
    found = processes.SimpleQueue()
    client = processes.Process(target=honest, args=(port, label, seconds, found), daemon=True)
    client.start()
    result = found.get()
    client.join()
    return result


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


# The floods


def flood_reports(port, label):
    """200 reports per second, from 200 addresses."""
    os.nice(19)
    number = 0
    while True:
        number += 1
        due = time.monotonic() + 0.005
        name = f"x{random.randrange(1 << 30)}.example.com:443" if number % 2 else label
        exchange(port, report(name, number), f"127.8.{number % 200}.7", timeout=5)
        time.sleep(max(0, due - time.monotonic()))


def flood_slowly(port):
    """1,000 connections from 250 addresses that send a byte now and then, of heads and of bodies."""
    os.nice(19)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    head = b"GET /pins/bank.pins.json HTTP/1.1\r\nHost: pins.example.com\r\nX-A: "
    post = (
        b"POST /reports?appName=bank HTTP/1.1\r\nHost: pins.example.com\r\nContent-Type: application/json\r\n"
        b"Content-Length: 16384\r\n\r\n")
    slots = [None] * 1_000
    while True:
        for place, connection in enumerate(slots):
            try:
                if connection is None:
                    connection = socket.create_connection(("127.0.0.1", port), 2, (f"127.9.{place % 250}.3", 0))
                    connection.setblocking(False)
                    slots[place] = connection
                    connection.send(post if place % 2 else head)
                else:
                    connection.send(b" " if place % 2 else b"a")
            except BlockingIOError:
                pass
            except OSError:
                if connection is not None:
                    connection.close()
                slots[place] = None
            if place % 50 == 0:
                time.sleep(0.05)


def flood_probes(server, host, port):
    """Presents new chains, with a probe every ten seconds at most: time is shortened as in watched_host.py.

    Every second probe meets chains that are larger than those that are read; the others are just small enough to be kept.
    """
    os.nice(19)
    host.listen(256)
    hostile = watched_host.HostileHost(server, 90_000, socket_of_host=host)
    server.process = type("Running", (), {"poll": lambda self: None, "pid": 0})()
    number = 0
    while True:
        begun = time.monotonic()
        number += 1
        hostile.resize(28_000 if number % 2 else 90_000)
        try:
            watched_host.probe_now(server, hostile, 60)
        except (TimeoutError, watched_host.sqlite3.Error) as error:
            print(f"a probe: {error}", flush=True)
        time.sleep(max(0, 10 - (time.monotonic() - begun)))


def main():
    given = arguments(
        "A hostile watched host, a report flood and a slow-request flood at once, in 256 MiB.",
        ("--seconds", {"type": int, "default": 20, "help": "of floods"}),
        ("--no-timing", {"action": "store_true", "help": "do not require a time"}))
    watched_host.in_namespace()
    cgroup = Cgroup()
    verdict = Verdict()
    floods = []
    try:
        with Server(given) as server:
            server.init()
            backup = server.write("backup.pub", watched_host.public_pem(key()))
            # Nobody listens before the floods begin, so that no probe waits for an answer.
            host = socket.socket()
            host.bind(("0.0.0.0", 0))
            label = f"{watched_host.HOST}:{host.getsockname()[1]}"
            server.run("app", "key", "bank", "--data", "pins")
            server.run("app", "reports", "bank", "--on", "--data", "pins")
            server.run(
                "host", "add", "bank", watched_host.HOST, "--port", label.split(":")[1], "--data", "pins")
            server.run("next", "key", "bank", label, "--key", backup, "--data", "pins")
            watched_host.publish(server)
            server.prefix = cgroup.prefix
            server.start("--allow", "127.0.0.0/8")
            server.prefix = []
            port = server.public
            quiet = max(10, min(120, given.seconds // 4))
            measure(port, label, 3)
            before, documents, reports = measure(port, label, quiet)
            print(f"without floods: documents {documents}, reports {reports}", flush=True)
            floods = [
                processes.Process(target=target, args=parts, daemon=True) for target, parts in [
                    (flood_probes, (server, host, port)), (flood_slowly, (port,)),
                    *[(flood_reports, (port, label))] * 2]]
            for flood in floods:
                flood.start()
            times, documents, reports = measure(port, label, given.seconds)
            print(f"with floods: documents {documents}, reports {reports}", flush=True)
            for flood in floods:
                flood.kill()
                flood.join()
            is_running = server.is_running()
            verdict.require(is_running and cgroup.kills() == 0, "the server lives")
            after, _, _ = measure(port, label, quiet) if is_running else (before, {}, {})
            most = cgroup.most()
            print(f"the most memory of the cgroup: {most >> 20 if most else '?'} MiB of {LIMIT >> 20}")
            if is_running:
                print(f"the most resident memory: {server.memory()[1] >> 20} MiB; {watched_host.figures(server)}")
            passed, all_documents = documents.get(200, 0), sum(documents.values())
            verdict.require(passed >= 0.999 * all_documents, f"{passed} of {all_documents} documents pass")
            passed, all_reports = sum(n for status, n in reports.items() if status in (202, 204)), sum(reports.values())
            verdict.require(passed >= 0.98 * all_reports, f"{passed} of {all_reports} honest reports pass")
            usual, flooded = percentile(before + after, 0.99), percentile(times, 0.99)
            words = (
                f"p99 of a document is {flooded * 1_000:.1f} ms, {flooded / usual:.2f} times that without floods "
                f"({usual * 1_000:.1f} ms)")
            if given.no_timing:
                print(words)
            else:
                verdict.require(flooded <= 1.5 * usual, words)
    finally:
        for flood in floods:
            if flood.is_alive():
                flood.kill()
        cgroup.remove()
    verdict.end()


if __name__ == "__main__":
    main()
