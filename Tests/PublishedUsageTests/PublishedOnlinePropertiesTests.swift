import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

/// Each published property of the online types decides something: a test here fails if one is ignored.
@Suite("Published properties of online pinning", .quietLog, .timeLimit(.minutes(10)))
struct PublishedOnlinePropertiesTests {
    typealias Properties = PublishedGeneration.Properties

    /// Answers every request with one document, and keeps the requests.
    private final class Provider: RemoteDataProvider {
        private let asked = Lock<[RemoteDataRequest]>([])
        private let document: Data

        init(_ document: Data) { self.document = document }

        var urls: [String] { asked.withLock { $0.map(\.url.absoluteString) } }

        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
            asked.withLock { $0.append(request) }
            return RemoteDataResponse(.body(document))
        }
    }

    /// A server whose certificate a trust server publishes, and what an application sets for it.
    private struct Scene {
        let server: PublishedServer
        let signer: TestTrustServer
        var properties = Properties()

        init() throws {
            server = try PublishedServer()
            signer = try TestTrustServer(customer: "gcx")
            properties.trustServer = URL(string: "https://pins.example.com/gcx.json.signed")
            properties.trustServerCertificate = signer.certificate
            properties.customer = "gcx"
        }

        func document(
            customer: String = "gcx", age: TimeInterval = 0, host: String? = nil, _ pinned: TestCertificate? = nil
        ) throws -> Data {
            try signer.document(
                customer: customer, at: SystemWallClock().now.addingTimeInterval(-age),
                [.init(host ?? server.host, port: nil, [pinned ?? server.leaf])])
        }

        /// The verdict on a chain after the policy got what it waited for, and the addresses that it asked.
        func verdict(
            _ generation: PublishedGeneration, _ type: ValidationType = .pinPublicKeyOnline, on document: Data,
            chain: TestCertificate? = nil, host: String? = nil, _ change: (inout Properties) -> Void = { _ in }
        ) async -> (isTrusted: Bool, urls: [String]) {
            let provider = Provider(document)
            var properties = properties
            var settings = OnlinePinningSettings()
            settings.remoteDataProvider = provider
            settings.secureDataStore = InMemoryDataStore()
            // The usual ten seconds are not enough on a machine that has much else to do.
            settings.preparationTimeout = .seconds(3_600)
            settings.updateTimeout = .seconds(3_600)
            properties.onlinePinning = settings
            change(&properties)
            let policy = generation.policy(type, for: host ?? server.host, properties)
            try? await policy.prepare()
            let trust = server.trust((chain ?? server.leaf).chain, host: host ?? server.host)
            return (policy.validate(trust: trust), provider.urls)
        }
    }

    @Test("The document comes from the trust server that is set", arguments: PublishedGeneration.allCases)
    func trustServer(generation: PublishedGeneration) async throws {
        let scene = try Scene()
        for url in ["https://pins.example.com/gcx.json.signed", "https://other.example.com/pins"] {
            let verdict = await scene.verdict(generation, on: try scene.document()) {
                $0.trustServer = URL(string: url)
            }
            #expect(verdict == (true, [url]))
        }
    }

    @Test("The document is signed by the certificate that is set", arguments: PublishedGeneration.allCases)
    func trustServerCertificate(generation: PublishedGeneration) async throws {
        let scene = try Scene()
        let other = try TestTrustServer(customer: "gcx")
        let document = try scene.document()
        #expect(await scene.verdict(generation, on: document).isTrusted)
        #expect(
            await !scene.verdict(generation, on: document) { $0.trustServerCertificate = other.certificate }.isTrusted)
    }

    @Test("The document is that of the customer who is set", arguments: PublishedGeneration.allCases)
    func customer(generation: PublishedGeneration) async throws {
        let scene = try Scene()
        for (customer, isTrusted) in [("gcx", false), ("other", true)] {
            let verdict = await scene.verdict(generation, on: try scene.document(customer: "other")) {
                $0.customer = customer
            }
            #expect(verdict.isTrusted == isTrusted)
        }
    }

    @Test("The online types pin the key or the certificate", arguments: PublishedGeneration.allCases)
    func types(generation: PublishedGeneration) async throws {
        let scene = try Scene()
        let renewed = try scene.server.root.renew(scene.server.leaf)
        for (type, isTrusted) in [(.pinPublicKeyOnline, true), (.pinCertificateOnline, false)]
            as [(ValidationType, Bool)]
        {
            let document = try scene.document()
            #expect(await scene.verdict(generation, type, on: document).isTrusted)
            #expect(await scene.verdict(generation, type, on: document, chain: renewed).isTrusted == isTrusted)
        }
    }

    @Test("The certificate must name the host until that is switched off", arguments: PublishedGeneration.allCases)
    func hostName(generation: PublishedGeneration) async throws {
        let scene = try Scene()
        for type in [ValidationType.pinPublicKeyOnline, .pinCertificateOnline] {
            for value in [nil, true, false] as [Bool?] {
                let verdict = await scene.verdict(
                    generation, type, on: try scene.document(host: "other.example"), host: "other.example"
                ) { $0.validatesHostName = value }
                #expect(verdict.isTrusted == (value == false))
            }
        }
    }

    @Test("Pins alone decide only if that is switched on", arguments: PublishedGeneration.allCases)
    func pinsAlone(generation: PublishedGeneration) async throws {
        let scene = try Scene()
        let lone = try TestAuthority.selfSigned(names: [.dns(scene.server.host)])
        for type in [ValidationType.pinPublicKeyOnline, .pinCertificateOnline] {
            for value in [nil, true, false] as [Bool?] {
                let verdict = await scene.verdict(generation, type, on: try scene.document(lone), chain: lone) {
                    $0.pinsAlone = value
                }
                #expect(verdict.isTrusted == (value == true))
            }
        }
    }

    @Test("How a document is fetched, kept and trusted is as it is set", arguments: PublishedGeneration.allCases)
    func onlinePinning(generation: PublishedGeneration) async throws {
        let scene = try Scene()
        for (maximumAge, grace, isTrusted) in [
            (nil, nil, true), (20, nil, true), (20, 0, false), (20, 900, true), (20, 10, false), (900, 0, true),
        ] as [(Int?, Int?, Bool)] {
            // A document may be ten minutes old when it is downloaded: a slow machine has nine of them.
            let verdict = await scene.verdict(generation, on: try scene.document(age: 60)) {
                if let maximumAge { $0.onlinePinning?.maximumAge = .seconds(maximumAge) }
                if let grace { $0.onlinePinning?.grace = .seconds(grace) }
            }
            #expect(
                verdict.isTrusted == isTrusted, "\(String(describing: maximumAge)), \(String(describing: grace))")
        }
        let verdict = await scene.verdict(generation, on: try scene.document()) {
            $0.onlinePinning?.limits.bytes = 100
        }
        #expect(!verdict.isTrusted)
    }

    @Test("The document is kept where the application says", arguments: PublishedGeneration.allCases)
    func secureDataStore(generation: PublishedGeneration) async throws {
        let scene = try Scene()
        let kept = InMemoryDataStore()
        let document = try scene.document()
        #expect(await scene.verdict(generation, on: document) { $0.onlinePinning?.secureDataStore = kept }.isTrusted)
        // The next policy finds it there, and asks no server.
        let verdict = await scene.verdict(generation, on: Data("no document".utf8)) {
            $0.onlinePinning?.secureDataStore = kept
        }
        #expect(verdict == (true, []))
    }

    @Test("Every setting of online pinning reaches the store, and the defaults are the store's own")
    func settings() throws {
        let signer = try TrustServerSigner(certificate: try TestTrustServer().certificate)
        let url = try #require(URL(string: "https://pins.example.com/gcx.json.signed"))
        func configuration(_ settings: OnlinePinningSettings) -> TrustServerConfiguration {
            TrustServerConfiguration(url: url, signer: signer, customer: "gcx", settings: settings)
        }
        func texts(_ configuration: TrustServerConfiguration) -> [String] {
            [
                "\(configuration.maximumAge)", "\(configuration.grace)", "\(configuration.preparationTimeout)",
                "\(configuration.updateTimeout)", "\(configuration.limits)", "\(configuration.allowsLegacyDigests)",
                "\(String(describing: configuration.buildDate))",
                (configuration.remoteDataProvider as? any IdentifiedSource)?.sourceIdentity ?? "another provider",
                (configuration.secureDataStore as? any IdentifiedSource)?.sourceIdentity ?? "another storage",
            ]
        }
        #expect(
            texts(configuration(OnlinePinningSettings()))
                == texts(TrustServerConfiguration(url: url, signer: signer, customer: "gcx")))
        #expect(configuration(OnlinePinningSettings()).remoteDataProvider is URLSessionDataProvider)
        #expect(configuration(OnlinePinningSettings()).secureDataStore is FileDataStore)
        var settings = OnlinePinningSettings()
        let (provider, storage) = (Provider(Data()), InMemoryDataStore())
        settings.maximumAge = .seconds(1)
        settings.grace = .seconds(2)
        settings.preparationTimeout = .seconds(3)
        settings.updateTimeout = .seconds(4)
        settings.limits = DocumentLimits(bytes: 5, entries: 6)
        settings.allowsLegacyDigests = true
        settings.buildDate = Date(timeIntervalSince1970: 7)
        settings.remoteDataProvider = provider
        settings.secureDataStore = storage
        let made = configuration(settings)
        #expect(made.url == url && made.customer == "gcx")
        #expect(made.maximumAge == .seconds(1) && made.grace == .seconds(2))
        #expect(made.preparationTimeout == .seconds(3) && made.updateTimeout == .seconds(4))
        #expect(made.limits == DocumentLimits(bytes: 5, entries: 6) && made.allowsLegacyDigests)
        #expect(made.buildDate == Date(timeIntervalSince1970: 7))
        #expect(made.remoteDataProvider as? Provider === provider)
        #expect(made.secureDataStore as? InMemoryDataStore === storage)
    }

    @Test("Policies share a store only if every setting is the same")
    func sharing() throws {
        let signer = try TestTrustServer()
        let url = try #require(URL(string: "https://pins.example.com/gcx.json.signed"))
        let (provider, storage) = (Provider(Data()), InMemoryDataStore())
        let clock = ManualClock(now: SystemWallClock().now)
        func store(
            url: URL, signer: TestTrustServer, customer: String = "gcx", clock: any WallClock,
            _ change: (inout OnlinePinningSettings) -> Void = { _ in }
        ) throws -> TrustServerStore {
            var settings = OnlinePinningSettings()
            settings.remoteDataProvider = provider
            settings.secureDataStore = storage
            change(&settings)
            return try .shared(
                configuration: TrustServerConfiguration(
                    url: url, signer: TrustServerSigner(certificate: signer.certificate), customer: customer,
                    settings: settings), clock: clock)
        }
        let first = try store(url: url, signer: signer, clock: clock)
        #expect(try store(url: url, signer: signer, clock: clock) === first)
        for change in [
            { $0.maximumAge = .seconds(60) }, { $0.grace = .seconds(60) }, { $0.preparationTimeout = .seconds(60) },
            { $0.updateTimeout = .seconds(60) }, { $0.limits.bytes = 60 }, { $0.limits.entries = 60 },
            { $0.allowsLegacyDigests = true }, { $0.buildDate = Date(timeIntervalSince1970: 60) },
            { $0.remoteDataProvider = Provider(Data()) }, { $0.secureDataStore = InMemoryDataStore() },
        ] as [(inout OnlinePinningSettings) -> Void] {
            #expect(try store(url: url, signer: signer, clock: clock, change) !== first)
        }
        #expect(try store(url: url.appending(path: "x"), signer: signer, clock: clock) !== first)
        #expect(try store(url: url, signer: TestTrustServer(), clock: clock) !== first)
        #expect(try store(url: url, signer: signer, customer: "other", clock: clock) !== first)
        #expect(try store(url: url, signer: signer, clock: SystemWallClock()) !== first)
    }

    @Test("Usual parts are the same if their own settings are, and the usual clock is the system's")
    func sharingUsualParts() async throws {
        let signer = try TrustServerSigner(certificate: try TestTrustServer().certificate)
        let url = try #require(URL(string: "https://pins.example.com/gcx.json.signed"))
        try await withTemporaryFolder { folder in
            func store(
                _ provider: URLSessionDataProvider = URLSessionDataProvider(), _ storage: FileDataStore? = nil
            ) throws -> TrustServerStore {
                var settings = OnlinePinningSettings()
                settings.remoteDataProvider = provider
                settings.secureDataStore = storage ?? FileDataStore(folder: folder)
                return try .shared(
                    configuration: TrustServerConfiguration(
                        url: url, signer: signer, customer: "gcx", settings: settings))
            }
            let first = try store()
            #expect(first.clock is SystemWallClock)
            #expect(try store() === first)
            for provider in [
                URLSessionDataProvider(answerLimit: .seconds(1)), URLSessionDataProvider(wholeLimit: .seconds(1)),
                URLSessionDataProvider(allowsPlainHTTPToLoopback: true),
            ] {
                #expect(try store(provider) !== first)
            }
            #expect(try store(URLSessionDataProvider(), FileDataStore(folder: folder.appending(path: "x"))) !== first)
            #expect(try store(URLSessionDataProvider(), FileDataStore(folder: folder, maximumBytes: 1)) !== first)
        }
    }

    @Test("A manager's online policies follow the manager's clock")
    func clock() async throws {
        let scene = try Scene()
        let clock = ManualClock(now: SystemWallClock().now)
        let provider = Provider(try scene.document())
        let settings = ValidationSettings()
        settings.trustServer = scene.properties.trustServer
        settings.trustServerCertificate = scene.properties.trustServerCertificate
        settings.customer = scene.properties.customer
        settings.onlinePinning.remoteDataProvider = provider
        settings.onlinePinning.secureDataStore = InMemoryDataStore()
        settings.onlinePinning.preparationTimeout = .seconds(3_600)
        settings.onlinePinning.updateTimeout = .seconds(3_600)
        let policy = TrustManager(clock: clock)
            .create(type: .pinPublicKeyOnline, hostName: scene.server.host, settings: settings)
        try await policy.prepare()
        #expect(provider.urls.count == 1)
        // The document is fresh for an hour, and trusted for a day more.
        try await policy.prepare()
        #expect(provider.urls.count == 1)
        clock.advance(by: .seconds(3 * 86_400))
        await #expect(throws: StoreError.self) { try await policy.prepare() }
        #expect(provider.urls.count == 2)
    }
}
