import Benchmark
import Synchronization
import Workloads

/// The same workloads one by one, with percentiles: `swift package benchmark`. The program `ratios` compares them to
/// others, which it measures in turn.
///
/// The runner starts this program again for each of them: so each prepares only its own data, before its turn.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(metrics: [.wallClock, .throughput], maxDuration: .seconds(2))
    let chains: [(String, @Sendable () throws -> ChainMaterial)] = [
        ("P-256", ChainMaterial.p256), ("P-384", ChainMaterial.p384), ("RSA 2048", ChainMaterial.rsa2048),
    ]
    for (name, chain) in chains {
        register("Pin check: the bare hashes, \(name)", by: .kilo) { try PinWorkloads.bareHashes(chain()) }
        register("Pin check, \(name)", by: .kilo) { try PinWorkloads.check(chain()) }
        register("Validation: the bare signatures, \(name)") { try ValidationWorkloads.bareSignatures(chain()) }
        register("Validation: Holdfast, cold, \(name)") { ValidationWorkloads.cold(try chain()) }
        register("Validation: Holdfast, warm, \(name)", by: .kilo) { ValidationWorkloads.warm(try chain()) }
        register("Validation: OpenSSL, \(name)") { try ForeignVerifiers.openSSL(chain()) }
        register("Validation: swift-certificates, \(name)") { try ForeignVerifiers.swiftCertificates(chain()) }
    }

    register("Refusal: wrong name", by: .kilo) { ValidationWorkloads.refusal("wrong name", try .wrongName(names: 2)) }
    register("Refusal: wrong name, 137 names", by: .kilo) {
        ValidationWorkloads.refusal("wrong name", try .wrongName(names: 137))
    }
    register("Refusal: expired leaf", by: .kilo) { ValidationWorkloads.refusal("expired leaf", try .expired()) }
    register("Refusal: hostile chain of 48") { ValidationWorkloads.refusal("hostile chain", try .hostile()) }
    register("Refusal: hostile chain of 48, OpenSSL") { try ForeignVerifiers.openSSL(refusing: .hostile()) }

    for hosts in [10, 1_000, 100_000] {
        register("Policy among \(hosts) hosts", by: .kilo) { try PolicyWorkloads.lookup(hosts: hosts) }
    }
    register("Outlook: the bare evaluations") { try OutlookWorkloads(hosts: 1_000).bareEvaluations }
    register("Outlook of 1,000 hosts") { try OutlookWorkloads(hosts: 1_000).outlook }

    for (name, chain) in chains where name != "P-384" {
        let made: @Sendable () throws -> HandshakeWorkloads = { try HandshakeWorkloads(chain()) }
        register("Handshake: nobody verifies, \(name)") { try made().withoutVerification() }
        register("Handshake: BoringSSL, \(name)") { try made().withBoringSSL() }
        register("Handshake: the bare signatures, \(name)") { try made().withBareSignatures() }
        for cached in [false, true] {
            let path = cached ? "cached path" : "new path"
            register("Handshake: Holdfast, \(path), \(name)") { try made().withHoldfast(cached: cached) }
            register("Handshake: Holdfast with pins, \(path), \(name)") { try made().withHoldfastPins(cached: cached) }
        }
    }

    for entries in [10, 1_000, 100_000] {
        register("Store of \(entries) entries", by: .kilo) { try StoreWorkloads.lookup(entries: entries) }
    }

    for isNew in [true, false] {
        let connection = isNew ? "first request of a client" : "pooled connection"
        register(requests: "Request: AsyncHTTPClient, \(connection)") { $0.withAsyncHTTPClient(newConnection: isNew) }
        register(requests: "Request: PinnedHTTPClient, \(connection)") { $0.withPinnedHTTPClient(newConnection: isNew) }
    }
}

private func register(
    _ name: String, by factor: BenchmarkScalingFactor = .one, _ make: @escaping @Sendable () throws -> Workload
) {
    var configuration = Benchmark.defaultConfiguration
    configuration.scalingFactor = factor
    Benchmark(
        name, configuration: configuration,
        closure: { benchmark, workload in try await workload.run(benchmark.scaledIterations.count) },
        setup: { try make() })
}

/// Requests need a server, which is started before and ended after.
private func register(requests name: String, _ make: @escaping @Sendable (RequestWorkloads) -> Workload) {
    let running = Running()
    Benchmark(
        name,
        closure: { benchmark, workload in try await workload.run(benchmark.scaledIterations.count) },
        setup: {
            let requests = try await RequestWorkloads()
            running.requests.withLock { $0 = requests }
            return make(requests)
        },
        teardown: { try await running.requests.withLock { $0.take() }?.shutdown() })
}

private final class Running: Sendable {
    let requests = Mutex<RequestWorkloads?>(nil)
}
