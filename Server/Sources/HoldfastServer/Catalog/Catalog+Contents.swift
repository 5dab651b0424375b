extension Catalog {
    /// The content of a publication, if its bytes are those that the audit names.
    static func content(
        of publication: Ledger.Publication, _ app: AppName, _ session: any StorageSession
    ) throws(ServerError) -> Content {
        let row = try session.run("SELECT content FROM change WHERE id = $1", [.bytes(publication.change.bytes)])
            .first
        guard let row, Digest(of: try row.bytes(0)) == publication.content else {
            throw ServerError(
                .brokenChain, of: "change \(publication.change)", expected: "the content that was published",
                found: "another, or none")
        }
        let content = try Content(try row.bytes(0))
        guard content.app == app else {
            throw ServerError(
                .brokenChain, of: "change \(publication.change)", expected: "\(app)", found: "\(content.app)")
        }
        return content
    }
}
