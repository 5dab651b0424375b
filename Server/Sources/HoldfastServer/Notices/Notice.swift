/// What people are told about without asking: a change that waits for them, an emergency, a canary that is held, an alarm,
/// an end that is near, where the audit ends after a round, and what clients report (`holdfast-notice-v1`).
///
/// It names apps, hosts, ids and times, and has no text of anybody's: no reason, no secret, no bytes of a document.
public struct Notice: Sendable, Hashable {
    /// What it is about.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A change waits for approvals, or for somebody who publishes it.
        case change
        /// A change skips the canary: each approver is told, by the identity of their key.
        case emergency
        /// Clients refuse what the canary has, so that the change waits.
        case canary
        /// A host showed a key that nobody announced.
        case alarm
        /// Something has to be published soon, so that clients know it before they need it.
        case reminder
        /// What is published for an app ends sooner than the last of its clients has asked.
        case end
        /// People have to act on how the clients of an app fare, or on a full disk, as the command `status` says.
        case status
        /// Something was published or signed again: the audit ends here. Whoever keeps it can tell later whether the
        /// audit was cut off or rewritten.
        case head
        /// Clients report what people should look at. Anybody can forge that.
        case report
    }

    /// What it is about.
    public let kind: Kind
    /// Whether it is news for ever: nobody says when an alarm is over.
    var isLasting: Bool { kind == .alarm || kind == .reminder }
    /// The same for the same news, however often it is sent and whoever restarts: what receivers tell repetitions by.
    public let id: RandomID
    /// The bytes: canonical JSON, the same each time.
    public let bytes: [UInt8]

    private static let name = "holdfast-notice-v1"

    /// Makes a notice.
    /// - Parameters:
    ///   - kind: what it is about.
    ///   - server: the id of the server.
    ///   - facts: what tells it from other news of its kind, by names of fields.
    ///   - words: one sentence for people, made of those facts.
    init(_ kind: Kind, of server: RandomID, _ facts: [String: String], words: String) {
        var members: [String: CanonicalJSON] = facts.mapValues { .text($0) }
        members["format"] = .text(Self.name)
        members["kind"] = .text(kind.rawValue)
        members["server"] = .text("\(server)")
        let digest = Digest(of: CanonicalJSON.object(members).bytes)
        // The first 128 bits of a digest are as good an id as random ones.
        let text = "\(digest)".prefix(32)
        id = RandomID(hex: text.utf8) ?? server
        members["id"] = .text(String(text))
        members["words"] = .text(words)
        self.kind = kind
        bytes = CanonicalJSON.object(members).bytes
    }
}
