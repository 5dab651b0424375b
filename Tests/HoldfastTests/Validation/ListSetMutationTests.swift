import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// A list as a test thinks of it: whole numbers, no DER.
private struct DrawnList: Hashable {
    enum Scope: CaseIterable { case whole, servers, authorities, point, otherPoint, reasons, indirect, attributes }
    enum Word: CaseIterable { case silent, names, takesBack }

    var signer = 0
    var isForged = false
    var scope = Scope.whole
    var number: Int?
    /// Hours before now at which it was made; below zero for the future.
    var hoursAgo = 0
    /// Hours from now until the next is due; nil for none.
    var nextIn: Int?
    var word = Word.silent
    /// Of a delta list.
    var base: Int?

    static func any(_ generator: inout SplitMix64) -> DrawnList {
        func chance(_ percent: Int) -> Bool { generator.below(100) < percent }
        var list = DrawnList()
        list.signer = chance(15) ? 1 : 0
        list.isForged = chance(4)
        list.scope = chance(55) ? .whole : Scope.allCases[generator.below(Scope.allCases.count)]
        list.number = chance(12) ? nil : 1 + generator.below(6)
        list.hoursAgo = chance(4) ? -1 : 1 + generator.below(6)
        list.nextIn = chance(6) ? nil : chance(25) ? -(generator.below(list.hoursAgo > 1 ? list.hoursAgo : 1)) - 1 : 9
        if let next = list.nextIn, next < 0 { list.nextIn = max(next, -max(1, list.hoursAgo - 1)) }
        if chance(22) { list.base = 1 + generator.below(5) }
        list.word = chance(35) ? .names : list.base != nil && chance(50) ? .takesBack : .silent
        return list
    }

    /// Newer lists mostly have higher numbers.
    static func some(_ generator: inout SplitMix64) -> [DrawnList] {
        (0..<(1 + generator.below(5))).map { _ in
            var list = any(&generator)
            if list.number != nil, generator.below(100) < 75 { list.number = max(1, 7 - list.hoursAgo) }
            return list
        }
    }
}

/// The rule once more, over drawn lists: what counts is found by striking out, not by asking in turn.
private struct ListModel {
    enum Verdict: String { case good, revoked, unknown }

    /// Something that is said of the certificate, by one list or by two.
    private struct View {
        let list: DrawnList
        let parts: [DrawnList]
    }

    let lists: [DrawnList]

    init(_ drawn: [DrawnList]) { lists = drawn.filter { !$0.isForged } }

    private static func isOneSequence(_ one: DrawnList, _ other: DrawnList) -> Bool {
        one.signer == other.signer && one.scope == other.scope
    }

    /// Above zero for later, zero if the order is unknown; nil if number and time contradict each other.
    private static func order(_ one: DrawnList, _ other: DrawnList) -> Int? {
        let time = (other.hoursAgo - one.hoursAgo).signum()
        guard let number = one.number, let otherNumber = other.number else { return time }
        let rank = (number - otherNumber).signum()
        if rank * time < 0 { return nil }
        return rank
    }

    private func hasRival(_ list: DrawnList) -> Bool {
        lists.contains { Self.isOneSequence($0, list) && Self.order($0, list) == nil }
    }

    private static func isInForce(_ list: DrawnList) -> Bool { list.hoursAgo >= 0 && (list.nextIn ?? -1) >= 0 }

    private static func isComplete(_ list: DrawnList) -> Bool {
        list.base == nil && list.number != nil && ![.reasons, .indirect, .attributes].contains(list.scope)
    }

    private static func covers(_ list: DrawnList) -> Bool { ![.authorities, .otherPoint].contains(list.scope) }

    /// The credible views that the certificate is not revoked.
    private var clean: [View] {
        let sound = lists.filter { Self.isInForce($0) && !hasRival($0) }
        let complete = sound.filter(Self.isComplete)
        var views = complete.filter { $0.word != .names }.map { View(list: $0, parts: [$0]) }
        for delta in sound where delta.word == .takesBack && delta.number != nil {
            guard ![.reasons, .indirect, .attributes].contains(delta.scope), let base = delta.base else { continue }
            for list in complete where Self.isOneSequence(list, delta) {
                guard let number = list.number, base <= number, Self.order(delta, list) == 1 else { continue }
                views.append(View(list: delta, parts: [list, delta]))
            }
        }
        return views
    }

