import Holdfast

/// A host of a content: what clients are told about it.
public struct ContentHost: Sendable, Hashable {
    /// A certificate that clients of fingerprint lists and trust servers accept.
    public struct Certificate: Sendable, Hashable {
        /// The SHA-256 of its DER.
        public let fingerprint: Digest
        /// The place in the chain, counted from the server's own; lists of the older generation have 0 only.
        public let depth: Int64
        /// When lists stop naming it, in seconds since 1970.
        public let expires: Int64

        /// States what clients accept.
        /// - Throws: ``ServerError`` `invalidValue`.
        public init(fingerprint: Digest, depth: Int64 = 0, expires: Int64) throws(ServerError) {
            guard (0...16).contains(depth), UTCText.range.contains(expires) else {
                throw ServerError(
                    .invalidValue, of: "certificate", expected: "a depth of 0 to 16, a time from 1970 to 9999",
                    found: "depth \(depth), time \(expires)")
            }
            self.fingerprint = fingerprint
            self.depth = depth
            self.expires = expires
        }

        var sortingKey: [UInt8] { [UInt8(clamping: depth)] + fingerprint.bytes }

        var json: CanonicalJSON {
            var members: [String: CanonicalJSON] = [
                "fingerprint": .text("\(fingerprint)"), "expires": .integer(expires),
            ]
            if depth > 0 { members["depth"] = .integer(depth) }
            return .object(members)
        }

        init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
            var fields = try JSONFields(value, path)
            let fingerprint = try fields.text("fingerprint", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
            let expires = try fields.integer("expires", in: UTCText.range)
            let depth = try fields.optionalInteger("depth", in: 1...16) ?? 0
            try fields.finish()
            try self.init(fingerprint: fingerprint, depth: depth, expires: expires)
        }
    }

    /// A public key that pin files name.
    public struct Key: Sendable, Hashable {
        /// Which certificate of a path has it.
        public enum Role: String, Sendable, Hashable, CaseIterable {
            /// The server's own.
            case leaf
            /// One above it.
            case issuer
        }

        /// What it is for.
        public enum State: String, Sendable, Hashable, CaseIterable {
            /// In use.
            case active
            /// For the day when the one in use is lost.
            case backup
            /// Going out of use.
            case retiring
            /// Only reported on.
            case candidate
        }

        /// The SHA-256 of the DER of the SubjectPublicKeyInfo.
        public let pin: Digest
        /// Which certificate of a path has it.
        public let role: Role
        /// What it is for.
        public let state: State

        /// Names a key.
        public init(pin: Digest, role: Role = .leaf, state: State = .active) {
            self.pin = pin
            self.role = role
            self.state = state
        }

        var sortingKey: [UInt8] { Array(role.rawValue.utf8) + [0] + pin.bytes }

        var json: CanonicalJSON {
            .object(["pin": .text("\(pin)"), "role": .text(role.rawValue), "state": .text(state.rawValue)])
        }

        init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
            var fields = try JSONFields(value, path)
            pin = try fields.text("pin", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
            role = try fields.text("role", "leaf or issuer") { Role(bytes: $0) }
            state = try fields.text("state", "active, backup, retiring or candidate") { State(bytes: $0) }
            try fields.finish()
        }
    }

    /// The name that lists and pin files have: a host name or `*.name`, in lower case.
    public let name: String
    /// The port.
    public let port: Int64
    /// The certificates, sorted by depth and fingerprint.
    public let certificates: [Certificate]
    /// The keys, sorted by role and pin.
    public let keys: [Key]

    /// Describes a host.
    /// - Throws: ``ServerError`` `invalidValue` for a name that is no host's, a port outside 1 to 65,535, and a
    ///   certificate or key that is there twice.
    public init(
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

    /// Short ASCII in lower case, before any other code sees it.
    static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        (1...255).contains(bytes.count)
            && bytes.allSatisfy { (0x21...0x7E).contains($0) && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }

    var sortingKey: [UInt8] {
        Array(name.utf8) + [0, UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)]
    }

    var json: CanonicalJSON {
        .object([
            "name": .text(name), "port": .integer(port), "certificates": .array(certificates.map(\.json)),
            "keys": .array(keys.map(\.json)),
        ])
    }

    init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
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
    var digests: Set<Digest> { Set(keys.map(\.pin) + certificates.map(\.fingerprint)) }
}

extension RawRepresentable where RawValue == String, Self: CaseIterable {
    /// The case whose name has exactly these bytes.
    init?(bytes: some Collection<UInt8>) {
        guard let found = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(bytes) }) else { return nil }
        self = found
    }
}
