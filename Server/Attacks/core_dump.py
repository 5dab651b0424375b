"""A server that is ended by a fault: does its core dump hold its memory, which has private keys?"""
import pathlib
import resource
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

given = server.arguments(__doc__)
verdict = server.Verdict()
_, hard = resource.getrlimit(resource.RLIMIT_CORE)
if hard == 0:
    server.missing("this process may have no core dumps, so nothing is shown")
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
if not pathlib.Path("/proc/self/coredump_filter").exists():
    server.missing("this system has no /proc/PID/coredump_filter")

with server.Server(given) as site:
    site.init()
    site.start("--no-watch")
    process = pathlib.Path(f"/proc/{site.process.pid}")
    limit = next(l for l in (process / "limits").read_text().splitlines() if l.startswith("Max core file size"))
    verdict.require(limit.split()[4] == "0", f"its core dumps have no room: {limit}")
    memory = int((process / "coredump_filter").read_text(), 16)
    verdict.require(memory == 0, f"and no memory, whoever takes them: {memory:#x}")
verdict.end()
