#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite(
    "Timestamps beside openssl s_client -ct",
    .needs(.openSSL), .timeLimit(.minutes(15)))
struct TransparencyOpenSSLTests {
    /// The status that openssl reports for each timestamp of a certificate that its own server presents.
    private func statuses(
        _ leaf: TestCertificate, trusting root: [UInt8], _ logs: [TestTransparencyLog]
    ) async throws -> [String] {
        guard let program = OpenSSLProgram.url else { throw OpenSSLProgram.missing }
        return try await withTemporaryFolder { folder in
            func write(_ name: String, _ text: String) throws {
                try Data(text.utf8).write(to: folder.appending(path: name))
            }
            try write("leaf.pem", leaf.pem)
            try write("key.pem", leaf.key.privateKeyPEM)
            try write("root.pem", TestCertificate.pem(root))
            let sections = logs.enumerated().map { index, log in
                "[log\(index)]\ndescription = \(log.name)\n"
                    + "key = \(Data(log.key.subjectPublicKeyInfoDER).base64EncodedString())\n"
            }
            let names = logs.indices.map { "log\($0)" }.joined(separator: ",")
            try write("logs.cnf", "enabled_logs = \(names)\n\n" + sections.joined(separator: "\n"))
            let server = try GuardedProcess(
                program,
                [
                    "s_server", "-accept", "127.0.0.1:0", "-cert", "leaf.pem", "-key", "key.pem", "-www",
                    "-no-CAfile", "-no-CApath", "-no-CAstore",
                ], in: folder, limit: .seconds(300))
            let line = try await server.firstLine(startingWith: "ACCEPT ")
            let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
            let client = try await OpenSSLProgram.run(
                [
                    "s_client", "-connect", "127.0.0.1:\(port)", "-servername", Judge.host, "-CAfile", "root.pem",
                    "-ct", "-ctlogfile", "logs.cnf",
                ], in: folder, limit: .seconds(300))
            server.end()
            let prefix = "SCT validation status: "
            // OpenSSL takes them from the end of its list.
            return client.text.split(separator: "\n").filter { $0.hasPrefix(prefix) }
                .map { String($0.dropFirst(prefix.count)) }.reversed()
        }
    }

    /// The same of ours, in openssl's words.
    private func ours(_ leaf: TestCertificate, issuedBy root: [UInt8], _ logs: [TestTransparencyLog]) throws -> [String]
    {
        let leaf = try X509Certificate(der: leaf.der)
        let list = TransparencyLogList(
            try logs.map {
                try TransparencyLog(
                    name: $0.name, key: $0.key.subjectPublicKeyInfoDER, operatorName: "One", state: .usable)
            }, issuedAt: .distantPast)
        let precertificate = try Precertificate(of: leaf, issuedBy: X509Certificate(der: root))
        let now = SystemWallClock().now.wholeSeconds
        return try SignedCertificateTimestamp.readAll(try #require(leaf.timestampList), of: leaf.der).map { reading in
            switch reading {
            case .malformed: return "malformed"
            case .otherVersion: return "unknown version"
            case .timestamp(let timestamp):
                let log = list.log(withIdentifier: timestamp.logIdentifier)
                guard let log else { return "unknown log" }
                let objection = TransparencyCheck.objection(to: timestamp, of: log, for: leaf, at: now)
                return objection == nil && log.check(timestamp, for: precertificate) == .valid ? "valid" : "invalid"
            }
        }
    }

    @Test("openssl's status of each timestamp is ours")
    func statuses() async throws {
        let root = try TestAuthority.root()
        let logs = [
            try TestTransparencyLog(name: "P-256"),
            try TestTransparencyLog(name: "RSA", key: .sharedRSA(bits: 2_048, index: 0)),
        ]
        let stranger = try TestTransparencyLog(name: "Unknown")
        var forged = TestTimestamp(of: logs[0])
        forged.signer = stranger.key
        var later = TestTimestamp(of: logs[0])
        later.change = { bytes in
            var bytes = bytes
            bytes[40] ^= 1
            return bytes
        }
        var other = TestTimestamp(of: logs[0])
        other.version = 1
        let stamps = [
            TestTimestamp(of: logs[0]), TestTimestamp(of: logs[1]),
            TestTimestamp(of: logs[0], extensions: TestTimestamp.leafIndex(1_234_567)),
            TestTimestamp(of: stranger), forged, later, TestTimestamp(of: logs[1], at: .days(1)), other,
        ]
        let expected = [
            "valid", "valid", "valid", "unknown log", "invalid", "invalid", "invalid", "unknown version",
        ]
        let shapes: [(inout CertificateSpecification) -> Void] = [
            { _ in }, { $0.faults = [.extensions { $0.reverse() }] }, { $0.faults = [.extensions { $0.swapAt(0, 3) }] },
        ]
        for shape in shapes {
            let leaf = try root.leaf(names: [.dns(Judge.host)]) {
                $0.timestamps = stamps
                shape(&$0)
            }
            #expect(try ours(leaf, issuedBy: root.root, logs) == expected)
            let foreign = try await statuses(leaf, trusting: root.root, logs)
            #expect(foreign == expected)
        }
    }
}
#endif
