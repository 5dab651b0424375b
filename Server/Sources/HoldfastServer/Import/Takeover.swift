/// What another server has, as it is taken over: apps with the keys that their clients know, and what these are told today.
/// It is a first change of each app, and people approve it before anybody is served.
public struct Takeover: Sendable {
    /// A private key that signed for an app.
    public struct Key: Sendable, CustomStringConvertible {
        /// What it signs.
        public let purpose: SealedKey.Purpose
        /// The certificate that clients of a trust server are configured with, in DER; nil for other purposes.
        public let certificate: [UInt8]?
        /// What clients are configured with: Base64 of the public key's X9.63 form, or of the certificate. Of a repository's
        /// key it is the id that the root has for it.
        public let configured: String
        /// Whether somebody may have read it on its way, because it was not encrypted.
        public let wasInPlainText: Bool
        /// The private key in PEM.
        let pem: String

        /// Reveals nothing about the key, so that no log contains it.
        public var description: String { "a private key for \(purpose.rawValue)" }
    }

    /// An app of another server.
    public struct App: Sendable {
        /// Its name.
        public let name: AppName
        /// What people call it.
        public let displayName: String
        /// Its keys, one for each purpose.
        public let keys: [Key]
        /// What clients are told about hosts.
        public let hosts: [ContentHost]
        /// The formats that the other server publishes.
        public let formats: [ContentFormat]
        /// What answers to challenges say about hosts without pins; nil to say nothing.
        public let domains: ContentDomains?
        /// DER of each SubjectPublicKeyInfo that is known.
        public let publicKeys: [[UInt8]]
        /// What was left out, or what somebody must do, in words.
        public let notes: [String]
        /// The files of its repository, by paths below `repo/APP/`; empty if it has none.
        let repository: [String: [UInt8]]

        init(
            _ name: AppName, displayName: String? = nil, keys: [Key] = [], hosts: [ContentHost],
            formats: [ContentFormat], domains: ContentDomains? = nil,
            publicKeys: [[UInt8]] = [], notes: [String] = [], repository: [String: [UInt8]] = [:]
        ) {
            self.name = name
            self.displayName = displayName ?? "\(name)"
            self.keys = keys
            self.hosts = hosts
            self.formats = formats
            self.domains = domains
            self.publicKeys = publicKeys
            self.repository = repository
            self.notes = notes + Self.notes(on: hosts)
        }

        /// The hosts that can be dialed. What is published about a pattern is known to clients of each host that it covers.
        var dialed: [CatalogHost] {
            hosts.compactMap { host in try? CatalogHost(name: host.name, port: host.port) }
        }

        private static func notes(on hosts: [ContentHost]) -> [String] {
            hosts.filter { (try? CatalogHost(name: $0.name, port: $0.port)) == nil }.map { host in
                "\(host.name) covers several hosts: add those that apps dial with host add, so that they can be seen"
            }
        }
    }

    /// Where it comes from, for the audit: `mobile-utility-server`, `trust-server`, `repository`, `list` or `pins`.
    public let source: String
    /// The apps, sorted by name.
    public let apps: [App]

    init(_ source: String, _ apps: [App]) throws(ServerError) {
        guard !apps.isEmpty else {
            throw ServerError(
                .notFound, of: source, expected: "an app at least", found: "none",
                remedy: "Name what the other server has.")
        }
        self.source = source
        self.apps = apps.sorted { "\($0.name)".utf8.lexicographicallyPrecedes("\($1.name)".utf8) }
    }
}
