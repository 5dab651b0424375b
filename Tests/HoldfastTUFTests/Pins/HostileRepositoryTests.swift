import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// A server that takes requests and answers none of them until it is let go of.
private final class StallingProvider: RemoteDataProvider {
    private let state = Lock<(isOver: Bool, open: [AsyncStream<Void>.Continuation])>((false, []))

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let (silence, continuation) = AsyncStream.makeStream(of: Void.self)
        let isOver = state.withLock { state in
            state.open.append(continuation)
            return state.isOver
        }
        if isOver { continuation.finish() }
        // Ends with the task as well.
        for await _ in silence {}
        throw RemoteDataError(.canceled, expected: "an answer", found: "none")
    }

    func letGo() {
        let open = state.withLock { state in
            state.isOver = true
            return state.open
        }
        for continuation in open { continuation.finish() }
    }
}

@Suite("A repository of pins whose server, or whose signers, are hostile", .timeLimit(.minutes(15)))
struct HostileRepositoryTests {
    @Test("Whichever file is withheld, the update fails and the pins stay", arguments: PinScene.Way.allCases)
    func withheld(way: PinScene.Way) async throws {
        for part in ["timestamp.json", "snapshot.json", "targets.json", "pins.json"] {
            var scene = try PinScene(way)
            let pins = try scene.start()
            try await pins.update()
            try scene.publish(scene.pinFile([scene.entry(active: scene.foreign)]))
            var rest = scene.repository
            rest.files = rest.files.filter { !$0.key.path.hasSuffix(part) }
            var bundle = RepositoryBundle(scene.repository)
            switch part {
            case "timestamp.json": bundle.timestamp = nil
            case "snapshot.json": bundle.snapshot = nil
            case "targets.json": bundle.targets = nil
            default: bundle.pins = nil
            }
            scene.provider.serve(rest, bundle: bundle.json)
            for pins in [pins, try scene.start()] {
                #expect(await pins.refusal()?.metadataCode == .unavailable, "\(part)")
                #expect(pins.state == .fresh)
                #expect(try scene.rejection(pins) == nil)
                #expect(try scene.rejection(pins, PinScene.other) == nil)
            }
            scene.provider.serve(scene.repository)
            try await pins.update(mode: .forced)
            #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == nil)
        }
    }

