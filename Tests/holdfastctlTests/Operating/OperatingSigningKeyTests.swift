import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// The statements of docs/emergencies.md about a signing key that is lost, stolen or to be changed, with the apps that
/// have the old public key and those that have the new one.
@Suite("The operator's manual, the signing key", .timeLimit(.minutes(15)))
struct OperatingSigningKeyTests {
    /// A list with the certificates of now and of later, and an app that has it.
    private static func publish(
        _ present: TestCertificate, _ next: TestCertificate, of site: OperatingSite
    ) async throws -> InstalledApp {
        try site.write("next-fullchain.pem", next.chainPEM)
        for block in ["list-first", "list-next"] { try await site.run(block, serving: present) }
        return try await InstalledApp.fetchingList("pins.json", of: site)
    }

    /// A second list of another key, and an app that has that.
    private static func replaceKey(_ site: OperatingSite, serving present: TestCertificate) async throws -> InstalledApp
    {
        for block in ["new-signing-key", "new-signing-key-next"] { try await site.run(block, serving: present) }
        return try await InstalledApp.fetchingList("pins-2.json", signer: "signer-2.pub", of: site)
    }

    @Test("A lost key is replaced in new apps, and no app is locked out while the old list's certificates are in use")
    func lost() async throws {
        try await OperatingSite.with { site in
            let (present, next) = (try site.leaf(), try site.leaf())
            var apps = [try await Self.publish(present, next, of: site)]
            try FileManager.default.removeItem(at: site.folder.appending(path: "signer.pem"))
            apps.append(try await Self.replaceKey(site, serving: present))
            try await site.run("both-lists", serving: present)
            for app in apps { try await app.update() }
            #expect(try site.lockedOut(apps, by: present) == 0)
            try await site.run("both-lists", serving: next)
            #expect(try site.lockedOut(apps, by: next) == 0)
            // A certificate that only the new list can have is what the check is for.
            let late = try site.leaf()
            let found = try await site.run("both-lists", serving: late, expecting: 1)
            #expect(found.output.contains("locked out"), "\(found.output)")
            #expect(try site.lockedOut(apps, by: late) == 2)
        }
    }

    @Test("A stolen key signs nothing that a new app takes, and an old app stays with the old list")
    func stolen() async throws {
        try await OperatingSite.with { site in
            let (present, next) = (try site.leaf(), try site.leaf())
            let old = try await Self.publish(present, next, of: site)
            let new = try await Self.replaceKey(site, serving: present)
            try await site.run("both-lists", serving: present)
            for app in [old, new] { try await app.update() }
            #expect(try site.lockedOut([old, new], by: present) + site.lockedOut([old, new], by: next) == 0)

            // The thief's list, in the place of both.
            let stolen = try SigningKey(
                pem: String(contentsOf: site.folder.appending(path: "signer.pem"), encoding: .utf8))
            let own = try TestAuthority.root().leaf(names: [.dns(OperatingSite.name)])
            let entry = try FingerprintEntry(
                name: OperatingSite.name, pin: .certificate(own.der),
                expires: Int64(SystemWallClock().now.timeIntervalSince1970) + 86_400)
            let forged = String(decoding: try PinListDraft([entry]).signed(by: stolen), as: UTF8.self)
            try site.write("pins.json", forged)
            try site.write("pins-2.json", forged)
            await #expect(throws: (any Error).self) { try await new.update() }
            #expect(try site.lockedOut([new], by: present) == 0)
            // Standard validation stays in the way of the thief's certificate.
            try? await old.update()
            #expect(try site.lockedOut([old, new], by: own) == 2)
        }
    }

    @Test("A key that must change is changed with two lists, through a rollover of the certificate as well")
    func changed() async throws {
        try await OperatingSite.with { site in
            let (first, second, third) = (try site.leaf(), try site.leaf(), try site.leaf())
            var apps = [try await Self.publish(first, second, of: site)]
            apps.append(try await Self.replaceKey(site, serving: first))
            try await site.run("both-lists", serving: second)
            #expect(try site.lockedOut(apps, by: second) == 0)
            #expect(try site.lockedOut(apps, by: third) == 2, "else it would prove nothing")
            try site.write("next-fullchain.pem", third.chainPEM)
            try await site.run("both-lists-next", serving: second)
            for app in apps { try await app.update() }
            #expect(try site.lockedOut(apps, by: second) + site.lockedOut(apps, by: third) == 0)
            try await site.run("both-lists", serving: third)
        }
    }
}
