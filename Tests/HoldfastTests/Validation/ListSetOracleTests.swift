#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite(
    "Random sets with one list a scope beside openssl verify -extended_crl -use_deltas",
    .needs(.openSSL), .timeLimit(.minutes(15)))
struct ListSetOracleTests {
    private enum Word { case silent, names, takesBack }

    private struct Setting {
        var lists: [[UInt8]] = []
        /// Whether Holdfast may say that the leaf is revoked where OpenSSL does not: of several scopes OpenSSL asks one
        /// list, a delta list that is on no base here it leaves out, and a base may be out of date with a newer delta list.
        var mayBeStricter = false
        var description = ""
    }

    private static let point = RevocationPoints.url("http://crl.example/1")
    /// OpenSSL looks for delta lists where a list or a certificate names a place for them.
    private static let freshest = TestExtension(
        [2, 5, 29, 46], value: TestDER.sequence([TestDER.sequence([RevocationPoints.url("http://crl.example/d")])]))

    private func setting(
        _ issuing: TestAuthority, _ serial: [UInt8], using generator: inout SplitMix64
    ) throws -> Setting {
        func chance(_ percent: Int) -> Bool { generator.below(100) < percent }
        var setting = Setting()
        let hint = TestExtension(
            [2, 5, 29, 35],
            value: TestDER.sequence([TestDER.context(0, primitive: issuing.certificate.key.keyIdentifier)]))
        func add(
            _ name: String, _ scope: [TestExtension], _ word: Word, number: Int, hoursAgo: Double, isOld: Bool = false
        ) throws {
            setting.description += "\(name) \(word) number \(number), \(hoursAgo) h ago\(isOld ? ", old" : ""); "
            setting.lists.append(
                try issuing.revocationList {
                    $0.number = number
                    $0.thisUpdate = .hours(-hoursAgo)
                    if isOld { $0.nextUpdate = .hours(-0.5) }
                    $0.serialNumbers = word == .silent ? [[1]] : [[1], serial]
                    if word == .takesBack {
                        $0.entryExtensions = [TestExtension([2, 5, 29, 21], value: [0x0A, 1, 8])]
                    }
                    $0.extensions = [hint] + scope
                })
        }
        if chance(50) {
            let number = 3 + generator.below(4)
            let scope = chance(50) ? [] : [RevocationPoints.inList([Self.point])]
            let isOld = chance(10)
            try add(
                "complete", scope + [Self.freshest], chance(60) ? .names : .silent, number: number, hoursAgo: 5,
                isOld: isOld)
            if chance(80) {
                let base = 2 + generator.below(5)
                let later = max(number - 1 + generator.below(4), base + 1)
                try add(
                    "delta on \(base)", scope + [RevocationPoints.delta(base: base)],
                    chance(50) ? .takesBack : chance(50) ? .names : .silent, number: later,
                    hoursAgo: later > number ? 4 : 5)
                setting.mayBeStricter = isOld || base > number || later <= number
            }
        } else {
            setting.mayBeStricter = true
            for (name, fields) in [
                ("whole", []), ("servers", [RevocationPoints.flag(1)]), ("authorities", [RevocationPoints.flag(2)]),
                ("point", [Self.point]), ("other point", [RevocationPoints.url("http://crl.example/2")]),
            ] as [(String, [[UInt8]])] where chance(45) {
                try add(
                    name, fields.isEmpty ? [] : [RevocationPoints.inList(fields)], chance(25) ? .names : .silent,
                    number: 1 + generator.below(6), hoursAgo: Double(1 + generator.below(6)), isOld: chance(20))
            }
        }
        return setting
    }

    private func opensslAccepts(
        _ setting: Setting, _ root: TestAuthority, _ leaf: TestCertificate, _ issuing: TestAuthority
    ) async throws -> (Bool, String) {
        try await withTemporaryFolder { folder in
            func pem(_ label: String, _ der: [UInt8]) -> String {
                "-----BEGIN \(label)-----\n\(Data(der).base64EncodedString(options: .lineLength64Characters))\n"
                    + "-----END \(label)-----\n"
            }
            for (name, text) in [
                ("root", pem("CERTIFICATE", root.root)), ("leaf", pem("CERTIFICATE", leaf.der)),
                ("rest", pem("CERTIFICATE", issuing.certificate.der)),
                ("lists", setting.lists.map { pem("X509 CRL", $0) }.joined()),
            ] { try Data(text.utf8).write(to: folder.appending(path: "\(name).pem")) }
            var arguments = [
                "verify", "-no-CAstore", "-no-CApath", "-CAfile", "root.pem", "-untrusted", "rest.pem", "-extended_crl",
                "-use_deltas", "-crl_check", "-purpose", "sslserver", "-attime",
                String(Int(Judge.now.timeIntervalSince1970)),
            ]
            if !setting.lists.isEmpty { arguments += ["-CRLfile", "lists.pem"] }
            let output = try await OpenSSLProgram.run(arguments + ["leaf.pem"], in: folder)
            return (output.status == 0, output.text)
        }
    }

    @Test(
        "What Holdfast accepts OpenSSL accepts, and the other way round where OpenSSL asks as many lists",
        arguments: [1, 2] as [UInt64])
    func sets(seed: UInt64) async throws {
        let root = try Judge.root()
        let issuing = try root.intermediate(name: "Issuing")
        let leaf = try issuing.leaf(names: ["www.example.com"]) {
            $0.extensions = [RevocationPoints.inCertificate([Self.point])]
        }
        let serial = try RevocationScene.serial(leaf)
        var generator = SplitMix64(seed: seed)
        var counts: [TrustFailure.Code?: Int] = [:]
        for round in 0..<150 {
            let setting = try setting(issuing, serial, using: &generator)
            var scene = RevocationScene(root)
            scene.lists = setting.lists
            let code = try scene.code(leaf, unknownIssuer: .passes)
            counts[code, default: 0] += 1
            let (accepts, text) = try await opensslAccepts(setting, root, leaf, issuing)
            let isStricter = setting.mayBeStricter && (code == .revoked || code == .revocationUnknown) && accepts
            guard (code == nil) != accepts, !isStricter else { continue }
            Issue.record(
                "seed \(seed), round \(round): Holdfast \(code?.rawValue ?? "accepts"), \(setting.description) \(text)")
        }
        #expect((counts[nil] ?? 0) > 20 && (counts[.revoked] ?? 0) > 20 && (counts[.revocationUnknown] ?? 0) > 10)
    }
}
#endif