    @Test(
        "Every file is asked for with a bound, the pin file with its length, and one that is larger is refused",
        arguments: PinScene.Way.allCases)
    func endless(way: PinScene.Way) async throws {
        let scene = try PinScene(way)
        let pins = try scene.start()
        try await pins.update()
        let (limits, length) = (TUFSettings(), try #require(scene.repository.artifacts["pins.json"]).count)
        let bounds = [
            "bundle.json": 16 << 20, "root.json": limits.rootBytes, "timestamp.json": limits.timestampBytes,
            "snapshot.json": limits.snapshotBytes, "targets.json": limits.targetsBytes, "pins.json": length,
        ]
        let requests = scene.provider.requests
        #expect(requests.count == (way == .bundle ? 1 : 5))
        for request in requests {
            let path = request.url.absoluteString
            #expect(bounds.first { path.hasSuffix($0.key) }?.value == request.maximumBytes, "\(path)")
        }
        let endless = Data(repeating: UInt8(ascii: " "), count: 17 << 20)
        for path in scene.provider.asked {
            pins.reset()
            scene.provider.serve(scene.repository)
            scene.provider.serve(endless, as: path)
            let refusal = await pins.refusal()
            let isTooLarge = (refusal?.underlying as? RemoteDataError)?.code == .tooLarge
            #expect(isTooLarge || refusal?.metadataCode == .tooLarge, "\(path): \(String(describing: refusal))")
            #expect(pins.state == .absent)
        }
    }

    @Test(
        "A server that stalls: no decision waits for it, an update ends with its time, and so does a first wait",
        arguments: PinScene.Way.allCases)
    func stalled(way: PinScene.Way) async throws {
        let scene = try PinScene(way)
        try await scene.start().update()
        let stalled = StallingProvider()
        var configuration = try scene.configuration()
        configuration.remoteDataProvider = stalled
        configuration.updateTimeout = .seconds(3_600)
        func start() throws -> PinRepository {
            try PinRepository(checking: configuration, clock: scene.clock, logger: scene.log.logger)
        }
        let renewing = try start()
        scene.clock.set(renewing.nextUpdate)
        for _ in 0..<3 { #expect(try scene.rejection(renewing) == nil) }
        // A connection waits for nothing either, unless a mismatch makes newer pins worth waiting for.
        #expect(renewing.documents.isUpdating)
        #expect(try !renewing.policy(for: PinScene.host).needsPreparation)
        #expect(try scene.rejection(renewing, PinScene.host, scene.foreign) == .pinMismatch)
        #expect(renewing.documents.isUpdating)

        configuration.updateTimeout = .milliseconds(1)
        let limited = try start()
        #expect(await limited.refusal()?.code == .timedOut)
        #expect(try scene.rejection(limited) == nil)

        configuration.updateTimeout = .seconds(3_600)
        configuration.preparationTimeout = .milliseconds(1)
        configuration.secureDataStore = InMemoryDataStore()
        let empty = try start()
        let error = await #expect(throws: StoreError.self) { try await empty.policy(for: PinScene.host).prepare() }
        #expect(error?.code == .networkError && empty.documents.isUpdating)
        #expect(try scene.rejection(empty) == .noUsablePins)
        stalled.letGo()
        for pins in [renewing, empty] { await pins.settle() }
    }

    @Test(
        "Pins count for the host that was dialed, and for none of the certificate's other names",
        arguments: PinScene.Way.allCases)
    func otherHost(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        try scene.publish(scene.pinFile([scene.entry(), scene.entry(PinScene.other, active: scene.foreign)]))
        let pins = try scene.start()
        try await pins.update()
        // Either certificate is valid for every name here.
        for (host, pinned, foreign) in [
            (PinScene.host, scene.leaf, scene.foreign), (PinScene.other, scene.foreign, scene.leaf),
        ] {
            #expect(try scene.rejection(pins, host, pinned) == nil)
            #expect(try scene.rejection(pins, host, foreign) == .pinMismatch)
            #expect(try scene.rejection(pins, "new.example.com", pinned) == .noUsablePins)
        }
        await pins.settle()
    }

    @Test(
        "Entries for hosts that the app does not ask for decide nothing about them", arguments: PinScene.Way.allCases)
    func unaskedHosts(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        try scene.publish(
            scene.pinFile([
                scene.entry(), scene.entry(PinScene.other, active: scene.foreign),
                .retired(try HostPattern("old.example.com")), scene.entry("**.example.com", active: scene.foreign),
            ]))
        let pins = try scene.start()
        try await pins.update()
        #expect(pins.pinFile?.hosts.count == 4)
        let manager = TrustManager(
            policies: [try pins.policy(for: PinScene.host)], unknownHosts: .standardValidation, clock: scene.clock)
        func code(_ host: String, _ certificate: TestCertificate) throws -> TrustFailure.Code? {
            try manager.evaluate(scene.trust(host, certificate)).failure?.code
        }
        for host in [PinScene.other, "old.example.com", "new.example.com"] {
            manager.unknownHosts = .standardValidation
            #expect(try code(host, scene.leaf) == nil)
            manager.unknownHosts = .reject
            #expect(try code(host, scene.leaf) == .noPolicyForHost)
            #expect(try code(host, scene.foreign) == .noPolicyForHost)
        }
        #expect(try code(PinScene.host, scene.leaf) == nil)
        #expect(try code(PinScene.host, scene.foreign) == .pinMismatch)
        await pins.settle()
    }
}
