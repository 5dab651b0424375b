#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite(
    "Random lists beside openssl verify -crl_check_all",
    .needs(.openSSL), .timeLimit(.minutes(15)))
struct RevocationOracleTests {
    /// A root, two keys of one authority and a key for its lists alone; leaves of either key.
    private struct World {
        let root: TestAuthority
        /// The authority under its first key, under its second, and the key for lists.
        let signers: [TestAuthority]
        let leaves: [TestCertificate]
        private let clock = ManualClock(now: SystemWallClock().now)

        static let points = [
            RevocationPoints.url("http://lists.example.com/1"), RevocationPoints.relative(.commonName("Point 2")),
        ]

        init() throws {
            root = try TestAuthority.root(clock: clock)
            let listKey = try root.intermediate(name: "Issuing") {
                $0.keyUsage = .crlSign
                $0.basicConstraints = nil
            }
            let first = try root.intermediate(name: "Issuing")
            signers = [first, try root.intermediate(name: "Issuing"), listKey]
            leaves = try signers.prefix(2).flatMap { signer in
                try (0..<4).map { number in
                    try signer.leaf(names: ["www.example.com"]) {
                        // The first names no point, the others one or two of them.
                        let points = [[], [Self.points[0]], [Self.points[1]], Self.points][number]
                        if !points.isEmpty { $0.extensions = [RevocationPoints.inCertificate(points)] }
                    }
                }
            }
        }

        var now: Date { clock.now }
    }

    private struct Setting {
        let leaf: TestCertificate
        var lists: [[UInt8]] = []
        /// The index of the signer of the issuing authority's list.
        var signer = 0
        var description = ""
    }

    private func setting(_ world: World, using generator: inout SplitMix64) throws -> Setting {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        var setting = Setting(leaf: world.leaves.randomElement(using: &generator) ?? world.leaves[0])
        let serials = try (world.leaves + world.signers.map(\.certificate)).map(RevocationScene.serial)
        func add(_ name: String, _ signer: TestAuthority) throws {
            let revoked = chance(30) ? serials.filter { _ in chance(25) } : []
            let (old, future, foreign) = (chance(8), chance(5), chance(8))
            let kind = Int.random(in: 0..<100, using: &generator)
            let stranger = try TestKey()
            // openssl tries one certificate of the name, and goes by this which.
            let identifier = TestDER.context(0, primitive: signer.certificate.key.keyIdentifier)
            let hint = TestExtension([2, 5, 29, 35], value: TestDER.sequence([identifier]))
            setting.lists.append(
                try signer.revocationList {
                    $0.serialNumbers = revoked
                    if old { $0.nextUpdate = .hours(-1); $0.thisUpdate = .hours(-2) }
                    if future { $0.thisUpdate = .hours(1) }
                    if foreign { $0.signer = stranger }
                    switch kind {
                    case 0..<6: $0.extensions = [hint, RevocationPoints.inList([RevocationPoints.flag(1)])]
                    case 6..<12: $0.extensions = [hint, RevocationPoints.inList([RevocationPoints.flag(2)])]
                    case 16..<24: $0.extensions = [hint, RevocationPoints.inList([World.points[0]])]
                    case 24..<32: $0.extensions = [hint, RevocationPoints.inList([World.points[1]])]
                    case 12..<16: $0.extensions = [hint, .init([1, 2, 3], isCritical: true, value: [5, 0])]
                    default: $0.extensions = [hint]
                    }
                })
            let mine = revoked.contains { (try? RevocationScene.serial(setting.leaf)) == $0 }
            setting.description +=
                "\(name) revokes \(revoked.count)\(mine ? ", the leaf too" : ""), old \(old), "
                + "future \(future), foreign \(foreign), kind \(kind); "
        }
        if chance(92) { try add("root", world.root) }
        // One list of the issuing authority: openssl takes the best of several by its own measure.
        setting.signer = Int.random(in: 0..<world.signers.count, using: &generator)
        if chance(95) { try add("signer \(setting.signer)", world.signers[setting.signer]) }
        return setting
    }

    private func opensslAccepts(_ setting: Setting, _ world: World) async throws -> (Bool, String) {
        // openssl takes the first certificate of the name whose extensions it has not read yet for the list's signer.
        let others = world.signers.indices.filter { $0 != setting.signer }
        let signers = ([setting.signer] + others).map { world.signers[$0].certificate.der }
        return try await withTemporaryFolder { folder in
            func pem(_ label: String, _ der: [UInt8]) -> String {
                "-----BEGIN \(label)-----\n\(Data(der).base64EncodedString(options: .lineLength64Characters))\n"
                    + "-----END \(label)-----\n"
            }
            for (name, text) in [
                ("root", pem("CERTIFICATE", world.root.root)), ("leaf", pem("CERTIFICATE", setting.leaf.der)),
                ("rest", signers.map { pem("CERTIFICATE", $0) }.joined()),
                ("lists", setting.lists.map { pem("X509 CRL", $0) }.joined()),
            ] { try Data(text.utf8).write(to: folder.appending(path: "\(name).pem")) }
            var arguments = [
                "verify", "-no-CAstore", "-no-CApath", "-CAfile", "root.pem", "-untrusted", "rest.pem",
                "-extended_crl", "-crl_check_all", "-purpose", "sslserver", "-attime",
                String(Int(world.now.timeIntervalSince1970)),
            ]
            if !setting.lists.isEmpty { arguments += ["-CRLfile", "lists.pem"] }
            let output = try await OpenSSLProgram.run(arguments + ["leaf.pem"], in: folder)
            return (output.status == 0, output.text)
        }
    }

    @Test(
        "Rolled-over keys and keys for lists alone: the same verdict for random lists", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) async throws {
        let world = try World()
        var generator = SplitMix64(seed: seed)
        var counts: [TrustFailure.Code?: Int] = [:]
        var differences = 0
        for round in 0..<250 {
            let setting = try setting(world, using: &generator)
            let validator = PathValidator(
                anchors: try TrustAnchors(der: [world.root.root]),
                revocation: .crls(
                    try setting.lists.map { try CertificateRevocationList(der: $0) },
                    certificates: try world.signers.map { try X509Certificate(der: $0.certificate.der) },
                    isRequired: true))
            let outcome = validator.validate(
                PresentedChain(setting.leaf.chain), for: .server(identity: nil), at: world.now
            ) { _ in true }
            let code = outcome.path == nil ? outcome.failure?.code : nil
            counts[code, default: 0] += 1
            let (accepts, text) = try await opensslAccepts(setting, world)
            guard (code == nil) != accepts else { continue }
            differences += 1
            Issue.record(
                "seed \(seed), round \(round): Holdfast \(code?.rawValue ?? "accepts"), \(setting.description) \(text)")
        }
        #expect(differences == 0)
        #expect((counts[nil] ?? 0) > 40 && (counts[.revoked] ?? 0) > 10 && (counts[.revocationUnknown] ?? 0) > 40)
    }
}
#endif
