import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("A situation made from real documents and chains", .timeLimit(.minutes(10)))
struct RolloverMakingTests {
    /// The certificates, documents and builds that a fleet of the model stands for.
    private struct Reality {
        static let host = "api.example.com"

        let fleet: RolloverFleet
        let authority: TestAuthority
        let key: SigningKey
        let certificates: [TestCertificate]

        init(_ fleet: RolloverFleet, _ authority: TestAuthority, _ key: SigningKey) throws {
            self.fleet = fleet
            self.authority = authority
            self.key = key
            certificates = try fleet.ends.map { end in
                try authority.leaf(names: [.dns(Self.host)]) { leaf in
                    leaf.notAfter =
                        end == RolloverFleet.never
                        ? .days(3_000) : .date(RolloverScene.date(end).addingTimeInterval(-1))
                }
            }
        }

        private func file(_ document: RolloverFleet.Document) throws -> PinFile {
            let pins = try certificates.indices.filter { document.mask >> $0 & 1 == 1 }.map { identity in
                let isRetiring = fleet.retiring >> identity & 1 == 1
                return try PinFile.KeyPin(
                    .publicKey(of: certificates[identity].der),
                    state: isRetiring ? .retiring : fleet.backups >> identity & 1 == 1 ? .backup : .active)
            }
            let end = document.end == RolloverFleet.never ? nil : RolloverScene.date(document.end)
            return try PinFile(
                notAfter: end?.addingTimeInterval(-1), hosts: [PinFile.Host(HostPattern(Self.host), pins: pins)])
        }

        private func list(_ document: RolloverFleet.Document) throws -> Data {
            let entries = try certificates.indices.filter { document.mask >> $0 & 1 == 1 }.map { identity in
                let end = min(document.end, fleet.ends[identity])
                return try FingerprintEntry(
                    name: Self.host, pin: .certificate(certificates[identity].der),
                    until: end == RolloverFleet.never
                        ? RolloverScene.base.addingTimeInterval(2_000 * 86_400) : RolloverScene.date(end))
            }
            return try PinListDraft(entries).signed(by: key)
        }

        var documents: [PublicationOutlook.Document] {
            get throws {
                try fleet.documents.enumerated().map { index, document in
                    let isList = fleet.kind == .list
                    return .init(
                        "\(index)", kind: isList ? .staticList(publicKey: try key.publicKey.base64) : .shippedPins,
                        octets: isList ? try list(document) : Data(try file(document).json),
                        published: RolloverScene.date(document.published),
                        replaced: index + 1 < fleet.documents.count
                            ? RolloverScene.date(fleet.documents[index + 1].published) : nil)
                }
                    + fleet.shipped.enumerated().map { index, build in
                        .init(
                            "build \(index)", kind: .shippedPins, octets: Data(try file(build).json),
                            published: RolloverScene.date(build.published), appVersions: ["\(index)"])
                    }
            }
        }

        func pin(_ identity: Int) throws -> Pin {
            fleet.kind == .list
                ? .certificate(certificates[identity].der) : try .publicKey(of: certificates[identity].der)
        }

        var platform: PublicationOutlook.Platform { .init("company root", anchors: [Data(authority.root)]) }

        var inputs: RolloverInputs {
            get throws {
                let builds = fleet.shipped.enumerated().map { index, build in
                    let end = build.usedUntil ?? 0
                    return PublicationOutlook.AppVersion(
                        "\(index)", usedUntil: end == RolloverFleet.never ? nil : RolloverScene.date(end))
                }
                return RolloverInputs(
                    host: Self.host, port: 443, documents: try documents, hasEarlierDocuments: false,
                    servers: fleet.servers.enumerated().map {
                        .init(
                            certificates[$1].chain.map { Data($0) }, at: "192.0.2.\($0)", seen: RolloverScene.base)
                    },
                    candidates: certificates.enumerated().map { identity, certificate in
                        .init(
                            "\(identity).pem", chain: certificate.chain.map { Data($0) },
                            isNext: identity == fleet.target, isBackup: fleet.backups >> identity & 1 == 1)
                    },
                    retiring: fleet.retiring & 1 == 1 ? [try pin(0)] : [], platforms: [platform],
                    appVersions: builds.isEmpty ? .unknown : .versions(builds),
                    staleness: .seconds(fleet.staleness * RolloverWorld.second),
                    lead: .seconds(fleet.lead * RolloverWorld.second), now: RolloverScene.base)
            }
        }
    }

    /// The instants of dates a year and more from now are all the same to the model.
    private static func near(_ date: Date?) -> Date? {
        date.flatMap { $0 < RolloverScene.date(RolloverFleet.horizon) ? $0 : nil }
    }

