import Foundation
import Holdfast
import Synchronization
import Testing

@testable import ServerFoundation
@testable import ServerStore

/// Asks every machine all the time, and keeps what each served, in its order.
final class ReplicaWitness: Sendable {
    /// When a machine began to serve something.
    private struct Sighting {
        let digest: ServerFoundation.Digest
        let time: ContinuousClock.Instant
    }

    private struct State {
        var seen: [Int: [String: [Sighting]]] = [:]
        var count = 0
    }

    static let paths = [
        "lists/bank.json", "trust/\(World.customer).json.signed", "pins/bank.pins.json",
    ]

    private let state = Mutex(State())
    private let paths: [String]

    init(_ paths: [String] = ReplicaWitness.paths) { self.paths = paths }

    /// How many answers there were.
    var count: Int { state.withLock { $0.count } }

    /// Asks as long as a closure runs.
    func watching<Value>(_ replicas: [Replica], _ body: () async throws -> Value) async throws -> Value {
        let asking = replicas.map { replica in
            Task {
                while !Task.isCancelled {
                    for path in paths { await ask(replica, path) }
                    // The machine has other things to do as well.
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
        }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        for task in asking { task.cancel() }
        for task in asking { await task.value }
        return try result.get()
    }

    private func ask(_ replica: Replica, _ path: String) async {
        guard let digest = await replica.digest(of: path) else { return }
        state.withLock { state in
            state.count += 1
            if state.seen[replica.number]?[path]?.last?.digest != digest {
                state.seen[replica.number, default: [:]][path, default: []].append(
                    Sighting(digest: digest, time: .now))
            }
        }
    }

    /// Expects that each machine served what was signed and nothing else, and nothing older after something newer.
    /// - Parameters:
    ///   - signed: the versions, by path and content.
    ///   - lag: how much later than the first any machine that runs may serve a version; nil where machines are killed.
    func expect(
        _ signed: [String: [ServerFoundation.Digest: Int64]], lag: Duration? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let seen = state.withLock { $0.seen }
        #expect(!seen.isEmpty, sourceLocation: sourceLocation)
        var firsts: [String: [Int64: [Int: ContinuousClock.Instant]]] = [:]
        for (number, paths) in seen {
            for (path, sightings) in paths {
                var last: Int64 = 0
                for sighting in sightings {
                    guard let version = signed[path]?[sighting.digest] else {
                        Issue.record(
                            "machine \(number) served at \(path) what was not signed", sourceLocation: sourceLocation)
                        continue
                    }
                    #expect(
                        version > last, "machine \(number) at \(path): \(version) after \(last)",
                        sourceLocation: sourceLocation)
                    last = version
                    firsts[path, default: [:]][version, default: [:]][number] = sighting.time
                }
            }
        }
        guard let lag else { return }
        for (path, versions) in firsts {
            let numbers = versions.keys.sorted()
            for number in seen.keys {
                for version in numbers {
                    // A machine that has a newer one at once never shows this one.
                    guard let first = versions[version]?.values.min(),
                        let own = numbers.filter({ $0 >= version }).compactMap({ versions[$0]?[number] }).min()
                    else { continue }
                    #expect(
                        own - first <= lag, "machine \(number) at \(path): version \(version) \(own - first) later",
                        sourceLocation: sourceLocation)
                }
            }
        }
    }
}
