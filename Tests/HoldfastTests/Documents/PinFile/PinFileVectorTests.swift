import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// `docs/vectors/pin-file.json`, which readers in other languages run as well: keys stand for certificates there, and
/// here real chains are made of them.
@Suite("Vectors of the pin file")
struct PinFileVectorTests {
    struct Vectors: Decodable {
        struct Key: Decodable {
            let scalar: UInt8
            let subjectPublicKeyInfo: String
            let pin: String
        }

        let keys: [String: Key]
        let cases: [Case]
    }

    struct Case: Decodable {
        let name: String
        let file: String
        let time: String?
        let host: String?
        let port: Int?
        let chain: [String]?
        let verdict: String
        let reason: String
        let field: String?
        let matched: [String]?
        let notices: [String]?
    }

    private static func vectors() throws -> Vectors {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        let data = try Data(contentsOf: root.appending(path: "docs/vectors/pin-file.json"))
        return try JSONDecoder().decode(Vectors.self, from: data)
    }

    @Test("Every case comes out as it says")
    func cases() throws {
        let vectors = try Self.vectors()
        var keys: [String: TestKey] = [:]
        for key in vectors.keys.values {
            let made = try TestKey(p256Scalar: [UInt8](repeating: 0, count: 31) + [key.scalar])
            let der = made.subjectPublicKeyInfoDER
            #expect(CanonicalBase64.encode(der) == key.subjectPublicKeyInfo)
            #expect(try Pin.publicKey(spkiDER: der).description == key.pin)
            keys[key.pin] = made
        }
        #expect(vectors.cases.count > 80)
        let log = RecordingLog()
        for one in vectors.cases {
            let outcome = try PolicyLog.$shared.withValue(log.policyLog) { try Self.outcome(of: one, keys) }
            #expect(outcome == Self.expected(one), "\(one.name)")
        }
    }

    private static func expected(_ one: Case) -> [String] {
        [
            one.verdict, one.reason, one.field ?? "-", one.matched?.joined(separator: " ") ?? "",
            one.notices?.joined(separator: " ") ?? "",
        ]
    }

    private static func outcome(of one: Case, _ keys: [String: TestKey]) throws -> [String] {
        let file: PinFile
        do throws(PinFileError) {
            file = try PinFile(json: Data(one.file.utf8))
        } catch {
            // Where a text stops being JSON is each parser's own to say.
            return ["refused", error.code.rawValue, one.field == nil ? "-" : error.field ?? "-", "", ""]
        }
        guard one.verdict != "refused" else { return ["read"] }
        let seconds = try #require(PinFileTime.read(Array((one.time ?? "").utf8)[...]))
        let time = Date(wholeSeconds: seconds)
        let pins = try #require(one.chain)
        let host = try DialedHost(try #require(one.host), port: one.port)
        // Leaf first; each is signed by the one after it.
        var chain: [[UInt8]] = []
        var authority: TestAuthority?
        let clock = ManualClock(now: time)
        for (position, pin) in pins.enumerated().reversed() {
            let key = TestKey.Choice.existing(try #require(keys[pin]))
            if position == 0 {
                let leaf = try #require(authority).leaf(names: [.dns(host.name)], key: key)
                chain = leaf.chain
            } else if let above = authority {
                authority = try above.intermediate(key: key)
            } else {
                authority = try TestAuthority.root(key: key, clock: clock)
            }
        }
        let root = try #require(authority).root
        let trust = ServerTrust(certificates: chain, host: host, anchors: try TrustAnchors(der: [root]))
        let decision = TrustManager(file, clock: clock).evaluate(trust)
        let notices = decision.notices.map(\.code)
        let matched = decision.matchedPins.map(\.description).joined(separator: " ")
        let reason =
            if let failure = decision.failure {
                failure.code.rawValue
            } else if !decision.matchedPins.isEmpty {
                "pinMatch"
            } else if notices.contains(.pinsExpired) {
                "systemTrust"
            } else {
                "reportOnly"
            }
        return [
            decision.isTrusted ? "accepted" : "rejected", reason, "-", matched,
            notices.map(\.rawValue).joined(separator: " "),
        ]
    }
}
