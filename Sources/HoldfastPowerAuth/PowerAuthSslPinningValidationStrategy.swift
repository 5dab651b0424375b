#if PowerAuth && canImport(PowerAuth2) && canImport(Security)
public import Foundation
public import Holdfast
import HoldfastCompatibility
public import PowerAuth2

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Lets a `CertStore` evaluate PowerAuth's own servers.
///
/// ```swift
/// client.sslValidationStrategy = certStore.powerAuthSslValidationStrategy()
/// ```
/// If the store trusts a server, the system's default handling goes on; otherwise the challenge is canceled.
public final class PowerAuthSslPinningValidationStrategy: NSObject, PowerAuthClientSslValidationStrategy {
    /// The store that evaluates servers.
    public let certStore: CertStore

    /// Makes a strategy for a store.
    public init(certStore: CertStore) { self.certStore = certStore }

    /// Answers a challenge. It returns before the answer is known, and calls the handler then.
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
    /// Makes a store that verifies with PowerAuth's cryptography and keeps its document in PowerAuth's keychain.
    /// - Parameter configuration: how the store works.
    public static func powerAuthCertStore(configuration: CertStoreConfiguration) -> CertStore {
        CertStore(
            configuration: configuration, cryptoProvider: PowerAuthCryptoProvider(),
            secureDataStore: PowerAuthSecureDataStore())
    }

    /// Makes a strategy with which this store evaluates PowerAuth's own servers; a new object each time.
    public func powerAuthSslValidationStrategy() -> PowerAuthSslPinningValidationStrategy {
        PowerAuthSslPinningValidationStrategy(certStore: self)
    }
}
#endif
