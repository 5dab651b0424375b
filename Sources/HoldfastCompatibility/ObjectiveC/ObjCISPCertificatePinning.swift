#if canImport(ObjectiveC) && canImport(Security)
public import Foundation
public import Security

/// `ISPCertificatePinning` for Objective-C; see ``ISPCertificatePinning``.
@objc(ISPCertificatePinning) public final class ObjCISPCertificatePinning: NSObject {
    /// Stores the certificates (DER) of every domain, replacing all that were stored.
    /// - Returns: NO for nil, for a domain that is not a host name, for data that is not a certificate, and if the file
    ///   cannot be written.
    @objc(setupSSLPinsUsingDictionnary:) @discardableResult public static func setupSSLPins(
        usingDictionnary certificates: [String: [Data]]?
    ) -> Bool {
        ISPCertificatePinning.setupSSLPins(usingDictionnary: certificates)
    }

    /// Whether a trust validates for a domain and contains one of the certificates stored for exactly that domain.
    @objc(verifyPinnedCertificateForTrust:andDomain:) public static func verifyPinnedCertificate(
        forTrust trust: SecTrust?, andDomain domain: String?
    ) -> Bool {
        ISPCertificatePinning.verifyPinnedCertificate(forTrust: trust, andDomain: domain)
    }
}
#endif
