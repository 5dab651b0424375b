/// What an authenticator says and signs (WebAuthn 6.1): for whom, whether a person was there, and how often it has signed.
struct AuthenticatorData: Sendable, Hashable {
    /// What it says in single bits. Those that have no name here are reserved; they are signed, and decide nothing.
    struct Flags: OptionSet, Sendable, Hashable {
        let rawValue: UInt8

        /// Somebody touched it.
        static let userPresent = Flags(rawValue: 0x01)
        /// It knows who that was, by a PIN or a finger.
        static let userVerified = Flags(rawValue: 0x04)
        /// The key may be on several devices.
        static let backupEligible = Flags(rawValue: 0x08)
        /// It is.
        static let backedUp = Flags(rawValue: 0x10)
        /// A new key follows.
        static let attested = Flags(rawValue: 0x40)
        /// Extensions follow.
        static let extended = Flags(rawValue: 0x80)
    }

    /// A new key (WebAuthn 6.5.1).
    struct Credential: Sendable, Hashable {
        /// The model of the authenticator; zeros where that is nobody's business.
        let model: [UInt8]
        let id: [UInt8]
        let key: COSEKey
    }

    /// More than a new key with the longest id, and extensions, have.
    static let limit = 4 << 10
    /// The longest id of a credential (WebAuthn 7.1).
    static let maximumID = 1_023

    /// The SHA-256 of the name for which the key was made.
    let rpIDHash: [UInt8]
    let flags: Flags
    /// How often it has signed; 0 if it does not count.
    let counter: UInt32
    /// The new key; nil in what is signed with one.
    let credential: Credential?

    /// Reads all of it.
    /// - Throws: ``ServerError`` `malformed`, or `invalidValue` for a key of another kind.
    init(_ bytes: [UInt8]) throws(ServerError) {
        guard (37...Self.limit).contains(bytes.count) else {
            throw Self.malformed("37 to \(Self.limit) bytes", "\(bytes.count)")
        }
        rpIDHash = Array(bytes[..<32])
        flags = Flags(rawValue: bytes[32])
        counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        guard flags.contains(.backupEligible) || !flags.contains(.backedUp) else {
            throw Self.malformed("a key that may be backed up where it is", "one that may not")
        }
        var rest = bytes[37...]
        var head: (model: [UInt8], id: [UInt8])?
        if flags.contains(.attested) {
            guard rest.count >= 18 else { throw Self.malformed("a model and an id", "\(rest.count) bytes") }
            let model = Array(rest.prefix(16))
            let length = rest.dropFirst(16).prefix(2).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(18)
            guard (1...Self.maximumID).contains(length), length <= rest.count else {
                throw Self.malformed(
                    "an id of 1 to \(Self.maximumID) bytes", "\(length), of which \(rest.count) follow")
            }
            head = (model, Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        var reader = try CBORReader(rest, "data of the authenticator", limit: Self.limit)
        if let head {
            credential = Credential(model: head.model, id: head.id, key: try COSEKey(try reader.value()))
        } else {
            credential = nil
        }
        if flags.contains(.extended) {
            // None was asked for, and none decides anything here; but it has to be one whole map.
            guard case .map(let members) = try reader.value(), !members.isEmpty,
                members.allSatisfy({ if case .text = $0.key { true } else { false } })
            else { throw Self.malformed("a map of extensions", "another value") }
        }
        try reader.finish()
    }

    /// Requires that it is for this server, and that a person was there whom it knows.
    /// - Throws: ``ServerError`` `notForThis` or `userNotVerified`.
    func require(_ party: RelyingParty) throws(ServerError) {
        guard rpIDHash == party.digest.bytes else {
            throw ServerError(
                .notForThis, of: "passkey", expected: "a passkey of \(party.id)", found: "one of another name",
                remedy: "Use the passkey that was registered at \(party.origin).")
        }
        for (flag, words) in [(Flags.userPresent, "a touch"), (.userVerified, "a PIN or a fingerprint")] {
            guard flags.contains(flag) else {
                throw ServerError(.userNotVerified, of: "passkey", expected: words, found: "none")
            }
        }
    }

    private static func malformed(_ expected: String, _ found: String) -> ServerError {
        ServerError(
            .malformed, of: "data of the authenticator", expected: expected, found: found,
            remedy: "Send the bytes that the authenticator wrote, unchanged.")
    }
}
