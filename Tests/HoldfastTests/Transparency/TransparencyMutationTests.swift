import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Damaged log lists and timestamps: none crashes or hangs a reader, and none counts for unsigned content.
@Suite("100,000 damaged log lists and lists of timestamps", .timeLimit(.minutes(120)))
struct TransparencyMutationTests {
    private static let mutants = max(100_000, Campaign.mutants)
    private static let textTokens = [
        "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1e5", ".", "-", "\\u0061", "null", "true", " ", "=", "T", "Z",
        "\"logs\":", "\"state\":{", "\"usable\":", "\"retired\":", "\"key\":", "\"log_id\":", "\"tiled_logs\":[",
        "\"previous_operators\":[", "\"temporal_interval\":{", "2030-01-01T00:00:00Z",
    ]

    @Test(
        "A log list is refused with a remedy, or holds at most its logs, each under its own key",
        arguments: Campaign.halves)
    func lists(half: Int) async throws {
        var scene = try TransparencyScene()
        scene.entries[0].entry.formerOperators = [("Three", Judge.now)]
        scene.entries[1].entry.interval = (Judge.now, Judge.now.addingTimeInterval(5))
        scene.entries[2].entry.isTiled = true
        var list = try TestLogList(issuedAt: Judge.now)
        for one in scene.entries { list.operators[one.operatorName, default: []].append(one.entry) }
        let refused = #"{"log_list_timestamp":5,"operators":[{"name":7,"logs":{}},{"logs":[{"key":"x","log_id":[]}]}]}"#
        let known = Set(scene.logs.map(\.identifier))
        try await Campaign(
            accepted: [Array(list.json)], refused: [Array(refused.utf8)], tokens: Self.textTokens.map { Array($0.utf8) }
        ).run(half: half, seed: 210, mutants: Self.mutants) { bytes in
            let read: TransparencyLogList
            do throws(DocumentError) {
                read = try TransparencyLogList(json: Data(bytes))
            } catch {
                if error.remedy != LogListReader.remedy { Issue.record("\(bytes): \(error)") }
                return false
            }
            let isKnown = read.logs.allSatisfy { known.contains($0.identifier) }
            if read.logs.count > 3 || !isKnown { Issue.record("\(bytes): logs that the list does not have") }
            return true
        }
    }

    @Test("A list of timestamps is refused, or holds whole timestamps of its own octets", arguments: Campaign.halves)
    func timestamps(half: Int) async throws {
        let scene = try TransparencyScene()
        let leaf = try X509Certificate(der: scene.leaf(of: [0, 1, 2]).der)
        let accepted = Array(leaf.der[try #require(leaf.timestampList)])
        let precertificate = try Precertificate(of: leaf, issuedBy: X509Certificate(der: scene.root.root))
        try await Campaign(
            accepted: [accepted], refused: [[4, 0x82, 9, 9, 5, 5, 7, 7, 9, 9]],
            tokens: [[0], [0, 0], [0, 47], [0xFF, 0xFF], [4, 3, 0, 71], [4, 0x81]]
        ).run(half: half, seed: 211, mutants: Self.mutants) { bytes in
            guard let readings = try? SignedCertificateTimestamp.readAll(0..<bytes.count, of: bytes) else {
                return false
            }
            var length = 0
            for case .timestamp(let one) in readings {
                length += 47 + one.extensions.count + one.signature.count
                let content = 2 + 8 + 2 + 32 + 3 + precertificate.toBeSigned.count + 2 + one.extensions.count
                if one.signedContent(of: precertificate).count != content { Issue.record("\(bytes)") }
            }
            if length > bytes.count { Issue.record("\(bytes): more than was given") }
            return true
        }
    }

    @Test("A damaged certificate has enough timestamps only where logs signed all of the rest")
    func certificates() async throws {
        let scene = try TransparencyScene()
        let demand = try #require(try scene.transparency.demand)
        let root = try X509Certificate(der: scene.root.root)
        let leaf = try scene.leaf(of: [0, 1, 2]).der
        let original = try Precertificate(of: X509Certificate(der: leaf), issuedBy: root).toBeSigned
        let bare = try scene.leaf([]).der
        for half in Campaign.halves {
            try await Campaign(accepted: [leaf], refused: [bare], tokens: [[0], [5, 0], [0x30, 0x82], [4, 3]]).run(
                half: half, seed: 212
            ) { bytes in
                guard let certificate = try? X509Certificate(der: bytes) else { return false }
                var meter = WorkMeter(ValidationLimits())
                let violation = TransparencyCheck.violation(
                    of: certificate, issuedBy: root, asking: demand, at: Judge.now.wholeSeconds, meter: &meter)
                if meter.effort.signatures > 3 { Issue.record("\(bytes): a signature twice") }
                guard violation == nil else { return false }
                let precertificate = try Precertificate(of: certificate, issuedBy: root)
                if precertificate.toBeSigned != original { Issue.record("\(bytes): accepted for another") }
                return true
            }
        }
    }
}
