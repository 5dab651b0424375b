import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("The trust manager", .timeLimit(.minutes(15)))
struct TrustManagerTests {
    private func standard(_ name: String) throws -> StandardPolicy { StandardPolicy(host: try HostPattern(name)) }

    @Test("Exact names win over patterns, longer patterns over shorter ones")
    func precedence() throws {
        let names = ["**.example.com", "*.example.com", "**.api.example.com", "www.example.com", "127.0.0.1"]
        let manager = TrustManager(policies: try names.map(standard))
        let expected = [
            "www.example.com": "www.example.com", "other.example.com": "*.example.com",
            "example.com": "**.example.com", "a.b.example.com": "**.example.com",
            // It has more labels than `*.example.com` and covers its own base.
            "api.example.com": "**.api.example.com", "v1.api.example.com": "**.api.example.com",
            "127.0.0.1": "127.0.0.1",
        ]
        for (host, name) in expected { #expect(manager.policy(for: host)?.hostName == name) }
        for host in ["good.com", "dexample.com", "www.example.com.good.com", "127.0.0.2", "com", ""] {
            #expect(manager.policy(for: host) == nil)
        }
        #expect(Set(manager.allNames) == Set(names))
        #expect(manager.allPolicies.count == names.count)
        #expect(Set(manager.policies.keys) == Set(names))
    }

    @Test("Names are normalized when policies are added, found and removed")
    func normalized() throws {
        let manager = TrustManager(policies: [try standard("WWW.Example.COM")])
        for name in ["www.example.com", "Www.Example.Com.", "https://www.example.com:8443/path?q"] {
            #expect(manager.policy(for: name)?.hostName == "www.example.com")
        }
        #expect(manager.removePolicy(name: "https://WWW.example.com")?.hostName == "www.example.com")
        #expect(manager.allNames.isEmpty)
        #expect(manager.removePolicy(name: "www.example.com") == nil)
    }

    @Test("The same host twice is one policy, the later one")
    func replaces() throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager(policies: [
            DisabledPolicy(host: try HostPattern("WWW.example.com")), try standard("www.example.com"),
        ])
        #expect(manager.allPolicies.count == 1)
        #expect(manager.evaluate(try fixture.untrusted(), at: fixture.now).failure?.code == .unknownIssuer)
    }

    @Test("Removing a name leaves the patterns that cover it; a pattern is removed by its own name")
    func removing() throws {
        let manager = TrustManager(policies: [try standard("*.example.com")])
        #expect(manager.removePolicy(name: "www.example.com") == nil)
        #expect(manager.removePolicy(name: "*.EXAMPLE.com")?.hostName == "*.example.com")
        #expect(manager.policy(for: "www.example.com") == nil)
    }

