import ServerFoundation

/// A notification for people: an open change, an emergency, a held canary, an alert, an approaching end, the head of
/// the audit after a round, or client reports (`holdfast-notice-v1`).
///
/// It contains only names of apps and hosts, ids and times: no reason, no secret, no bytes of a document.
package struct Notice: Sendable, Hashable {
    /// The subject of a notice.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A change waits for approvals, or for publication.
        case change
        /// A change skips the canary. There is one notice per approver, with the identity of their key.
        case emergency
        /// Clients refuse the documents of the canary, so its change waits.
        case canary
        /// A host presented a key that was not announced.
        case alarm
        /// A publication is needed soon, so that clients receive it in time.
        case reminder
        /// The published content of an app ends before the last of its clients refreshes its document.
        case end
        /// The command `status` shows an alert about an app's clients or a full disk.
        case status
        /// A document was published or signed again, and this is the new head of the audit. With it, its recipient can
        /// later detect whether the audit was truncated or rewritten.
        case head
        /// Client reports contain a warning. Reports can be forged.
        case report
    }

    /// The subject.
    let kind: Kind
    /// Whether it stays current, because alerts and reminders have no recorded end.
    var isLasting: Bool { kind == .alarm || kind == .reminder }
    /// An id that is the same for the same facts, even after a restart, so that receivers can recognize repetitions.
    let id: RandomID
    /// The canonical JSON of the notice, the same each time.
    let bytes: [UInt8]

    private static let name = "holdfast-notice-v1"

    /// Makes a notice.
    /// - Parameters:
    ///   - kind: the subject.
    ///   - server: the id of the server.
    ///   - facts: the fields that distinguish it from others of its kind.
    ///   - words: a sentence for people about these facts.
    init(_ kind: Kind, of server: RandomID, _ facts: [String: String], words: String) {
        var members: [String: CanonicalJSON] = facts.mapValues { .text($0) }
        members["format"] = .text(Self.name)
        members["kind"] = .text(kind.rawValue)
        members["server"] = .text("\(server)")
        let digest = Digest(of: CanonicalJSON.object(members).bytes)
        // The first 128 bits of a digest are as unique as a random id.
        let text = "\(digest)".prefix(32)
        id = RandomID(hex: text.utf8) ?? server
        members["id"] = .text(String(text))
        members["words"] = .text(words)
        self.kind = kind
        bytes = CanonicalJSON.object(members).bytes
    }
}
