import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Policies of a trust server", .timeLimit(.minutes(15)))
struct TrustServerPolicyTests {
    private typealias Host = TestTrustServer.Host

    private func policy(
        _ fixture: TrustServerStoreFixture, _ pinning: Pin.Subject = .publicKey, host: String = PolicyFixture.host,
        validatesHostName: Bool = true, pinOnly: Bool = false
    ) throws -> PinnedPolicy {
        try fixture.store().policy(
            for: host, pinning: pinning, validatesHostName: validatesHostName, certificatePinOnly: pinOnly)
    }

    @Test("Pins count for any certificate of a valid path, keys or certificates by type, and never without a path")
    func pinned() async throws {
        let fixture = try TrustServerStoreFixture()
        let pki = fixture.pki
        let renewed = try pki.issuing.renew(pki.leaf)
        for (certificate, keyTrusts, certificateTrusts) in [
            (pki.leaf, true, false), (pki.issuing.certificate, true, true), (pki.root.certificate, true, true),
            (try pki.issuing.impersonate(pki.leaf), false, false),
        ] {
            try fixture.publish([Host(PolicyFixture.host, [certificate])])
            let key = try policy(fixture)
            try await key.prepare()
            let certificatePolicy = try policy(fixture, .certificate)
            for (policy, expected) in [(key, keyTrusts), (certificatePolicy, certificateTrusts)] {
                let decision = try policy.decision(about: pki.trust(renewed.chain), at: pki.now)
                #expect(decision.isTrusted == expected)
                #expect(expected || decision.failure?.code == .pinMismatch)
                #expect(decision.configuredPins.allSatisfy { $0.subject == policy.pinning })
                #expect(decision.configuredPins.count == 1 && decision.notices.isEmpty)
                #expect(try policy.decision(about: pki.untrusted(), at: pki.now).failure?.code == .unknownIssuer)
            }
            #expect(key.pinning == .publicKey)
            #expect(certificatePolicy.pinning == .certificate)
            fixture.storage.removeData(forKey: (try key.trustServerStore()).documents.format.storageKey)
        }
    }

    @Test("Without a document a decision is a rejection at once that leaves a wish; when it is granted, pins decide")
    func firstDecision() async throws {
        let fixture = try TrustServerStoreFixture()
        let gate = try fixture.answerBehindGate()
        let policy = try policy(fixture)
        for _ in 0..<3 {
            let failure = try #require(try policy.decision(about: fixture.pki.trust(), at: fixture.clock.now).failure)
            #expect(failure.code == .noUsablePins && failure.description.contains("trust server"))
            #expect(try !policy.validate(trust: fixture.pki.trust(), clock: fixture.clock))
        }
        gate.open()
        try await policy.trustServerStore().settle()
        #expect(fixture.provider.requests.count == 1)
        #expect(try policy.validate(trust: fixture.pki.trust(), clock: fixture.clock))
        #expect(!policy.validate(trust: nil))
    }

