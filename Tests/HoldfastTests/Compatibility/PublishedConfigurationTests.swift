import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// Each published property of a store's configuration decides something: a test here fails if one is ignored.
@Suite("A store's published configuration", .timeLimit(.minutes(10)))
struct PublishedConfigurationTests {
    /// A store that is configured with the published initializer.
    private func fixture(
        useChallenge: Bool = false,
        _ make: (_ url: URL, _ key: String) -> CertStoreConfiguration
    ) throws -> StoreFixture {
        var fixture = try StoreFixture(useChallenge: useChallenge)
        fixture.configuration = make(fixture.configuration.serviceURL, fixture.configuration.publicKey)
        if useChallenge {
            fixture.publishSigned([(StoreFixture.name, 1, 30), ("b.example.com", 2, 30)])
        } else {
            try fixture.publish([(StoreFixture.name, 1, 30), ("b.example.com", 2, 30)])
        }
        return fixture
    }

    private func fallback(_ fingerprint: UInt8) -> Data {
        let expires = StoreFixture.start + StoreFixture.day
        let base64 = Data.fingerprint(fingerprint).base64EncodedString()
        return Data(
            #"{"name":"\#(StoreFixture.name)","fingerprint":"\#(base64)","expires":\#(expires),"signature":""}"#.utf8)
    }

    @Test("Without more than a URL and a key it has the published defaults")
    func defaults() async throws {
        let fixture = try fixture { CertStoreConfiguration(serviceUrl: $0, publicKey: $1) }
        let configuration = fixture.configuration
        #expect(configuration.serviceUrl.absoluteString == "https://pins.example.com/list")
        #expect(!configuration.useChallenge && configuration.expectedCommonNames == nil)
        #expect(configuration.identifier == nil && configuration.instanceIdentifier == "default")
        #expect(configuration.fallbackCertificateData == nil && configuration.fallbackCertificatesData == nil)
        #expect(configuration.periodicUpdateInterval == 604_800)
        #expect(configuration.expirationUpdateThreshold == 1_209_600)
        #expect(configuration.sslValidationStrategy == .default)
        let store = fixture.store()
        try await store.update()
        #expect(store.judge(1) == .trusted && store.judge("b.example.com", 2) == .trusted)
        let request = try #require(fixture.provider.requests.first)
        #expect(request.url == configuration.serviceUrl && request.headers["X-Cert-Pinning-Challenge"] == nil)
    }

    @Test("A store that is to challenge its server does so, and takes no list that is signed without")
    func useChallenge() async throws {
        let fixture = try fixture(useChallenge: true) {
            CertStoreConfiguration(serviceUrl: $0, publicKey: $1, useChallenge: true)
        }
        #expect(fixture.configuration.useChallenge)
        let store = fixture.store()
        try await store.update()
        #expect(store.judge(1) == .trusted)
        #expect(fixture.provider.requests.first?.headers["X-Cert-Pinning-Challenge"] != nil)
        try fixture.publish([(StoreFixture.name, 1, 30)])
        #expect(await store.updateError()?.code == .invalidSignature)
    }

    @Test("A name that is not expected is untrusted, whatever the document says")
    func expectedCommonNames() async throws {
        let fixture = try fixture {
            CertStoreConfiguration(serviceUrl: $0, publicKey: $1, expectedCommonNames: [StoreFixture.name])
        }
        #expect(fixture.configuration.expectedCommonNames == [StoreFixture.name])
        let store = fixture.store()
        try await store.update()
        #expect(store.judge(1) == .trusted && store.judge("b.example.com", 2) == .untrusted)
    }

    @Test("The identifier names the store and what it keeps")
    func identifier() async throws {
        let fixture = try fixture { CertStoreConfiguration(serviceUrl: $0, publicKey: $1, identifier: "mine") }
        #expect(fixture.configuration.identifier == "mine" && fixture.configuration.instanceIdentifier == "mine")
        let store = fixture.store()
        #expect(store.instanceIdentifier == "mine" && store.name == "mine")
        try await store.update()
        #expect(fixture.storage.loadData(forKey: "mine") != nil)
    }

    @Test("Entries that an application ships with count, given as one, as more, or as both")
    func fallbacks() throws {
        for (one, more) in [(true, false), (false, true), (true, true)] {
            let fixture = try fixture {
                CertStoreConfiguration(
                    serviceUrl: $0, publicKey: $1, fallbackCertificateData: one ? fallback(7) : nil,
                    fallbackCertificatesData: more
                        ? Data(#"{"fingerprints":["#.utf8) + fallback(8) + Data(",".utf8) + fallback(9)
                            + Data("]}".utf8) : nil)
            }
            let store = fixture.store()
            #expect(store.configurationError == nil)
            #expect(store.judge(7) == (one ? .trusted : .untrusted))
            #expect(store.judge(8) == (more ? .trusted : .untrusted))
            #expect(store.judge(9) == (more ? .trusted : .untrusted))
        }
    }

    @Test("An empty argument is no missing one: no name is expected, nothing ships, and the identifier is empty")
    func empty() async throws {
        let names = try fixture { CertStoreConfiguration(serviceUrl: $0, publicKey: $1, expectedCommonNames: []) }
        #expect(names.configuration.expectedCommonNames == [])
        let store = names.store()
        try await store.update()
        #expect(store.judge(1) == .untrusted && store.judge("b.example.com", 2) == .untrusted)
        let identifier = try fixture { CertStoreConfiguration(serviceUrl: $0, publicKey: $1, identifier: "") }
        #expect(identifier.configuration.identifier == "" && identifier.configuration.instanceIdentifier == "")
        for make in [
            { CertStoreConfiguration(serviceUrl: $0, publicKey: $1, fallbackCertificateData: Data()) },
            { CertStoreConfiguration(serviceUrl: $0, publicKey: $1, fallbackCertificatesData: Data()) },
        ] as [(URL, String) -> CertStoreConfiguration] {
            #expect(try fixture(make).store().configurationError?.code == .invalidConfiguration)
        }
    }

    @Test("The two times decide when the next update is due")
    func times() async throws {
        let day = 86_400.0
        for (interval, threshold, least, most) in [
            // At the interval, or up to a fifth of it earlier.
            (2 * day, day, 1.6 * day, 2 * day),
            // When the first entry ends, which is in thirty days, and within the threshold eight times as often.
            (1_000 * day, 10 * day, 24 * day, 30 * day), (1_000 * day, 40 * day, 3 * day, 3.75 * day),
        ] {
            let fixture = try fixture {
                CertStoreConfiguration(
                    serviceUrl: $0, publicKey: $1, periodicUpdateInterval: interval, expirationUpdateTreshold: threshold
                )
            }
            #expect(fixture.configuration.periodicUpdateInterval == interval)
            #expect(fixture.configuration.expirationUpdateThreshold == threshold)
            let store = fixture.store()
            try await store.update()
            let next = store.nextUpdate.timeIntervalSince(fixture.clock.now)
            #expect((least...most).contains(next), "\(interval), \(threshold): \(next)")
        }
    }

    @Test("A published property that is set is read again, and is that of the newer name")
    func setters() throws {
        var configuration = try StoreFixture().configuration
        let url = try #require(URL(string: "https://other.example.com/pins"))
        configuration.serviceUrl = url
        #expect(configuration.serviceUrl == url && configuration.serviceURL == url)
        configuration.periodicUpdateInterval = 1_234.5
        #expect(configuration.periodicUpdateInterval == 1_234.5)
        #expect(configuration.schedule.updateInterval == .milliseconds(1_234_500))
        configuration.expirationUpdateThreshold = 4_321.5
        #expect(configuration.expirationUpdateThreshold == 4_321.5)
        #expect(configuration.schedule.expirationThreshold == .milliseconds(4_321_500))
        #expect(configuration.schedule.updateInterval == .milliseconds(1_234_500))
        configuration.schedule = UpdateSchedule(updateInterval: .seconds(5), expirationThreshold: .seconds(6))
        #expect(configuration.periodicUpdateInterval == 5 && configuration.expirationUpdateThreshold == 6)
    }

    @Test("A time that is none is refused, in the initializer and afterward")
    func invalidTimes() throws {
        for seconds in [-1, .nan, .infinity, 1e300] as [TimeInterval] {
            for make in [
                { CertStoreConfiguration(serviceUrl: $0, publicKey: $1, periodicUpdateInterval: seconds) },
                { CertStoreConfiguration(serviceUrl: $0, publicKey: $1, expirationUpdateTreshold: seconds) },
            ] as [(URL, String) -> CertStoreConfiguration] {
                #expect(try fixture(make).store().configurationError?.code == .invalidConfiguration, "\(seconds)")
            }
        }
    }

    @Test("The server of the document is validated until that is switched off, and the provider is told")
    func strategy() async throws {
        for (strategy, isValidated) in [(nil, true), (.default, true), (.noValidation, false)]
            as [(SSLValidationStrategy?, Bool)]
        {
            let fixture = try fixture(useChallenge: true) { url, key in
                guard let strategy else {
                    return CertStoreConfiguration(serviceUrl: url, publicKey: key, useChallenge: true)
                }
                return CertStoreConfiguration(
                    serviceUrl: url, publicKey: key, useChallenge: true, sslValidationStrategy: strategy)
            }
            #expect(fixture.configuration.sslValidationStrategy == strategy ?? .default)
            try await fixture.store().update()
            let request = try #require(fixture.provider.requests.first)
            #expect(request.validatesServer == isValidated)
            #expect(request.sslValidationStrategy == strategy ?? .default)
        }
        var configuration = try StoreFixture().configuration
        var request = RemoteDataRequest(url: configuration.serviceURL)
        for strategy in [SSLValidationStrategy.noValidation, .default] {
            configuration.sslValidationStrategy = strategy
            request.sslValidationStrategy = strategy
            #expect(configuration.sslValidationStrategy == strategy && request.sslValidationStrategy == strategy)
            #expect(configuration.validatesServer == (strategy == .default))
            #expect(request.validatesServer == (strategy == .default))
        }
    }
}
