public import Foundation
public import Holdfast

extension PublicationOutlook {
    /// A document that clients may hold: a published one, an earlier one, or one in builds.
    public struct Document: Sendable, Hashable, Codable {
        /// The clients that hold it, with the configuration with which they verify it.
        public enum Kind: Sendable, Hashable, Codable {
            /// An unsigned pin file in builds.
            case shippedPins
            /// A `CertStore` with a static list.
            /// - Parameter publicKey: the signer's public key: Base64 of its X9.63 form.
            case staticList(publicKey: String)
            /// A `CertStore` with challenges.
            /// - Parameters:
            ///   - publicKey: the signer's public key: Base64 of its X9.63 form.
            ///   - challenge: a challenge, as a client sends it; empty, with an empty signature, if the data is the
            ///     signed list whose entries the server's responses contain.
            ///   - signature: the signature of the response to that challenge, from the server's header.
            case challengedList(publicKey: String, challenge: String, signature: String)
            /// A `TrustServerStore`. Clients that pin certificates and clients that pin keys are evaluated separately.
            /// - Parameters:
            ///   - signer: the signer's certificate, with which clients are configured: DER or PEM.
            ///   - customer: the required customer of the document.
            ///   - pinning: the kinds of clients; by default both.
            case trustServer(signer: Data, customer: String, pinning: [PinnedSubject] = PinnedSubject.allCases)
            /// A `PinRepository`; the data is that of `bundle.json`.
            /// - Parameters:
            ///   - root: the root metadata that the app shipped with. List the document once for each root in the
            ///     field: the oldest root decides if all clients can update.
            ///   - shippedGrace: for a bundle in builds, how long after its `notAfter` they enforce its pins. Its
            ///     document is published and replaced at the same time, because no server serves it to them.
            case repository(root: Data, shippedGrace: Duration = .zero)
        }

        /// The subject that a trust server's clients pin.
        public enum PinnedSubject: String, Sendable, Hashable, Codable, CaseIterable {
            /// Certificates.
            case certificate
            /// Keys, which survive a renewal.
            case publicKey
        }

        /// The name of the document, such as a file's name; for messages only.
        public var name: String
        /// The clients that hold it.
        public var kind: Kind
        /// The document itself, as it was published.
        public var octets: Data
        /// When it was published: no client held it before.
        public var published: Date
        /// When another document replaced it; nil while it is published, and for a pin file that exists only in builds.
        /// A bundle that exists only in builds is replaced at the time of its publication.
        public var replaced: Date?
        /// The names of the builds that contain it.
        public var appVersions: [String]
        /// The hosts that its clients dial, as patterns; nil for all hosts of the outlook. If nil, replaced documents
        /// and those that exist only in builds are evaluated only for the hosts that they name, if another document
        /// applies to the others.
        public var hosts: [String]?
        /// If a machine re-signs it: the maximum time between two rounds; nil if people sign it.
        ///
        /// While its last round is not older, the document is evaluated as if it were always renewed in time with the
        /// same pins. The ends of a trust server's document, or of a repository's timestamp and snapshot, then have no
        /// effect. If the last round is older, the rounds have stopped, and these ends have effect. For a trust
        /// server's document, nil means ten minutes: its clients refuse older ones.
        public var renewalInterval: Duration?
        /// When a repository's timestamp was last signed; nil for ``published``. A trust server's document states it
        /// itself.
        public var lastRenewal: Date?

        /// Describes a document.
        /// - Parameters:
        ///   - name: the name of the document.
        ///   - kind: the clients that hold it.
        ///   - octets: the document itself.
        ///   - published: when it was published.
        ///   - replaced: when another document replaced it; nil while it is published.
        ///   - appVersions: the builds that contain it.
        ///   - hosts: the hosts that its clients dial, as patterns; nil for all.
        ///   - renewalInterval: how often a machine re-signs it; nil if people sign it.
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
