import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Timestamps in a certificate (RFC 6962 3.3)")
struct SignedCertificateTimestampTests {
    private let scene: TransparencyScene

    init() throws { scene = try TransparencyScene() }

    private func readings(_ octets: [UInt8]) throws -> [SignedCertificateTimestamp.Reading] {
        try SignedCertificateTimestamp.readAll(0..<octets.count, of: octets)
    }

    private func timestamps(of leaf: X509Certificate) throws -> [SignedCertificateTimestamp] {
        try SignedCertificateTimestamp.readAll(try #require(leaf.timestampList), of: leaf.der).compactMap {
            if case .timestamp(let timestamp) = $0 { timestamp } else { nil }
        }
    }

    @Test("A timestamp says which log gave it and when, to the millisecond, and verifies under that log's key alone")
    func reads() throws {
        let date = Judge.now.addingTimeInterval(-0.125)
        let stamp = TestTimestamp(of: scene.logs[0], at: .date(date), extensions: TestTimestamp.leafIndex(70_000))
        let leaf = try X509Certificate(der: scene.leaf([stamp]).der)
        let read = try #require(try timestamps(of: leaf).first)
        #expect(read.logIdentifier.elementsEqual(scene.logs[0].identifier))
        #expect(read.milliseconds == 1_999_999_999_875 && read.seconds == 1_999_999_999)
        #expect(read.extensions.elementsEqual(stamp.extensions) && read.algorithm == .ecdsa)
        let root = try X509Certificate(der: scene.root.root)
        let precertificate = try Precertificate(of: leaf, issuedBy: root)
        let logs = try scene.list.logs
        #expect(logs.map { $0.check(read, for: precertificate) == .valid } == [true, false, false])
    }

    @Test("The precertificate is the certificate without the extension, wherever it stands and whatever is beside it")
    func precertificate() throws {
        let root = try X509Certificate(der: scene.root.root)
        let log = try scene.list.logs[0]
        let shapes: [(inout CertificateSpecification) -> Void] = [
            { $0.faults = [.extensions { $0.reverse() }] },
            {
                $0.faults = [
                    .extensions { list in
                        let place = list.firstIndex { $0.identifier == .signedCertificateTimestamps }
                        if let place { list.insert(list.remove(at: place), at: 1) }
                    }
                ]
            },
            { $0.faults = [.extensions { $0.removeAll { $0.identifier != .signedCertificateTimestamps } }] },
            { $0.subjectAltName = (0..<60).map { .dns("host-\($0).example.com") } },
            { $0.extensions = [TestExtension([1, 2, 3], value: [UInt8](repeating: 5, count: 70_000))] },
        ]
        for shape in shapes {
            let leaf = try X509Certificate(der: scene.leaf(of: [0], configure: shape).der)
            let precertificate = try Precertificate(of: leaf, issuedBy: root)
            let timestamp = try #require(try timestamps(of: leaf).first)
            #expect(log.check(timestamp, for: precertificate) == .valid)
        }
    }

    @Test("A timestamp of RSA verifies, and one that says another algorithm than its key's does not")
    func algorithms() throws {
        let rsa = try TestTransparencyLog(name: "RSA", key: .sharedRSA(bits: 2_048, index: 0))
        let log = try TransparencyLog(
            name: "RSA", key: rsa.key.subjectPublicKeyInfoDER, operatorName: "One", state: .usable)
        let root = try X509Certificate(der: scene.root.root)
        for (octet, isSigned) in [(UInt8(1), true), (3, false), (2, false)] {
            var stamp = TestTimestamp(of: rsa)
            stamp.change = { bytes in
                var bytes = bytes
                // After version, identifier, time and the length of no extensions: the hash, then the signature.
                bytes[1 + 32 + 8 + 2 + 1] = octet
                return bytes
            }
            let leaf = try X509Certificate(der: scene.leaf([stamp]).der)
            let read = try #require(try timestamps(of: leaf).first)
            #expect((log.check(read, for: try Precertificate(of: leaf, issuedBy: root)) == .valid) == isSigned)
        }
    }

    @Test("A timestamp of an algorithm that is not supported is not said to be forged, and the algorithm is named")
    func unsupportedAlgorithm() throws {
        let log = try scene.list.logs[0]
        let root = try X509Certificate(der: scene.root.root)
        for (octets, name) in [([9, 5], "ML-DSA-65"), ([8, 8], "Ed448"), ([2, 3], "ECDSA with SHA-1")]
            as [([UInt8], String)]
        {
            var stamp = TestTimestamp(of: scene.logs[0])
            stamp.change = { bytes in
                var bytes = bytes
                bytes.replaceSubrange((1 + 32 + 8 + 2)..<(1 + 32 + 8 + 2 + 2), with: octets)
                return bytes
            }
            let leaf = try X509Certificate(der: scene.leaf([stamp]).der)
            let read = try #require(try timestamps(of: leaf).first)
            #expect(log.check(read, for: try Precertificate(of: leaf, issuedBy: root)) == .unsupported(name))
        }
    }

    @Test("A timestamp that is cut, too long or of another version takes no other with it")
    func damaged() throws {
        let changes: [@Sendable ([UInt8]) -> [UInt8]] = [
            { Array($0.dropLast()) }, { $0 + [0] }, { Array($0.prefix(1)) }, { Array($0.prefix(40)) },
            { [1] + $0.dropFirst() }, { [255] + $0.dropFirst() },
        ]
        for (index, change) in changes.enumerated() {
            var stamp = TestTimestamp(of: scene.logs[0])
            stamp.change = change
            let leaf = try X509Certificate(der: scene.leaf([stamp, TestTimestamp(of: scene.logs[2])]).der)
            let read = try SignedCertificateTimestamp.readAll(try #require(leaf.timestampList), of: leaf.der)
            #expect(read.first == (index < 4 ? .malformed : .otherVersion))
            guard read.count == 2, case .timestamp = read[1] else {
                Issue.record("the second is gone at change \(index)")
                continue
            }
        }
    }

    @Test("A list whose lengths contradict each other is no list")
    func lists() throws {
        #expect(try readings([4, 2, 0, 0]).isEmpty)
        #expect(try readings([4, 5, 0, 3, 0, 1, 0]) == [.malformed])
        for octets: [UInt8] in [
            [], [4, 0], [4, 1, 0], [4, 2, 0, 1], [4, 3, 0, 0, 0], [4, 3, 0, 1, 0], [4, 4, 0, 2, 0, 0],
            [4, 5, 0, 3, 0, 2, 0], [4, 2, 0, 0, 0], [3, 2, 0, 0], [4, 3, 0, 2, 0],
        ] {
            #expect(throws: DERError.self, "\(octets)") { try readings(octets) }
        }
    }
}
