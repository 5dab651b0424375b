import PinChanges
import ServerFoundation

/// The signed drafts of key holders: `{"root","targets","pins"}`, the files of a folder's `draft` in Base64. A missing
/// file stays as prepared.
struct DraftsBody: Sendable {
    let draft: RepositoryDraft

    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, naming the field. Signatures are not verified here.
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
