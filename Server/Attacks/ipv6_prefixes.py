"""One IPv6 /48 opens connections from each of its prefixes: can others still connect, to both listeners?"""
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server, sockets

given = server.arguments(__doc__, ("--inside", {"action": "store_true", "help": "used by the program itself"}))
if not given.inside:
    # A network of its own, whose loopback has all addresses of two /48 and one more.
    for program in ("unshare", "ip"):
        if not shutil.which(program):
            server.missing(f"the program {program} is missing")
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    setup = (
        "ip link set lo up && echo 1 >/proc/sys/net/ipv6/ip_nonlocal_bind && ip -6 route add local 2001:db8:1::/48 dev lo && "
        "ip -6 route add local 2001:db8:2::/48 dev lo && exec \"$@\"")
    probe = subprocess.run(
        ["unshare", "--net", *rights, "sh", "-c", setup, "sh", "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        server.missing(f"no network of its own can be made: {probe.stderr.strip()}")
    os.execvp("unshare", [
        "unshare", "--net", *rights, "sh", "-c", setup, "sh", sys.executable, __file__, "--inside", "--program",
        str(given.program)])

verdict = server.Verdict()
with server.Server(given) as site:
    site.init()
    site.public, site.admin = server.free_port(), server.free_port()
    ports = {"apps": site.public, "administration": site.admin}
    log = open(site.folder / "serve.log", "ab")
    site.process = subprocess.Popen(
        [str(site.program), "serve", "--data", "pins", "--listen", f"[::1]:{site.public}", "--admin-listen",
         f"[::1]:{site.admin}", "--no-watch"], stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=site.folder)
    honest = lambda port: sockets.request(
        port, "2001:db8:2::1", "GET", "/health/live", target="::1", timeout=3)[0]
    server.wait_until(lambda: honest(site.public) == 200 and honest(site.admin) == 200, 60, "an answer of the server")
    can = sockets.raise_descriptors(4_500)
    for name, port in ports.items():
        wanted = min(can, 4_300 if name == "apps" else 600)
        held = []
        for number in range(wanted):
            source = f"2001:db8:1:{number % 200:x}00::1"
            connection = sockets.connect(port, source, target="::1")
            if connection:
                held.append(connection)
        # Before any of them is five seconds old, and long before they end by themselves.
        answered, seconds = sockets.is_answered(lambda: honest(port), 4)
        open_ones = sum(sockets.is_open(connection) for connection in held)
        verdict.require(
            answered, f"{name}: another network is answered beside {open_ones} connections of one /48: {seconds:.1f} s")
        for connection in held:
            connection.close()
        time.sleep(1)
verdict.end()
