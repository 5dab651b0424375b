"""A token announces what is not the host's own: an authority's certificate, another host's, keys that clients refuse, a
chain to an unknown authority, a key that its holder does not have. Is it refused, and do publications without it go on?"""
import datetime
import json
import socket
import ssl
import sys
import threading

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

HOST = "api.example.com"
NOW = datetime.datetime.now(datetime.timezone.utc)


def serve(site, chain, key):
    """Presents a chain on loopback for as long as this program runs, and returns the port."""
    site.write("shown.pem", chain)
    site.write("shown.key", server.private_pem(key))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(site.path("shown.pem"), site.path("shown.key"))
    listener = socket.create_server(("127.0.0.1", 0))

    def answer():
        while True:
            connection, _ = listener.accept()
            try:
                with context.wrap_socket(connection, server_side=True) as tls:
                    tls.recv(1)
            except OSError:
                pass

    threading.Thread(target=answer, daemon=True).start()
    return listener.getsockname()[1]


def request_pem(key, name=HOST):
    """A certificate request that is signed with its key."""
    builder = x509.CertificateSigningRequestBuilder().subject_name(server.name(name))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def spki(key):
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def fingerprint(chain):
    """The SHA-256 of the first certificate of a chain in PEM, in hexadecimal."""
    return x509.load_pem_x509_certificates(chain)[0].fingerprint(hashes.SHA256()).hex()


def stolen_request(own, other):
    """A request for another's key: the signature is by the own one."""
    der = x509.load_pem_x509_csr(request_pem(own)).public_bytes(serialization.Encoding.DER)
    der = der.replace(spki(own), spki(other))
    return b"-----BEGIN CERTIFICATE REQUEST-----\n" + server.base64.encodebytes(der) + b"-----END CERTIFICATE REQUEST-----\n"


def chains(site, issuing, issuing_key):
    """Chains that are not the host's own, by what is wrong with them."""
    def leaf(key, *names, days=300):
        return server.certificate(HOST, key, issuing, issuing_key, names or (HOST,), days=days)

    good = leaf(server.key())
    pem = server.pem
    yield "an authority's certificate first", pem(issuing) + pem(good)
    yield "an authority's certificate alone", pem(issuing)
    yield "another host's certificate", pem(leaf(server.key(), "www.example.com")) + pem(issuing)
    yield "a key of RSA with 1024 bits", pem(leaf(rsa.generate_private_key(65537, 1024))) + pem(issuing)
    yield "a key on secp256k1", pem(leaf(ec.generate_private_key(ec.SECP256K1()))) + pem(issuing)
    yield "a key on P-224", pem(leaf(ec.generate_private_key(ec.SECP224R1()))) + pem(issuing)
    expired = (
        x509.CertificateBuilder().subject_name(server.name(HOST)).issuer_name(issuing.subject)
        .public_key(server.key().public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(NOW - datetime.timedelta(days=9)).not_valid_after(NOW - datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(issuing_key, hashes.SHA256()))
    yield "an expired certificate", pem(expired) + pem(issuing)
    stranger_key = server.key()
    stranger = server.certificate("Stranger", stranger_key, is_authority=True)
    yield "a chain to an unknown authority", pem(
        server.certificate(HOST, server.key(), stranger, stranger_key, (HOST,))) + pem(stranger)


given = server.arguments(__doc__)
verdict = server.Verdict()

with server.Server(given) as site:
    site.init()
    issuing_key = server.key()
    issuing = server.certificate(
        "Issuing CA", issuing_key, site.authority, site.authority_key, is_authority=True, days=1800)
    today_key = server.key()
    today = server.certificate(HOST, today_key, issuing, issuing_key, (HOST,))
    port = serve(site, server.pem(today) + server.pem(issuing), today_key)
    site.run("app", "key", "bank", "--data", "pins")
    site.run(
        "host", "add", "bank", HOST, "--port", str(port), "--data", "pins", "--dial", "127.0.0.1", "--one-key-kind")
    site.run(
        "next", "chain", "bank", f"{HOST}:{port}", "--data", "pins", "--chain", "shown.pem", "--from",
        "2026-01-01T00:00:00Z")
    token = site.token("hook")
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    path = f"/v1/apps/bank/hosts/{HOST}/next?port={port}"
    # A backup, without which nothing is published.
    spare = server.certificate(HOST, server.key(), issuing, issuing_key, (HOST,), days=300)
    site.write("spare.pem", server.pem(spare) + server.pem(issuing))
    site.run(
        "next", "chain", "bank", f"{HOST}:{port}", "--data", "pins", "--chain", "spare.pem", "--from",
        (NOW + datetime.timedelta(days=120)).strftime("%Y-%m-%dT%H:%M:%SZ"))
    site.start("--no-watch")
    server.wait_until(
        lambda: site.get("/health/live", admin=True)[0] == 200, 30, "an answer of the administration's listener")

    def announce(**fields):
        return site.request("PUT", path, json.dumps(fields).encode(), headers, admin=True, timeout=30)

    def after(**span):
        return (NOW + datetime.timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%SZ")

    unwanted = []
    for what, chain in chains(site, issuing, issuing_key):
        # The last one may be shown at once, so that every outlook meets it.
        begins = after(minutes=5) if "unknown" in what else after(days=120)
        status, body = announce(chain=chain.decode(), begins=begins)
        unwanted.append(fingerprint(chain))
        verdict.require(status == 422, f"{what} is refused: {status}")
    public = b"-----BEGIN PUBLIC KEY-----\n" + server.base64.encodebytes(spki(server.key())) + b"-----END PUBLIC KEY-----\n"
    status, _ = announce(key=public.decode())
    verdict.require(status == 422, f"a bare key of a token is refused: {status}")
    status, _ = announce(request=stolen_request(server.key(), server.key()).decode())
    verdict.require(status in (400, 422), f"a request for a key that its holder does not have is refused: {status}")
    # What the host may show at any time, and nobody approved.
    own = server.pem(server.certificate(HOST, server.key(), issuing, issuing_key, (HOST,))) + server.pem(issuing)
    status, body = announce(chain=own.decode(), begins=after(minutes=5))
    unwanted.append(fingerprint(own))
    verdict.require(status == 200, f"the host's own next certificate is announced: {status}")
    announced = [one for one in json.loads(body or b"{}").get("next", []) if one["kind"] == "certificate"]
    verdict.require(
        any(one.get("announcedBy") == "token hook" for one in announced), "who announced it is recorded")
    site.stop()

    rogue = fingerprint(own)
    site.run("host", "see", "bank", "--data", "pins", "--allow", "127.0.0.0/8", check=False)
    try:
        left_out = [word for digest in unwanted for word in ("--remove", digest)]
        site.publish("--format", "list", *left_out)
        verdict.require(True, "a publication without the announced certificate goes on")
    except RuntimeError as error:
        verdict.require(False, f"a publication without the announced certificate goes on: {str(error)[-300:]}")
    try:
        site.run("next", "withdraw", "bank", f"{HOST}:{port}", "--data", "pins", "--digest", rogue)
        verdict.require(True, "one announcement is withdrawn")
    except RuntimeError as error:
        verdict.require(False, f"one announcement is withdrawn: {str(error)[-200:]}")
verdict.end()