    @Test("The first document is awaited once by eight at the same time")
    func sharedPreparation() async throws {
        let fixture = try TrustServerStoreFixture()
        let gate = try fixture.answerBehindGate()
        let policy = try policy(fixture)
        let trust = try fixture.pki.trust()
        let now = fixture.clock.now
        let trusted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try? await policy.prepare()
                    return policy.decision(about: trust, at: now).isTrusted
                }
            }
            gate.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(trusted == Array(repeating: true, count: 8))
        #expect(fixture.provider.requests.count == 1)
        #expect(!policy.needsPreparation)
        try await policy.prepare()
        #expect(fixture.provider.requests.count == 1)
    }

    @Test("Waiting ends with its time; the download goes on, and what it brings counts")
    func preparationTimeout() async throws {
        var fixture = try TrustServerStoreFixture()
        fixture.settings.preparationTimeout = .milliseconds(1)
        let gate = try fixture.answerBehindGate()
        let policy = try policy(fixture)
        let error = await #expect(throws: StoreError.self) { try await policy.prepare() }
        #expect(error?.code == .networkError && policy.needsPreparation)
        gate.open()
        try await policy.trustServerStore().settle()
        #expect(try policy.validate(trust: fixture.pki.trust(), clock: fixture.clock))
        #expect(fixture.provider.requests.count == 1)
    }

    @Test("Who would wait for ever waits")
    func longestPreparationTimeout() async throws {
        var fixture = try TrustServerStoreFixture()
        fixture.settings.preparationTimeout = .seconds(Int64.max)
        let gate = try fixture.answerBehindGate()
        let policy = try policy(fixture)
        async let prepared: Void = policy.prepare()
        try await waitUntil { try policy.trustServerStore().documents.isUpdating }
        gate.open()
        try await prepared
        #expect(try policy.validate(trust: fixture.pki.trust(), clock: fixture.clock))
    }

    @Test("Waiting ends when its task is canceled; the download goes on for others")
    func cancellation() async throws {
        let fixture = try TrustServerStoreFixture()
        let gate = try fixture.answerBehindGate()
        let policy = try policy(fixture)
        let waiting = Task { try await policy.prepare() }
        let other = Task { try await policy.prepare() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.open()
        try await other.value
        #expect(fixture.provider.requests.count == 1)
    }

    @Test("A failed preparation throws its reason, which the rejection repeats; right after it nobody waits")
    func failedPreparation() async throws {
        let fixture = try TrustServerStoreFixture()
        fixture.fail()
        let policy = try policy(fixture)
        let error = await #expect(throws: StoreError.self) { try await policy.prepare() }
        #expect(error?.code == .networkError && !policy.needsPreparation)
        let failure = try #require(try policy.decision(about: fixture.pki.trust(), at: fixture.clock.now).failure)
        #expect(failure.code == .noUsablePins && failure.found.contains("networkError, 503"))
        await #expect(throws: StoreError.self) { try await policy.prepare() }
        #expect(fixture.provider.requests.count == 1)
        fixture.clock.advance(by: .seconds(61))
        try fixture.publish()
        try await policy.prepare()
        #expect(try policy.validate(trust: fixture.pki.trust(), clock: fixture.clock))
    }

    @Test("A mismatch leads to one forced download a minute at most, and who comes next waits for it")
    func mismatch() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let policy = try policy(fixture)
        try await policy.prepare()
        let rotated = try fixture.pki.issuing.impersonate(fixture.pki.leaf)
        let trust = try fixture.pki.trust(rotated.chain)
        for (seconds, requests) in [(0.0, 2), (1, 2), (58, 2), (1, 3), (59, 3)] {
            fixture.clock.advance(by: .seconds(seconds))
            try fixture.publish()
            #expect(policy.decision(about: trust, at: fixture.clock.now).failure?.code == .pinMismatch)
            #expect(policy.needsPreparation == (try policy.trustServerStore()).documents.isUpdating)
            try await policy.prepare()
            #expect(fixture.provider.requests.count == requests)
        }
        fixture.clock.advance(by: .seconds(1))
        try fixture.publish([Host(PolicyFixture.host, [rotated])])
        #expect(policy.decision(about: trust, at: fixture.clock.now).failure?.code == .pinMismatch)
        try await policy.prepare()
        #expect(policy.decision(about: trust, at: fixture.clock.now).isTrusted)
        // A failure other than a mismatch starts no update.
        fixture.clock.advance(by: .seconds(61))
        #expect(
            try policy.decision(about: fixture.pki.untrusted(), at: fixture.clock.now).failure?.code == .unknownIssuer)
        #expect(!(try policy.trustServerStore()).documents.isUpdating)
    }

    @Test("In its grace a document counts, each use is reported, and updates are tried")
    func grace() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let policy = try policy(fixture)
        try await policy.prepare()
        let uses = Lock<[Duration]>([])
        (try policy.trustServerStore()).addObserver { event in
            if event.kind == .usedInGrace, event.name == PolicyFixture.host, let age = event.span {
                uses.withLock { $0.append(age) }
            }
        }
        fixture.fail()
        fixture.clock.advance(by: .seconds(3_600))
        #expect(try policy.decision(about: fixture.pki.trust(), at: fixture.clock.now).notices.isEmpty)
        try await policy.trustServerStore().settle()
        fixture.clock.advance(by: .seconds(7_200))
        for requests in 3...4 {
            let decision = try policy.decision(about: fixture.pki.trust(), at: fixture.clock.now)
            #expect(decision.isTrusted && decision.notices.map(\.code) == [.pinsPastTheirTime])
            #expect(decision.notices.first?.found.contains("3 h") == true)
            #expect((try policy.trustServerStore()).documents.isUpdating)
            try await policy.trustServerStore().settle()
            #expect(fixture.provider.requests.count == requests)
            fixture.clock.advance(by: .seconds(61))
        }
        #expect(uses.withLock { $0 } == [.seconds(10_800), .seconds(10_861)])
        // The log reports the document once, not each use.
        #expect(fixture.log.lines.count { $0.contains("is past its time and still counts") } == 1)
    }

    @Test("A document past its time is waited for once: after a failure it counts without a wait, until one succeeds")
    func waitInGrace() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let policy = try policy(fixture)
        try await policy.prepare()
        fixture.fail()
        fixture.clock.advance(by: .seconds(3_601))
        #expect(policy.needsPreparation)
        try await policy.prepare()
        #expect(fixture.provider.requests.count == 2)
        fixture.clock.advance(by: .seconds(3_600))
        #expect(!policy.needsPreparation)
        try await policy.prepare()
        #expect(fixture.provider.requests.count == 2)
        let restarted = try self.policy(fixture)
        #expect(restarted.needsPreparation)
        try fixture.publish()
        try await restarted.prepare()
        #expect(try restarted.decision(about: fixture.pki.trust(), at: fixture.clock.now).notices.isEmpty)
    }

    @Test("Beyond its grace a document is good for nobody, and the rejection says how old it is")
    func beyondGrace() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let policy = try policy(fixture)
        try await policy.prepare()
        fixture.fail()
        fixture.clock.advance(by: .seconds(90_001))
        let failure = try #require(try policy.decision(about: fixture.pki.trust(), at: fixture.clock.now).failure)
        #expect(failure.code == .noUsablePins && failure.found.contains("25 h"))
        try await policy.trustServerStore().settle()
        await #expect(throws: StoreError.self) { try await policy.prepare() }
        // Nor does a time that is handed over make it younger.
        let early = fixture.clock.now.addingTimeInterval(-1)
        #expect(try policy.decision(about: fixture.pki.trust(), at: early).isTrusted)
        #expect(try policy.decision(about: fixture.pki.trust(), at: .distantPast).isTrusted)
        #expect(try policy.decision(about: fixture.pki.trust(), at: .distantFuture).failure?.code == .noUsablePins)
    }

    @Test("Pins are found by the exact host that was dialed, whatever the certificate says")
    func lookup() async throws {
        let fixture = try TrustServerStoreFixture()
        let wildcard = try fixture.pki.issuing.leaf(names: ["*.example.com", "example.com"])
        try fixture.publish([Host("Example.com", [wildcard])])
        let policy = try policy(fixture, host: "**.example.com")
        try await policy.prepare()
        func failure(_ host: String) throws -> TrustFailure? {
            try policy.decision(about: fixture.pki.trust(wildcard.chain, host: host), at: fixture.clock.now).failure
        }
        #expect(try failure("example.com") == nil)
        #expect(try failure("example.com.") == nil)
        for host in ["www.example.com", "a.www.example.com"] {
            #expect(try failure(host)?.code == .noUsablePins)
        }
        #expect(try failure("example.net")?.code == .hostNotCovered)
        #expect(
            try policy.decision(about: fixture.pki.trust(wildcard.chain, host: nil), at: fixture.clock.now).failure?
                .code
                == .hostUnknown)
        // A fresh document that is not about a host is no reason to ask again before it is due.
        try await policy.trustServerStore().settle()
        #expect(fixture.provider.requests.count == 1)
    }

    @Test("An entry's port counts where the port is known; where it is not, only if all entries of the host agree")
    func ports() async throws {
        let fixture = try TrustServerStoreFixture()
        let (leaf, other) = (fixture.pki.leaf, try fixture.pki.issuing.impersonate(fixture.pki.leaf))
        let host = PolicyFixture.host
        let cases: [([Host], Int?, TrustFailure.Code?)] = [
            ([Host(host, port: 443, [leaf])], 443, nil),
            ([Host(host, port: 443, [leaf])], 8_443, .noUsablePins),
            ([Host(host, port: 443, [leaf])], nil, nil),
            ([Host(host, port: nil, [leaf])], 8_443, nil),
            ([Host(host, port: 443, [leaf]), Host(host, port: 8_443, [other])], 443, nil),
            ([Host(host, port: 443, [leaf]), Host(host, port: 8_443, [other])], 8_443, .pinMismatch),
            ([Host(host, port: 443, [leaf]), Host(host, port: 8_443, [other])], nil, .noUsablePins),
            ([Host(host, port: 443, [leaf]), Host(host, port: 8_443, [leaf])], nil, nil),
            ([Host(host, port: nil, [other]), Host(host, port: 8_443, [leaf])], 8_443, nil),
            ([Host(host, port: nil, [other]), Host(host, port: 8_443, [leaf])], 443, .pinMismatch),
            ([Host(host, port: 443, [other]), Host(host, port: 443, [leaf])], 443, nil),
            ([Host(host, port: 443, [])], 443, .noUsablePins),
        ]
        for (position, (hosts, port, expected)) in cases.enumerated() {
            fixture.clock.advance(by: .seconds(61))
            try fixture.publish(hosts)
            let policy = try policy(fixture)
            try await policy.trustServerStore().update(mode: .forced)
            let trust = ServerTrust(
                certificates: leaf.chain, host: try DialedHost(host, port: port),
                anchors: try TrustAnchors(der: [fixture.pki.root.root]))
            let decision = policy.decision(about: trust, at: fixture.clock.now)
            #expect(decision.failure?.code == expected, "case \(position)")
            try await policy.trustServerStore().settle()
        }
    }

    @Test("Pins alone, and without the host: the published settings mean what they mean for other pins")
    func settings() async throws {
        let fixture = try TrustServerStoreFixture()
        let pki = fixture.pki
        try fixture.publish([
            Host(PolicyFixture.host, [pki.leaf]), Host("other.example.com", [pki.issuing.certificate]),
            Host("third.example.com", [pki.leaf]),
        ])
        try await fixture.store().update()
        func code(
            _ host: String, validatesHostName: Bool = true, pinOnly: Bool = false, trusted: Bool = true
        ) throws -> TrustFailure.Code? {
            let policy = try policy(fixture, host: host, validatesHostName: validatesHostName, pinOnly: pinOnly)
            let anchors = trusted ? nil : [try TestAuthority.root(name: "Somebody Else", clock: pki.clock).root]
            return try policy.decision(about: pki.trust(host: host, anchors: anchors), at: pki.now).failure?.code
        }
        #expect(try code(PolicyFixture.host) == nil)
        #expect(try code(PolicyFixture.host, trusted: false) == .unknownIssuer)
        #expect(try code(PolicyFixture.host, pinOnly: true, trusted: false) == nil)
        #expect(try code("third.example.com") == .hostNameMismatch)
        #expect(try code("third.example.com", validatesHostName: false) == nil)
        // A pin of an issuer says nothing about who of its customers this is.
        #expect(try code("other.example.com", validatesHostName: false) == .invalidConfiguration)
        #expect(try code("other.example.com", validatesHostName: false, pinOnly: true) == .invalidConfiguration)
    }

    @Test("Managers and composites pass the wait on, and any-of takes these policies as members")
    func passedOn() async throws {
        let fixture = try TrustServerStoreFixture()
        fixture.fail()
        let policy = try policy(fixture)
        let host = try HostPattern(PolicyFixture.host)
        let manager = TrustManager(
            policies: [try CompositePolicy(host: host, allOf: [policy, StandardPolicy(host: host)])],
            clock: fixture.clock)
        func found() -> (any TrustPolicy)? {
            manager.policy(for: PolicyFixture.host)
        }
        #expect(found()?.needsPreparation == true)
        await #expect(throws: StoreError.self) { try await found()?.prepare() }
        fixture.clock.advance(by: .seconds(61))
        let any = try CompositePolicy(host: host, anyOf: [policy, StandardPolicy(host: host)])
        try await any.prepare()
        fixture.clock.advance(by: .seconds(61))
        try fixture.publish()
        try await found()?.prepare()
        #expect(found()?.needsPreparation == false)
        #expect(manager.evaluate(try fixture.pki.trust()).isTrusted)
        #expect(StandardPolicy(host: host).inNeedOfPreparation == nil)
    }

    @Test("Both published generations make these policies, and equal parameters make one download")
    func published() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let manager = TrustManager(clock: fixture.clock)
        let settings = ValidationSettings.defaultSettings
        settings.trustServer = fixture.url
        settings.trustServerCertificate = fixture.server.certificate
        settings.customer = "gcx"
        settings.onlinePinning = fixture.settings
        for type in [ValidationType.pinPublicKeyOnline, .pinCertificateOnline] {
            let policy = try PolicyLog.$shared.withValue(fixture.log.policyLog) {
                try manager.makePolicy(type: type, hostName: PolicyFixture.host, settings: settings)
            }
            let online = try #require(policy as? PinnedPolicy)
            try await online.prepare()
            #expect(online.pinning == (type == .pinPublicKeyOnline ? .publicKey : .certificate))
            #expect(try policy.validate(trust: fixture.pki.trust(), clock: fixture.clock))
            manager.add(policy: policy)
        }
        #expect(fixture.provider.requests.count == 1)
        let composer = ComposePolicy(withValidation: .pinPublicKeyOnline, forHost: PolicyFixture.host)
        composer.trustServer = fixture.url
        composer.trustServerCertificate = fixture.server.certificate
        composer.customer = "gcx"
        composer.onlinePinning = fixture.settings
        let made = try #require(try composer.makePolicy() as? PinnedPolicy)
        #expect((try made.trustServerStore()).clock is SystemWallClock)
    }
}