    @Test("A name that is no host is found by equality, and its policy trusts nobody")
    func noHost() throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager()
        manager.add(policy: manager.create(type: .disabled, hostName: "not a host"))
        #expect(manager.allNames == ["not a host"])
        let policy = try #require(manager.policy(for: "not a host"))
        #expect(manager.policy(for: "Not a host") == nil)
        #expect(policy.evaluate(try fixture.trust(host: nil), at: fixture.now).failure?.code == .invalidConfiguration)
        #expect(policy.decisionWithoutTrust(at: fixture.now).failure?.code == .invalidConfiguration)
        #expect(manager.removePolicy(name: "not a host") != nil)
        #expect(manager.allNames.isEmpty)
    }

    @Test("A top-level pattern that was allowed is found and removed by its name; one that was not is only a name")
    func topLevel() throws {
        let allowed = StandardPolicy(host: try HostPattern("*.corp", allowingTopLevel: true))
        let manager = TrustManager(policies: [allowed])
        #expect(manager.policy(for: "wiki.corp") != nil)
        #expect(manager.policy(for: "*.corp") != nil)
        #expect(manager.removePolicy(name: "*.corp") != nil)
        #expect(manager.policy(for: "wiki.corp") == nil)
        manager.add(policy: manager.create(type: .disabled, hostName: "*.com"))
        #expect(manager.policy(for: "example.com") == nil)
        #expect(manager.policy(for: "*.com") != nil)
        #expect(manager.removePolicy(name: "*.com") != nil)
    }

    @Test("Assigning the policies replaces them all")
    func assigning() throws {
        let manager = TrustManager(policies: [try standard("a.example"), try standard("b.example")])
        manager.policies = ["B.example": try standard("b.example"), "c.example": try standard("c.example")]
        #expect(Set(manager.allNames) == ["b.example", "c.example"])
        manager.policies["c.example"] = nil
        #expect(manager.allNames == ["b.example"])
    }

    // MARK: Decisions

    @Test("An unknown host is rejected unless standard validation is asked for")
    func unknownHosts() throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager(clock: fixture.clock)
        let rejected = manager.evaluate(try fixture.trust())
        #expect(rejected.failure?.code == .noPolicyForHost)
        #expect(rejected.failure?.host?.name == PolicyFixture.host)
        let before = manager.generation
        manager.unknownHosts = .standardValidation
        #expect(manager.generation != before, "pooled connections are judged again")
        #expect(manager.evaluate(try fixture.trust()).isTrusted)
        #expect(manager.evaluate(try fixture.untrusted()).failure?.code == .unknownIssuer)
        let known = manager.generation
        manager.unknownHosts = .standardValidation
        #expect(manager.generation == known)
        // The rule is the manager's, not its policies'.
        manager.policies = [:]
        #expect(manager.evaluate(try fixture.trust()).isTrusted)
        let lenient = TrustManager(unknownHosts: .standardValidation, clock: fixture.clock)
        #expect(lenient.unknownHosts == .standardValidation)
        #expect(lenient.evaluate(try fixture.trust()).isTrusted)
    }

    @Test("A host that was looked up once decides by its policy of the moment")
    func lookUp() async throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager(unknownHosts: .standardValidation, clock: fixture.clock)
        let host = try DialedHost(PolicyFixture.host)
        let unknown = manager.lookUp(host)
        #expect(unknown.policy == nil && !unknown.isRefused)
        #expect(unknown.judgment(of: try fixture.trust(), at: fixture.now).isTrusted)
        manager.unknownHosts = .reject
        #expect(manager.lookUp(host).isRefused)
        #expect(unknown.judgment(of: try fixture.trust(), at: fixture.now).failure?.code == .noPolicyForHost)
        manager.add(policy: try fixture.pinned([.certificate([1])]))
        #expect(unknown.judgment(of: try fixture.trust(), at: fixture.now).failure?.code == .pinMismatch)
        let pinned = manager.lookUp(host)
        #expect(pinned.policy?.hostName == PolicyFixture.host && !pinned.isRefused)
        manager.removePolicy(name: PolicyFixture.host)
        #expect(pinned.judgment(of: try fixture.trust(), at: fixture.now).failure?.code == .noPolicyForHost)
    }

    @Test("A trust without a host and a client find no policy, whatever unknown hosts get")
    func withoutHost() throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager(policies: [try standard(PolicyFixture.host), StandardPolicy(clients: "device")])
        for rule in UnknownHostRule.allCases {
            manager.unknownHosts = rule
            let bare = manager.evaluate(try fixture.trust(host: nil), at: fixture.now)
            #expect(bare.failure?.code == .hostUnknown)
            let device = try fixture.issuing.leaf(names: ["device"], purposes: [.clientAuthentication])
            let client = ServerTrust(
                chain: PresentedChain(device.chain), purpose: .client,
                validator: PathValidator(anchors: try TrustAnchors(der: [fixture.root.der])))
            let decision = manager.evaluate(client, at: fixture.now)
            #expect(decision.failure?.code == .hostUnknown)
        }
    }

    @Test("The host that was dialed finds the policy, never a name in the certificate")
    func dialedHost() throws {
        let fixture = try PolicyFixture()
        let leaf = try fixture.issuing.leaf(names: ["open.example", .dns(PolicyFixture.host)])
        let manager = TrustManager(policies: [
            DisabledPolicy(host: try HostPattern("open.example")),
            try fixture.pinned([.certificate([1])]),
        ])
        let decision = manager.evaluate(try fixture.trust(leaf.chain), at: fixture.now)
        #expect(decision.failure?.code == .pinMismatch)
    }

    @Test("An observer learns of every decision, also of those made by a policy that the manager handed out")
    func observers() throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager(clock: fixture.clock)
        manager.add(policy: manager.create(type: .standard, hostName: PolicyFixture.host))
        let seen = Lock<[TrustDecision]>([])
        let token = manager.addObserver { decision in
            // No lock is held: the manager can be asked and changed from here.
            _ = manager.allNames
            manager.add(policies: [])
            seen.withLock { $0.append(decision) }
        }
        _ = manager.evaluate(try fixture.trust())
        _ = manager.evaluate(try fixture.trust(host: "other.example"))
        manager.unknownHosts = .standardValidation
        _ = manager.evaluate(try fixture.trust(host: "other.example"))
        _ = manager.evaluate(try fixture.trust(host: nil))
        let policy = try #require(manager.policy(for: PolicyFixture.host))
        #expect(policy.validate(trust: try fixture.trust(), clock: fixture.clock))
        #expect(!policy.validate(trust: nil))
        let codes = seen.withLock { $0.map { $0.failure?.code } }
        #expect(codes == [nil, .noPolicyForHost, .hostNameMismatch, .hostUnknown, nil, .noTrust])
        #expect(seen.withLock { $0.first?.path } != nil)
        manager.removeObserver(token)
        _ = manager.evaluate(try fixture.trust())
        #expect(seen.withLock { $0.count } == 6)
    }

    @Test("An observer may change the policies that it is told about")
    func observerChangesPolicies() throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager(policies: [try standard(PolicyFixture.host)])
        manager.addObserver { decision in manager.removePolicy(name: decision.policyName) }
        #expect(manager.evaluate(try fixture.trust(), at: fixture.now).isTrusted)
        #expect(manager.evaluate(try fixture.trust(), at: fixture.now).failure?.code == .noPolicyForHost)
    }

    @Test("A policy that moves to another manager reports there, and nowhere else")
    func moved() throws {
        let fixture = try PolicyFixture()
        let (first, second) = (TrustManager(policies: [try standard(PolicyFixture.host)]), TrustManager())
        let inFirst = Lock(0)
        let inSecond = Lock(0)
        first.addObserver { _ in inFirst.withLock { $0 += 1 } }
        second.addObserver { _ in inSecond.withLock { $0 += 1 } }
        second.add(policy: try #require(first.policy(for: PolicyFixture.host)))
        _ = second.evaluate(try fixture.trust(), at: fixture.now)
        #expect(inFirst.withLock { $0 } == 0)
        #expect(inSecond.withLock { $0 } == 1)
    }

    // MARK: Changes

    @Test("A listener that does not listen keeps the latest changes and no more")
    func boundedChanges() async throws {
        let manager = TrustManager()
        let changes = manager.changes()
        for number in 0..<300 { manager.add(policy: StandardPolicy(host: try HostPattern("h\(number).example.com"))) }
        var names: [String] = []
        for await change in changes {
            names.append(change.hostName)
            if change.hostName == "h299.example.com" { break }
        }
        #expect(names.count == 256 && names.first == "h44.example.com")
    }

    @Test("A token ends its own observation, and no other manager's")
    func tokens() {
        let managers = [TrustManager(), TrustManager()]
        let told = managers.map { _ in Lock(0) }
        let tokens = zip(managers, told).map { manager, count in
            manager.addObserver { _ in count.withLock { $0 += 1 } }
        }
        #expect(tokens[0] != tokens[1] && Set(tokens).count == 2)
        managers[1].removeObserver(tokens[0])
        for manager in managers {
            _ = manager.evaluate(
                ServerTrust(
                    chain: PresentedChain([]), purpose: .client, validator: PathValidator(anchors: TrustAnchors([]))))
        }
        #expect(told.map { $0.withLock { $0 } } == [1, 1])
    }

    @Test("Every listener learns which policies were added, replaced and removed")
    func changes() async throws {
        let manager = TrustManager()
        let listeners = [manager.changes(), manager.changes()]
        manager.add(policies: [try standard("a.example"), try standard("**.b.example")])
        manager.add(policy: try standard("A.example"))
        manager.removePolicy(name: "nobody.example")
        manager.removePolicy(name: "a.example")
        manager.policies = ["c.example": try standard("c.example")]
        for listener in listeners {
            var seen: [String] = []
            for await change in listener {
                seen.append("\(change.kind.rawValue) \(change.hostName)")
                if change.hostName == "**.b.example" {
                    #expect(change.concerns(try DialedHost("x.b.example")))
                    #expect(!change.concerns(try DialedHost("a.example")))
                }
                if seen.count == 6 { break }
            }
            #expect(
                seen == [
                    "added a.example", "added **.b.example", "replaced a.example", "removed a.example",
                    "removed **.b.example", "added c.example",
                ])
        }
    }

    @Test("Policies may be swapped while threads decide: each decision is by the one or by the other")
    func concurrency() async throws {
        let fixture = try PolicyFixture()
        let good = try fixture.pinned([fixture.keyPin(fixture.leaf)])
        let bad = try fixture.pinned([.certificate([1])])
        let manager = TrustManager(policies: [good])
        let trust = try fixture.trust()
        let seen = Lock(0)
        manager.addObserver { _ in seen.withLock { $0 += 1 } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<100 {
                        let decision = manager.evaluate(trust, at: fixture.now)
                        let policy = decision.configuredPins == good.fixedPins ? good : bad
                        #expect(decision.isTrusted == (policy.fixedPins == good.fixedPins))
                        #expect(decision.configuredPins == policy.fixedPins)
                    }
                }
            }
            group.addTask {
                for round in 0..<400 {
                    manager.add(policy: round.isMultiple(of: 2) ? bad : good)
                    manager.add(policy: try self.standard("host\(round).example"))
                    manager.removePolicy(name: "host\(round).example")
                }
            }
            try await group.waitForAll()
        }
        #expect(manager.allNames == [PolicyFixture.host])
        #expect(seen.withLock { $0 } == 400)
    }
}
