import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import NIOCore
import Testing

@testable import holdfastctl

@Suite("A trust server and hosts with several addresses", .timeLimit(.minutes(15)))
struct TrustServerFleetTests {
    private static func survey(_ site: TrustServerSite, _ addresses: [String], tries: Int = 2) throws
        -> Survey
    {
        var probe = HostProbe(validator: PathValidator(anchors: try TrustAnchors(der: [site.root.root])))
        let (limit, found) = (Duration.seconds(60), try addresses.map { try IPAddress($0) })
        probe.deadlines = ProbeDeadlines(resolving: limit, connecting: limit, handshake: limit, whole: limit)
        probe.resolver = AddressResolver { name throws(ProbeFailure) in name == LoopbackFleet.name ? found : [] }
        probe.connectionsPerAddress = tries
        return Survey(probe: probe)
    }

    /// Asks as `trust-server publish` does.
    private struct Survey {
        let probe: HostProbe

        func ask(_ host: DialedHost) async -> PublishingRound.Answer {
            PublishingRound.Answer(await probe.ask(host, policy: StandardPolicy(host: HostPattern(host))))
        }
    }

    private static func pin(_ certificate: TestCertificate) throws -> Pin { try .publicKey(of: certificate.der) }

    @Test(
        "Every address of a name is asked by that name, and what all of them showed is published",
        .needs(.wholeLoopbackBlock))
    func everyAddress() async throws {
        let addresses = ["127.0.0.1", "127.0.0.2"] + (LoopbackFleet.hasIPv6 ? ["::1"] : [])
        try await TrustServerSite.with { site in
            let issuing = try site.root.intermediate()
            let leaves = try addresses.map { _ in try issuing.leaf(names: [.dns(LoopbackFleet.name)]) }
            try await LoopbackFleet.with(Array(zip(addresses, leaves)).map { ($0, $1) }) { fleet in
                let survey = try Self.survey(site, addresses)
                let publication = try site.publication([try fleet.host], SystemWallClock()) { await survey.ask($0) }
                let report = try await publication.run()
                #expect(report.published == 1 && report.status == nil, "\(report.lines)")
                let entries = try site.document().entries
                #expect(entries.map(\.hostname) == [LoopbackFleet.name])
                #expect(entries.map(\.port) == [fleet.servers[0].port])
                #expect(try Set(entries.flatMap(\.publicKeyPins)) == Set(leaves.map(Self.pin)))
                #expect(entries.flatMap(\.certificatePins).count == leaves.count)
                for server in fleet.servers {
                    #expect(server.statistics.lastServerName == LoopbackFleet.name)
                    #expect(server.statistics.connectionsAccepted == 2)
                }
                guard ForeignProgram.openSSL.runsPart() else { return }
                let foreign = try await OpenSSLProgram.run(
                    [
                        "smime", "-verify", "-inform", "der", "-in", "output/acme.json.signed", "-CAfile",
                        "output/acme.pem",
                    ], in: site.folder)
                #expect(foreign.status == 0, "\(foreign.text)")
                for leaf in leaves {
                    let key = Data(try X509Certificate(der: leaf.der).subjectPublicKeyInfo).base64EncodedString()
                    #expect(foreign.text.contains(key))
                }
            }
        }
    }

    @Test(
        "In a rolling renewal clients that reach either node are let in until the overlap has passed",
        .needs(.wholeLoopbackBlock))
    func rollingRenewal() async throws {
        try await TrustServerSite.with { site in
            let issuing = try site.root.intermediate()
            let (old, new) = (
                try issuing.leaf(names: [.dns(LoopbackFleet.name)]), try issuing.leaf(names: [.dns(LoopbackFleet.name)])
            )
            try await LoopbackFleet.with([("127.0.0.1", old), ("127.0.0.2", old)]) { fleet in
                let clock = ManualClock(now: SystemWallClock().now)
                let survey = try Self.survey(site, ["127.0.0.1", "127.0.0.2"])
                let publication = try site.publication([try fleet.host], clock) { await survey.ask($0) }
                func published(locksOut refused: Int) async throws -> Set<Pin> {
                    let report = try await publication.run()
                    #expect(report.refusals.count == refused && !report.isIncomplete, "\(report.lines)")
                    return Set(try site.document(at: clock.now).entries.flatMap(\.publicKeyPins))
                }
                let both = Set([try Self.pin(old), try Self.pin(new)])
                #expect(try await published(locksOut: 0) == [try Self.pin(old)])
                try fleet.servers[0].serve(new)
                clock.advance(by: .seconds(300))
                // Clients with the first document refuse the first node for 25 hours after it was made.
                #expect(try await published(locksOut: 1) == both)
                // The publisher knows only the first node; the second has the old certificate still.
                await fleet.servers[1].shutdown()
                let rest = try site.publication([try fleet.host], clock) { host in
                    await (try? Self.survey(site, ["127.0.0.1"]))?.ask(host) ?? .unreachable("")
                }
                for day in 1...8 {
                    clock.advance(by: .seconds(86_400))
                    let report = try await rest.run()
                    // The overlap's end replaces a document that was signed a day before: clients are in their grace.
                    let expected: CommandFailure.Status? = day == 1 ? .negativeAnswer : day == 7 ? .endsSoon : nil
                    #expect(report.status == expected, "day \(day): \(report.lines)")
                    let pins = Set(try site.document(at: clock.now).entries.flatMap(\.publicKeyPins))
                    #expect(try pins == (day < 7 ? both : [Self.pin(new)]), "day \(day)")
                }
            }
        }
    }

