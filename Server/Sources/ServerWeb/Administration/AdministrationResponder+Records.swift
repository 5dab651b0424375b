import NIOCore
import NIOHTTP1
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerHTTP
import ServerStore

/// The calls that read documents, approvers and the audit.
extension AdministrationResponder {
    private static let usualLines: Int64 = 1_000

    func listDocuments(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.queriedApp()
        try takeTurn(call)
        let documents = try await refusing { [catalog] () async throws(ServerError) in
            if let app { _ = try await catalog.app(app) }
            return try await catalog.newestDocuments { call.grant?.isFor($0) == true && (app == nil || app == $0) }
        }
        return Self.json([
            (
                "documents",
                .array(
                    documents.map { document in
                        .object([
                            "app": .text("\(document.app)"), "path": .text(document.path),
                            "version": .integer(document.version), "digest": .text("\(Digest(of: document.bytes))"),
                            "signed": AdministrationView.time(document.signedAt),
                            "end": AdministrationView.time(document.end),
                        ])
                    })
            )
        ])
    }

    func getDocument(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let digest = try call.digest()
        let found = try await refusing { [catalog] () async throws(ServerError) in
            guard let found = try await catalog.newestDocument(digest, of: { call.grant?.isFor($0) == true }) else {
                throw ServerError(
                    .notFound, of: "digest", expected: "the newest version of a document", found: "\(digest)")
            }
            return found
        }
        return ListenerAnswer(
            .ok, body: ByteBuffer(bytes: found.bytes),
            headers: [
                ("Content-Type", "application/octet-stream"), ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
            ])
    }

    /// The whole chain of statements, so that approvers can verify it from the first approver list on.
    func listApprovers() async throws(AdministrationError) -> ListenerAnswer {
        let (signed, chain) = try await refusing { [catalog] () async throws(ServerError) in
            (try await catalog.signedApprovers(), try await catalog.approvers())
        }
        let statements = signed.map { statement -> CanonicalJSON in
            .object([
                "text": .text(String(decoding: statement.text, as: UTF8.self)),
                "signatures": .array(
                    statement.signatures.map {
                        .object([
                            "identity": .text("\($0.identity)"), "signature": .text(Base64.encode($0.signature)),
                        ])
                    }),
            ])
        }
        return Self.json([
            ("server", .text("\(catalog.server)")), ("digest", .text("\(chain.head.digest)")),
            ("number", .integer(Int64(chain.head.approvers.number))), ("statements", .array(statements)),
        ])
    }

    /// JSON lines with each entry exactly as in the chain, so that a recipient can verify all of them.
    func readAudit(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        try call.requireEveryApp()
        let after = try call.number("after", in: 0...CanonicalJSON.maximumInteger) ?? -1
        let limit = try call.number("limit", in: 1...Self.usualLines) ?? Self.usualLines
        let entries = try await refusing { [catalog] () async throws(ServerError) in
            try await catalog.audit(after: after, limit: limit)
        }
        var body = ByteBuffer()
        for entry in entries {
            body.writeBytes(entry)
            body.writeInteger(UInt8(ascii: "\n"))
        }
        return ListenerAnswer(
            .ok, body: body,
            headers: [
                ("Content-Type", "application/jsonl"), ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
            ])
    }
}
