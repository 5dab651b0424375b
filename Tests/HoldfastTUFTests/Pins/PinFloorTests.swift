import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("The floor of an app", .timeLimit(.minutes(15)))
struct PinFloorTests {
    private func report(_ url: String) throws -> PinFile.Report { try PinFile.Report(url: url) }

    @Test("A document below it changes nothing, whoever signed it", arguments: PinScene.Way.allCases)
    func below(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        scene.floor.allowedHosts = [try HostPattern("**.example.com")]
        scene.floor.allowedReportHosts = [try HostPattern("reports.example.net")]
        scene.application = "com.example.bank"
        let app = "com.example.bank"
        try scene.publish(scene.pinFile(app: app))
        let pins = try scene.start()
        try await pins.update()
        let far = try report("https://reports.example.org/pins")
        let cases: [(PinFile, PinFloorError.Code)] = [
            (try scene.pinFile([scene.entry(PinScene.other)], app: app), .hostNotCovered),
            (try scene.pinFile([], app: app), .hostNotCovered),
            (try scene.pinFile([scene.entry("*.api.example.com")], app: app), .hostNotCovered),
            (try scene.pinFile([scene.entry(), scene.entry("example.org")], app: app), .hostNotAllowed),
            (try scene.pinFile([scene.entry(report: far)], app: app), .reportHostNotAllowed),
            (try scene.pinFile([scene.entry(enforcement: .reportOnly)], app: app), .notEnforced),
            (
                try scene.pinFile([scene.entry("**.example.com", enforcement: .reportOnly), scene.entry()], app: app),
                .notEnforced
            ),
            (try scene.pinFile([scene.entry(afterExpiry: .standardValidation)], app: app), .notEnforced),
            (try scene.pinFile(days: 400, graceDays: 1, app: app), .validTooLong),
            (try scene.pinFile(days: 1, graceDays: 3_650, app: app), .validTooLong),
            (try scene.pinFile(app: "com.example.game"), .otherApplication),
            (try scene.pinFile(), .otherApplication),
        ]
        for (file, code) in cases {
            try scene.publish(file)
            let error = await pins.refusal()
            #expect(error?.floorCode == code && error?.code == .invalidData)
            #expect(try scene.rejection(pins) == nil)
            #expect(pins.pinFile?.hosts.count == 2)
        }
        // One key, or two of which none stands by.
        for active in [scene.leaf, scene.backup] {
            try scene.publish(scene.pinFile([scene.entry(active: active, withBackup: false)], app: app))
            let error = await pins.refusal()
            #expect((error?.underlying as? PinFileError)?.code == .missingBackup)
        }
    }

    @Test("A pattern that shares hosts with a covered one cannot only report on them")
    func overlap() throws {
        let scene = try PinScene()
        for (covered, reported) in [
            ("*.example.com", "**.b.example.com"), ("**.b.example.com", "*.example.com"),
            ("**.example.com", "a.example.com"), ("a.example.com", "*.example.com"),
        ] {
            let floor = PinFloor(covering: [try HostPattern(covered)])
            let file = try scene.pinFile([scene.entry(covered), scene.entry(reported, enforcement: .reportOnly)])
            let error = #expect(throws: PinFloorError.self) { try floor.check(file) }
            #expect(error?.code == .notEnforced, "\(covered) \(reported)")
        }
        let floor = PinFloor(covering: [try HostPattern("*.example.com")])
        for apart in ["**.example.org", "a.b.example.com", "*.b.example.com"] {
            try floor.check(
                try scene.pinFile([scene.entry("*.example.com"), scene.entry(apart, enforcement: .reportOnly)]))
        }
    }

    @Test("What keeps to it is taken: retired hosts and wider patterns count as covered")
    func above() async throws {
        var scene = try PinScene()
        scene.floor.covered.append(try HostPattern("*.shop.example.com"))
        scene.floor.allowedReportHosts = [try HostPattern("**.example.net")]
        let report = try report("https://reports.example.net/pins")
        let files = [
            try scene.pinFile([scene.entry("**.example.com", report: report)], days: 300, graceDays: 100),
            try scene.pinFile([scene.entry(), scene.entry("*.shop.example.com")]),
            try scene.pinFile([scene.entry(), .retired(try HostPattern("**.shop.example.com"))]),
            try scene.pinFile([
                .retired(try HostPattern(PinScene.host)), scene.entry("**.shop.example.com"),
                scene.entry("www.example.org", enforcement: .reportOnly),
            ]),
        ]
        let pins = try scene.start()
        for file in files {
            try scene.publish(file)
            try await pins.update(mode: .forced)
            #expect(pins.pinFile == file)
        }
        #expect(try scene.rejection(pins) == .hostRetired)
    }

    @Test("Signatures of algorithms that it leaves out count for nothing")
    func algorithms() async throws {
        for (spelling, isAllowed) in [(TestSigner.Spelling.rsaPKCS1, false), (.rsaPSS, true), (.ecdsa384, true)] {
            var scene = try PinScene()
            scene.repository.setKeys(of: "targets", [try TestSigner(spelling)])
            try scene.repository.publish("root")
            try scene.publish()
            let pins = try scene.start()
            #expect(await pins.refusal()?.code == (isAllowed ? nil : .unsupportedAlgorithm))
            scene.floor.signatureSchemes = Set(TUFSettings.SignatureScheme.allCases)
            let lenient = try scene.start()
            #expect(await lenient.refusal() == nil)
        }
    }
}
