import Foundation
import FoundationNetworking
import HoldfastCompatibility
import HoldfastPowerAuth
import HoldfastTesting
import PowerAuth2
import Security
import Testing

@testable import Holdfast

@Suite("Stores on Apple's platforms")
struct StoreTests {
    private func store(_ fixture: AppleFixture, pinning certificate: TestCertificate?) throws -> CertStore {
        var fallback: Data?
        if let certificate {
            let fingerprint = Data(Pin.certificate(certificate.der).digest).base64EncodedString()
            let expires = Int64(Date.now.timeIntervalSince1970) + 86_400
            fallback = Data(
                #"{"name":"\#(fixture.host)","fingerprint":"\#(fingerprint)","expires":\#(expires),"signature":""}"#
                    .utf8)
        }
        let configuration = CertStoreConfiguration(
            serviceUrl: try #require(URL(string: "https://localhost/pins.json")),
            publicKey: "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE=",
            identifier: fixture.host, fallbackCertificateData: fallback)
        return .powerAuthCertStore(configuration: configuration)
    }

    @Test("A challenge is judged by the pins of the host that was dialed")
    func challenges() async throws {
        let fixture = try AppleFixture()
        let pinned = try store(fixture, pinning: fixture.leaf)
        #expect(pinned.configurationError == nil)
        let good = fixture.challenge(fixture.secTrust())
        #expect(pinned.validate(challenge: good) == .trusted)
        #expect(await pinned.validation(of: good) == .trusted)
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        #expect(pinned.validate(challenge: fixture.challenge(fixture.secTrust(impostor.chain))) == .untrusted)
        #expect(pinned.validate(challenge: fixture.challenge(fixture.secTrust(systemAnchors: []))) == .untrusted)
        #expect(pinned.validate(challenge: fixture.challenge(nil)) == .untrusted)
        #expect(
            pinned.validate(challenge: fixture.challenge(nil, method: NSURLAuthenticationMethodHTTPBasic)) == .untrusted
        )
        let other = fixture.challenge(fixture.secTrust(host: "other.example"), host: "other.example")
        #expect(pinned.validate(challenge: other) == .empty)
        #expect(try store(fixture, pinning: nil).validate(challenge: good) == .empty)
    }

    @Test("PowerAuth's strategy leaves a trusted server to the default handling and cancels every other")
    func strategy() async throws {
        let fixture = try AppleFixture()
        let session = URLSession(configuration: .ephemeral)
        func ask(_ store: CertStore, _ trust: SecTrust?) async -> Answer {
            let strategy: any PowerAuthClientSslValidationStrategy = store.powerAuthSslValidationStrategy()
            return await answer {
                strategy.validateSsl(for: session, challenge: fixture.challenge(trust), completionHandler: $0)
            }
        }
        let pinned = try store(fixture, pinning: fixture.leaf)
        #expect(await ask(pinned, fixture.secTrust()) == .byDefault)
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        #expect(await ask(pinned, fixture.secTrust(impostor.chain)) == .cancelled)
        #expect(await ask(pinned, nil) == .cancelled)
        #expect(await ask(try store(fixture, pinning: nil), fixture.secTrust()) == .cancelled)
    }

    @Test("PowerAuth's cryptography verifies a published signature, and no other")
    func cryptography() throws {
        let provider = PowerAuthCryptoProvider()
        // The second vector of the published format.
        let point = try #require(
            Data(
                base64Encoded:
                    "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="))
        let signature = try #require(
            Data(
                base64Encoded:
                    "MEYCIQDoeBkao6W8wOqLGcicPzjQdzcA2y6ZXMdqQ+rgw7dSCQIhAN+CaYIizKRYQFc8OfQ84OEGiBjjfVqPVrnKFfUuVebr"))
        let signed = Data("github.com&MRFQDEpmASza4zPsP8ocnd5FyVREDn7kE3Fr/zZjwHQ=&1591185600000".utf8)
        let key = try #require(provider.importECPublicKey(publicKey: point))
        #expect(
            provider.ecdsaValidateSignatures(
                signedData: SignedData(data: signed, signature: signature), publicKey: key))
        #expect(
            !provider.ecdsaValidateSignatures(
                signedData: SignedData(data: signed + [0], signature: signature), publicKey: key))
        #expect(provider.importECPublicKey(publicKey: point.dropLast()) == nil)
        #expect(provider.hashSha256(data: signed) == SwiftCryptoProvider().hashSha256(data: signed))
        #expect(provider.getRandomData(length: 16).count == 16)
    }

    @Test("Two applications of a user keep their files apart where the system gives both the same folder")
    func folders() throws {
        let shared = URL(filePath: "/shared", directoryHint: .isDirectory)
        #expect(
            ApplicationFolder.own(in: shared, identifier: "example.one", process: "x").path == "/shared/example.one")
        #expect(ApplicationFolder.own(in: shared, identifier: nil, process: "tool").path == "/shared/tool")
        #expect(ApplicationFolder.own(in: shared, identifier: "", process: "tool").path == "/shared/tool")
        let own = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        #expect(FileDataStore.defaultFolder.path.hasSuffix("/shared/\(own)/Holdfast"))
        #expect(ISPCertificatePinning.defaultFile.path.hasSuffix("/shared/\(own)/SSLPins.plist"))
    }

    @Test("Both keychain stores keep, replace and forget")
    func keychains() throws {
        let service = UUID().uuidString
        let stores: [any SecureDataStore] = [
            KeychainDataStore(service: service), PowerAuthSecureDataStore(keychainIdentifier: service),
        ]
        for store in stores {
            #expect(store.loadData(forKey: "a") == nil)
            #expect(store.save(data: Data([1]), forKey: "a"))
            #expect(store.save(data: Data([2]), forKey: "a"))
            #expect(store.save(data: Data([3]), forKey: "b"))
            #expect(store.loadData(forKey: "a") == Data([2]))
            store.removeData(forKey: "a")
            store.removeData(forKey: "a")
            #expect(store.loadData(forKey: "a") == nil)
            #expect(store.loadData(forKey: "b") == Data([3]))
        }
    }

    @Test("An access group keeps its items to itself, in both keychain stores and by every published spelling")
    func accessGroups() throws {
        let service = UUID().uuidString
        func expectApart(_ stores: [any SecureDataStore]) {
            for (number, store) in stores.enumerated() { #expect(store.save(data: Data([UInt8(number)]), forKey: "a")) }
            for (number, store) in stores.enumerated() {
                #expect(store.loadData(forKey: "a") == Data([UInt8(number)]))
            }
            stores[1].removeData(forKey: "a")
            #expect(stores.map { $0.loadData(forKey: "a") } == [Data([0]), nil, Data([2])])
        }
        expectApart(
            [nil, "one.example", "two.example"].map { KeychainDataStore(service: service, accessGroup: $0) })
        expectApart(
            [nil, "one.example", "two.example"].map {
                PowerAuthSecureDataStore(keychainIdentifier: service, accessGroup: $0)
            })
        let newest = KeychainSecureDataStore(keychainIdentifier: service, accessGroup: "one.example")
        #expect(newest.service == service && newest.accessGroup == "one.example")
        #expect(KeychainSecureDataStore().service == KeychainSecureDataStore.defaultKeychainIdentifier)
        let store = CertStore(
            configuration: CertStoreConfiguration(
                serviceUrl: try #require(URL(string: "https://localhost/pins.json")), publicKey: ""),
            cryptoProvider: CryptoKitCryptoProvider(), secureDataStore: newest,
            logger: RecordingLog().logger)
        #expect(store.configurationError != nil)
    }

    @Test("A keychain item stays on this device, also one that was there with another accessibility")
    func accessibility() throws {
        let service = UUID().uuidString
        let store = KeychainDataStore(service: service)
        try store.replace(Data([1]), forKey: "new")
        StandInKeychain.plant(service: service, account: "old", data: Data([0]))
        try store.replace(Data([1]), forKey: "old")
        for account in ["new", "old"] {
            #expect(
                StandInKeychain.accessibility(service: service, account: account)
                    == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
        }
    }

    @Test("A keychain that refuses is an error that names the status, and no empty store")
    func refusal() throws {
        let service = UUID().uuidString
        let store = KeychainDataStore(service: service)
        StandInKeychain.fail(service: service, with: -25308)
        #expect { try store.load(forKey: "a") } throws: { error in
            (error as? KeychainError).map { $0.code == .unreadable && $0.status == -25308 } == true
        }
        #expect { try store.replace(Data(), forKey: "a") } throws: { error in
            (error as? KeychainError).map { $0.found == "status -25308: User interaction is not allowed." } == true
        }
        #expect(!store.save(data: Data(), forKey: "a"))
    }

    @Test("Nor is PowerAuth's keychain an empty store while it refuses, as before the device is unlocked")
    func refusalOfPowerAuth() throws {
        let identifier = UUID().uuidString
        let plain: any SecureDataStore = PowerAuthSecureDataStore(keychainIdentifier: identifier)
        let store = try #require(plain as? any ReportingDataStore)
        try store.replace(Data([1]), forKey: "a")
        PowerAuthKeychain.fail(identifier: identifier, with: -25308)
        #expect { try store.load(forKey: "a") } throws: { error in
            (error as? KeychainError).map { $0.code == .unreadable && $0.status == -25308 } == true
        }
        #expect(throws: KeychainError.self) { try store.replace(Data([2]), forKey: "a") }
        #expect(!store.save(data: Data([2]), forKey: "a"))
        PowerAuthKeychain.fail(identifier: identifier, with: nil)
        #expect(try store.load(forKey: "a") == Data([1]))
        #expect(try store.load(forKey: "b") == nil)
    }
}
