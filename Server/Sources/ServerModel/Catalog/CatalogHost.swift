import Holdfast
package import ServerFoundation

/// A host that an app's clients dial.
package struct CatalogHost: Sendable, Hashable {
    /// How its certificates are renewed.
    package enum Renewal: String, Sendable, Hashable, CaseIterable {
        /// Each certificate is announced before the host presents it.
        case announced
        /// The key stays; certificates need no announcement.
        case sameKey = "same-key"
        /// The issuer stays.
        case issuer
    }

    /// Its name or address, in lower case.
    package let name: String
    /// The port.
    package let port: Int64
    /// The address to dial instead of those that the name resolves to; nil for these.
    package let dial: String?
    /// How its certificates are renewed.
    package let renewal: Renewal
    /// Whether the host is known to have keys of one kind only, so that the watcher does not probe for another.
    package let hasOneKeyKind: Bool

    /// Describes a host.
    /// - Throws: ``ServerError`` `invalidValue` for a name that cannot be dialed, a port outside 1 to 65,535, and an
    ///   address to dial that is not short printable ASCII.
    package init(
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

    /// Throws if the address to dial is invalid, such as one with a port: the port is the host's. Reading accepts
    /// invalid rows of older versions, so that one of them does not block all other data of an app.
    /// - Throws: ``ServerError`` `invalidValue`.
    package func requireDialable() throws(ServerError) {
        guard let dial else { return }
        guard (try? DialedHost(dial, port: Int(port))) != nil else {
            throw ServerError(
                .invalidValue, of: "dial", expected: "an address or a name, without a port",
                found: "another text of \(dial.utf8.count) bytes",
                remedy: "Leave the port out: the host's port is dialed.")
        }
    }

    /// `NAME:PORT`.
    package var label: String { "\(name):\(port)" }

    /// The bytes whose digest the audit records.
    package var bytes: [UInt8] {
        var members: [String: CanonicalJSON] = [
            "name": .text(name), "port": .integer(port), "renewal": .text(renewal.rawValue),
        ]
        if let dial { members["dial"] = .text(dial) }
        // Hosts of older versions keep their digest.
        if hasOneKeyKind { members["oneKeyKind"] = .boolean(true) }
        return CanonicalJSON.object(members).bytes
    }
}
