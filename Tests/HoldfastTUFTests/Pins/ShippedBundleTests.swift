import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("A bundle that an app ships", .timeLimit(.minutes(15)))
struct ShippedBundleTests {
    /// An app that was built today, with what its repository serves.
    private func built(_ way: PinScene.Way, graceDays: Double = 700) throws -> PinScene {
        var scene = try PinScene(way)
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

    @Test(
        "Without a build date the app starts at any age, offline, and knows the time of the bundle",
        arguments: [0, 15, 60, 400, 800] as [Double])
    func anyAge(days: Double) throws {
        var scene = try PinScene()
        try scene.publish(scene.pinFile(days: 90, graceDays: 0))
        let built = scene.clock.now
        scene.shipped = .init(
            bundle: RepositoryBundle(scene.repository).json, grace: .seconds(2 * 365 * PinScene.day))
        scene.provider.fail()
        scene.clock.advance(by: .seconds(days * PinScene.day))
        let renewed = try scene.authority.renew(scene.leaf)
        let stranger = try scene.authority.impersonate(scene.leaf)
        #expect(try scene.rejection(scene.start(), PinScene.host, renewed) == nil)
        #expect(try scene.rejection(scene.start(), PinScene.host, stranger) == .pinMismatch)
        // A device whose clock was set back goes by the bundle.
        scene.clock.set(Date(timeIntervalSince1970: 0))
        #expect(try scene.start().trustedTime == built)
    }

    @Test("A build date is a constant of the build: the time of the clock is refused at the first start")
    func clockAsBuildDate() throws {
        var scene = try built(.bundle)
        for seconds in [0, 2] as [Double] {
            scene.buildDate = scene.clock.now.addingTimeInterval(-seconds)
            let error = #expect(throws: StoreError.self) { try scene.start() }
            #expect(error?.code == .invalidConfiguration && error?.remedy.contains("Leave buildDate out") == true)
        }
        scene.buildDate = scene.clock.now.addingTimeInterval(-60)
        #expect(try scene.rejection(scene.start()) == nil)
        // A clock that is behind the build.
        scene.buildDate = scene.clock.now.addingTimeInterval(60)
        #expect(try scene.rejection(scene.start()) == nil)
    }

    @Test("It had to be current at its own date, or when the app was built, and to keep to the floor")
    func judgedFromBuildDate() throws {
        var scene = try built(.bundle)
        scene.buildDate = scene.clock.now.addingTimeInterval(11 * PinScene.day)
        let late = #expect(throws: StoreError.self) { try scene.start() }
        #expect(late?.code == .invalidConfiguration && late?.remedy.contains("leave buildDate out") == true)
        scene.buildDate = nil
        _ = try scene.start()
        scene.floor.covered.append(try HostPattern("more.example.com"))
        let error = #expect(throws: StoreError.self) { try scene.start() }
        #expect(error?.code == .invalidConfiguration && error?.floorCode == .hostNotCovered)
        // Issued when its metadata has expired already: a date in milliseconds, for example.
        var other = try PinScene()
        try other.publish(other.pinFile(issuedAt: other.clock.now.addingTimeInterval(12 * PinScene.day)))
        other.shipped = .init(bundle: RepositoryBundle(other.repository).json, grace: .zero)
        #expect(throws: StoreError(.invalidConfiguration, expected: "", found: "")) { try other.start() }
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
        scene.shipped = .init(bundle: RepositoryBundle(scene.repository).json, grace: .zero)
        scene.provider.serve(old)
        let pins = try scene.start()
        #expect(await pins.refusal()?.metadataCode == .rolledBack)
        #expect(try scene.rejection(pins) == nil)
    }
}
