"""Two sources, then very many connections of few sources: can others still connect, to both listeners?"""
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server, sockets

given = server.arguments(__doc__)
verdict = server.Verdict()


def fill(port, sources, each):
    held = []
    for source in sources:
        for _ in range(each):
            connection = sockets.connect(port, source)
            if connection:
                held.append(connection)
    return held


with server.Server(given) as site:
    site.init()
    site.start("--no-watch")
    can = sockets.raise_descriptors(4_500)

    held = fill(site.admin, ["127.0.1.1", "127.0.2.1"], 256)
    attempt = lambda: sockets.request(site.admin, "127.0.3.1", "GET", "/health/live", timeout=3)[0]
    answered, seconds = sockets.is_answered(attempt, 8)
    verdict.require(answered, f"the administration answers beside two sources with 256 connections each: {seconds:.1f} s")
    for connection in held:
        connection.close()
    time.sleep(1)

    # More sources than fill it: the oldest connections of the fullest make place, after five seconds at most.
    held = fill(site.admin, [f"127.0.{n}.1" for n in range(10, 26)], 64)
    attempt = lambda: sockets.request(site.admin, "127.0.4.1", "GET", "/health/live", timeout=3)[0]
    answered, seconds = sockets.is_answered(attempt, 10)
    verdict.require(answered, f"the administration answers beside 16 sources that fill it: {seconds:.1f} s")
    for connection in held:
        connection.close()

    if can >= 4_400:
        held = fill(site.public, [f"127.1.{n}.1" for n in range(1, 18)], 256)
        attempt = lambda: sockets.request(site.public, "127.2.1.1", "GET", "/health/live", timeout=3)[0]
        answered, seconds = sockets.is_answered(attempt, 10)
        verdict.require(answered, f"apps are answered beside {len(held)} connections of 17 sources: {seconds:.1f} s")
        for connection in held:
            connection.close()
    else:
        print(f"left out: this process can open {can} connections, and apps have 4,096")
verdict.end()
