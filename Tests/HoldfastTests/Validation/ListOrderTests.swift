import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Which of several lists counts, RFC 5280 5.2.3 and 5.2.4")
struct ListOrderTests {
    private typealias Points = RevocationPoints

    private let root: TestAuthority
    private let issuing: TestAuthority
    private let leaf: TestCertificate
    private let serial: [UInt8]
    private let ofRoot: [UInt8]

    private static let point = RevocationPoints.url("http://crl.example/1")
    private static let reason: TestObjectIdentifier = [2, 5, 29, 21]

    init() throws {
        root = try Judge.root()
        issuing = try root.intermediate(name: "Issuing")
        leaf = try issuing.leaf(names: ["www.example.com"]) {
            $0.extensions = [RevocationPoints.inCertificate([Self.point])]
        }
        serial = try RevocationScene.serial(leaf)
        ofRoot = try root.revocationList()
    }

    /// A list made so many hours ago.
    private func list(
        _ number: Int?, hoursAgo: Double, names: Bool = false, next: CertificateTime? = .days(7),
        _ extensions: [TestExtension] = [], removes: Bool = false, by authority: TestAuthority? = nil
    ) throws -> [UInt8] {
        try (authority ?? issuing).revocationList {
            $0.number = number
            $0.thisUpdate = .hours(-hoursAgo)
            $0.nextUpdate = next
            if names || removes { $0.serialNumbers = [serial] }
            if removes { $0.entryExtensions = [TestExtension(Self.reason, value: [0x0A, 1, 8])] }
            $0.extensions = extensions
        }
    }

    /// In both orders, which never matters.
    private func code(
        _ lists: [[UInt8]], unknown: Revocation.UnknownStatus = .fails, given: [TestAuthority] = [],
        _ place: SourceLocation = #_sourceLocation
    ) throws -> TrustFailure.Code? {
        var scene = RevocationScene(root)
        scene.certificates = given
        let codes = try [lists, lists.reversed()].map { lists in
            scene.lists = [ofRoot] + lists
            return try scene.code(leaf, unknownLeaf: unknown)
        }
        #expect(codes[0] == codes[1], sourceLocation: place)
        return codes[0]
    }

    @Test("An older list that is still in force vouches for nobody whom a newer one names, be that out of date")
    func replayed() throws {
        for next in [.hours(-1), nil, .days(1)] as [CertificateTime?] {
            let naming = try list(6, hoursAgo: 5, names: true, next: next)
            #expect(try code([naming, list(5, hoursAgo: 10)]) == .revoked)
            // Without numbers by time.
            let unnumbered = try list(nil, hoursAgo: 5, names: true, next: next)
            #expect(try code([unnumbered, list(5, hoursAgo: 10)]) == .revoked)
            // After a hold, the newer list counts.
            #expect(try code([naming, list(7, hoursAgo: 4)]) == nil)
            #expect(try code([unnumbered, list(7, hoursAgo: 4)]) == nil)
        }
    }

    @Test("Where number and time disagree neither list vouches, and the one that revokes counts")
    func contradiction() throws {
        #expect(try code([list(6, hoursAgo: 10, names: true), list(5, hoursAgo: 5)]) == .revoked)
        #expect(try code([list(5, hoursAgo: 5, names: true), list(6, hoursAgo: 10)]) == .revoked)
        let clean = try [list(6, hoursAgo: 10), list(5, hoursAgo: 5)]
        #expect(try code(clean) == .revocationUnknown)
        #expect(try code(clean, unknown: .passesWithoutList) == .revocationUnknown)
        #expect(try code(clean, unknown: .passes) == nil)
        // One that is newer than both by both vouches, and one out of date contradicts as well.
        #expect(try code(clean + [list(7, hoursAgo: 4)]) == nil)
        #expect(try code([list(6, hoursAgo: 10, next: .hours(-1)), list(5, hoursAgo: 5)]) == .revocationUnknown)
        // A list of a stranger's, or of another scope or key, contradicts nothing.
        let stranger = try TestKey()
        let forged = try issuing.revocationList {
            $0.number = 9
            $0.thisUpdate = .hours(-20)
            $0.signer = stranger
        }
        #expect(try code([forged, list(5, hoursAgo: 5)]) == nil)
        let other = try list(9, hoursAgo: 20, [Points.inList([Points.flag(1)])])
        #expect(try code([other, list(5, hoursAgo: 5)]) == nil)
        let rolled = try root.intermediate(name: "Issuing")
        #expect(try code([list(9, hoursAgo: 20, by: rolled), list(5, hoursAgo: 5)], given: [rolled]) == nil)
    }

