/// What the holder of a token may do, for which app, and until when. Nothing that a token allows counts as an approval.
public struct TokenGrant: Sendable, Hashable {
    /// What a token is for. Each of `read`, `propose` and `administer` has what those before it have.
    public enum Scope: Sendable, Hashable {
        /// Ask whether a certificate may be installed on one of these hosts, `NAME:PORT`, and nothing else.
        case gate(hosts: [String])
        /// Read everything, and hand in approvals, which count by their signatures.
        case read
        /// Announce what hosts show next, report what they show, and propose changes.
        case propose
        /// Withdraw announcements, and publish what was approved.
        case administer
    }

    /// What people call it, and the audit: 1 to 64 printable ASCII characters without spaces.
    public let name: String
    /// The only app that it is for; nil for all.
    public let app: AppName?
    /// What it is for.
    public let scope: Scope
    /// The last second at which it counts, in seconds since 1970.
    public let end: Int64

    /// States what a token is for.
    /// - Throws: ``ServerError`` `invalidValue` for a name that is not one, for an end that is not in the years 1970 to
    ///   9999, and for a gate without an app or hosts.
    public init(name: String, app: AppName?, scope: Scope, end: Int64) throws(ServerError) {
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

    /// How the scope is stored and shown: `read`, `propose`, `administer`, or `gate` and the hosts, with spaces between.
    public var scopeText: String { scope.text }

    /// Whether the holder may do what a scope is for.
    func allows(_ needed: Scope) -> Bool { scope.allows(needed) }

    /// Whether the holder may do something with an app.
    func isFor(_ other: AppName) -> Bool { app == nil || app == other }
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

    /// How it is stored and shown.
    public var text: String {
        switch self {
        case .gate(let hosts): (["gate"] + hosts).joined(separator: " ")
        case .read: "read"
        case .propose: "propose"
        case .administer: "administer"
        }
    }

    /// Whether whoever has this scope may do what another one is for.
    func allows(_ needed: Self) -> Bool {
        guard case .gate(let hosts) = needed else { return rank >= needed.rank }
        guard case .gate(let own) = self else { return true }
        return hosts.allSatisfy { host in own.contains { $0.utf8.elementsEqual(host.utf8) } }
    }

    /// What a person may do who signs in, beside reading; nil for any other text.
    static func beyondReading(_ text: some Collection<UInt8>) -> Self? {
        [Self.propose, .administer].first { text.elementsEqual($0.text.utf8) }
    }

    /// Reads what ``TokenGrant/scopeText`` writes; nil for anything else.
    init?(_ text: some Collection<UInt8>) {
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
