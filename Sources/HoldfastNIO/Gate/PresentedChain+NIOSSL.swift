import Holdfast
import NIOSSL

extension PresentedChain {
    /// The certificates that NIOSSL received, leaf first.
    ///
    /// A certificate without DER is kept as an empty element, which no reader accepts: a leaf is then rejected, and any
    /// other is skipped and reported.
    init(_ certificates: [NIOSSLCertificate], der: (NIOSSLCertificate) throws -> [UInt8] = { try $0.toDERBytes() }) {
        self.init(certificates.map { (try? der($0)) ?? [] })
    }
}
