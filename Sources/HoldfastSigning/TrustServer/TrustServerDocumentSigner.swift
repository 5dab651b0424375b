public import Foundation

/// A signer of trust-server documents: a ``TrustServerKey``, or an ``OutsideTrustServerKey`` in a token, a hardware
/// security module or a key service.
public protocol TrustServerDocumentSigner: Sendable {
    /// The DER of the certificate, with which clients are configured.
    var certificate: Data { get }

    /// Signs content (CMS SignedData, RFC 5652).
    /// - Parameters:
    ///   - content: any bytes.
    ///   - time: the signing time, in whole seconds.
    /// - Returns: the DER of a SignedData that contains the content and the certificate.
    /// - Throws: ``SigningError``.
    func sign(_ content: Data, at time: Date) throws(SigningError) -> Data
}

extension TrustServerKey: TrustServerDocumentSigner {}
