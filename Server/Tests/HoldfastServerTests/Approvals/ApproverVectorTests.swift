import Foundation
import Holdfast
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP

/// Chains of approvers as an attacker makes them, for readers in other languages.
@Suite("Vectors of chains of approvers")
struct ApproverVectorTests {
    /// A chain, by the places of its statements in the file.
    private struct Chain {
        let places: [Int]
        /// The place of a statement that is known to have counted.
        var known: Int?
        /// Why it is refused; nil if it counts.
        var code: ServerError.Code?
        var why = ""
    }

    // Only Ed25519: its signatures are the same each time.
    private static let people: [Approver] =
        [.alice, .carol, .dave, Approver("erin", 5), Approver("frank", 6), .mallory] + Approver.vaults
    private static let (erin, frank) = (people[3], people[4])

    private static let chains = [
        Chain(places: [0]), Chain(places: [0, 1]), Chain(places: [0, 1, 2]), Chain(places: [0, 1, 2], known: 1),
        Chain(places: [0, 3]), Chain(places: [0, 4], known: 0), Chain(places: [0, 25]), Chain(places: [0, 25, 26]),
        Chain(places: [0, 25, 27]), Chain(places: [0, 28]),
        Chain(places: [1], code: .brokenChain, why: "the genesis is missing"),
        Chain(places: [0, 0], code: .brokenChain, why: "the genesis twice"),
        Chain(places: [0, 2], code: .brokenChain, why: "a statement is missing"),
        Chain(places: [0, 1, 1], code: .brokenChain, why: "a statement twice"),
        Chain(places: [0, 2, 1], code: .brokenChain, why: "the wrong order"),
        Chain(places: [0], known: 1, code: .brokenChain, why: "an older set that was put back"),
        Chain(places: [0, 4], known: 1, code: .brokenChain, why: "another statement in the place of one that counted"),
        Chain(places: [5], code: .notApproved, why: "one approver has not signed the genesis"),
        Chain(places: [6], code: .brokenChain, why: "a genesis that the configuration does not name"),
        Chain(places: [7], code: .brokenChain, why: "the genesis of another server"),
        Chain(places: [0, 8], code: .notApproved, why: "an approver whom one of two inserted"),
        Chain(places: [0, 9], code: .invalidSignature, why: "a signature that is said to be another's"),
        Chain(places: [0, 10], code: .notApproved, why: "one person who signed twice lowers the number"),
        Chain(places: [0, 11], code: .notApproved, why: "the new approver has not signed"),
        Chain(places: [0, 12], code: .notApproved, why: "an approver and a recovery key are not two of either"),
        Chain(places: [0, 13], code: .invalidSignature, why: "a stranger has signed as well"),
        Chain(places: [0, 1, 14], code: .brokenChain, why: "it follows another statement than the one before"),
        Chain(places: [0, 15], code: .notForThis, why: "it is for another server"),
        Chain(places: [0, 16], code: .malformed, why: "nobody has to approve"),
        Chain(places: [0, 17], code: .invalidValue, why: "more must approve than there are"),
        Chain(places: [0, 18], code: .malformed, why: "a later statement names recovery keys"),
        Chain(places: [0, 19], code: .malformed, why: "approvers are not sorted by identity"),
        Chain(places: [0, 20], code: .invalidValue, why: "one key under two names"),
        Chain(places: [0, 21], code: .malformed, why: "a key under which anybody can sign"),
        Chain(places: [0, 22], code: .malformed, why: "a number with a leading zero"),
        Chain(places: [0, 23], code: .malformed, why: "carriage returns"),
        Chain(places: [0, 24], code: .malformed, why: "no line feed at the end"),
        Chain(places: [0, 25, 29], code: .notApproved, why: "an approver of certain apps agrees to more of them"),
        Chain(places: [0, 25, 30], code: .invalidValue, why: "an earlier version after one that says the apps"),
        Chain(
            places: [0, 25, 31], code: .invalidValue,
            why: "an earlier version after one that says the apps, by recovery keys"),
        Chain(places: [0, 32], code: .invalidValue, why: "fewer approve all apps than must agree"),
        Chain(places: [0, 33], code: .malformed, why: "apps that are not sorted"),
        Chain(places: [0, 34], code: .malformed, why: "an app twice"),
        Chain(places: [0, 35], code: .malformed, why: "an app without a name"),
        Chain(places: [0, 36], code: .malformed, why: "all apps, and one of them"),
        Chain(places: [0, 37], code: .malformed, why: "a name that no app has"),
        Chain(places: [0, 38], code: .malformed, why: "nothing where the apps stand"),
        Chain(places: [0, 39], code: .malformed, why: "no app"),
        Chain(places: [0, 40], code: .malformed, why: "apps twice"),
        Chain(places: [0, 41], code: .malformed, why: "apps in a version that has none"),
        Chain(places: [0, 42], code: .malformed, why: "a version that nobody knows"),
    ]

