import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Which timestamps are enough")
struct TransparencyPolicyTests {
    private var scene: TransparencyScene

    init() throws { scene = try TransparencyScene() }

    private static let day: TimeInterval = 86_400

    @Test("Two timestamps of two operators are enough; fewer, of one operator or of one log are not")
    func two() throws {
        #expect(try scene.code(scene.leaf(of: [0, 2])) == nil)
        #expect(try scene.code(scene.leaf(of: [0, 1, 2])) == nil)
        for logs in [[], [0], [0, 1], [2, 2], [0, 0, 1]] {
            #expect(try scene.code(scene.leaf(of: logs)) == .notTransparent, "\(logs)")
        }
        #expect(try scene.objections(scene.leaf(of: [2, 2])) == [nil, "another of this log counts"])
    }

    @Test("Three are needed from a second past 180 days on, both ends counted", arguments: [-1.0, 0, 1])
    func lifetimes(second: TimeInterval) throws {
        let end = CertificateTime.date(Judge.now.addingTimeInterval(180 * Self.day + second - 1))
        func code(_ logs: [Int]) throws -> TrustFailure.Code? {
            try scene.code(
                scene.leaf(of: logs) {
                    $0.notBefore = .hours(0)
                    $0.notAfter = end
                })
        }
        #expect(try code([0, 2]) == (second > 0 ? .notTransparent : nil))
        #expect(try code([0, 1, 2]) == nil)
    }

    @Test("Who operated a log when it gave the timestamp counts, not who does now")
    func operators() throws {
        var scene = scene
        // Log 2 went from One to Two an hour ago, and log 1 from Three to One two hours ago.
        scene.entries[2].entry.formerOperators = [("One", Judge.now.addingTimeInterval(-3_600))]
        scene.entries[1].entry.formerOperators = [
            ("Three", Judge.now.addingTimeInterval(-7_200)), ("Two", Judge.now.addingTimeInterval(-10 * 3_600)),
        ]
        func code(_ first: Int, _ second: Int, hours: Double) throws -> TrustFailure.Code? {
            try scene.code(
                scene.leaf([
                    TestTimestamp(of: scene.logs[first]), TestTimestamp(of: scene.logs[second], at: .hours(hours)),
                ]))
        }
        #expect(try code(0, 2, hours: -1) == nil)
        #expect(try code(0, 2, hours: -1.001) == .notTransparent)
        #expect(try code(0, 1, hours: -2) == .notTransparent)
        #expect(try code(0, 1, hours: -2.001) == nil)
        #expect(try code(2, 1, hours: -10) == nil)
        #expect(try code(0, 1, hours: -10.001) == nil)
    }

    @Test("Logs that are pending, rejected, for tests, or in a state that is not known never count")
    func states() throws {
        var scene = scene
        for (state, type, objection) in [
            ("pending", "prod", "its log is pending"), ("rejected", "prod", "its log is rejected"),
            (nil, "prod", "its log is for tests, or the list does not say where it stands"),
            ("inscrutable", "prod", "its log is for tests, or the list does not say where it stands"),
            ("usable", "test", "its log is for tests, or the list does not say where it stands"),
        ] as [(String?, String, String)] {
            scene.entries[2].entry.state = state
            scene.entries[2].entry.type = type
            #expect(try scene.objections(scene.leaf(of: [0, 2])) == [nil, objection])
        }
        for state in ["qualified", "usable", "readonly"] {
            scene.entries[2].entry.state = state
            scene.entries[2].entry.type = "prod"
            #expect(try scene.code(scene.leaf(of: [0, 2])) == nil, "\(state)")
        }
    }

    @Test("What a log signed before it was retired counts, beside one of a log that is not")
    func retired() throws {
        var scene = scene
        scene.entries[2].entry.state = "retired"
        scene.entries[2].entry.since = Judge.now.addingTimeInterval(-3_600)
        func leaf(_ seconds: Double) throws -> TestCertificate {
            try scene.leaf([
                TestTimestamp(of: scene.logs[0]),
                TestTimestamp(of: scene.logs[2], at: .after(.seconds(seconds - 3_600))),
            ])
        }
        #expect(try scene.code(leaf(-0.001)) == nil)
        #expect(try scene.objections(leaf(0)) == [nil, "its log was retired before it was made"])
        scene.entries[0].entry.state = "retired"
        scene.entries[0].entry.since = Judge.now
        let failure = try #require(try scene.outcome(leaf(-1)).failure)
        #expect(failure.code == .notTransparent && failure.found == "timestamps of retired logs alone")
        #expect(failure.timestamps.allSatisfy { $0.objection == nil })
    }

