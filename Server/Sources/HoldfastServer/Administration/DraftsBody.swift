/// What holders signed, as it is handed in: `{"root","targets","pins"}`, the files of a folder's `draft` in Base64. What is
/// left out stays as it is prepared.
struct DraftsBody: Sendable {
    let draft: RepositoryDraft

    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field. No signature is verified here.
    init(_ fields: inout JSONFields) throws(ServerError) {
        var draft = RepositoryDraft.empty
        draft.root = try Self.file("root", &fields)
        draft.targets = try Self.file("targets", &fields)
        draft.pins = try Self.file("pins", &fields)
        try fields.finish()
        guard draft != .empty else {
            throw ServerError(.malformed, of: "body", expected: "root, or targets", found: "neither")
        }
        guard draft.targets != nil || draft.pins == nil else {
            throw ServerError(.malformed, of: "targets", expected: "the targets that list the pins", found: "none")
        }
        self.draft = draft
    }

    private static func file(_ key: String, _ fields: inout JSONFields) throws(ServerError) -> [UInt8]? {
        guard let text = try fields.optionalText(key) else { return nil }
        guard let bytes = Base64.decode(text), !bytes.isEmpty else { throw fields.invalid(key, "a file in Base64") }
        return bytes
    }
}
