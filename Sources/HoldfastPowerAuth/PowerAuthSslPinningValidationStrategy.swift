#if PowerAuth && canImport(PowerAuth2) && canImport(Security)
public import Foundation
public import Holdfast
public import PowerAuth2

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Has PowerAuth's own servers judged by a `CertStore`.
///
/// ```swift
/// client.sslValidationStrategy = certStore.powerAuthSslValidationStrategy()
/// ```
/// A server that the store trusts is left to the default handling, every other is cancelled.
public final class PowerAuthSslPinningValidationStrategy: NSObject, PowerAuthClientSslValidationStrategy {
    /// The store that judges.
    public let certStore: CertStore

    /// Makes a strategy for a store.
    public init(certStore: CertStore) {
        self.certStore = certStore
    }

    /// Answers a challenge; it returns before the answer is known.
    public func validateSsl(
        for session: URLSession, challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        certStore.validate(challenge: challenge) {
            completionHandler($0 == .trusted ? .performDefaultHandling : .cancelAuthenticationChallenge, nil)
        }
    }
}

extension CertStore {
    /// A store that verifies with PowerAuth's cryptography and keeps its document in PowerAuth's keychain.
    /// - Parameter configuration: what the store is to do.
    public static func powerAuthCertStore(configuration: CertStoreConfiguration) -> CertStore {
        CertStore(
            configuration: configuration, cryptoProvider: PowerAuthCryptoProvider(),
            secureDataStore: PowerAuthSecureDataStore())
    }

    /// A strategy that has PowerAuth's own servers judged by this store; a new object each time.
    public func powerAuthSslValidationStrategy() -> PowerAuthSslPinningValidationStrategy {
        PowerAuthSslPinningValidationStrategy(certStore: self)
    }
}
#endif
