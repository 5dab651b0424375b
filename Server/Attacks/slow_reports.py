"""One address opens 16 requests a second that announce a whole report and send nothing: do other sources' reports pass?"""
import sys
import threading
import time

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server, sockets

given = server.arguments(__doc__)
verdict = server.Verdict()
HEAD = (
    b"POST /reports?appName=bank HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n")

with server.Server(given) as site:
    site.init()
    site.run("app", "reports", "bank", "--on", "--data", "pins")
    site.start("--no-watch")
    server.wait_until(
        lambda: sockets.request(site.public, "127.0.9.1", "POST", "/reports?appName=bank", b"[]",
                                {"Content-Type": "application/json"})[0] == 202, 30, "a report that is taken")
    done = threading.Event()
    held = []

    def flood():
        while not done.is_set() and len(held) < 800:
            connection = sockets.connect(site.public, "127.0.1.1")
            if connection:
                try:
                    connection.sendall(HEAD)
                    held.append(connection)
                except OSError:
                    connection.close()
            time.sleep(1 / 16)

    attacker = threading.Thread(target=flood)
    attacker.start()
    time.sleep(18)
    answers = []
    for number in range(40):
        answers.append(sockets.request(
            site.public, f"127.0.{number + 20}.1", "POST", "/reports?appName=bank", b"[]",
            {"Content-Type": "application/json"})[0])
        time.sleep(0.1)
    done.set()
    attacker.join(10)
    taken = answers.count(202)
    verdict.require(taken == len(answers), f"{taken} of {len(answers)} honest reports are taken: {sorted(set(answers))}")
    time.sleep(7)
    left = sum(sockets.is_open(connection) for connection in held)
    verdict.require(left == 0, f"no request that sends nothing is left after 7 s: {left} of {len(held)}")
verdict.end()
