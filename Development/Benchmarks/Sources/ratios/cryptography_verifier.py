"""Python cryptography's verifier (Rust inside, OpenSSL's arithmetic) on the chains that the ratios program writes.

usage: cryptography_verifier.py ROOT LEAF INTERMEDIATE... HOST UNIXTIME     (DER files)

For every line "N" on standard input it parses and verifies N times and prints the nanoseconds it took.
"""

import datetime
import sys
import time

import cryptography
from cryptography import x509
from cryptography.x509 import verification


def main() -> None:
    root, *chain = sys.argv[1:-2]
    host = x509.DNSName(sys.argv[-2])
    at = datetime.datetime.fromtimestamp(int(sys.argv[-1]), datetime.timezone.utc)
    with open(root, "rb") as file:
        store = verification.Store([x509.load_der_x509_certificate(file.read())])
    presented = []
    for path in chain:
        with open(path, "rb") as file:
            presented.append(file.read())
    builder = verification.PolicyBuilder().store(store).time(at)

    def verify() -> None:
        leaf, *others = [x509.load_der_x509_certificate(der) for der in presented]
        builder.build_server_verifier(host).verify(leaf, others)

    verify()
    print(f"cryptography {cryptography.__version__}", flush=True)
    for line in sys.stdin:
        times = int(line)
        start = time.perf_counter_ns()
        for _ in range(times):
            verify()
        print(time.perf_counter_ns() - start, flush=True)


if __name__ == "__main__":
    main()
