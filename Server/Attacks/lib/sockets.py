"""Connections from many loopback sources, and requests over them, for the attack programs."""
import http.client
import resource
import socket
import time


def raise_descriptors(wanted):
    """Lets this process open so many connections. Returns how many it can."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = wanted + 64 if hard == resource.RLIM_INFINITY else min(hard, wanted + 64)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit), hard))
    return max(soft, limit) - 64


def connect(port, source, target="127.0.0.1", timeout=5):
    """A connection from a source; None if it is refused at once."""
    family = socket.AF_INET6 if ":" in target else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        connection.bind((source, 0))
        connection.connect((target, port))
    except OSError:
        connection.close()
        return None
    return connection


def is_open(connection):
    """Whether the other side has not closed a connection. What it said before, such as a refusal, is thrown away."""
    connection.setblocking(False)
    try:
        while connection.recv(65_536):
            pass
        return False
    except (BlockingIOError, InterruptedError):
        return True
    except OSError:
        return False


def request(port, source, method, path, body=None, headers=None, target="127.0.0.1", timeout=10):
    """One request from a source. Returns status, headers and body; status 0 if there is no answer."""
    connection = http.client.HTTPConnection(target, port, timeout=timeout, source_address=(source, 0))
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read(1 << 22)
    except (OSError, http.client.HTTPException):
        return 0, {}, b""
    finally:
        connection.close()


def is_answered(attempt, seconds):
    """Whether one of the attempts of so many seconds gets 200, 201 or 202, and how long that took."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if attempt() in (200, 201, 202):
            return True, time.monotonic() - began
        time.sleep(0.25)
    return False, time.monotonic() - began
