import Holdfast

/// A chain of certificates as a server shows it, or is about to.
public struct HostChain: Sendable, Hashable {
    /// DER of the certificates, the server's own first.
    public let certificates: [[UInt8]]

    private static let limit = 16

    /// Reads a chain.
    /// - Throws: ``ServerError`` `invalidValue` for none or more than 16, and for what is no certificate.
    public init(_ certificates: [[UInt8]]) throws(ServerError) {
        guard (1...Self.limit).contains(certificates.count),
            certificates.allSatisfy({ (try? X509Certificate(der: $0)) != nil })
        else {
            throw ServerError(
                .invalidValue, of: "chain", expected: "1 to \(Self.limit) certificates, the server's own first",
                found: "\(certificates.count), or no certificate")
        }
        self.certificates = certificates
    }

    /// The digest of ``octets``.
    public var digest: Digest { Digest(of: octets) }

    /// The DER of all, one after another.
    var octets: [UInt8] { Array(certificates.joined()) }

    /// Reads certificates that stand one after another.
    init(octets: [UInt8]) throws(ServerError) {
        var certificates: [[UInt8]] = []
        var rest = octets[...]
        while !rest.isEmpty, certificates.count <= Self.limit {
            guard let length = Self.length(rest), length <= rest.count else { break }
            certificates.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        guard rest.isEmpty else {
            throw ServerError(.damagedDatabase, of: "chain", expected: "certificates", found: "other octets")
        }
        try self.init(certificates)
    }

    /// The length of a SEQUENCE with its header; nil for anything else.
    private static func length(_ octets: ArraySlice<UInt8>) -> Int? {
        let head = Array(octets.prefix(5))
        guard head.count > 2, head[0] == 0x30 else { return nil }
        guard head[1] >= 0x80 else { return Int(head[1]) + 2 }
        let count = Int(head[1] & 0x7F)
        guard (1...3).contains(count), head.count >= 2 + count else { return nil }
        return head[2..<(2 + count)].reduce(0) { $0 << 8 | Int($1) } + 2 + count
    }

    /// The SHA-256 of the server's own certificate.
    var fingerprint: Digest { Digest(of: certificates[0]) }

    /// The server's own certificate.
    var leaf: X509Certificate? { try? X509Certificate(der: certificates[0]) }
}

extension HostChain {
    /// DER of the SubjectPublicKeyInfo of each certificate.
    var publicKeys: [[UInt8]] {
        certificates.compactMap { try? X509Certificate(der: $0) }.map { Array($0.subjectPublicKeyInfo) }
    }
}
