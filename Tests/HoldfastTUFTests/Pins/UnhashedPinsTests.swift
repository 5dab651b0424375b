import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// A signed target that no known hash covers: the server or the transport would choose its content.
@Suite("Pins that no hash covers", .timeLimit(.minutes(15)))
struct UnhashedPinsTests {
    private static let hashes: [[String: String]] = [["blake2b-256": String(repeating: "0a", count: 32)], [:]]

    /// A repository whose targets role signs the length of the pin file and these hashes.
    private func scene(_ way: PinScene.Way, _ hashes: [String: String]) throws -> PinScene {
        var scene = try PinScene(way)
        let file = try scene.pinFile([scene.entry(active: scene.foreign)]).json
        scene.repository.addTarget("pins.json", file)
        scene.repository.change("targets") {
            $0["targets"] = ["pins.json": ["length": file.count, "hashes": hashes] as [String: Any]]
        }
        try scene.renew()
        return scene
    }

    @Test("are refused on every way to them", arguments: PinScene.Way.allCases, hashes)
    func refused(way: PinScene.Way, hashes: [String: String]) async throws {
        var scene = try scene(way, hashes)
        let pins = try scene.start()
        let error = await pins.refusal()
        #expect(error?.metadataCode == .malformed, "\(String(describing: error))")
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == .noUsablePins)
        let bundle = RepositoryBundle(scene.repository).json
        // In a bundle that an app ships, one that an operator makes, and one that is inspected.
        scene.shipped = .init(bundle: bundle, grace: .zero)
        #expect(throws: StoreError(.invalidConfiguration, expected: "", found: "")) { try scene.start() }
        let root = try #require(scene.repository.served("1.root.json"))
        let read = try RepositoryBundle([UInt8](bundle), maximumBytes: 1 << 20)
        let clock = scene.clock
        await #expect(throws: TUFError(.malformed, expected: "", found: "")) {
            try await PinBundle.data(of: BundleSource(bundle: read), root: root, clock: clock)
        }
        #expect(throws: TUFError.self) { try read.prove(from: root, at: clock.now) }
        #expect(throws: StoreError.self) { try PinBundle.proved(bundle, root: root, clock: clock) }
    }

    @Test("do not take the place of pins that are there", arguments: hashes)
    func replacing(hashes: [String: String]) async throws {
        var scene = try PinScene()
        let pins = try scene.start()
        try await pins.update(mode: .forced)
        let file = try scene.pinFile([scene.entry(active: scene.foreign)]).json
        scene.repository.addTarget("pins.json", file)
        scene.repository.change("targets") {
            $0["targets"] = ["pins.json": ["length": file.count, "hashes": hashes] as [String: Any]]
        }
        try scene.renew()
        #expect(await pins.refusal()?.metadataCode == .malformed)
        for pins in [pins, try scene.start()] {
            #expect(try scene.rejection(pins) == nil)
            #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == .pinMismatch)
        }
    }

    @Test("are no target at all, whoever verifies them")
    func description() throws {
        for hashes in Self.hashes {
            let json = try JSONSerialization.data(withJSONObject: ["length": 1, "hashes": hashes])
            var comparisons = 1_000
            let tree = try JSONTree([UInt8](json), maximumBytes: 1 << 10, comparisons: &comparisons)
            let fields = try Fields(tree, "target")
            let description = try FileDescription(fields, isTarget: true)
            #expect(!description.matches([0x78]))
            #expect(throws: TUFError(.malformed, expected: "", found: "")) {
                try TUFTarget(name: "x", description: description)
            }
        }
    }
}