    /// A step with the identities of the model.
    private static func step(_ step: RolloverAdvice.Step, _ names: [Int]) -> RolloverAdvice.Step {
        func map(_ identities: [Int]) -> [Int] { identities.map { names[$0] }.sorted() }
        return switch step {
        case .publish(let identities): .publish(map(identities))
        case .renew(let identities, by: let date): .renew(map(identities), by: near(date))
        case .remove(let identities): .remove(map(identities))
        case .deploy(let identity, let servers, before: let date):
            .deploy(names[identity], servers: servers, before: near(date))
        case .wait(until: let date): .wait(until: near(date))
        case .nothing(until: let date): .nothing(until: near(date))
        case .prepareNext(by: let date): .prepareNext(by: near(date))
        case .addBackup, .renewCertificates: step
        }
    }

    @Test("Who gets in, when, and what to do next is the same in the model and for clients with real certificates")
    func likeTheModel() throws {
        let clock = ManualClock(now: RolloverScene.base)
        let authority = try TestAuthority.root(clock: clock)
        let key = SigningKey()
        var compared = 0
        for seed in 0..<48 {
            var random = SplitMix64(seed: UInt64(seed))
            var fleet = RolloverFleet(using: &random)
            // Its keys outlive their certificates, and everything in it is at hand.
            fleet.kind = seed % 2 == 0 ? .list : .pinFile
            if fleet.kind == .pinFile { fleet.ends = Array(repeating: RolloverFleet.never, count: 4) }
            fleet.deployable = RolloverFleet.all
            let reality = try Reality(fleet, authority, key)
            let situation = try #require(try RolloverSituation.situations(from: try reality.inputs).first)
            let world = RolloverWorld(fleet)
            let names = try situation.identities.map { identity in
                try #require(try (0..<RolloverFleet.identities).first { try reality.pin($0) == identity.pin })
            }
            #expect(situation.clients.count == fleet.documents.count + fleet.shipped.count, "seed \(seed)")
            for (index, clients) in situation.clients.enumerated() {
                let build = index - fleet.documents.count
                let document = build < 0 ? index : RolloverWorld.builds + build
                for (identity, name) in names.enumerated() {
                    for tick in 0..<RolloverFleet.horizon {
                        let time = RolloverScene.date(tick).addingTimeInterval(Double(RolloverWorld.second) / 2)
                        let getsIn = clients.admissions[identity].contains { $0.contains(time) }
                        #expect(getsIn == world.lets(name, in: document, at: tick), "seed \(seed), \(index), \(name)")
                        compared += 1
                    }
                }
            }
            let (real, modeled) = (
                RolloverAdvice(on: situation), RolloverAdvice(on: RolloverScene(fleet).situation(of: world))
            )
            let own = Array(0..<RolloverFleet.identities)
            #expect(
                Self.step(real.step, names) == Self.step(modeled.step, own), "seed \(seed): \(fleet)")
            #expect(real.lost.map(\.clients) == modeled.lost.map(\.clients) && real.blocking == modeled.blocking)
        }
        #expect(compared > 5_000)
    }

    @Test("Whether clients get in is what a publication outlook says of the same documents and chains")
    func likeTheOutlook() throws {
        let clock = ManualClock(now: RolloverScene.base)
        let authority = try TestAuthority.root(clock: clock)
        let key = SigningKey()
        for seed in 100..<124 {
            var random = SplitMix64(seed: UInt64(seed))
            var fleet = RolloverFleet(using: &random)
            fleet.kind = seed % 2 == 0 ? .list : .pinFile
            fleet.shipped = []
            if fleet.kind == .pinFile { fleet.ends = Array(repeating: RolloverFleet.never, count: 4) }
            let reality = try Reality(fleet, authority, key)
            let inputs = try reality.inputs
            let situation = try #require(try RolloverSituation.situations(from: inputs).first)
            let span = Duration.seconds(RolloverFleet.horizon * RolloverWorld.second)
            let outlook = try PublicationOutlook(
                judging: .init(
                    documents: inputs.documents,
                    hosts: [.init(inputs.host, port: inputs.port, shown: inputs.servers)],
                    platforms: inputs.platforms, appVersions: .unknown, staleness: inputs.staleness ?? .zero,
                    span: span,
                    now: inputs.now))
            for row in outlook.rows where row.holders == .current || row.holders == .replaced {
                guard let document = row.document, let server = row.presentation else { continue }
                let admissions = situation.clients[document].admissions[situation.servers[server].shows]
                for span in row.spans {
                    #expect(
                        admissions.contains { $0.contains(span.start) } == span.getsIn,
                        "seed \(seed), document \(document), server \(server), \(span)")
                }
            }
        }
    }
}
