import Foundation
package import Holdfast
package import ServerFoundation

/// A chain of certificates that a server presents or will present.
package struct CertificateChain: Sendable, Hashable {
    /// DER of the certificates, the server's own first.
    package let certificates: [[UInt8]]

    private static let limit = 16
    /// Maximum size of all certificates of a chain, in bytes. Typical chains have 3,000 to 6,000; four certificates
    /// with ML-DSA-87, whose keys and signatures are the largest planned for TLS, have 30,000.
    package static let maximumBytes = 32 << 10

    /// Reads a chain.
    /// - Throws: ``ServerError`` `invalidValue` for none or more than 16, for more than ``maximumBytes``, and for
    ///   invalid certificates.
    package init(_ certificates: [[UInt8]]) throws(ServerError) {
        let size = certificates.reduce(0) { $0 + $1.count }
        guard size <= Self.maximumBytes else {
            throw ServerError(
                .invalidValue, of: "chain", expected: "at most \(Self.maximumBytes) bytes of certificates",
                found: "\(size)", remedy: "Leave out the certificates that no client needs.")
        }
        try self.init(stored: certificates)
    }

    /// Reads a stored chain without the size limit, which may have been another when it was stored.
    private init(stored certificates: [[UInt8]]) throws(ServerError) {
        guard (1...Self.limit).contains(certificates.count),
            certificates.allSatisfy({ (try? X509Certificate(der: $0)) != nil })
        else {
            throw ServerError(
                .invalidValue, of: "chain", expected: "1 to \(Self.limit) certificates, the server's own first",
                found: "\(certificates.count), or no certificate")
        }
        self.certificates = certificates
    }

    /// The digest of ``bytes``.
    package var digest: Digest { Digest(of: bytes) }

    /// The concatenated DER of all.
    package var bytes: [UInt8] { Array(certificates.joined()) }

    /// Reads concatenated certificates.
    package init(bytes: [UInt8]) throws(ServerError) {
        var certificates: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty, certificates.count <= Self.limit {
            guard let length = Self.length(rest), length <= rest.count else { break }
            certificates.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        guard rest.isEmpty else {
            throw ServerError(.damagedDatabase, of: "chain", expected: "certificates", found: "other bytes")
        }
        try self.init(stored: certificates)
    }

    /// The length of a SEQUENCE with its header; nil for anything else.
    private static func length(_ bytes: ArraySlice<UInt8>) -> Int? {
        let head = Array(bytes.prefix(5))
        guard head.count > 2, head[0] == 0x30 else { return nil }
        guard head[1] >= 0x80 else { return Int(head[1]) + 2 }
        let count = Int(head[1] & 0x7F)
        guard (1...3).contains(count), head.count >= 2 + count else { return nil }
        return head[2..<(2 + count)].reduce(0) { $0 << 8 | Int($1) } + 2 + count
    }

    /// The SHA-256 of the leaf certificate.
    package var fingerprint: Digest { Digest(of: certificates[0]) }

    /// The leaf certificate.
    package var leaf: X509Certificate? { try? X509Certificate(der: certificates[0]) }

    /// The SHA-256 of its SubjectPublicKeyInfo.
    package var leafKey: Digest? { leaf.map { Digest(of: $0.subjectPublicKeyInfo) } }

    /// The digests of the leaf certificate and of its key.
    package var digestsOfLeaf: [Digest] { [fingerprint] + (leafKey.map { [$0] } ?? []) }

    /// The last second of the leaf certificate's validity, since 1970.
    package var end: Int64? { leaf.map { Int64($0.notAfter.timeIntervalSince1970) } }
}

extension CertificateChain {
    /// DER of the SubjectPublicKeyInfo of each certificate.
    package var publicKeys: [[UInt8]] {
        certificates.compactMap { try? X509Certificate(der: $0) }.map { Array($0.subjectPublicKeyInfo) }
    }
}
