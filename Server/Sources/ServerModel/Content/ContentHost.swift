import Holdfast
package import ServerFoundation

/// A host of a content, with its pins.
package struct ContentHost: Sendable, Hashable {
    /// A certificate that clients of fingerprint lists and trust servers accept.
    package struct Certificate: Sendable, Hashable {
        /// The SHA-256 of its DER.
        package let fingerprint: Digest
        /// The position in the chain, starting with the leaf; lists of the older generation have 0 only.
        package let depth: Int64
        /// The time at which lists stop naming it, in seconds since 1970.
        package let expires: Int64

        /// Makes an entry.
        /// - Throws: ``ServerError`` `invalidValue`.
        package init(fingerprint: Digest, depth: Int64 = 0, expires: Int64) throws(ServerError) {
            guard (0...16).contains(depth), UTCText.range.contains(expires) else {
                throw ServerError(
                    .invalidValue, of: "certificate", expected: "a depth of 0 to 16, a time from 1970 to 9999",
                    found: "depth \(depth), time \(expires)")
            }
            self.fingerprint = fingerprint
            self.depth = depth
            self.expires = expires
        }

        package var sortingKey: [UInt8] { [UInt8(clamping: depth)] + fingerprint.bytes }

        package var json: CanonicalJSON {
            var members: [String: CanonicalJSON] = [
                "fingerprint": .text("\(fingerprint)"), "expires": .integer(expires),
            ]
            if depth > 0 { members["depth"] = .integer(depth) }
            return .object(members)
        }

        package init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
            var fields = try JSONFields(value, path)
            let fingerprint = try fields.text("fingerprint", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
            let expires = try fields.integer("expires", in: UTCText.range)
            let depth = try fields.optionalInteger("depth", in: 1...16) ?? 0
            try fields.finish()
            try self.init(fingerprint: fingerprint, depth: depth, expires: expires)
        }
    }

    /// A public key that pin files name.
    package struct Key: Sendable, Hashable {
        /// The certificate of a path that has the key.
        package enum Role: String, Sendable, Hashable, CaseIterable {
            /// The leaf certificate.
            case leaf
            /// A certificate above the leaf.
            case issuer
        }

        /// The state of a key.
        package enum State: String, Sendable, Hashable, CaseIterable {
            /// In use.
            case active
            /// A backup in case the active key is lost.
            case backup
            /// Being phased out.
            case retiring
            /// Observed in reports only.
            case candidate
        }

        /// The SHA-256 of the DER of the SubjectPublicKeyInfo.
        package let pin: Digest
        /// The certificate of a path that has it.
        package let role: Role
        /// The state.
        package let state: State

        /// Makes a key.
        package init(pin: Digest, role: Role = .leaf, state: State = .active) {
            self.pin = pin
            self.role = role
            self.state = state
        }

        package var sortingKey: [UInt8] { Array(role.rawValue.utf8) + [0] + pin.bytes }

        package var json: CanonicalJSON {
            .object(["pin": .text("\(pin)"), "role": .text(role.rawValue), "state": .text(state.rawValue)])
        }

        package init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
            var fields = try JSONFields(value, path)
            pin = try fields.text("pin", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
            role = try fields.text("role", "leaf or issuer") { Role(bytes: $0) }
            state = try fields.text("state", "active, backup, retiring or candidate") { State(bytes: $0) }
            try fields.finish()
        }
    }

    /// The name in lists and pin files: a host name or `*.name`, in lower case.
    package let name: String
    /// The port.
    package let port: Int64
    /// The certificates, sorted by depth and fingerprint.
    package let certificates: [Certificate]
    /// The keys, sorted by role and pin.
    package let keys: [Key]

    /// Describes a host.
    /// - Throws: ``ServerError`` `invalidValue` for an invalid host name, a port outside 1 to 65,535, and a duplicate
    ///   certificate or key.
    package init(
        name: String, port: Int64 = 443, certificates: [Certificate] = [], keys: [Key] = []
    ) throws(ServerError) {
        guard Self.isName(name.utf8), (try? HostPattern(name)) != nil else {
            throw ServerError(
                .invalidValue, of: "name", expected: "a host name or *.name in lower case, ASCII",
                found: "another text of \(name.utf8.count) bytes")
        }
        guard (1...65_535).contains(port) else {
            throw ServerError(.invalidValue, of: "port", expected: "1 to 65535", found: "\(port)")
        }
        self.name = name
        self.port = port
        self.certificates = try Content.sorted(certificates, "certificates", \.sortingKey)
        self.keys = try Content.sorted(keys, "keys", \.sortingKey)
    }

    /// Whether bytes are short ASCII in lower case, checked before other code uses them.
    package static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        (1...255).contains(bytes.count)
            && bytes.allSatisfy { (0x21...0x7E).contains($0) && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }

    package var sortingKey: [UInt8] {
        Array(name.utf8) + [0, UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)]
    }

    package var json: CanonicalJSON {
        .object([
            "name": .text(name), "port": .integer(port), "certificates": .array(certificates.map(\.json)),
            "keys": .array(keys.map(\.json)),
        ])
    }

    package init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
        var fields = try JSONFields(value, path)
        let name = try fields.text("name", "a host name or *.name in lower case, ASCII") {
            Self.isName($0) ? String(decoding: $0, as: UTF8.self) : nil
        }
        let port = try fields.integer("port", in: 1...65_535)
        let certificates = try fields.array("certificates", atMost: 1_000, Certificate.init(reading:_:))
        let keys = try fields.array("keys", atMost: 1_000, Key.init(reading:_:))
        try fields.finish()
        try self.init(name: name, port: port, certificates: certificates, keys: keys)
    }
}

extension ContentHost {
    /// The digests of its keys and certificates.
    package var digests: Set<Digest> { Set(keys.map(\.pin) + certificates.map(\.fingerprint)) }
}