    @Test(
        "An address that is down, or shows what is not trusted, is named and holds nothing up",
        .needs(.wholeLoopbackBlock))
    func failingAddress() async throws {
        try await TrustServerSite.with { site in
            let issuing = try site.root.intermediate()
            let good = try issuing.leaf(names: [.dns(LoopbackFleet.name)])
            let impostor = try TestAuthority.root(name: "Elsewhere").leaf(names: [.dns(LoopbackFleet.name)])
            let early = try issuing.leaf(names: [.dns(LoopbackFleet.name)]) { $0.notBefore = .days(1) }
            let nodes = [("127.0.0.1", good), ("127.0.0.2", impostor), ("127.0.0.3", early)]
            try await LoopbackFleet.with(nodes) { fleet in
                func run(_ addresses: [String]) async throws -> TrustServerPublication.Report {
                    let survey = try Self.survey(site, addresses)
                    let report = try await site.publication([try fleet.host], SystemWallClock()) {
                        await survey.ask($0)
                    }
                    .run()
                    #expect(report.published == 1)
                    #expect(try site.document().entries.flatMap(\.publicKeyPins) == [try Self.pin(good)])
                    return report
                }
                let down = try await run(["127.0.0.1", "127.0.0.4"])
                #expect(down.status == .couldNotFindOut)
                #expect(down.lines.count == 1 && down.lines[0].contains("127.0.0.4:"), "\(down.lines)")
                #expect(down.lines[0].contains("is published with what else it showed"))
                let untrusted = try await run(["127.0.0.1", "127.0.0.2"])
                #expect(untrusted.status == .negativeAnswer)
                #expect(untrusted.lines.first?.contains("127.0.0.2: unknownIssuer") == true, "\(untrusted.lines)")
                let tomorrow = try await run(["127.0.0.3", "127.0.0.1"])
                #expect(tomorrow.status == .negativeAnswer)
                #expect(tomorrow.lines.first?.contains("127.0.0.3: notYetValid") == true, "\(tomorrow.lines)")
            }
        }
    }

    @Test(
        "Of a server with an ECDSA and an RSA certificate both are published",
        .needs(.openSSL), arguments: [nil, .tls12] as [OpenSSLServer.Version?])
    func bothKinds(version: OpenSSLServer.Version?) async throws {
        try await TrustServerSite.with { site in
            let ecdsa = try site.root.leaf(names: [.dns(LoopbackFleet.name)])
            let rsa = try site.root.leaf(names: [.dns(LoopbackFleet.name)], key: .sharedRSA(bits: 2048, index: 0))
            try site.write("rsa.pem", TestCertificate.pem(rsa.der))
            try site.write("rsa.key", rsa.key.privateKeyPEM)
            let server = try await OpenSSLServer.start(
                serving: ecdsa, version: version,
                arguments: ["-dcert", site.file("rsa.pem").path, "-dkey", site.file("rsa.key").path])
            let survey = try Self.survey(site, ["127.0.0.1"])
            let answer = await survey.ask(try DialedHost(LoopbackFleet.name, port: server.port))
            await server.stop()
            #expect(answer.problems == [])
            let leaves = Set(answer.paths.compactMap(\.leaf?.publicKeyPin))
            #expect(try leaves == [Self.pin(ecdsa), Self.pin(rsa)])
        }
    }

    @Test(
        "Connections to an address are as many as --tries says, whatever it answers",
        .needs(.wholeLoopbackBlock), arguments: [1, 3])
    func tries(count: Int) async throws {
        try await TrustServerSite.with { site in
            let leaf = try site.root.leaf(names: [.dns(LoopbackFleet.name)])
            let impostor = try TestAuthority.root(name: "Elsewhere").leaf(names: [.dns(LoopbackFleet.name)])
            try await LoopbackFleet.with([("127.0.0.1", leaf), ("127.0.0.2", impostor)]) { fleet in
                let survey = try Self.survey(site, ["127.0.0.1", "127.0.0.2"], tries: count)
                let answer = await survey.ask(try fleet.host)
                #expect(answer.problems.map(\.kind) == [.untrusted])
                #expect(fleet.servers.map(\.statistics.connectionsAccepted) == [count, count])
            }
        }
    }

    @Test("A name with more addresses than are asked is reported; one without any could not be asked")
    func manyAddresses() async throws {
        try await TrustServerSite.with { site in
            let host = try DialedHost(LoopbackFleet.name, port: 1)
            let many = try Self.survey(site, (1...65).map { "127.0.0.\($0)" }, tries: 1)
            let answer = await many.ask(host)
            #expect(answer.problems.count == 65)
            #expect(answer.problems.last?.reason == "of the 65 addresses of api.example.com:1 64 were asked")
            let none = await (try Self.survey(site, [])).ask(host)
            #expect(none.problems.map(\.reason) == ["no address was found for \(LoopbackFleet.name)"])
            let other = await many.ask(try DialedHost("other.example.com", port: 1))
            #expect(other.problems.map(\.kind) == [.unreachable])
        }
    }

    @Test("The system's resolver finds the addresses of this machine")
    func system() async throws {
        let addresses = try await AddressResolver.system.addresses("localhost").map(\.description)
        #expect(!addresses.isEmpty && addresses.allSatisfy { ["127.0.0.1", "::1"].contains($0) })
    }
}
