import Foundation
import FoundationNetworking
import HoldfastCompatibility
import HoldfastPowerAuth
import HoldfastTesting
import PowerAuth2
import Security
import Testing

// The samples as WultraSSLPinning publishes them, with another URL and key. What they end with in `fatalError` is nil here.

extension CertStore {
    /// Singleton for `CertStore`
    fileprivate static var shared: CertStore? {
        guard let serviceUrl = URL(string: "https://pins.example.com/pins.json") else { return nil }
        // Published:
        let config = CertStoreConfiguration(
            serviceUrl: serviceUrl,
            publicKey: "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="
        )
        return .powerAuthCertStore(configuration: config)
        // End.
    }
}

extension PowerAuthSDK {
    /// Singleton for `PowerAuthSDK`
    fileprivate static var shared: PowerAuthSDK? {
        // Published:
        let config = PowerAuthConfiguration()
        config.baseEndpointUrl = "https://powerauth.example.com"

        // Configure the keychain
        let keychain = PowerAuthKeychainConfiguration()
        keychain.keychainAttribute_AccessGroup = "group.example"

        // Configure PowerAuthClient and assign validation strategy...
        let client = PowerAuthClientConfiguration()
        client.sslValidationStrategy = CertStore.shared?.powerAuthSslValidationStrategy()

        // And construct the SDK instance
        guard
            let powerAuth = PowerAuthSDK(
                configuration: config, keychainConfiguration: keychain, clientConfiguration: client)
        else { return nil }
        return powerAuth
        // End.
    }

    /// The same as before PowerAuth2 1.6.
    @available(*, deprecated, message: "as published")
    fileprivate static var olderShared: PowerAuthSDK? {
        // Published:
        let config = PowerAuthConfiguration()
        config.baseEndpointUrl = "https://powerauth.example.com"
        let keychain = PA2KeychainConfiguration()
        // Configure the keychain
        let client = PA2ClientConfiguration()
        client.sslValidationStrategy = CertStore.shared?.powerAuthSslValidationStrategy()
        // Configure PA2Client...
        // And construct the SDK instance
        guard
            let powerAuth = PowerAuthSDK(
                configuration: config, keychainConfiguration: keychain, clientConfiguration: client)
        else { return nil }
        return powerAuth
        // End.
    }
}

@Suite("WultraSSLPinning's samples with PowerAuth")
struct PowerAuthSampleTests {
    @Test("A shared PowerAuthSDK has its servers judged by the shared store, by the names of before 1.6 as well")
    @available(*, deprecated, message: "as published")
    func shared() async throws {
        let fixture = try AppleFixture()
        for sdk in [PowerAuthSDK.shared, PowerAuthSDK.olderShared] {
            let strategy = try #require(sdk?.clientConfiguration?.sslValidationStrategy)
            let session = URLSession(configuration: .ephemeral)
            // The store is empty: no server is trusted yet.
            let given = await answer {
                strategy.validateSsl(
                    for: session, challenge: fixture.challenge(fixture.secTrust()), completionHandler: $0)
            }
            #expect(given == .cancelled)
        }
    }
}
