package import ServerFoundation

/// Authenticator data (WebAuthn 6.1): the relying party, flags, the sign count, and a new credential.
package struct AuthenticatorData: Sendable, Hashable {
    /// The flags (WebAuthn 6.1). Bits without a name here are reserved; they are signed, and ignored.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// UP: user present.
        static let userPresent = Flags(rawValue: 0x01)
        /// UV: user verified, for example with a PIN or a fingerprint.
        static let userVerified = Flags(rawValue: 0x04)
        /// BE: the key may be on several devices.
        static let backupEligible = Flags(rawValue: 0x08)
        /// BS: the key is on several devices.
        static let backedUp = Flags(rawValue: 0x10)
        /// AT: a new credential follows.
        static let attested = Flags(rawValue: 0x40)
        /// ED: extensions follow.
        static let extended = Flags(rawValue: 0x80)
    }

    /// A new credential: attested credential data (WebAuthn 6.5.1).
    package struct Credential: Sendable, Hashable {
        /// The AAGUID: the model of the authenticator; zeros if it is not disclosed.
        let model: [UInt8]
        let id: [UInt8]
        let key: COSEKey
    }

    /// Maximum size: a new key with the longest id, and extensions, are smaller.
    package static let limit = 4 << 10
    /// Maximum length of a credential id (WebAuthn 7.1).
    package static let maximumID = 1_023

    /// The SHA-256 of the RP ID that the key was made for.
    let rpIDHash: [UInt8]
    package let flags: Flags
    /// The sign count; 0 if the authenticator does not count.
    package let counter: UInt32
    /// The new credential; nil in the data of an assertion.
    package let credential: Credential?

    /// Reads authenticator data.
    /// - Throws: ``ServerError`` `malformed`, or `invalidValue` for a key of another kind.
    package init(_ bytes: [UInt8]) throws(ServerError) {
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
            // No extensions were requested, and they are ignored; but they must be one complete map.
            guard case .map(let members) = try reader.value(), !members.isEmpty,
                members.allSatisfy({ if case .text = $0.key { true } else { false } })
            else { throw Self.malformed("a map of extensions", "another value") }
        }
        try reader.finish()
    }

    /// Requires that the data is for this server, and that the authenticator verified the user.
    /// - Throws: ``ServerError`` `notForThis` or `userNotVerified`.
    package func require(_ party: RelyingParty) throws(ServerError) {
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
