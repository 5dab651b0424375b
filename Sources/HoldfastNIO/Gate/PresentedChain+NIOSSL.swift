import Holdfast
import NIOSSL

extension PresentedChain {
    /// The certificates that NIOSSL received, leaf first.
    ///
    /// One that gives no DER keeps its place without content: no reader takes it for a certificate, so a leaf is
    /// rejected and any other is left out and named.
    init(
        _ certificates: [NIOSSLCertificate], der: (NIOSSLCertificate) throws -> [UInt8] = { try $0.toDERBytes() }
    ) {
        self.init(certificates.map { (try? der($0)) ?? [] })
    }
}
