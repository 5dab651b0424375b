"""Repositories made with python-tuf's metadata API, honest ones and others, served over HTTP on loopback."""
import datetime
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib import parse

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import (
    DelegatedRole, Delegations, Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp)

TOP = ["root", "timestamp", "snapshot", "targets"]


class Repository:
    def __init__(self, consistent=True):
        self.metadata = {
            "root": Metadata(Root(consistent_snapshot=consistent)),
            "timestamp": Metadata(Timestamp()),
            "snapshot": Metadata(Snapshot()),
            "targets": Metadata(Targets()),
        }
        self.signers = {}
        self.published = {}
        self.artifacts = {}
        self.requests = []
        self.describes_files = False
        for role in TOP:
            self.expire(role, days=30)
            self.rotate(role)
        self.publish(*TOP[:0], "targets", "snapshot", "timestamp", "root")

    def __getattr__(self, name):
        if name in TOP:
            return self.metadata[name].signed
        raise AttributeError(name)

    def expire(self, role, days):
        now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        self.metadata[role].signed.expires = now + datetime.timedelta(days=days)

    def rotate(self, role, signers=None, threshold=1):
        """Other keys for a role of root."""
        signers = signers or [CryptoSigner.generate_ed25519()]
        self.root.roles[role].keyids.clear()
        for signer in signers:
            self.root.add_key(signer.public_key, role)
        self.root.roles[role].threshold = threshold
        self.signers[role] = signers
        return signers

    def delegate(self, name, delegator="targets", signer=None, paths=("*",), prefixes=None, terminating=False, days=30):
        if name not in self.metadata:
            self.metadata[name] = Metadata(Targets())
            self.expire(name, days)
        signer = signer or CryptoSigner.generate_ed25519()
        targets = self.metadata[delegator].signed
        if targets.delegations is None:
            targets.delegations = Delegations({}, {})
        paths = None if prefixes else list(paths)
        targets.delegations.roles[name] = DelegatedRole(name, [], 1, terminating, paths, prefixes)
        targets.add_key(signer.public_key, name)
        self.signers.setdefault(name, [signer])
        return signer

    def add(self, path, data, role="targets", algorithms=("sha256",)):
        target = TargetFile.from_data(path, data, list(algorithms))
        self.metadata[role].signed.targets[path] = target
        self.artifacts[path] = (target, data)

    def publish(self, *roles):
        """Signs and serves; a role that was served before gets the next version."""
        for role in roles:
            metadata = self.metadata[role]
            if role in self.published:
                metadata.signed.version += 1
            metadata.signatures.clear()
            for signer in self.signers[role]:
                metadata.sign(signer, append=True)
            self.serve(role, metadata.to_bytes())

    def serve(self, role, data):
        version = self.metadata[role].signed.version
        self.published.setdefault(role, {})[version] = data
        entry = MetaFile(version)
        if self.describes_files:
            entry = MetaFile.from_data(version, data, ["sha256"])
        if role == "snapshot":
            self.timestamp.snapshot_meta = entry
        elif role not in TOP or role == "targets":
            self.snapshot.meta[f"{role}.json"] = entry

    def publish_all(self):
        others = [role for role in self.metadata if role not in TOP]
        self.publish(*others, "targets", "snapshot", "timestamp")

    def change(self, role, body):
        """Changes what is served of a role without signing it again."""
        version = max(self.published[role])
        document = json.loads(self.published[role][version])
        body(document)
        self.published[role][version] = json.dumps(document).encode()

    def answer(self, path):
        kind, _, name = path.partition("/")
        self.requests.append(name)
        if kind == "targets":
            folder, slash, last = name.rpartition("/")
            prefix = None
            if self.root.consistent_snapshot:
                prefix, _, last = last.partition(".")
            found = self.artifacts.get(parse.unquote(folder + slash + last))
            if found and (prefix is None or prefix in found[0].hashes.values()):
                return found[1]
            return None
        stem = name.removesuffix(".json")
        version, dot, role = stem.partition(".")
        if not (dot and version.isdigit() and (role == "root" or self.root.consistent_snapshot)):
            version, role = None, stem
        versions = self.published.get(parse.unquote(role), {})
        return versions.get(int(version)) if version else versions[max(versions)] if versions else None


class Server(ThreadingHTTPServer):
    """Serves repositories by name, until the process ends."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name, kind):
        return f"http://127.0.0.1:{self.server_address[1]}/{parse.quote(name, '')}/{kind}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        name, _, path = self.path.lstrip("/").partition("/")
        repository = self.server.repositories.get(parse.unquote(name))
        data = repository.answer(path) if repository else None
        if data is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass
