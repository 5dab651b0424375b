import Foundation
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Writing a pin file")
struct PinFileWriterTests {
    @Test("What is written reads back equal, and equal files are equal octets")
    func roundTrip() throws {
        let root = CanonicalBase64.encode(try TestAuthority.root(clock: Judge.clock).root)
        for data in [
            PinFileText.full, PinFileText.file(""), PinFileText.host(""),
            PinFileText.host(#""ports":[1,2],"report":{"url":"https://r.example.net/","successFraction":0.000001},"#),
            PinFileText.file(#"{"host":"a.example.com","includeSubdomains":true,"retired":true}"#),
            PinFileText.file(#"{"host":"*.example.com","retired":true}"#, more: #""debugAnchors":["\#(root)"],"#),
            PinFileText.file("", more: #""app":"a \"b\" \\ c","#),
        ] {
            let file = try PinFile(json: data)
            let again = try PinFile(json: file.json)
            #expect(again == file)
            #expect(again.json == file.json)
        }
    }

    @Test("The order of fields, the lines and the spelling of numbers are fixed")
    func golden() throws {
        let file = try PinFile(json: PinFileText.full)
        #expect(
            String(decoding: file.json, as: UTF8.self) == """
                {
                  "schema": 1,
                  "app": "com.example.bank",
                  "issuedAt": "2026-11-21T12:00:00Z",
                  "notAfter": "2027-02-21T12:00:00Z",
                  "refresh": {"after": 21600, "jitter": 0.3, "grace": 1209600},
                  "hosts": [
                    {
                      "host": "api.example.com",
                      "ports": [443, 8443],
                      "mode": "enforce",
                      "require": "any",
                      "onExpiry": "failClosed",
                      "pins": [
                        {"pin": "\(PinFileText.pin(1))", "role": "leaf", "state": "active"},
                        {"pin": "\(PinFileText.pin(2))", "role": "leaf", "state": "backup"},
                        {"pin": "\(PinFileText.pin(3))", "role": "issuer", "state": "retiring", "notAfter": "2027-01-01T00:00:00Z"},
                        {"pin": "\(PinFileText.pin(4))", "role": "leaf", "state": "candidate"}
                      ],
                      "report": {"url": "https://reports.example.net/pins", "failureFraction": 1.0, "successFraction": 0.001}
                    },
                    {
                      "host": "old.example.com",
                      "retired": true
                    }
                  ]
                }

                """)
    }

    @Test("Each fraction has one spelling, which reads back")
    func fractions() {
        for (millionths, text) in [
            (0, "0.0"), (1, "0.000001"), (300_000, "0.3"), (999_999, "0.999999"), (1_000_000, "1.0"), (10, "0.00001"),
        ] {
            #expect(PinFile.Fraction(millionths: millionths)?.text == text)
        }
        #expect(PinFile.Fraction(millionths: -1) == nil && PinFile.Fraction(millionths: 1_000_001) == nil)
        #expect(PinFile.Fraction(millionths: 300_000)?.value == 0.3)
    }

    @Test("The greatest file that keeps every limit is written in fewer bytes than are read")
    func greatest() throws {
        let label = String(repeating: "a", count: 60)
        let url = "https://r.example.net/" + String(repeating: "a", count: PinFileLimits.urlBytes - 22)
        let end = Date(wholeSeconds: PinFileLimits.lastSecond)
        let pins = try (0..<PinFileLimits.pins).map {
            try PinFile.KeyPin(PinFileText.pin(UInt8($0)), role: .issuer, state: .candidate, notAfter: end)
        }
        let accepted = try PinFile.KeyPin(PinFileText.pin(255), role: .issuer, state: .retiring, notAfter: end)
        let fraction = try #require(PinFile.Fraction(millionths: 999_999))
        let hosts = try (0..<PinFileLimits.hosts).map { index in
            try PinFile.Host(
                HostPattern("**.\(label).\(label).\(label).h\(index).\(String(repeating: "b", count: 50)).example"),
                ports: Array(60_000..<60_000 + PinFileLimits.ports), afterExpiry: .standardValidation,
                pins: pins.dropLast() + [accepted],
                report: PinFile.Report(url: url, failureFraction: fraction, successFraction: fraction))
        }
        let file = try PinFile(
            app: String(repeating: "\\", count: PinFileLimits.appBytes), issuedAt: end, notAfter: end,
            refresh: PinFile.Refresh(after: 315_360_000, jitter: fraction, grace: 315_360_000), hosts: hosts)
        let json = file.json
        // Eight anchors of 8 kB in Base64 are still to come.
        #expect(json.count + 8 * 11_000 < PinFileLimits.bytes)
        #expect(try PinFile(json: json) == file)
    }

    @Test("Values that break a rule cannot be made, so that whatever there is can be written")
    func unmakeable() throws {
        let pin = try PinFile.KeyPin(PinFileText.pin(1))
        #expect(throws: PinFileError.self) { try PinFile.KeyPin(.certificate([1])) }
        #expect(throws: PinFileError.self) {
            try PinFile.KeyPin(PinFileText.pin(1), notAfter: Date(timeIntervalSince1970: -1))
        }
        #expect(throws: PinFileError.self) {
            try PinFile.KeyPin(PinFileText.pin(1), notAfter: Date(timeIntervalSince1970: .nan))
        }
        #expect(throws: PinFileError.self) {
            try PinFile.Host(HostPattern("**.internal", allowingTopLevel: true), pins: [pin])
        }
        let host = try PinFile.Host(HostPattern("a.example.com"), pins: [pin])
        #expect(throws: PinFileError.self) { try PinFile(hosts: [host, host]) }
        #expect(throws: PinFileError.self) { try PinFile(app: "ü", hosts: []) }
        // Of a time the whole second counts.
        let dated = try PinFile.KeyPin(PinFileText.pin(1), notAfter: Date(timeIntervalSince1970: 10.9))
        #expect(dated.notAfter == Date(timeIntervalSince1970: 10) && dated.end == Date(timeIntervalSince1970: 11))
    }
}
