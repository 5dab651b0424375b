package import ServerFoundation

/// One line of the audit (`holdfast-audit-v1`): what happened, when, by whom, and the digest of the line before.
package struct AuditEntry: Sendable, Hashable {
    /// The kind of event.
    package enum Event: String, Sendable, Hashable, CaseIterable {
        /// The server was made.
        case created
        /// A new statement of approvers is in force.
        case approvers
        /// An app was added, or its settings changed.
        case app
        /// A change was proposed.
        case proposed
        /// A change was approved.
        case approved
        /// A change was rejected.
        case rejected
        /// A change lapsed.
        case lapsed
        /// The canary of an app has a change; all other clients get it later.
        case canary
        /// Clients with the canary's documents connected, or were locked out.
        case probed
        /// A change was published: the app has a new generation.
        case published
        /// A document was signed, or signed again.
        case signed
        /// A document is no longer published.
        case withdrawn
        /// A new root of a repository was published on its own.
        case root
        /// A private key was made, prepared for later, put into use, or dropped.
        case key
        /// An app was taken over from another server.
        case takenOver = "taken-over"
        /// Private keys were sealed with another secret.
        case resealed
        /// A backup was written.
        case backup
        /// A backup was restored.
        case restored
        /// A person confirmed the clock.
        case resumed
        /// A token was made or ended.
        case token
        /// Approvers invited a person to make a passkey.
        case invitation
        /// A passkey was registered or removed.
        case passkey
        /// A person signed in or out.
        case session
        /// The address of the pages changed.
        case pages
        /// An unannounced key was seen, or a publication is due soon.
        case alarm
        /// A vantage point saw unannounced certificates.
        case seen
    }

    /// The position in the audit, from 0 on.
    package let index: Int64
    /// The digest of the entry before; 32 zero bytes in the first.
    package let previous: Digest
    /// When, in seconds since 1970.
    package let time: Int64
    /// The kind of event.
    package let event: Event
    /// The actor, such as the digest of a key or the name of a token: 1 to 128 printable ASCII characters.
    package let actor: String
    /// The details of the event, by field name: short texts, no secrets.
    package let facts: [String: String]

    /// The canonical bytes, a line of JSON.
    package let bytes: [UInt8]

    /// The digest that the next entry names.
    package var digest: Digest { Digest(of: bytes) }

    private static let name = "holdfast-audit-v1"
    package static let maximumSize = 64 << 10

    /// Writes an entry.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(
        index: Int64, previous: Digest, time: Int64, event: Event, actor: String, facts: [String: String]
    ) throws(ServerError) {
        guard (0...CanonicalJSON.maximumInteger).contains(index), let text = UTCText.encode(time) else {
            throw ServerError(
                .invalidValue, of: "audit", expected: "a place from 0 on, a time from 1970 to 9999", found: "others")
        }
        guard ASCIIText.isPrintable(actor.utf8, 1...128, spaces: true) else {
            throw ServerError(
                .invalidValue, of: "actor", expected: "1 to 128 printable ASCII characters",
                found: "another text of \(actor.utf8.count) bytes")
        }
        self.index = index
        self.previous = previous
        self.time = time
        self.event = event
        self.actor = actor
        self.facts = facts
        bytes =
            CanonicalJSON.object([
                "format": .text(Self.name), "index": .integer(index), "previous": .text("\(previous)"),
                "time": .text(text), "event": .text(event.rawValue), "actor": .text(actor),
                "facts": .object(facts.mapValues { .text($0) }),
            ]).bytes
        guard bytes.count <= Self.maximumSize else {
            throw ServerError(
                .invalidValue, of: "facts", expected: "at most \(Self.maximumSize) bytes", found: "more")
        }
    }

    /// Reads an entry.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, "audit", limit: Self.maximumSize), "audit")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        let index = try fields.integer("index", in: 0...CanonicalJSON.maximumInteger)
        let previous = try fields.text("previous", "64 hexadecimal digits") { Digest(hex: $0) }
        let time = try fields.text("time", "a time such as 2026-11-24T12:00:00Z") { UTCText.decode($0) }
        let event = try fields.text("event", "the name of an event") { Event(bytes: $0) }
        let actor = try fields.text("actor", "1 to 128 printable ASCII characters") { text in
            ASCIIText.isPrintable(text, 1...128, spaces: true) ? String(decoding: text, as: UTF8.self) : nil
        }
        guard case .object(let members) = try fields.required("facts") else {
            throw fields.invalid("facts", "an object")
        }
        try fields.finish()
        var facts: [String: String] = [:]
        for (key, value) in members {
            guard case .text(let text) = value else { throw fields.invalid("facts", "texts") }
            facts[key] = String(decoding: text, as: UTF8.self)
        }
        try self.init(index: index, previous: previous, time: time, event: event, actor: actor, facts: facts)
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "audit", expected: "the one spelling", found: "another")
        }
    }
}
