import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastTUF

@Suite("What a signed pin file needs")
struct SignedPinFileTests {
    private static let fields = [
        #""issuedAt":"2026-11-21T12:00:00Z""#, #""notAfter":"2027-02-21T12:00:00Z""#, #""refresh":{"after":21600}"#,
    ]

    /// The code and the field of the first requirement that is not met.
    private static func requirement(_ hosts: [String] = [], _ fields: [String] = fields) throws -> String? {
        let members = ([#""schema":1"#] + fields + [#""hosts":[\#(hosts.joined(separator: ","))]"#])
        let file = try PinFile(json: Data("{\(members.joined(separator: ","))}".utf8))
        do throws(PinFileError) {
            try file.checkSignedRequirements()
            return nil
        } catch {
            return "\(error.code.rawValue) \(error.field ?? "-")"
        }
    }

    private static func pin(_ number: UInt8, _ more: String = "") throws -> String {
        #"{"pin":"\#(try Pin(subject: .publicKey, digest: [UInt8](repeating: number, count: 32)))"\#(more)}"#
    }

    @Test("A signed file says when it was issued, until when it counts and when to look for another")
    func required() throws {
        #expect(try Self.requirement() == nil)
        for (index, name) in ["issuedAt", "notAfter", "refresh"].enumerated() {
            var fields = Self.fields
            fields.remove(at: index)
            #expect(try Self.requirement([], fields) == "missingField \(name)")
        }
    }

    @Test("A signed file has a backup for each host that is in use, and no debug anchors")
    func signedContent() throws {
        let alone = #"{"host":"a.example.com","pins":[\#(try Self.pin(1))]}"#
        let backed =
            #"{"host":"b.example.com","pins":[\#(try Self.pin(1)),\#(try Self.pin(2, #","state":"backup""#))]}"#
        let retired = #"{"host":"c.example.com","retired":true}"#
        #expect(try Self.requirement([backed, retired]) == nil)
        #expect(try Self.requirement([backed, alone]) == "missingBackup hosts[1].pins")
        let clock = ManualClock(now: Date(timeIntervalSince1970: 1_800_000_000))
        let root = CanonicalBase64.encode(try TestAuthority.root(clock: clock).root)
        let anchors = #""debugAnchors":["\#(root)"]"#
        #expect(try Self.requirement([backed], Self.fields + [anchors]) == "debugAnchorsInSignedFile debugAnchors")
    }
}
