import Dispatch
import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

/// The samples as WultraSSLPinning publishes them, on a provider that serves what a signer made.
@Suite("WultraSSLPinning's published samples", .quietLog, .timeLimit(.minutes(15)))
struct WultraStoreUsageTests {
    private struct NoServer: RemoteDataProvider {
        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
            throw RemoteDataError(status: 404)
        }
    }

    private let serviceUrl = URL(string: "https://localhost/pins.json")
    private let publicKey = "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="

    private func makeStore(_ configuration: CertStoreConfiguration) -> CertStore {
        CertStore(
            configuration: configuration, cryptoProvider: SwiftCryptoProvider(), secureDataStore: InMemoryDataStore(),
            remoteDataProvider: NoServer())
    }

    @Test("A configuration takes every published property, and both spellings of the threshold")
    func configuration() throws {
        let fallbackData = Data(
            #"{"name":"github.com","fingerprint":"MRFQDEpmASza4zPsP8ocnd5FyVREDn7kE3Fr/zZjwHQ=","expires":1591185600,"signature":""}"#
                .utf8)
        let configuration = CertStoreConfiguration(
            serviceUrl: try #require(serviceUrl),
            publicKey: publicKey,
            useChallenge: true,
            expectedCommonNames: ["github.com"],
            identifier: "test",
            fallbackCertificateData: fallbackData,
            fallbackCertificatesData: nil,
            periodicUpdateInterval: 86_400,
            expirationUpdateTreshold: 7 * 86_400,
            sslValidationStrategy: .default
        )
        #expect(configuration.expirationUpdateTreshold == configuration.expirationUpdateThreshold)
        #expect(makeStore(configuration).configurationError == nil)
        var changed = configuration
        changed.expirationUpdateTreshold = 86_401
        #expect(changed.expirationUpdateTreshold == 86_401 && changed.expirationUpdateThreshold == 86_401)
        #expect(changed.schedule.expirationThreshold == .seconds(86_401))
        #expect(changed.periodicUpdateInterval == configuration.periodicUpdateInterval)
        let short = CertStoreConfiguration(serviceUrl: try #require(serviceUrl), publicKey: publicKey)
        #expect(short.periodicUpdateInterval == 7 * 86_400 && short.expirationUpdateTreshold == 14 * 86_400)
        #expect(!short.useChallenge && short.instanceIdentifier == "default")
    }

    @Test("The published update with a trailing closure")
    func update() async throws {
        let certStore = makeStore(CertStoreConfiguration(serviceUrl: try #require(serviceUrl), publicKey: publicKey))
        let answer = FirstAnswer<CertStore.UpdateResult>()
        certStore.update(mode: .default, completionQueue: .global()) { (result, error) in
            switch result {
            case .ok:
                break
            case .storeIsEmpty:
                break
            case .networkError:
                #expect(error != nil)
            case .invalidData, .invalidSignature:
                break
            }
            answer.settle(result)
        }
        #expect(await answer.value == .networkError)
    }

    @Test("The published update on the main queue, which is where it completes unless told otherwise")
    func updateOnTheMainQueue() async throws {
        let certStore = makeStore(CertStoreConfiguration(serviceUrl: try #require(serviceUrl), publicKey: publicKey))
        let (key, isOnMainQueue) = (DispatchSpecificKey<Bool>(), FirstAnswer<Bool>())
        DispatchQueue.main.setSpecific(key: key, value: true)
        // Published:
        certStore.update { (result, error) in
            if result == .ok {
                // everything's OK,
                // No action is required, or a silent update was started
            } else if result == .storeIsEmpty {
                // Update succeeded, but it looks like the remote list contains
                // already expired fingerprints.
            } else {
                // Other error. See `CertStore.UpdateResult` for details.
                // The "error" variable is set in case of a network error.
                #expect(result == .networkError && error != nil)
            }
            // End.
            isOnMainQueue.settle(DispatchQueue.getSpecific(key: key) == true)
        }
        #expect(await isOnMainQueue.value)
    }

    @Test("A shared store is the application's own, as published")
    func shared() {
        #expect(CertStore.shared.configuration.serviceUrl.host() == "pins.example.com")
        #expect(CertStore.shared.instanceIdentifier == "default")
        #expect(CertStore.shared.validate(commonName: "www.example.com", fingerprint: Data()) == .empty)
    }

    @Test("The newest generation's names: its defaults, a depth, and the level of what is printed")
    func newestGeneration() throws {
        // Published:
        WultraDebug.verboseLevel = .all
        // End.
        let certStore = CertStore(
            configuration: CertStoreConfiguration(serviceUrl: try #require(serviceUrl), publicKey: publicKey),
            cryptoProvider: CryptoKitCryptoProvider(),
            secureDataStore: InMemoryDataStore())
        #expect(certStore.instanceIdentifier == "default")
        let fingerprint = Data(repeating: 0, count: 32)
        #expect(certStore.validate(commonName: "a", fingerprint: fingerprint, depth: 1) == .empty)
        #expect(certStore.validate(commonName: "a", certificateData: Data([0x30, 0x00]), depth: 1) == .empty)
        #expect(WultraDebug.verboseLevel.rawValue == 3)
    }

    @Test("The published validations")
    func validate() throws {
        let certStore = makeStore(CertStoreConfiguration(serviceUrl: try #require(serviceUrl), publicKey: publicKey))
        let commonName = "github.com"
        let fingerprint = Data(repeating: 0, count: 32)
        let certDer = Data([0x30, 0x00])
        let result = certStore.validate(commonName: commonName, fingerprint: fingerprint)
        #expect(result == .empty)
        let validationResult: CertStore.ValidationResult =
            certStore.validate(commonName: commonName, certificateData: certDer)
        switch validationResult {
        case .trusted:
            Issue.record("trusted")
        case .untrusted, .empty:
            break
        }
        certStore.reset()
    }

    @Test("The replaceable parts are protocols that an application implements")
    func replaceableParts() throws {
        struct MyDataStore: SecureDataStore {
            func save(data: Data, forKey key: String) -> Bool { true }
            func loadData(forKey key: String) -> Data? { nil }
            func removeData(forKey key: String) {}
        }
        final class MyKey: ECPublicKey {}
        struct MyCrypto: CryptoProvider {
            func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool { false }
            func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? { MyKey() }
            func hashSha256(data: Data) -> Data { data }
            func getRandomData(length: Int) -> Data { Data(count: length) }
        }
        let certStore = CertStore(
            configuration: CertStoreConfiguration(serviceUrl: try #require(serviceUrl), publicKey: publicKey),
            cryptoProvider: MyCrypto(),
            secureDataStore: MyDataStore()
        )
        #expect(certStore.validate(commonName: "a", fingerprint: Data(repeating: 0, count: 32)) == .empty)
    }
}

extension CertStore {
    // Published, with another URL and key:
    static var shared: CertStore {
        let config = CertStoreConfiguration(
            serviceUrl: URL(string: "https://pins.example.com/pins.json") ?? URL(filePath: "/"),
            publicKey: "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="
        )
        return CertStore(configuration: config, secureDataStore: InMemoryDataStore())
    }
    // End.
}
