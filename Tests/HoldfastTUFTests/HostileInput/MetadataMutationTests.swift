import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// Damaged metadata, 10,000 of each role or as many as `HOLDFAST_MUTANTS` says: none is accepted unless the bytes
/// that are signed stay the same.
@Suite("Mutations of metadata", .timeLimit(.minutes(120)))
struct MetadataMutationTests {
    private static let mutants =
        ProcessInfo.processInfo.environment["HOLDFAST_MUTANTS"].flatMap { Int($0) } ?? 10_000
    private static let tokens = [
        "{", "}", "[", "]", ",", ":", "\"", "\\u0061", "\\", "null", "true", "1", "0", "-", "1.0", "1e9", " ",
        "\"signed\":", "\"signatures\":[],", "\"version\":2,", "\"_type\":\"root\",", "\"keyid\":\"",
        "9007199254740993",
    ].map { Array($0.utf8) }

    @Test(
        "that are signed: accepted only with the same signed octets",
        arguments: ["root", "timestamp", "snapshot", "targets"])
    func signed(role: String) async throws {
        var repository = try TestRepository()
        repository.delegate(to: "A", key: try TestSigner(.ecdsa), paths: ["*/x?", "[a-z]"])
        repository.delegate(to: "B", key: try TestSigner(), paths: nil, hashPrefixes: ["0", "ab"])
        repository.addTarget("x", Data("x".utf8))
        try repository.publishAll(increment: false)
        let original = Array(try repository.signed(role))
        let file = try SignedFile(original, maximumBytes: .max)
        let root = try RootMetadata(try SignedFile(Array(try repository.signed("root")), maximumBytes: .max))
        let meter = WorkMeter(TUFSettings())
        let delegator =
            role == "root"
            ? root.root : role == "timestamp" ? root.timestamp : role == "snapshot" ? root.snapshot : root.targets
        var generator = SplitMix64(seed: 1_601)
        var accepted = 0
        for round in 0..<Self.mutants {
            if round % 256 == 255 { await Task.yield() }
            let mutant = generator.mutated(original, tokens: Self.tokens)
            guard let read = try? SignedFile(mutant, maximumBytes: 100_000),
                (try? delegator.verify(read, section: "", meter: meter)) != nil
            else { continue }
            accepted += 1
            if read.canonical != file.canonical { Issue.record("accepted: \(String(decoding: mutant, as: UTF8.self))") }
        }
        #expect(accepted > 0 && accepted < Self.mutants / 2)
    }

    @Test("that nobody signed: each is read, or refused with a reason")
    func read() async throws {
        var repository = try TestRepository()
        repository.delegate(to: "A", key: try TestSigner(.rsaPSS), paths: ["*/x?", "[a-z]"])
        repository.delegate(to: "B", key: try TestSigner(.ecdsaInHexadecimal), paths: nil, hashPrefixes: ["0", "ab"])
        repository.addTarget("x", Data("x".utf8))
        try repository.publishAll(increment: false)
        let originals = try ["root", "timestamp", "snapshot", "targets"].map { Array(try repository.signed($0)) }
        let meter = WorkMeter(TUFSettings())
        var generator = SplitMix64(seed: 1_602)
        var (read, refused) = (0, 0)
        for round in 0..<Self.mutants {
            if round % 256 == 255 { await Task.yield() }
            let kind = round % originals.count
            let mutant = generator.mutated(originals[kind], tokens: Self.tokens)
            do throws(TUFError) {
                try MetadataReader.read(mutant, meter: meter)
                read += 1
            } catch {
                refused += 1
                if error.description.utf8.count > 1_000 {
                    Issue.record("a message of \(error.description.utf8.count) octets")
                }
            }
        }
        #expect(read > 0 && refused > 0)
    }
}
