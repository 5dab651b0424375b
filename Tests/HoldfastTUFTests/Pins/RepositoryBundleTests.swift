import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("bundle.json", .timeLimit(.minutes(15)))
struct RepositoryBundleTests {
    private static let mutants =
        ProcessInfo.processInfo.environment["HOLDFAST_MUTANTS"].flatMap { Int($0) } ?? 10_000
    private static let tokens = [
        "{", "}", "[", "]", ",", ":", "\"", "\\u0041", "null", "1", "0", "-1", "1.0", " ", "\"roots\":[],", "=", "AAAA",
        "\"firstRoot\":2,", "\"schema\":2,", "\"pins\":\"\",", "9007199254740993",
    ].map { Array($0.utf8) }

    private func read(_ text: String) throws(TUFError) -> RepositoryBundle {
        try RepositoryBundle(Array(text.utf8), maximumBytes: 1 << 20)
    }

    private func refusal(_ text: String) -> TUFError.Code? {
        do throws(TUFError) {
            _ = try read(text)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("What is written reads back equal, and unknown fields are ignored")
    func roundTrip() throws {
        let scene = try PinScene()
        let bundle = RepositoryBundle(scene.repository)
        #expect(bundle.roots.count == 1 && bundle.pins != nil)
        #expect(try RepositoryBundle([UInt8](bundle.json), maximumBytes: 1 << 20) == bundle)
        let read = try read(
            #"{"new":[{"a":[1]}],"pins":"AQID","roots":["AQ==","Ag=="],"firstRoot":7,"schema":1}"#)
        #expect(read.root(version: 7) == Data([1]) && read.root(version: 8) == Data([2]))
        #expect(read.root(version: 6) == nil && read.root(version: 9) == nil && read.root(version: .max) == nil)
        #expect(read.pins == Data([1, 2, 3]) && read.timestamp == nil)
    }

    @Test("Text with two readings, other schemas and what is too large are refused")
    func refused() throws {
        let good = #""schema":1,"firstRoot":1,"roots":[]"#
        #expect(refusal("{\(good)}") == nil)
        for text in [
            "{\(good),\"roots\":[]}", "{\(good),\"r\\u006fots\":[]}", "{\"schema\":2,\"firstRoot\":1,\"roots\":[]}",
            "{\"firstRoot\":1,\"roots\":[]}", "{\"schema\":1,\"roots\":[]}", "{\"schema\":1,\"firstRoot\":0}",
            "{\(good),\"pins\":\"AQI\"}", "{\(good),\"pins\":\"AR==\"}", "{\(good),\"pins\":\"AQ==\\n\"}",
            "{\(good),\"pins\":null}", "{\(good)} {}", "[]", "", "{\"schema\":1.0,\"firstRoot\":1}",
            "{\"schema\":1,\"firstRoot\":1,\"roots\":[\(Array(repeating: "\"\"", count: 1_025).joined(separator: ","))]}",
        ] { #expect(refusal(text) == .malformed, "\(text.prefix(80))") }
        #expect(throws: TUFError(.tooLarge, expected: "", found: "")) {
            try RepositoryBundle(Array("{\(good)}".utf8), maximumBytes: 8)
        }
    }

    @Test("A file that is missing is one that the repository does not have")
    func missing() async throws {
        let scene = try PinScene()
        for part in ["timestamp", "snapshot", "targets", "pins"] {
            var bundle = RepositoryBundle(scene.repository)
            switch part {
            case "timestamp": bundle.timestamp = nil
            case "snapshot": bundle.snapshot = nil
            case "targets": bundle.targets = nil
            default: bundle.pins = nil
            }
            scene.provider.serve(scene.repository, bundle: bundle.json)
            let pins = try scene.start()
            #expect(await pins.refusal()?.metadataCode == .unavailable)
            #expect(pins.state == .absent)
            pins.reset()
        }
    }

    @Test("A bundle that begins with a later root serves the builds that have one as new, and no older one")
    func laterRoots() async throws {
        var scene = try PinScene()
        for _ in 0..<3 { try scene.repository.publish("root", increment: true) }
        try scene.publish()
        for (first, isEnough) in [(2 as Int64, true), (3, false)] {
            scene.repository.setKeys(of: "timestamp", [try TestSigner()])
            try scene.repository.publish("root", increment: true)
            try scene.publish()
            scene.provider.serve(
                scene.repository, bundle: RepositoryBundle(scene.repository, firstRoot: first).json)
            let pins = try scene.start()
            let refusal = await pins.refusal()
            #expect((refusal == nil) == isEnough)
            pins.reset()
        }
    }

    @Test("A bundle is made of a repository's files: the roots after the oldest build's, and what was verified")
    func made() async throws {
        var scene = try PinScene()
        let oldest = try #require(scene.repository.served("1.root.json"))
        for _ in 0..<3 { try scene.repository.publish("root", increment: true) }
        try scene.publish()
        let source = ScriptedSource(scene.repository)
        let made = try await PinBundle.data(of: source, root: oldest, clock: scene.clock)
        #expect(made == RepositoryBundle(scene.repository, firstRoot: 2).json)
        scene.provider.serve(scene.repository, bundle: made)
        let pins = try scene.start()
        #expect(await pins.refusal() == nil)
        // Two roots later, as a later build ships it.
        let later = try #require(scene.repository.served("3.root.json"))
        let shipped = try await PinBundle.data(of: source, root: later, clock: scene.clock)
        #expect(shipped == RepositoryBundle(scene.repository, firstRoot: 4).json)
    }

    @Test("Nothing is made of a repository that its clients refuse")
    func notMade() async throws {
        var scene = try PinScene()
        let root = try #require(scene.repository.served("1.root.json"))
        func refusal() async -> TUFError.Code? {
            do throws(TUFError) {
                _ = try await PinBundle.data(of: ScriptedSource(scene.repository), root: root, clock: scene.clock)
                return nil
            } catch {
                return error.code
            }
        }
        scene.clock.advance(by: .seconds(11 * PinScene.day))
        #expect(await refusal() == .expired)
        try scene.renew()
        #expect(await refusal() == nil)
        scene.repository.signers["targets"] = [try TestSigner()]
        try scene.renew()
        #expect(await refusal() == .notSigned)
    }

    @Test("Mutations: none proves other pins, or the same by other versions; each is taken or refused with a reason")
    func mutations() async throws {
        let scene = try PinScene()
        let configuration = try scene.configuration()
        let original = [UInt8](RepositoryBundle(scene.repository).json)
        func proved(_ octets: [UInt8]) throws(StoreError) -> VerifiedPins {
            let bundle: RepositoryBundle
            do throws(TUFError) {
                bundle = try RepositoryBundle(octets, maximumBytes: 1 << 20)
            } catch {
                throw StoreError(error)
            }
            return try VerifiedPins(
                proving: bundle, configuration, at: UpdateStart(scene.clock.now), issuedUpTo: .distantFuture)
        }
        let expected = try proved(original)
        var generator = SplitMix64(seed: 1_603)
        var (accepted, refused) = (0, 0)
        for round in 0..<Self.mutants {
            if round % 256 == 255 { await Task.yield() }
            let mutant = generator.mutated(original, tokens: Self.tokens)
            do throws(StoreError) {
                let found = try proved(mutant)
                accepted += 1
                if found.bundle.pins != expected.bundle.pins || found.versions != expected.versions {
                    Issue.record("accepted: \(String(decoding: mutant, as: UTF8.self))")
                }
            } catch {
                refused += 1
                if error.description.utf8.count > 1_000 { Issue.record("a long message: \(error)") }
            }
        }
        #expect(accepted > 0 && refused > accepted)
    }
}
