import Holdfast

/// A host that an app's clients dial.
public struct CatalogHost: Sendable, Hashable {
    /// How its certificates are renewed.
    public enum Renewal: String, Sendable, Hashable, CaseIterable {
        /// Each certificate is announced before it is shown.
        case announced
        /// The key stays; certificates need no announcement.
        case sameKey = "same-key"
        /// The issuer stays.
        case issuer
    }

    /// Its name or address, in lower case.
    public let name: String
    /// The port.
    public let port: Int64
    /// The address to dial instead of those that the name resolves to; nil for these.
    public let dial: String?
    /// How its certificates are renewed.
    public let renewal: Renewal
    /// Whether it is known to have keys of one kind only, so that nobody asks it for another.
    public let hasOneKeyKind: Bool

    /// Describes a host.
    /// - Throws: ``ServerError`` `invalidValue` for a name that cannot be dialed, a port outside 1 to 65,535, and an
    ///   address to dial that is not short printable ASCII.
    public init(
        name: String, port: Int64 = 443, dial: String? = nil, renewal: Renewal = .announced,
        hasOneKeyKind: Bool = false
    ) throws(ServerError) {
        guard ContentHost.isName(name.utf8), (1...65_535).contains(port),
            (try? DialedHost(name, port: Int(port))) != nil
        else {
            throw ServerError(
                .invalidValue, of: "host", expected: "a name in lower case or an address, a port of 1 to 65535",
                found: "another text of \(name.utf8.count) bytes, or port \(port)")
        }
        guard dial.map({ ASCIIText.isPrintable($0.utf8, 1...255) }) ?? true else {
            throw ServerError(
                .invalidValue, of: "dial", expected: "an address", found: "another text")
        }
        self.name = name
        self.port = port
        self.dial = dial
        self.renewal = renewal
        self.hasOneKeyKind = hasOneKeyKind
    }

    /// Refuses an address to dial that cannot be dialed, such as one with a port: the port is the host's. Rows of before are
    /// read all the same, so that one of them does not keep everything else of an app from being read.
    /// - Throws: ``ServerError`` `invalidValue`.
    func requireDialable() throws(ServerError) {
        guard let dial else { return }
        guard (try? DialedHost(dial, port: Int(port))) != nil else {
            throw ServerError(
                .invalidValue, of: "dial", expected: "an address or a name, without a port",
                found: "another text of \(dial.utf8.count) bytes",
                remedy: "Leave the port out: the host's port is dialed.")
        }
    }

    /// `NAME:PORT`.
    public var label: String { "\(name):\(port)" }

    /// What the audit has the digest of.
    var bytes: [UInt8] {
        var members: [String: CanonicalJSON] = [
            "name": .text(name), "port": .integer(port), "renewal": .text(renewal.rawValue),
        ]
        if let dial { members["dial"] = .text(dial) }
        // Hosts of before have the digest that they had.
        if hasOneKeyKind { members["oneKeyKind"] = .boolean(true) }
        return CanonicalJSON.object(members).bytes
    }
}
