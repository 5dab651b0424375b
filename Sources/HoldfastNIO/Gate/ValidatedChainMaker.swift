import Holdfast
import NIOSSL

/// Turns validated paths into NIOSSL's certificates; those that the peer did not present, usually the anchors, are
/// cached, because parsing one with BoringSSL is slow.
final class ValidatedChainMaker: Sendable {
    /// Maximum number of cached anchors; a client rarely meets more. A full cache is emptied.
    private static let capacity = 16

    private let known = Lock<[X509Certificate: NIOSSLCertificate]>([:])

    /// Nil when BoringSSL cannot read a certificate of the path.
    func chain(
        of path: ValidatedPath, presented: [NIOSSLCertificate], as chain: PresentedChain
    ) -> ValidatedCertificateChain? {
        var certificates: [NIOSSLCertificate] = []
        for certificate in path.certificates {
            let der = Array(certificate.der)
            if let place = chain.certificates.firstIndex(of: der), place < presented.count {
                certificates.append(presented[place])
            } else if let known = remembered(certificate, der: der) {
                certificates.append(known)
            } else {
                return nil
            }
        }
        return certificates.isEmpty ? nil : ValidatedCertificateChain(certificates)
    }

    private func remembered(_ certificate: X509Certificate, der: [UInt8]) -> NIOSSLCertificate? {
        if let one = known.withLock({ $0[certificate] }) { return one }
        guard let made = try? NIOSSLCertificate(bytes: der, format: .der) else { return nil }
        known.withLock { known in
            if known.count >= Self.capacity { _ = known.popFirst() }
            known[certificate] = made
        }
        return made
    }
}
