import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// The application's code may call the manager from wherever it is called: a lock that is held meanwhile would end the
/// process or wait for ever.
@Suite("An application's code that calls the manager", .timeLimit(.minutes(15)))
struct ManagerReentryTests {
    /// Calls the manager when it is released itself.
    private final class Farewell: Sendable {
        private let manager: TrustManager

        final class Count: Sendable {
            let value = Lock(0)
        }

        private let count: Count

        init(_ manager: TrustManager, _ count: Count) {
            self.manager = manager
            self.count = count
        }

        deinit {
            _ = manager.allNames
            manager.removeObserver(manager.addObserver { _ in })
            count.value.withLock { $0 += 1 }
        }
    }

    /// A policy of the application's whose name is worked out by asking the manager, and that says farewell.
    private struct Curious: TrustPolicy {
        let manager: TrustManager
        var name = PolicyFixture.host
        var farewell: Farewell?

        var scope: PolicyScope { PolicyScope(hostName: manager.allNames.contains("never") ? "never" : name) }

        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
            TrustDecision(.trusted, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
    }

    private let manager = TrustManager()
    private let count = Farewell.Count()

    private func policy(_ name: String = PolicyFixture.host) -> Curious {
        Curious(manager: manager, name: name, farewell: Farewell(manager, count))
    }

    private var farewells: Int { count.value.withLock { $0 } }

    @Test("A policy's name may ask the manager that the policy is added to")
    func name() throws {
        manager.add(policy: policy())
        manager.add(policies: [policy(), policy("other.example.com")])
        manager.policies = ["third.example.com": policy("third.example.com")]
        #expect(manager.allNames == ["third.example.com"])
        #expect(manager.policy(for: "third.example.com")?.hostName == "third.example.com")
    }

    @Test("A policy that is replaced may call the manager when it goes")
    func replaced() {
        manager.add(policy: policy())
        manager.add(policy: policy())
        #expect(farewells == 1)
        manager.add(policies: [policy(), policy(), policy("no host at all"), policy("no host at all")])
        #expect(farewells == 4)
    }

    @Test("A policy that is removed may call the manager when it goes")
    func removed() {
        manager.add(policies: [policy(), policy("no host at all")])
        manager.removePolicy(name: PolicyFixture.host)
        #expect(farewells == 1)
        manager.removePolicy(name: "no host at all")
        #expect(farewells == 2)
    }

    @Test("When all policies are replaced at once, each may call the manager")
    func replacedAtOnce() {
        manager.add(policies: [policy(), policy("no host at all")])
        manager.policies = ["WWW.example.com": policy(), "www.example.com": policy()]
        #expect(farewells == 3)
        manager.policies = [:]
        #expect(farewells == 4)
    }

    @Test("What an observer held may call the manager when the observer goes")
    func observer() throws {
        let farewell = Farewell(manager, count)
        let token = manager.addObserver { [farewell] _ in withExtendedLifetime(farewell) {} }
        manager.addObserver { _ in }
        // The observer is the last to hold it.
        func end(_ farewell: consuming Farewell) {}
        end(farewell)
        manager.removeObserver(token)
        _ = manager.evaluate(ServerTrust(certificates: [], host: nil, anchors: try TrustAnchors(der: [])))
    }

    @Test("An observer may add, replace and remove policies and observers while it is told")
    func observerChangesPolicies() throws {
        let fixture = try PolicyFixture()
        let host = try HostPattern(PolicyFixture.host)
        let manager = manager
        let token = Lock<ObserverToken?>(nil)
        let told = manager.addObserver { [manager] _ in
            manager.add(policy: StandardPolicy(host: host))
            if let token = token.withLock({ $0 }) { manager.removeObserver(token) }
        }
        token.withLock { $0 = told }
        manager.add(policy: policy())
        #expect(manager.evaluate(try fixture.trust()).isTrusted)
        #expect(farewells == 1)
        #expect(manager.policy(for: host.base)?.evaluate(try fixture.untrusted(), at: fixture.now).isTrusted == false)
    }

    @Test("A listener to changes that goes while they are told holds nothing up")
    func changes() async {
        for _ in 0..<20 {
            let stream = manager.changes()
            let listening = Task { for await change in stream where change.kind == .removed { return } }
            manager.add(policy: policy())
            listening.cancel()
            manager.removePolicy(name: PolicyFixture.host)
            _ = manager.changes()
            await listening.value
        }
        #expect(farewells == 20)
    }
}