    @Test("A log counts for certificates that end within its interval, its start included")
    func intervals() throws {
        var scene = scene
        let end = Judge.now.addingTimeInterval(90 * Self.day)
        for (start, stop, isIn) in [(0.0, 1.0, true), (-5, 0, false), (1, 5, false), (5, -5, false)] {
            scene.entries[2].entry.interval = (end.addingTimeInterval(start), end.addingTimeInterval(stop))
            let objection = "its log does not take certificates that end when this one does"
            #expect(try scene.objections(scene.leaf(of: [0, 2])) == (isIn ? [] : [nil, objection]))
        }
    }

    @Test("A timestamp of the future does not count until then")
    func future() throws {
        let leaf = try scene.leaf([
            TestTimestamp(of: scene.logs[0]), TestTimestamp(of: scene.logs[2], at: .after(.seconds(1))),
        ])
        #expect(try scene.objections(leaf) == [nil, "it is of the future"])
        #expect(try scene.outcome(leaf, at: Judge.now.addingTimeInterval(1)).path != nil)
    }

    @Test("Tiled logs count, their timestamps' extensions signed; one that is not can be asked for")
    func tiled() throws {
        var scene = scene
        for place in scene.entries.indices { scene.entries[place].entry.isTiled = true }
        let stamps = [0, 2].map { TestTimestamp(of: scene.logs[$0], extensions: TestTimestamp.leafIndex($0)) }
        #expect(try scene.code(scene.leaf(stamps)) == nil)
        scene.requiresUntiledLog = true
        #expect(try scene.outcome(scene.leaf(stamps)).failure?.found == "timestamps of tiled logs alone")
        scene.entries[0].entry.isTiled = false
        #expect(try scene.code(scene.leaf(stamps)) == nil)
        var changed = stamps
        changed[0].change = { bytes in
            var bytes = bytes
            bytes[1 + 32 + 8 + 2 + 7] ^= 1
            return bytes
        }
        #expect(
            try scene.objections(scene.leaf(changed))
                == ["its signature does not verify under the log's key", nil])
    }

    @Test("A log that the list does not have does not count, nor a timestamp that was made for another certificate")
    func strangers() throws {
        let unknown = try TestTransparencyLog()
        let identifier = Data(unknown.identifier).base64EncodedString()
        let leaf = try scene.leaf([TestTimestamp(of: scene.logs[0]), TestTimestamp(of: unknown)])
        let finding = try #require(try scene.outcome(leaf).failure?.timestamps.last)
        #expect(finding.objection == "the log list does not have its log" && finding.log == "log \(identifier)")
        // The same name, key and logs, and the timestamps of the certificate before.
        let first = try scene.leaf(of: [0, 2])
        let stolen = try X509Certificate(der: first.der)
        let range = try #require(stolen.timestampList)
        let list = TestExtension(.signedCertificateTimestamps, value: Array(stolen.der[range]))
        let second = try scene.leaf([]) { $0.extensions = [list] }
        let verify = "its signature does not verify under the log's key"
        #expect(try scene.objections(second) == [verify, verify])
    }

    @Test("Whatever is wrong with one timestamp, others make up for it")
    func spares() throws {
        var forged = TestTimestamp(of: scene.logs[2])
        forged.signer = try TestKey()
        var cut = TestTimestamp(of: scene.logs[2])
        cut.change = { Array($0.dropLast(3)) }
        let stamps = [cut, forged, TestTimestamp(of: scene.logs[0]), TestTimestamp(of: scene.logs[2])]
        #expect(try scene.code(scene.leaf(stamps)) == nil)
        #expect(try scene.code(scene.leaf(Array(stamps.dropLast()))) == .notTransparent)
    }
}
