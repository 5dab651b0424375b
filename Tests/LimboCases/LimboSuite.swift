public import Foundation

/// A file of conformance cases in the format of C2SP x509-limbo (version 1).
public struct LimboSuite: Decodable, Sendable {
    /// The version of the format.
    public let version: Int
    /// The cases in the order of the file.
    public let testcases: [LimboCase]

    /// Reads a file.
    /// - Throws: Foundation's reading and decoding errors.
    public init(contentsOf url: URL) throws {
        self = try JSONDecoder().decode(LimboSuite.self, from: Data(contentsOf: url))
    }
}

/// One case: certificates, a question, and the expected answer.
public struct LimboCase: Decodable, Sendable {
    /// Whether a path is expected to be found.
    public enum Result: String, Decodable, Sendable {
        /// A valid path.
        case success = "SUCCESS"
        /// No valid path.
        case failure = "FAILURE"
    }

    /// The purpose of the chain.
    public enum Kind: String, Decodable, Sendable {
        /// A server.
        case server = "SERVER"
        /// A client.
        case client = "CLIENT"
    }

    /// The name that the peer must have.
    public struct PeerName: Decodable, Sendable {
        /// `DNS`, `IP` or `RFC822`.
        public let kind: String
        /// The name as text.
        public let value: String
    }

    /// The case's name, for example `rfc5280::nc::excluded-dns-match`.
    public let id: String
    /// Marks such as `denial-of-service` or `has-crl`.
    public let features: [String]
    /// The subject of the case.
    public let description: String
    /// Server or client.
    public let validationKind: Kind
    /// PEM of the anchors.
    public let trustedCertificates: [String]
    /// PEM of the presented intermediates.
    public let untrustedIntermediates: [String]
    /// PEM of the leaf.
    public let peerCertificate: String
    /// The time of validation; nil means the day on which the file was made.
    public let validationTime: String?
    /// The expected answer.
    public let expectedResult: Result
    /// The server's name; nil where the case has none.
    public let expectedPeerName: PeerName?
    /// PEM of the revocation lists to check.
    public let revocationLists: [String]
    /// The most intermediates that a path may have; nil where the case does not say.
    public let maximumChainDepth: Int?

    private enum CodingKeys: String, CodingKey {
        case id, features, description
        case validationKind = "validation_kind"
        case trustedCertificates = "trusted_certs"
        case untrustedIntermediates = "untrusted_intermediates"
        case peerCertificate = "peer_certificate"
        case validationTime = "validation_time"
        case expectedResult = "expected_result"
        case expectedPeerName = "expected_peer_name"
        case revocationLists = "crls"
        case maximumChainDepth = "max_chain_depth"
    }
}