    private static func sign(_ text: [UInt8], _ signers: [Approver]) throws -> SignedApprovers {
        SignedApprovers(text: text, signatures: try signers.map { try $0.signature(of: text) })
    }

    /// Changes the lines of a statement; the last one is empty, behind the last line feed.
    private static func edited(
        _ statement: ApproverStatement, _ change: (inout [String]) throws -> Void
    ) rethrows -> [UInt8] {
        var lines = String(decoding: statement.bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        try change(&lines)
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Statements that say which apps each approves.
    private static func statementsWithApps(after genesis: ApproverStatement) throws -> [SignedApprovers] {
        func people(_ all: [Approver], _ some: [Approver: String] = [:]) throws -> ApproverSet {
            let limited = try some.map { try $0.limited(to: $1) }
            return try ApproverSet(all.map { try $0.member } + limited, number: 2, bindsApps: true)
        }
        let bound = try ApproverStatement(
            after: genesis, approvers: people([.alice, .carol], [.dave: "bank,shop"]))
        let wide = try ApproverStatement(after: bound, approvers: people([.alice, .carol, .dave]))
        let recovered = try ApproverStatement(after: bound, approvers: people([erin, frank], [.dave: "shop"]))
        let every = try ApproverStatement(after: genesis, approvers: people([.alice, .carol, .dave]))
        /// The same in the version before.
        func plain(_ statement: ApproverStatement) -> [UInt8] {
            edited(statement) { lines in
                lines = lines.map { $0.replacing(" *", with: "").replacing("-v3", with: "-v1") }
            }
        }
        let replaced = try ApproverStatement(after: bound, approvers: people([erin, frank]))
        let few = edited(every) { lines in
            lines = lines.map { $0.hasPrefix("alice ") ? $0 : $0.replacing(" *", with: " bank") }
        }
        let (voters, vaults): ([Approver], [Approver]) = ([.alice, .carol], [erin, frank] + Approver.vaults.prefix(2))
        let spellings: [(String, String)] = [
            ("bank,shop", "shop,bank"), ("bank,shop", "bank,bank"), ("bank,shop", "bank,"), ("bank,shop", "*,bank"),
            ("bank,shop", "a"), (" bank,shop", ""), (" bank,shop", " "), ("bank,shop", "bank,shop *"),
            ("-v3\n", "-v1\n"), ("-v3\n", "-v4\n"),
        ]
        return try [
            voters.sign(bound), voters.sign(wide), vaults.sign(recovered), [Approver.alice, .dave].sign(every),
            [Approver.alice, .dave].sign(wide), sign(plain(wide), voters), sign(plain(replaced), vaults),
            sign(few, voters),
        ]
            + spellings.map { part, other in
                let text = String(decoding: bound.bytes, as: UTF8.self).replacing(part, with: other)
                return try sign(Array(text.utf8), voters)
            }
    }

    /// The statements, in the order of the file.
    private static func statements() throws -> [SignedApprovers] {
        func set(_ people: [Approver], _ number: Int = 2) throws -> ApproverSet {
            try ApproverSet(people.map { try $0.member }, number: number)
        }
        let founders: [Approver] = [.alice, .carol, .dave]
        let genesis = try ApproverStatement(
            genesisOf: Story.server, approvers: set(founders), recovery: set(Approver.vaults))
        let second = try ApproverStatement(after: genesis, approvers: set([.alice, .carol, .mallory]))
        let third = try ApproverStatement(after: second, approvers: set([.alice, .carol, .mallory], 1))
        let recovered = try ApproverStatement(after: genesis, approvers: set([erin, frank]))
        let fork = try ApproverStatement(after: genesis, approvers: set([.carol, .dave]))
        let other = try ApproverStatement(
            genesisOf: Story.server, approvers: set([erin, .mallory]), recovery: nil)
        let elsewhere = try ApproverStatement(
            genesisOf: Story.id(0xB0), approvers: set(founders), recovery: set(Approver.vaults))
        let inserted = try ApproverStatement(after: genesis, approvers: set([.alice, .carol, .dave, .mallory]))
        let lowered = try ApproverStatement(after: genesis, approvers: set(founders, 1))
        let stolen = ApproverSignature(
            identity: try Approver.dave.identity,
            signature: try Approver.mallory.signature(of: inserted.bytes).signature)
        let forkers: [Approver] = [.carol, .dave]
        let carol = Base64.encode(try Approver.carol.key.subjectPublicKeyInfo)
        let vault = Base64.encode(try Approver.vaults[0].key.subjectPublicKeyInfo)
        let zeros = Base64.encode(
            try Approver.carol.key.subjectPublicKeyInfo.prefix(12) + [UInt8](repeating: 0, count: 32))
        let recoverers = [erin, frank] + Approver.vaults.prefix(2)
        let good = try [
            founders.sign(genesis), [Approver.alice, .dave, .mallory].sign(second),
            [Approver.alice, .mallory].sign(third), recoverers.sign(recovered), forkers.sign(fork),
        ]
        let badlySigned = try [
            [Approver.alice, .carol].sign(genesis), [erin, .mallory].sign(other), founders.sign(elsewhere),
            [Approver.alice, .mallory].sign(inserted),
            SignedApprovers(
                text: inserted.bytes, signatures: [Approver.alice.signature(of: inserted.bytes), stolen]),
            [Approver.alice, .alice].sign(lowered), [Approver.alice, .dave].sign(second),
            [erin, frank, Approver.vaults[0], .alice].sign(recovered), (forkers + [frank]).sign(fork),
        ]
        let badlyWritten = try [
            sign(edited(third) { $0[3] = "\(genesis.digest)" }, [.alice, .mallory]),
            sign(edited(second) { $0[1] = "\(Story.id(0xB0))" }, [.alice, .dave, .mallory]),
            sign(edited(fork) { $0[4] = "0" }, forkers), sign(edited(fork) { $0[4] = "3" }, forkers),
            sign(edited(fork) { $0[8...9] = ["1", "1", "vault-1 \(vault)"] }, forkers),
            sign(edited(fork) { $0.swapAt(6, 7) }, forkers),
            sign(edited(fork) { $0[6...7] = ["carol \(carol)", "caroline \(carol)"] }, forkers),
            sign(edited(fork) { $0[6] = "carol \(zeros)" }, forkers), sign(edited(fork) { $0[2] = "01" }, forkers),
            sign(Array(String(decoding: fork.bytes, as: UTF8.self).replacing("\n", with: "\r\n").utf8), forkers),
            sign(Array(fork.bytes.dropLast()), forkers),
        ]
        return good + badlySigned + badlyWritten + (try statementsWithApps(after: genesis))
    }

    @Test("docs/vectors/server-approvers.json is what this program writes, and what it accepts and refuses")
    func vectors() throws {
        let statements = try Self.statements()
        let genesis = Digest(of: statements[0].text)
        var (accepted, refused): ([[String: Any]], [[String: Any]]) = ([], [])
        for chain in Self.chains {
            let known = try chain.known.map { place in
                let statement = try ApproverStatement(statements[place].text)
                return ApproverChain.Mark(index: statement.index, digest: statement.digest)
            }
            var object: [String: Any] = ["chain": chain.places]
            if let known { object["known"] = ["index": known.index, "digest": "\(known.digest)"] as [String: Any] }
            func read() throws -> ApproverChain {
                try ApproverChain(
                    chain.places.map { statements[$0] }, genesis: genesis, server: Story.server, known: known)
            }
            if let code = chain.code {
                expectError(code, read)
                (object["code"], object["why"]) = (code.rawValue, chain.why)
                refused.append(object)
            } else {
                let approvers = try read().head.approvers
                object["approvers"] = approvers.members.map { "\($0.key.identity)" }
                object["number"] = approvers.number
                if approvers.bindsApps {
                    object["apps"] = approvers.members.map { $0.apps.map(AppName.line) ?? "*" }
                }
                accepted.append(object)
            }
        }
        try Vectors.expect(
            "server-approvers.json",
            [
                "format": "Statements of approvers with their signatures, and chains of them by their places in the "
                    + "list. A known statement has counted before. docs/server/people.md says what may follow what.",
                "server": "\(Story.server)", "genesis": "\(genesis)",
                "keys": try Self.people.map { person in
                    let key = try person.key
                    return [
                        "name": person.name, "subjectPublicKeyInfo": Base64.encode(key.subjectPublicKeyInfo),
                        "identity": "\(key.identity)",
                    ]
                },
                "statements": statements.map { signed in
                    [
                        "text": String(decoding: signed.text, as: UTF8.self), "sha256": "\(Digest(of: signed.text))",
                        "signatures": signed.signatures.map { signature in
                            [
                                "identity": "\(signature.identity)",
                                "signature": Base64.encode(signature.signature),
                            ]
                        },
                    ] as [String: Any]
                },
                "accepted": accepted, "refused": refused,
            ])
    }
}
