public import Foundation
public import Holdfast

extension PublicationOutlook {
    /// A document that clients may hold: one that is published, one that was, or one that builds carry.
    public struct Document: Sendable, Hashable, Codable {
        /// Which clients hold it, with what they are configured with to verify it.
        public enum Kind: Sendable, Hashable, Codable {
            /// A pin file that builds carry, unsigned.
            case shippedPins
            /// A `CertStore` with a static list.
            /// - Parameter publicKey: the signer's public key: Base64 of its X9.63 form.
            case staticList(publicKey: String)
            /// A `CertStore` with challenges.
            /// - Parameters:
            ///   - publicKey: the signer's public key: Base64 of its X9.63 form.
            ///   - challenge: a challenge, as a client sends it.
            ///   - signature: the signature of the response for that challenge, as the server's header has it.
            case challengedList(publicKey: String, challenge: String, signature: String)
            /// A `TrustServerStore`. Clients that pin certificates and clients that pin keys are judged apart.
            /// - Parameters:
            ///   - signer: the signer's certificate, with which clients are configured: DER or PEM.
            ///   - customer: whose document it must be.
            ///   - pinning: which clients there are; by default both.
            case trustServer(signer: Data, customer: String, pinning: [PinnedSubject] = PinnedSubject.allCases)
            /// A `PinRepository`; the octets are those of `bundle.json`.
            /// - Parameters:
            ///   - root: the root metadata that the app shipped with. List the document once for each root in the field:
            ///     the oldest decides whether everybody can follow.
            ///   - shippedGrace: for a bundle that builds carry, how long after its `notAfter` they enforce its
            ///     pins. Its document is published and replaced at the same time, since no server serves it to them.
            case repository(root: Data, shippedGrace: Duration = .zero)
        }

        /// What a trust server's clients pin.
        public enum PinnedSubject: String, Sendable, Hashable, Codable, CaseIterable {
            /// Certificates.
            case certificate
            /// Keys, which survive a renewal.
            case publicKey
        }

        /// What people call it, such as a file's name; for words only.
        public var name: String
        /// Which clients hold it.
        public var kind: Kind
        /// The document itself, as it was published.
        public var octets: Data
        /// When it was published: no client held it before.
        public var published: Date
        /// When another took its place; nil while it is published, and for a pin file that only builds carry. A bundle that
        /// was replaced when it was published is one that only builds carry, too.
        public var replaced: Date?
        /// The names of the builds that carry it.
        public var appVersions: [String]
        /// The hosts that its clients dial, as patterns; nil for all hosts of the outlook. With nil, what was replaced and
        /// what only builds carry is judged for hosts that it names, as long as another document decides about the others.
        public var hosts: [String]?
        /// If a machine signs it anew: the longest time between two rounds; nil if people make it.
        ///
        /// While its last round is no older, the document is judged as renewed in time with the same pins, and the ends of
        /// a trust server's document, or of a repository's timestamp and snapshot, end nothing. Otherwise the rounds have
        /// stopped, and they do. For a trust server's document nil stands for ten minutes: its clients take none that is
        /// older.
        public var renewalInterval: Duration?
        /// When a repository's timestamp was last signed; nil for ``published``. A trust server's document says it itself.
        public var lastRenewal: Date?

        /// Describes a document.
        /// - Parameters:
        ///   - name: what people call it.
        ///   - kind: which clients hold it.
        ///   - octets: the document itself.
        ///   - published: when it was published.
        ///   - replaced: when another took its place; nil while it is published.
        ///   - appVersions: the builds that carry it.
        ///   - hosts: the hosts that its clients dial, as patterns; nil for all.
        ///   - renewalInterval: how often a machine signs it anew; nil if people make it.
        ///   - lastRenewal: when its timestamp was last signed; nil for `published`.
        public init(
            _ name: String, kind: Kind, octets: Data, published: Date, replaced: Date? = nil,
            appVersions: [String] = [], hosts: [String]? = nil, renewalInterval: Duration? = nil,
            lastRenewal: Date? = nil
        ) {
            self.name = name
            self.kind = kind
            self.octets = octets
            self.published = published
            self.replaced = replaced
            self.appVersions = appVersions
            self.hosts = hosts
            self.renewalInterval = renewalInterval
            self.lastRenewal = lastRenewal
        }
    }

    /// A kind of client, a set that may grow.
    public typealias Client = OpenCode<Document>
}

extension PublicationOutlook.Client {
    /// An app with the pins of its build.
    public static var shippedPins: Self { Self() }
    /// A `CertStore` with a static list.
    public static var staticList: Self { Self() }
    /// A `CertStore` with challenges.
    public static var challengedList: Self { Self() }
    /// A `TrustServerStore` whose policy pins certificates.
    public static var trustServerCertificates: Self { Self() }
    /// A `TrustServerStore` whose policy pins keys.
    public static var trustServerKeys: Self { Self() }
    /// A `PinRepository`.
    public static var repository: Self { Self() }
}
