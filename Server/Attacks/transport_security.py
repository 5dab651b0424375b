"""A browser that once spoke TLS with the server: is it told to do so always (RFC 6797)?"""
import http.client
import ssl
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

given = server.arguments(__doc__)
verdict = server.Verdict()

with server.Server(given) as site:
    site.init()
    private = server.key()
    leaf = server.certificate("localhost", private, site.authority, site.authority_key, ["localhost"])
    site.write("tls.pem", server.pem(leaf))
    site.write("tls.key", server.private_pem(private))
    (site.folder / "tls.key").chmod(0o600)
    site.start("--no-watch", "--admin-tls-certificate", "tls.pem", "--admin-tls-key", "tls.key")
    context = ssl.create_default_context(cafile=site.path("ca.pem"))
    context.check_hostname = False
    for path in ("/health/live", "/nothing"):
        connection = http.client.HTTPSConnection("127.0.0.1", site.admin, timeout=10, context=context)
        connection.request("GET", path)
        answer = connection.getresponse()
        value = answer.headers.get("Strict-Transport-Security", "")
        connection.close()
        verdict.require(value.startswith("max-age="), f"{path} has Strict-Transport-Security: {value or 'none'}")
verdict.end()
