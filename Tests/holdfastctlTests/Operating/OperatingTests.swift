import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// The procedures of the operator's pages, in their order, with apps of every age: those that were installed before the
/// first step, and one more after each.
@Suite("The operator's manual", .timeLimit(.minutes(15)))
struct OperatingTests {
    @Test("The keys of a pin file are rolled over without a client that is locked out")
    func pinFile() async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            try await site.run("first-pins", serving: present)
            var apps = [try InstalledApp.shipping("bank.pins.json", of: site)]
            #expect(try site.lockedOut(apps, by: present) == 0)
            #expect(try site.lockedOut(apps, by: try site.leaf()) == 1, "else it would prove nothing")
            let step = try await site.run("rollover-file", serving: present)
            #expect(step.output.contains("www.example.com:443: nothing to do"), "\(step.output)")
            let next = try site.leaf(.existing(try site.key("backup.key")))
            try site.write("next-fullchain.pem", next.chainPEM)
            try await site.run("pin-file-next", serving: present)
            try await site.run("pin-file-deployed", serving: next)
            try await site.run("pin-file-backup", serving: next)
            apps.append(try InstalledApp.shipping("bank.pins.json", of: site))
            #expect(try site.lockedOut(apps, by: next) == 0)
            // The newer app is ready for the change after that; the older one is not, as the manual says.
            let second = try site.leaf(.existing(try site.key("backup-2.key")))
            #expect(try site.lockedOut(apps, by: second) == 1)
        }
    }

    @Test("A signed list is made and rolled over without a client that is locked out")
    func signedList() async throws {
        try await OperatingSite.with { site in
            let (present, next) = (try site.leaf(), try site.leaf())
            try await site.run("list-first", serving: present)
            var apps = [try await InstalledApp.fetchingList("pins.json", of: site)]
            #expect(try site.lockedOut(apps, by: next) == 1, "else it would prove nothing")
            try site.write("next-fullchain.pem", next.chainPEM)
            try await site.run("list-next", serving: present)
            apps.append(try await InstalledApp.fetchingList("pins.json", of: site))
            #expect(try site.lockedOut(apps, by: present) == 0)
            let step = try await site.run("rollover-list", serving: present)
            #expect(step.output.contains("www.example.com:443: wait"), "\(step.output)")
            // Seven days later all clients have asked.
            for app in apps { try await app.update() }
            #expect(try site.lockedOut(apps, by: present) + site.lockedOut(apps, by: next) == 0)
            try await site.run("list-deployed", serving: next)
            try await site.run("list-prune", serving: next)
            apps.append(try await InstalledApp.fetchingList("pins.json", of: site))
            #expect(try site.lockedOut(apps, by: next) == 0)
        }
    }

    @Test("Challenges are answered from a list that is rolled over without a client that is locked out")
    func challenges() async throws {
        try await OperatingSite.with { site in
            let (present, next) = (try site.leaf(), try site.leaf())
            for block in ["list-first", "challenge-key"] { try await site.run(block, serving: present) }
            var apps = [try await InstalledApp.challenging(site)]
            #expect(try site.lockedOut(apps, by: present) == 0)
            #expect(try site.lockedOut(apps, by: next) == 1, "else it would prove nothing")
            try site.write("next-fullchain.pem", next.chainPEM)
            try await site.run("list-next", serving: present)
            apps.append(try await InstalledApp.challenging(site))
            #expect(try site.lockedOut(apps, by: present) == 0)
            for app in apps { try await app.update() }
            #expect(try site.lockedOut(apps, by: present) + site.lockedOut(apps, by: next) == 0)
            for block in ["list-deployed", "list-prune"] { try await site.run(block, serving: next) }
            for app in apps { try await app.update() }
            apps.append(try await InstalledApp.challenging(site))
            #expect(try site.lockedOut(apps, by: next) == 0)
        }
    }

    @Test("The roots of whoever makes the keys let every new key in, and no other authority's")
    func authority() async throws {
        try await OperatingSite.with(rootName: "Amazon Root CA 1") { site in
            try await site.run("authority", serving: try site.leaf())
            let app = try InstalledApp.shipping("bank.pins.json", of: site)
            #expect(try site.lockedOut([app], by: try site.leaf()) + site.lockedOut([app], by: try site.leaf()) == 0)
            let other = try TestAuthority.root().leaf(names: [.dns(OperatingSite.name)])
            #expect(try site.lockedOut([app], by: other) == 1)
        }
    }

    @Test("The pins of an authority are complete for all that it has published about itself, or are not printed")
    func completeAuthority() async throws {
        try await OperatingSite.with(rootName: "Amazon Root CA 1") { site in
            let published = site.root.certificate.pem + site.issuing.certificate.pem
            try site.write("authority.pem", published)
            let present = try site.leaf()
            let run = try await site.run("authority-complete", serving: present)
            #expect(run.output.contains("Issuer pins: complete for 1 chains"), "\(run.output)")
            let app = try InstalledApp.shipping("bank.pins.json", of: site)
            let other = try site.root.intermediate(name: "Announced").leaf(names: [.dns(OperatingSite.name)])
            #expect(try site.lockedOut([app], by: present) + site.lockedOut([app], by: other) == 0)
            // The authority announces a root that is trusted here.
            let next = try TestAuthority.root(name: "Another Root")
            try site.write("root.pem", site.root.certificate.pem + next.certificate.pem)
            try site.write(
                "authority.pem", published + next.certificate.pem + next.intermediate(name: "Below").certificate.pem)
            let told = try await site.run("authority-complete", serving: present, expecting: 1)
            #expect(told.errors.contains("missing: "), "\(told.errors)")
        }
    }

    @Test(
        "A fleet whose servers have different keys gets the backup key server by server, and nobody is locked out",
        .needs(.wholeLoopbackBlock))
    func fleet() async throws {
        try await OperatingSite.with { site in
            let old = [try site.leaf(), try site.leaf()]
            func serving(
                _ first: TestCertificate, _ second: TestCertificate, _ body: (LoopbackFleet) async throws -> Void
            ) async throws {
                try await LoopbackFleet.with([("127.0.0.1", first), ("127.0.0.2", second)], body)
            }
            var port = 0
            try await serving(old[0], old[1]) { fleet in
                port = fleet.port
                try await site.run("first-pins", at: fleet)
            }
            let next = try site.leaf(.existing(try site.key("backup.key")))
            try site.write("next-fullchain.pem", next.chainPEM)
            let stranger = try site.leaf()
            for (first, second, status) in [
                (old[0], old[1], Int32(0)), (next, old[1], 0), (next, next, 0), (next, stranger, 1),
            ] {
                try await serving(first, second) { fleet in
                    // The servers of each step have another port, and the pins are for the port that was dialed.
                    let pins = try String(contentsOf: site.folder.appending(path: "bank.pins.json"), encoding: .utf8)
                    try site.write("bank.pins.json", pins.replacing("\(port)", with: "\(fleet.port)"))
                    port = fleet.port
                    try await site.run("pin-file-next", at: fleet)
                    try await site.run("fleet-deployed", at: fleet, expecting: status)
                }
            }
        }
    }

    @Test("A pin is marked, stays for clients, and is withdrawn when no server shows its key")
    func retiring() async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            try await site.run("first-pins", serving: present)
            try site.write("old.pem", present.pem)
            let next = try site.leaf(.existing(try site.key("backup.key")))
            let early = try await site.run("retire", serving: present)
            #expect(!early.output.contains("www.example.com:443: remove"), "\(early.output)")
            var apps = [try InstalledApp.shipping("bank.pins.json", of: site)]
            #expect(try site.lockedOut(apps, by: present) + site.lockedOut(apps, by: next) == 0)
            try await site.run("retire-remove", serving: next)
            apps.append(try InstalledApp.shipping("bank.pins.json", of: site))
            #expect(try site.lockedOut(apps, by: next) == 0)
            #expect(try site.lockedOut(apps, by: present) == 1)
        }
    }

    @Test("An authority that a platform will distrust is found out, and a certificate of another one with the same key")
    func distrusted() async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            try await site.run("first-pins", serving: present)
            let other = try TestAuthority.root(name: "Another Root")
            let roots = site.root.certificate.pem + other.certificate.pem
            for (file, text) in [
                ("anchors-now.pem", roots), ("root.pem", roots), ("anchors-next.pem", other.certificate.pem),
            ] { try site.write(file, text) }
            let told = try await site.run("distrusted", serving: present, expecting: 1)
            #expect(told.output.contains("unknownIssuer"), "\(told.output)")
            let next = try other.leaf(names: [.dns(OperatingSite.name)], key: .existing(present.key))
            try site.write("next-fullchain.pem", next.chainPEM)
            try await site.run("distrusted-next", serving: present)
            try site.write("next-fullchain.pem", try site.leaf().chainPEM)
            try await site.run("distrusted-next", serving: present, expecting: 1)
        }
    }

    @Test("The roots of whoever makes the keys are published in a repository")
    func repositoryOfAnAuthority() async throws {
        try await OperatingSite.with(rootName: "Amazon Root CA 1") { site in
            let present = try site.leaf()
            try await site.run("repository-first", serving: present) { block in
                block.split(separator: "\n").dropLast(2).joined(separator: "\n")
            }
            try await site.run("repository-authority", serving: present)
            let app = try RepositoryApp(site.folder.appending(path: "site/public"), name: OperatingSite.name)
            #expect(try await app.isLetIn(by: try site.leaf(), trusting: site.root))
            let other = try TestAuthority.root(name: "Another Root")
            let stranger = try other.leaf(names: [.dns(OperatingSite.name)])
            #expect(try await app.isLetIn(by: stranger, trusting: other) == false)
        }
    }

    @Test("A server that gets its new certificate before the list has it is found out by the check")
    func tooEarly() async throws {
        try await OperatingSite.with { site in
            let (present, next) = (try site.leaf(), try site.leaf())
            try await site.run("list-first", serving: present)
            let run = try await site.run("list-deployed", serving: next, expecting: 1)
            #expect(run.output.contains("locked out"), "\(run.output)")
        }
    }

    @Test("The README's first two commands pin a host with a backup, and say that apps can connect")
    func firstCommands() async throws {
        try await OperatingSite.with { site in
            let present = try site.issuing.leaf(names: [.dns("api.example.com")])
            let run = try await site.run("readme-first", serving: present)
            #expect(run.output.contains("Installed apps can connect: until "), "\(run.output)\(run.errors)")
            #expect(run.output.contains("renewed with the same key, they can connect"), "\(run.output)")
            let pins = try PinFile(json: Data(contentsOf: site.folder.appending(path: "app.pins.json")))
            #expect(pins.hosts.count == 1 && pins.hostsWithoutBackup.isEmpty)
            let mode =
                try FileManager.default.attributesOfItem(
                    atPath: site.folder.appending(path: "backup.key").path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // A key that is there is kept.
            let again = try await site.run("readme-first", serving: present, expecting: 3)
            #expect(again.errors.contains("backup.key"), "\(again.errors)")
        }
    }

    @Test("The build phase for Xcode stops a release whose pins end soon, and not one whose certificate does")
    func buildPhase() async throws {
        try await OperatingSite.with { site in
            let now = SystemWallClock().now
            let present = try site.issuing.leaf(
                names: [.dns("api.example.com")]
            ) { $0.notAfter = .days(20) }
            try await site.run("readme-first", serving: present)
            let quiet = try await site.run("xcode-phase", serving: present)
            #expect(quiet.output.isEmpty, "\(quiet.output)")
            let path = site.folder.appending(path: "app.pins.json")
            let end = now.addingTimeInterval(30 * 86_400).formatted(.iso8601)
            let text = try String(contentsOf: path, encoding: .utf8)
            try Data(("{\"notAfter\":\"\(end)\"," + text.drop { $0 != "{" }.dropFirst()).utf8).write(to: path)
            try await site.run("xcode-phase", serving: present, expecting: 4)
        }
    }

    @Test("The README's commands make a repository that an app takes its pins from")
    func readme() async throws {
        try await OperatingSite.with { site in
            let name = "api.example.com"
            let present = try site.issuing.leaf(names: [.dns(name)])
            let other = try site.issuing.leaf(names: [.dns(name)])
            try await site.run("readme-first", serving: present)
            // Each command asks for a password, or reads it from a file.
            try site.write("password.txt", "correct horse\n")
            try await site.run("readme-repository", serving: present) {
                $0.replacing(/holdfastctl (keygen|repository) [^#\n]*/) { "\($0.0) --password-file password.txt " }
            }
            for key in ["offline.pem", "online.pem"] {
                let pem = try String(contentsOf: site.folder.appending(path: key), encoding: .utf8)
                #expect(pem.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----"))
            }
            let app = try RepositoryApp(site.folder.appending(path: "site/public"), name: name)
            #expect(try await app.isLetIn(by: present, trusting: site.root))
            #expect(try await app.isLetIn(by: other, trusting: site.root) == false)
        }
    }

    @Test("A repository is begun, renewed and given another online key without a client that is locked out")
    func repository() async throws {
        try await OperatingSite.with { site in
            let (present, other) = (try site.leaf(), try site.leaf())
            try await site.run("first-pins", serving: present)
            try await site.run("repository-first", serving: present)
            let served = site.folder.appending(path: "site/public")
            var apps = [try RepositoryApp(served, name: OperatingSite.name)]
            #expect(try await apps[0].isLetIn(by: other, trusting: site.root) == false, "else it would prove nothing")
            for block in [
                "repository-daily", "repository-plan", "repository-year", "repository-online-key",
                "repository-offline-key",
            ] {
                try await site.run(block, serving: present)
                apps.append(try RepositoryApp(served, name: OperatingSite.name))
                for app in apps { #expect(try await app.isLetIn(by: present, trusting: site.root)) }
            }
        }
    }

    @Test(
        "A repository whose offline key is in a token is begun and published",
        .needs(.softHSM))
    func token() async throws {
        try await OperatingSite.with { site in
            let (present, other) = (try site.leaf(), try site.leaf())
            try await site.run("first-pins", serving: present)
            let module = try #require(ForeignPeers.softHSM)
            try site.write("softhsm2.conf", "directories.tokendir = \(site.folder.path)/tokens\n")
            try await site.run("repository-token", serving: present) {
                """
                mkdir tokens
                export MODULE='\(module.path)' PIN=1234 SO_PIN=5678 SOFTHSM2_CONF="$SITE/softhsm2.conf"
                \($0)
                """
            }
            let app = try RepositoryApp(site.folder.appending(path: "site/public"), name: OperatingSite.name)
            #expect(try await app.isLetIn(by: present, trusting: site.root))
            #expect(try await app.isLetIn(by: other, trusting: site.root) == false)
        }
    }

    @Test("A trust server's document follows a rollover without a client that is locked out")
    func trustServer() async throws {
        try await OperatingSite.with { site in
            let (present, next) = (try site.leaf(), try site.leaf())
            try await site.run("trust-first", serving: present)
            var apps = [try await InstalledApp.fetchingDocument(of: site)]
            #expect(try site.lockedOut(apps, by: next) == 1, "else it would prove nothing")
            try site.write("next-fullchain.pem", next.chainPEM)
            try await site.run("trust-next", serving: present)
            apps.append(try await InstalledApp.fetchingDocument(of: site))
            #expect(try site.lockedOut(apps, by: present) == 0)
            // Twenty-five hours later no document of before counts.
            for app in apps { try await app.update() }
            #expect(try site.lockedOut(apps, by: present) + site.lockedOut(apps, by: next) == 0)
            // A client that fetched the first document a moment ago does not know the certificate.
            let deployed = try await site.run("trust-deployed", serving: next, expecting: 1)
            #expect(deployed.errors.contains("an earlier document, which was replaced, are locked out"))
            // The backup's file has the authority's certificate as well, and whatever that issues is not let in.
            let another = try await site.run("trust-status", serving: site.leaf(), expecting: 1)
            #expect(!another.output.contains("Installed apps can connect"), "\(another.output)")
            try await site.run("trust-status", serving: next)
            let replaced = try #require(
                try FileManager.default.subpathsOfDirectory(atPath: site.folder.path)
                    .first { $0.hasSuffix("acme.replaced.json") })
            let file = site.folder.appending(path: replaced)
            let long = Int64(SystemWallClock().now.timeIntervalSince1970) - 7_200
            let kept = try String(contentsOf: file, encoding: .utf8)
                .replacing(/"replaced":[0-9]+/, with: "\"replaced\":\(long)")
            try Data(kept.utf8).write(to: file)
            // Clients that ask every hour, two hours later.
            try await site.run("trust-deployed", serving: next) {
                $0.replacing("--no-shipped-pins", with: "--no-shipped-pins --staleness 1h")
            }
            apps.append(try await InstalledApp.fetchingDocument(of: site))
            #expect(try site.lockedOut(apps, by: present) + site.lockedOut(apps, by: next) == 0)
        }
    }

    @Test("The certificate of a stolen key is withdrawn from a list and from a document")
    func stolenKey() async throws {
        try await OperatingSite.with { site in
            let (stolen, next) = (try site.leaf(), try site.leaf())
            try site.write("stolen.pem", stolen.pem)
            try site.write("next-fullchain.pem", next.chainPEM)
            for block in ["list-first", "list-next"] { try await site.run(block, serving: stolen) }
            try await site.run("trust-first", serving: stolen)
            let apps = [
                try await InstalledApp.fetchingList("pins.json", of: site),
                try await InstalledApp.fetchingDocument(of: site),
            ]
            try await site.run("stolen-list", serving: next)
            let withdrawn = try await site.run("stolen-trust", serving: next, expecting: 1)
            #expect(withdrawn.errors.contains("an earlier document, which was replaced, are locked out"))
            for app in apps { try await app.update() }
            #expect(try site.lockedOut(apps, by: next) == 0)
            #expect(try site.lockedOut(apps, by: stolen) == 2)
        }
    }

    @Test("A list with a wrong pin lets everybody in again once the present certificate is signed")
    func wrongPin() async throws {
        try await OperatingSite.with { site in
            let (wrong, present) = (try site.leaf(), try site.leaf())
            try await site.run("list-first", serving: wrong)
            let app = try await InstalledApp.fetchingList("pins.json", of: site)
            #expect(try site.lockedOut([app], by: present) == 1)
            try await site.run("wrong-pin", serving: present)
            try await app.update()
            #expect(try site.lockedOut([app], by: present) == 0)
        }
    }
}
