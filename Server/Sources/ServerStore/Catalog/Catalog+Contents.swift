package import ServerFoundation
package import ServerModel

extension Catalog {
    /// The content of a publication, if its bytes have the digest in the audit.
    package static func content(
        of publication: Ledger.Publication, app: AppName, in session: any StorageSession
    ) throws(ServerError) -> Content {
        try content(withDigest: publication.content, ofChange: publication.change, app: app, in: session)
    }

    /// The content of a change, as the audit has its digest.
    package static func content(
        withDigest digest: Digest, ofChange change: RandomID, app: AppName, in session: any StorageSession
    ) throws(ServerError) -> Content {
        let row = try session.run("SELECT content FROM change WHERE id = $1", [.bytes(change.bytes)]).first
        guard let row, Digest(of: try row.bytes(0)) == digest else {
            throw ServerError(
                .brokenChain, of: "change \(change)", expected: "the content that the audit names",
                found: "another, or none")
        }
        let content = try Content(try row.bytes(0))
        guard content.app == app else {
            throw ServerError(.brokenChain, of: "change \(change)", expected: "\(app)", found: "\(content.app)")
        }
        return content
    }
}
