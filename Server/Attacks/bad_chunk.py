"""A chunk that is none, in the same packet as the head of a report: is it answered at once, or after 20 s?"""
import socket
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

given = server.arguments(__doc__)
verdict = server.Verdict()

with server.Server(given) as site:
    site.init()
    site.run("app", "reports", "bank", "--on", "--data", "pins")
    site.start("--no-watch")
    time.sleep(6)
    for chunk in (b"zz\r\n", b"5\r\n[]\r\nxyz\r\n", b"-1\r\n[]\r\n"):
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", site.public), timeout=30) as connection:
            connection.sendall(
                b"POST /reports?appName=bank HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n" + chunk)
            try:
                answer = connection.recv(4_096)
            except OSError:
                answer = b""
        seconds = time.monotonic() - began
        status = answer.split(b"\r\n")[0]
        verdict.require(b" 400 " in status and seconds < 3, f"{chunk!r} is answered at once: {status} in {seconds:.1f} s")
verdict.end()
