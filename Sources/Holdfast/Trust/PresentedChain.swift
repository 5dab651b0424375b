import struct Foundation.Date

/// The certificates that a peer presented in a handshake: DER, leaf first, otherwise in any order and of any content.
///
/// Nothing here has been verified, unlike in a ``ValidatedPath``. The handshake proves only that the peer holds the
/// leaf's key.
public struct PresentedChain: Sendable, Hashable {
    /// DER (X.690) of each certificate, leaf first, exactly as received.
    public let certificates: [[UInt8]]

    /// Keeps the given certificates as they are and parses nothing.
    /// - Parameter certificates: DER, leaf first.
    public init(_ certificates: [[UInt8]]) { self.certificates = certificates }

    /// DER of the leaf, whose key the handshake proves; nil for an empty chain.
    public var leaf: [UInt8]? { certificates.first }

    /// The earliest end among the certificates that are still valid at a time. A policy that trusts an expired
    /// certificate ignores its validity.
    func earliestEnd(after time: Date) -> Date {
        X509Certificate.earliestEnd(of: certificates.compactMap { try? X509Certificate(der: $0) }, after: time)
    }
}

extension PresentedChain: CustomStringConvertible {
    /// Certificates that a description shows: more than any legitimate chain has.
    private static let maximumShown = 16

    /// One line per certificate: the `sha256/…` of its key and its subject, or why it cannot be read; the last line
    /// states how many more there are beyond the first sixteen.
    public var description: String {
        let lines = certificates.prefix(Self.maximumShown).map { der in
            do throws(CertificateError) {
                let certificate = try X509Certificate(der: der)
                return "\(certificate.publicKeyPin): \(certificate.subject)"
            } catch {
                return "unreadable (\(der.count) bytes): \(error.found)"
            }
        }
        let more = certificates.count - lines.count
        return (more > 0 ? lines + ["and \(more) more"] : lines).joined(separator: "\n")
    }
}
