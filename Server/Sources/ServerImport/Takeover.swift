package import ServerFoundation
package import ServerModel
package import ServerStore

/// The data of another server to take over: apps with the keys that their clients know, and their current pins. It
/// becomes a first change of each app, which people approve before any client gets it.
package struct Takeover: Sendable {
    /// A private key that signed for an app.
    package struct Key: Sendable, CustomStringConvertible {
        /// The documents that it signs.
        package let purpose: SealedKey.Purpose
        /// The certificate that clients of a trust server are configured with, in DER; nil for other purposes.
        package let certificate: [UInt8]?
        /// The value that clients are configured with: Base64 of the public key's X9.63 form, or of the certificate.
        /// For a repository's key it is the key id in the root.
        package let configured: String
        /// Whether others may have read it in transit, because it was not encrypted.
        package let wasInPlainText: Bool
        /// The private key in PEM.
        package let pem: String

        /// Reveals nothing about the key, so that no log contains it.
        package var description: String { "a private key for \(purpose.rawValue)" }
    }

    /// An app of another server.
    package struct App: Sendable {
        /// Its name.
        package let name: AppName
        /// The display name.
        package let displayName: String
        /// Its keys, one for each purpose.
        package let keys: [Key]
        /// The hosts with their pins.
        package let hosts: [ContentHost]
        /// The formats that the other server publishes.
        package let formats: [ContentFormat]
        /// The domains of challenge answers, for hosts without pins; nil for none.
        package let domains: ContentDomains?
        /// DER of each known SubjectPublicKeyInfo.
        package let publicKeys: [[UInt8]]
        /// Messages about omitted data, and about tasks for people.
        package let notes: [String]
        /// The files of its repository, by paths below `repo/APP/`; empty if it has none.
        package let repository: [String: [UInt8]]

        package init(
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

        /// The hosts that can be dialed. Clients of each host that a pattern covers know the pattern's pins.
        package var dialed: [CatalogHost] {
            hosts.compactMap { host in try? CatalogHost(name: host.name, port: host.port) }
        }

        private static func notes(on hosts: [ContentHost]) -> [String] {
            hosts.filter { (try? CatalogHost(name: $0.name, port: $0.port)) == nil }.map { host in
                "\(host.name) covers several hosts: add those that apps dial with host add, so that they can be seen"
            }
        }
    }

    /// The source, for the audit: `mobile-utility-server`, `trust-server`, `repository`, `list` or `pins`.
    package let source: String
    /// The apps, sorted by name.
    package let apps: [App]

    package init(_ source: String, _ apps: [App]) throws(ServerError) {
        guard !apps.isEmpty else {
            throw ServerError(
                .notFound, of: source, expected: "an app at least", found: "none",
                remedy: "Name what the other server has.")
        }
        self.source = source
        self.apps = apps.sorted { "\($0.name)".utf8.lexicographicallyPrecedes("\($1.name)".utf8) }
    }
}
