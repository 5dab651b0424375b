import Benchmark
import Workloads

/// The same workloads one by one, with percentiles: `swift package benchmark`. What they are worth beside others says the
/// program `ratios`, which measures them in turn.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(metrics: [.wallClock, .throughput], maxDuration: .seconds(2))
    do {
        for chain in [try ChainMaterial.p256(), try ChainMaterial.p384(), try ChainMaterial.rsa2048()] {
            register(try PinWorkloads.bareHashes(chain), chain.name, repeating: .kilo)
            register(try PinWorkloads.check(chain), chain.name, repeating: .kilo)
            register(try ValidationWorkloads.bareSignatures(chain), chain.name)
            register(ValidationWorkloads.cold(chain), chain.name)
            register(ValidationWorkloads.warm(chain), chain.name, repeating: .kilo)
            register(try ForeignVerifiers.openSSL(chain), chain.name)
            register(try ForeignVerifiers.swiftCertificates(chain), chain.name)
        }
        register(ValidationWorkloads.refusal("wrong name", try .wrongName(names: 2)), repeating: .kilo)
        register(ValidationWorkloads.refusal("wrong name, 137 names", try .wrongName(names: 137)), repeating: .kilo)
        register(ValidationWorkloads.refusal("expired leaf", try .expired()), repeating: .kilo)
        register(ValidationWorkloads.refusal("hostile chain", try .hostile()))
        for hosts in [10, 1_000, 100_000] { register(try PolicyWorkloads.lookup(hosts: hosts), repeating: .kilo) }
        let handshakes = try HandshakeWorkloads(try .p256())
        register(handshakes.withBoringSSL())
        for cached in [false, true] {
            register(try handshakes.withHoldfast(cached: cached))
            register(try handshakes.withHoldfastPins(cached: cached))
        }
        for entries in [10, 1_000, 100_000] { register(try StoreWorkloads.lookup(entries: entries), repeating: .kilo) }
        for newConnection in [true, false] {
            register(requests: "AsyncHTTPClient", newConnection) { $0.withAsyncHTTPClient(newConnection: $1) }
            register(requests: "PinnedHTTPClient", newConnection) { $0.withPinnedHTTPClient(newConnection: $1) }
        }
    } catch {
        Benchmark("the workloads could not be made") { $0.error("\(error)") }
    }
}

private func register(
    _ workload: Workload, _ chain: String? = nil, repeating factor: BenchmarkScalingFactor = .one
) {
    var configuration = Benchmark.defaultConfiguration
    configuration.scalingFactor = factor
    Benchmark(workload.name + (chain.map { ", \($0)" } ?? ""), configuration: configuration) { benchmark in
        try await workload.run(benchmark.scaledIterations.count)
    }
}

private func register(
    requests name: String, _ newConnection: Bool, _ make: @escaping @Sendable (RequestWorkloads, Bool) -> Workload
) {
    Benchmark(
        "\(name), \(newConnection ? "new" : "pooled") connection",
        closure: { benchmark, requests in
            try await make(requests, newConnection).run(benchmark.scaledIterations.count)
        },
        setup: { try await RequestWorkloads() })
}
