package import ServerFoundation

/// The permissions of a token, its app, and its end. No permission of a token is an approval.
package struct TokenGrant: Sendable, Hashable {
    /// The scope of a token. Each of `read`, `propose` and `administer` includes those before it.
    package enum Scope: Sendable, Hashable {
        /// Ask whether a certificate may be installed on one of these hosts, `NAME:PORT`, and nothing else.
        case gate(hosts: [String])
        /// Read everything, and submit approvals, which are valid by their signatures.
        case read
        /// Announce certificates of hosts, report observed certificates, and propose changes.
        case propose
        /// Withdraw announcements, and publish what was approved.
        case administer
    }

    /// The name in messages and in the audit: 1 to 64 printable ASCII characters without spaces.
    package let name: String
    /// The only app that it is for; nil for all.
    package let app: AppName?
    /// The permissions.
    package let scope: Scope
    /// The last second at which the token is valid, in seconds since 1970.
    package let end: Int64

    /// Makes a grant.
    /// - Throws: ``ServerError`` `invalidValue` for a name that is not one, for an end that is not in the years 1970 to
    ///   9999, and for a gate without an app or hosts.
    package init(name: String, app: AppName?, scope: Scope, end: Int64) throws(ServerError) {
        guard ASCIIText.isPrintable(name.utf8, 1...64) else {
            throw ServerError(
                .invalidValue, of: "name", expected: "1 to 64 printable ASCII characters without spaces",
                found: "another text of \(name.utf8.count) bytes")
        }
        guard UTCText.range.contains(end) else {
            throw ServerError(.invalidValue, of: "end", expected: "a time from 1970 to 9999", found: "\(end)")
        }
        if case .gate(let hosts) = scope {
            guard app != nil, (1...64).contains(hosts.count),
                hosts.allSatisfy({ ASCIIText.isPrintable($0.utf8, 1...261) })
            else {
                throw ServerError(
                    .invalidValue, of: "gate", expected: "an app, and 1 to 64 of its hosts", found: "others",
                    remedy: "Name the app, and each host whose certificates are installed with this token.")
            }
        }
        self.name = name
        self.app = app
        self.scope = scope
        self.end = end
    }

    /// The scope as it is stored and displayed: `read`, `propose`, `administer`, or `gate` and the hosts, separated by
    /// spaces.
    package var scopeText: String { scope.text }

    /// Whether the grant includes a scope.
    package func allows(_ needed: Scope) -> Bool { scope.allows(needed) }

    /// Whether the grant covers an app.
    package func isFor(_ other: AppName) -> Bool { app == nil || app == other }
}

extension TokenGrant.Scope {
    private var rank: Int {
        switch self {
        case .gate: 0
        case .read: 1
        case .propose: 2
        case .administer: 3
        }
    }

    /// The scope as it is stored and displayed.
    package var text: String {
        switch self {
        case .gate(let hosts): (["gate"] + hosts).joined(separator: " ")
        case .read: "read"
        case .propose: "propose"
        case .administer: "administer"
        }
    }

    /// Whether this scope includes another one.
    package func allows(_ needed: Self) -> Bool {
        guard case .gate(let hosts) = needed else { return rank >= needed.rank }
        guard case .gate(let own) = self else { return true }
        return hosts.allSatisfy { host in own.contains { $0.utf8.elementsEqual(host.utf8) } }
    }

    /// The permission of a person who signs in, beyond reading; nil for any other text.
    package static func beyondReading(_ text: some Collection<UInt8>) -> Self? {
        [Self.propose, .administer].first { text.elementsEqual($0.text.utf8) }
    }

    /// Reads what ``TokenGrant/scopeText`` writes; nil for anything else.
    package init?(_ text: some Collection<UInt8>) {
        let words = text.split(separator: 0x20, omittingEmptySubsequences: false)
        guard let first = words.first else { return nil }
        if first.elementsEqual("gate".utf8) {
            self = .gate(hosts: words.dropFirst().map { String(decoding: $0, as: UTF8.self) })
            return
        }
        let plain: [(String, Self)] = [("read", .read), ("propose", .propose), ("administer", .administer)]
        guard words.count == 1, let scope = plain.first(where: { first.elementsEqual($0.0.utf8) }) else { return nil }
        self = scope.1
    }
}
