import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("A bundle that an app ships", .timeLimit(.minutes(15)))
struct ShippedBundleTests {
    /// An app that was built today, with what its repository serves.
    private func built(_ way: PinScene.Way, graceDays: Double = 700) throws -> PinScene {
        var scene = try PinScene(way)
        scene.buildDate = scene.clock.now
        scene.shipped = .init(
            bundle: RepositoryBundle(scene.repository).json, grace: .seconds(graceDays * PinScene.day))
        return scene
    }

    @Test(
        "A year-old build launches with its pins, enforces them, and updates itself", arguments: PinScene.Way.allCases)
    func yearOld(way: PinScene.Way) async throws {
        var scene = try built(way)
        scene.clock.advance(by: .seconds(365 * PinScene.day))
        scene.provider.fail()
        let renewed = try scene.authority.renew(scene.leaf)
        let stranger = try scene.authority.impersonate(scene.leaf)
        func code(_ pins: PinRepository, _ certificate: TestCertificate) throws -> TrustFailure.Code? {
            try scene.rejection(pins, PinScene.host, certificate)
        }
        let pins = try scene.start()
        #expect(pins.state == .grace && scene.provider.requests.isEmpty)
        #expect(try code(pins, renewed) == nil)
        #expect(try code(pins, stranger) == .pinMismatch)
        await pins.settle()
        #expect(pins.lastUpdate?.error?.code == .networkError)
        scene.provider.fail(false)
        try scene.publish(scene.pinFile([scene.entry(active: stranger)]))
        try await pins.update(mode: .forced)
        for pins in [pins, try scene.start()] {
            #expect(pins.state == .fresh)
            #expect(try code(pins, stranger) == nil)
            #expect(try code(pins, renewed) == .pinMismatch)
        }
    }

    @Test("Its grace is its own: past it nobody is trusted, until an update", arguments: PinScene.Way.allCases)
    func grace(way: PinScene.Way) async throws {
        var scene = try built(way, graceDays: 300)
        scene.clock.advance(by: .seconds(331 * PinScene.day))
        scene.provider.fail()
        let pins = try scene.start()
        #expect(pins.state == .expired)
        #expect(try scene.rejection(pins) == .pinsExpired)
        await pins.settle()
        scene.provider.fail(false)
        try scene.publish()
        try await pins.update(mode: .forced)
        #expect(pins.state == .fresh)
    }

    @Test("It had to be current when the app was built, and to keep to the floor")
    func judgedFromBuildDate() throws {
        var scene = try built(.bundle)
        scene.buildDate = scene.clock.now.addingTimeInterval(11 * PinScene.day)
        #expect(throws: StoreError(.invalidConfiguration, expected: "", found: "")) { try scene.start() }
        scene.buildDate = nil
        #expect(throws: StoreError(.invalidConfiguration, expected: "", found: "")) { try scene.start() }
        scene.buildDate = scene.clock.now
        scene.floor.covered.append(try HostPattern("more.example.com"))
        let error = #expect(throws: StoreError.self) { try scene.start() }
        #expect(error?.code == .invalidConfiguration && error?.floorCode == .hostNotCovered)
    }

    @Test("What was downloaded later counts; a later build's bundle beats an earlier download; a reset goes back to it")
    func precedence() async throws {
        var scene = try built(.bundle)
        try scene.publish(scene.pinFile([scene.entry(active: scene.foreign)]))
        let pins = try scene.start()
        #expect(try scene.rejection(pins) == nil)
        await pins.settle()
        try await pins.update(mode: .forced)
        #expect(try scene.rejection(scene.start()) == .pinMismatch)
        pins.reset()
        #expect(try scene.rejection(pins) == nil)
        await pins.settle()
        try await pins.update(mode: .forced)
        // The next build, which never asked for anything.
        try scene.publish()
        scene.shipped = .init(bundle: RepositoryBundle(scene.repository).json, grace: .zero)
        scene.provider.fail()
        let next = try scene.start()
        #expect(try scene.rejection(next) == nil)
        await next.settle()
    }

    @Test("A rollback behind what was shipped is refused by the first update", arguments: PinScene.Way.allCases)
    func rollback(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let old = scene.repository
        try scene.publish()
        scene.buildDate = scene.clock.now
        scene.shipped = .init(bundle: RepositoryBundle(scene.repository).json, grace: .zero)
        scene.provider.serve(old)
        let pins = try scene.start()
        #expect(await pins.refusal()?.metadataCode == .rolledBack)
        #expect(try scene.rejection(pins) == nil)
    }
}
