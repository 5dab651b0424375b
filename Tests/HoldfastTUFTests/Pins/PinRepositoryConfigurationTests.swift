import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// Settings of a repository that no other test is about: a test here fails if one is ignored.
@Suite("A repository's configuration", .timeLimit(.minutes(15)))
struct PinRepositoryConfigurationTests {
    private func pins(
        _ scene: PinScene, _ change: (inout PinRepositoryConfiguration) -> Void
    ) throws -> PinRepository {
        var configuration = try scene.configuration()
        change(&configuration)
        return try PinRepository(checking: configuration, clock: scene.clock, logger: scene.log.logger)
    }

    @Test("Without more than a source, a root and a floor it has the usual settings")
    func defaults() throws {
        let url = try #require(URL(string: "https://pins.example.com/bundle.json"))
        let configuration = PinRepositoryConfiguration(
            source: .bundle(url), root: Data([1]), floor: PinFloor(covering: []))
        #expect(configuration.target == "pins.json" && configuration.application == nil)
        #expect(configuration.buildDate == nil && configuration.shipped == nil)
        #expect(configuration.limits == TUFSettings() && configuration.maximumBundleBytes == 16 << 20)
        #expect(configuration.updateInterval == .seconds(604_800) && configuration.mismatchInterval == .seconds(300))
        #expect(configuration.preparationTimeout == .seconds(10) && configuration.updateTimeout == .seconds(120))
        #expect(!configuration.allowsPlainHTTP)
        let provider = try #require(configuration.remoteDataProvider as? URLSessionDataProvider)
        #expect(provider.answerLimit == .seconds(15) && provider.wholeLimit == .seconds(60))
        #expect(!provider.allowsPlainHTTPToLoopback)
        let storage = try #require(configuration.secureDataStore as? FileDataStore)
        #expect(storage.folder == FileDataStore.defaultFolder && storage.maximumBytes == 64 << 20)
        let limits = TUFSettings()
        #expect(limits.rootRotations == 64 && limits.delegations == 16 && limits.patternSteps == 10_000_000)
        #expect(limits.rootBytes == 131_072 && limits.timestampBytes == 8_192 && limits.snapshotBytes == 524_288)
        #expect(limits.targetsBytes == 1_048_576 && limits.targetBytes == 8_388_608)
    }

    @Test("After a mismatch the next one waits as long as it is set, by default for five minutes")
    func mismatchInterval() async throws {
        for (interval, seconds) in [(nil, 300), (60, 60), (900, 900)] as [(Int?, Int)] {
            let scene = try PinScene()
            let pins = try pins(scene) { if let interval { $0.mismatchInterval = .seconds(interval) } }
            try await pins.update()
            func requests(after pause: Int) async throws -> Int {
                scene.clock.advance(by: .seconds(pause))
                #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == .pinMismatch)
                await pins.settle()
                return scene.provider.requests.count
            }
            let first = try await requests(after: 0)
            #expect(try await requests(after: seconds - 1) == first)
            #expect(try await requests(after: 2) == first + 1)
        }
    }

    @Test("A bundle may have as many octets as it is set, and the provider is told")
    func maximumBundleBytes() async throws {
        for (missing, isTaken) in [(0, true), (1, false)] {
            let scene = try PinScene()
            let bundle = RepositoryBundle(scene.repository).json
            scene.provider.serve(bundle, as: "bundle.json")
            let pins = try pins(scene) { $0.maximumBundleBytes = bundle.count - missing }
            #expect(((try? await pins.update()) != nil) == isTaken)
            #expect(scene.provider.requests.first?.maximumBytes == bundle.count - missing)
        }
    }

    @Test("Plain HTTP is refused until it is allowed")
    func plainHTTP() throws {
        let scene = try PinScene()
        let url = try #require(URL(string: "http://pins.example.com/bundle.json"))
        for isAllowed in [nil, true, false] as [Bool?] {
            let made = try? pins(scene) {
                $0.source = .bundle(url)
                if let isAllowed { $0.allowsPlainHTTP = isAllowed }
            }
            #expect((made != nil) == (isAllowed == true))
        }
    }
}