    var verdict: Verdict {
        let clean = clean
        let standing = lists.filter { named in
            guard named.word == .names, named.scope != .attributes else { return false }
            let isOver = named.hoursAgo >= 0 && !Self.isInForce(named)
            return !clean.contains { view in
                if Self.isOneSequence(view.list, named) { return Self.order(view.list, named) == 1 }
                return isOver && Self.covers(view.list) && view.list.hoursAgo < named.hoursAgo
            }
        }
        if !standing.isEmpty { return .revoked }
        return clean.contains { Self.covers($0.list) } ? .good : .unknown
    }
}

@Suite("Random sets of revocation lists beside a model of the rule", .timeLimit(.minutes(120)))
struct ListSetMutationTests {
    /// An authority with two keys, a server's certificate, and lists as they were drawn, each made once.
    private struct World {
        let root: TestAuthority
        let signers: [TestAuthority]
        let leaf: TestCertificate
        private let serial: [UInt8]
        private let stranger: TestKey
        private let ofRoot: CertificateRevocationList
        private var made: [DrawnList: CertificateRevocationList] = [:]

        private static let points = ["http://crl.example/1", "http://crl.example/2"].map { RevocationPoints.url($0) }

        init() throws {
            root = try Judge.root()
            signers = try [root.intermediate(name: "Issuing"), root.intermediate(name: "Issuing")]
            leaf = try signers[0].leaf(names: ["www.example.com"]) {
                $0.extensions = [RevocationPoints.inCertificate([Self.points[0]])]
            }
            serial = try RevocationScene.serial(leaf)
            stranger = try TestKey()
            ofRoot = try CertificateRevocationList(der: root.revocationList())
        }

        private mutating func list(_ drawn: DrawnList) throws -> CertificateRevocationList {
            if let known = made[drawn] { return known }
            let scope: [[UInt8]] =
                switch drawn.scope {
                case .whole: []
                case .servers: [RevocationPoints.flag(1)]
                case .authorities: [RevocationPoints.flag(2)]
                case .point: [Self.points[0]]
                case .otherPoint: [Self.points[1]]
                case .reasons: [RevocationPoints.someReasons]
                case .indirect: [RevocationPoints.flag(4)]
                case .attributes: [RevocationPoints.flag(5)]
                }
            let der = try signers[drawn.signer].revocationList {
                $0.number = drawn.number
                $0.thisUpdate = .hours(Double(-drawn.hoursAgo))
                $0.nextUpdate = drawn.nextIn.map { .hours(Double($0)) }
                $0.serialNumbers = drawn.word == .silent ? [[1]] : [[1], serial]
                if drawn.word == .takesBack {
                    $0.entryExtensions = [TestExtension([2, 5, 29, 21], value: [0x0A, 1, 8])]
                }
                if drawn.isForged { $0.signer = stranger }
                $0.extensions = scope.isEmpty ? [] : [RevocationPoints.inList(scope)]
                if let base = drawn.base { $0.extensions.append(RevocationPoints.delta(base: base)) }
            }
            let list = try CertificateRevocationList(der: der)
            made[drawn] = list
            return list
        }

        mutating func code(_ lists: [DrawnList]) throws -> TrustFailure.Code? {
            let lists = try lists.map { try list($0) }
            let validator = PathValidator(
                anchors: try TrustAnchors(der: [root.root]),
                revocation: .crls(
                    [ofRoot] + lists, certificates: try signers.map { try X509Certificate(der: $0.certificate.der) },
                    isRequired: true))
            let outcome = validator.validate(
                PresentedChain(leaf.chain), for: .server(identity: nil), at: Judge.now
            ) { _ in true }
            return outcome.path == nil ? outcome.failure?.code ?? .rejectedBySystem : nil
        }
    }

    /// Sets of one half; `scripts/nightly` asks for thousands.
    private static let sets = max(300, Campaign.mutants / 20)

    @Test("The verdict is the model's for every set", arguments: [1, 2] as [UInt64])
    func sets(seed: UInt64) async throws {
        var world = try World()
        var generator = SplitMix64(seed: seed)
        var counts: [ListModel.Verdict: Int] = [:]
        for round in 0..<Self.sets {
            await Campaign.letOthersRun(after: round)
            let drawn = DrawnList.some(&generator)
            let expected = ListModel(drawn).verdict
            counts[expected, default: 0] += 1
            let found: ListModel.Verdict? =
                switch try world.code(drawn) {
                case nil: .good
                case .revoked: .revoked
                case .revocationUnknown: .unknown
                default: nil
                }
            guard found != expected else { continue }
            Issue.record("seed \(seed), round \(round): \(found?.rawValue ?? "-") for \(expected.rawValue): \(drawn)")
        }
        for verdict in [ListModel.Verdict.good, .revoked, .unknown] { #expect(counts[verdict] ?? 0 > Self.sets / 20) }
    }
}