    @Test("Of two lists of one number, or of one time and no number, the one that revokes counts")
    func same() throws {
        for (first, second) in [(5, 5), (nil, 5), (nil, nil)] as [(Int?, Int?)] {
            let naming = try list(first, hoursAgo: 5, names: true)
            #expect(try code([naming, list(second, hoursAgo: 5)]) == .revoked)
            let stale = try list(first, hoursAgo: 5, names: true, next: .hours(-1))
            #expect(try code([stale, list(second, hoursAgo: 5)]) == .revoked)
        }
        #expect(try code([list(5, hoursAgo: 6, names: true), list(5, hoursAgo: 5)]) == .revoked)
        #expect(try code([list(5, hoursAgo: 5), list(5, hoursAgo: 5)]) == nil)
    }

    @Test("Numbers are numbers: of any length up to 20 octets, not negative, not text")
    func numbers() throws {
        func numbered(_ octets: [UInt8], hoursAgo: Double, names: Bool) throws -> [UInt8] {
            try list(
                nil, hoursAgo: hoursAgo, names: names,
                [TestExtension([2, 5, 29, 20], value: TestDER.integer(octets: octets))])
        }
        let (long, longer) = ([0x7F] + [UInt8](repeating: 0xFF, count: 18), [UInt8](repeating: 0x11, count: 20))
        for (older, newer) in [([9], [0, 0xF0]), ([0, 0xFF], [1, 0]), (long, longer), ([5], [0, 0, 6])]
            as [([UInt8], [UInt8])]
        {
            #expect(
                try code([numbered(older, hoursAgo: 5, names: true), numbered(newer, hoursAgo: 5, names: false)]) == nil
            )
            #expect(
                try code([numbered(older, hoursAgo: 5, names: false), numbered(newer, hoursAgo: 5, names: true)])
                    == .revoked)
        }
        for odd in [[0xFF], [1] + longer] as [[UInt8]] {
            #expect(try code([numbered(odd, hoursAgo: 5, names: false)]) == .revocationUnknown)
            #expect(
                try code([numbered(odd, hoursAgo: 4, names: true), list(5, hoursAgo: 5)]) == .revoked)
        }
    }

    @Test("A delta list newer than the complete one revokes; an older one does not speak against it")
    func deltas() throws {
        let delta = Points.delta(base: 4)
        #expect(try code([list(6, hoursAgo: 4, names: true, [delta]), list(5, hoursAgo: 5)]) == .revoked)
        #expect(
            try code([list(6, hoursAgo: 4, names: true, next: .hours(-1), [delta]), list(5, hoursAgo: 5)]) == .revoked)
        #expect(try code([list(6, hoursAgo: 5, names: true, [delta]), list(7, hoursAgo: 4)]) == nil)
        // One that does not name the certificate takes nothing back, and vouches for no certificate.
        #expect(try code([list(5, hoursAgo: 5, names: true), list(6, hoursAgo: 4, [delta])]) == .revoked)
        #expect(try code([list(6, hoursAgo: 4, [delta])]) == .revocationUnknown)
    }

    @Test("removeFromCRL counts in a delta list on its base, and nowhere else")
    func takenBack() throws {
        let held = try list(5, hoursAgo: 5, names: true)
        func removing(
            base: Int = 5, number: Int? = 6, hoursAgo: Double = 4, next: CertificateTime = .days(7),
            _ more: [TestExtension] = []
        ) throws -> [UInt8] {
            try list(number, hoursAgo: hoursAgo, next: next, [Points.delta(base: base)] + more, removes: true)
        }
        #expect(try code([held, removing()]) == nil)
        #expect(try code([held, removing(base: 4)]) == nil)
        // On a later base, not newer, out of date, of the future, of another scope, odd, or without a number.
        for delta in [
            try removing(base: 6), try removing(number: 5), try removing(base: 4, number: 4, hoursAgo: 6),
            try removing(hoursAgo: 6), try removing(next: .hours(-1)), try removing(hoursAgo: -1),
            try removing([Points.inList([Points.flag(1)])]), try removing(number: nil),
            try removing([TestExtension([1, 2, 3], isCritical: true, value: [5, 0])]),
        ] {
            #expect(try code([held, delta]) == .revoked)
            #expect(try code([delta]) != nil)
        }
        // The base is out of date: together they vouch for no certificate.
        #expect(try code([list(5, hoursAgo: 5, names: true, next: .hours(-1)), removing()]) == .revoked)
        // Held once more, and taken back once more.
        let again = try list(7, hoursAgo: 3, names: true, [Points.delta(base: 5)])
        #expect(try code([held, removing(), again]) == .revoked)
        #expect(try code([held, removing(), again, removing(number: 8, hoursAgo: 2)]) == nil)
        // A complete list has nothing to take back.
        #expect(try code([held, list(6, hoursAgo: 4, removes: true)]) == .revoked)
        // Another key's delta list is on no base here.
        let rolled = try root.intermediate(name: "Issuing")
        let foreign = try list(6, hoursAgo: 4, [Points.delta(base: 5)], removes: true, by: rolled)
        #expect(try code([held, foreign], given: [rolled]) == .revoked)
    }

    @Test("Between scopes time decides: a list in force revokes, one out of date until a later one vouches")
    func scopes() throws {
        let (servers, point) = (Points.inList([Points.flag(1)]), Points.inList([Self.point]))
        for (first, second) in [([servers], []), ([], [servers]), ([point], [servers]), ([], [point])]
            as [([TestExtension], [TestExtension])]
        {
            // Numbers of two scopes say nothing beside each other.
            #expect(try code([list(1, hoursAgo: 5, names: true, first), list(9, hoursAgo: 4, second)]) == .revoked)
            let stale = try list(9, hoursAgo: 5, names: true, next: .hours(-1), first)
            #expect(try code([stale, list(1, hoursAgo: 4, second)]) == nil)
            #expect(try code([stale, list(1, hoursAgo: 6, second)]) == .revoked)
            #expect(try code([stale, list(1, hoursAgo: 5, second)]) == .revoked)
            // A newer one of its own scope takes its place.
            #expect(try code([stale, list(10, hoursAgo: 4, first), list(1, hoursAgo: 6, second)]) == nil)
        }
        // Lists for some reasons, and indirect ones, are separate scopes that vouch for no certificate.
        for odd in [Points.someReasons, Points.flag(4)] {
            let naming = try list(5, hoursAgo: 5, names: true, [Points.inList([odd])])
            #expect(try code([naming, list(6, hoursAgo: 4)]) == .revoked)
            #expect(try code([naming, list(6, hoursAgo: 4, [Points.inList([odd])]), list(6, hoursAgo: 4)]) == .revoked)
        }
        let attributes = try list(6, hoursAgo: 4, names: true, [Points.inList([Points.flag(5)])])
        #expect(try code([attributes, list(5, hoursAgo: 5)]) == nil)
    }

    @Test("Between keys the time decides as well")
    func keys() throws {
        let rolled = try root.intermediate(name: "Issuing")
        let stale = try list(9, hoursAgo: 5, names: true, next: .hours(-1))
        #expect(try code([stale, list(1, hoursAgo: 4, by: rolled)], given: [rolled]) == nil)
        #expect(try code([stale, list(10, hoursAgo: 6, by: rolled)], given: [rolled]) == .revoked)
        let inForce = try list(1, hoursAgo: 5, names: true)
        #expect(try code([inForce, list(9, hoursAgo: 4, by: rolled)], given: [rolled]) == .revoked)
    }

    @Test("A list of the future vouches for nobody and takes nobody's place, but names whom it names")
    func future() throws {
        #expect(try code([list(6, hoursAgo: -1)]) == .revocationUnknown)
        #expect(try code([list(5, hoursAgo: 5, names: true), list(6, hoursAgo: -1)]) == .revoked)
        // As with a clock that was set back, so that older lists are in force again.
        #expect(try code([list(6, hoursAgo: -1, names: true), list(5, hoursAgo: 5)]) == .revoked)
        #expect(try code([list(6, hoursAgo: -1), list(5, hoursAgo: 5)]) == nil)
    }

    @Test("A list that another contradicts says so in the trace")
    func trace() throws {
        var scene = RevocationScene(root)
        scene.lists = try [ofRoot, list(6, hoursAgo: 10), list(5, hoursAgo: 5)]
        #expect(try scene.rules(leaf).filter { $0.failure != nil }.map(\.rule).contains("list order"))
        #expect(try scene.outcome(leaf).failure?.found.contains("newer than another") == true)
    }

    @Test("What is looked at is charged: many lists that contradict each other end in the budget, not in time")
    func budget() throws {
        var scene = RevocationScene(root)
        scene.lists = try [ofRoot] + (0..<40).map { try list(100 - $0, hoursAgo: Double(40 - $0)) }
        let outcome = try scene.outcome(leaf)
        #expect(outcome.path == nil)
        #expect(outcome.effort.work <= scene.limits.work)
        #expect(outcome.effort.signatures <= scene.limits.signatures)
    }
}
