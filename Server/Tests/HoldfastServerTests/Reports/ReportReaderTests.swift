import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel

@Suite("Reading reports")
struct ReportReaderTests {
    private func read(_ text: String) throws -> [ClientReport] { try ReportReader.read(Array(text.utf8)) }

    @Test("Network Error Logging is read as browsers send it, and says nothing that tells one client from another")
    func networkErrors() throws {
        let report = try #require(try read(ReportDesk.networkError()).first)
        #expect(report.code == .pins && report.host == World.host && report.port == 443 && report.weight == 1)
        #expect(report.chain == nil && report.platform == .unknown && report.appVersion == "-")
        let kept = "\(report)"
        for secret in ["203.0.113.7", "secret", "path", "Browser", "ETag"] { #expect(!kept.contains(secret)) }
        let codes: [(String, ClientReport.Code?)] = [
            ("ok", .ok), ("tls.cert.name_invalid", .chain), ("tls.cert.date_invalid", .chain),
            ("tls.protocol.error", .other), ("dns.name_not_resolved", nil), ("http.error", nil), ("abandoned", nil),
        ]
        for (type, code) in codes { #expect(try read(ReportDesk.networkError(type)).first?.code == code, "\(type)") }
        #expect(try read(#"[{"type": "csp-violation", "url": "x", "body": null}, null]"#) == [])
    }

    @Test("A report stands for as many as its fraction says, up to ten thousand")
    func weights() throws {
        let weights: [(String, Int64)] = [("1", 1), ("0.5", 2), ("0.001", 1_000), ("1e-9", 10_000)]
        for (fraction, weight) in weights {
            #expect(try read(ReportDesk.networkError("ok", fraction: fraction)).first?.weight == weight, "\(fraction)")
        }
        for fraction in ["0", "-1", "1.1", "2", "1e999", "nan", "true", "[]", "0.0"] {
            expectError(fraction == "nan" ? .malformed : .invalidValue) {
                try read(ReportDesk.networkError("ok", fraction: fraction))
            }
        }
    }

    @Test("An address gives its host and port, and nothing behind these")
    func addresses() throws {
        let addresses: [(String, String, Int64)] = [
            ("https://API.example.com", "api.example.com", 443), ("https://a.b:8443/x", "a.b", 8_443),
            ("https://a.b?x=https://c.d/", "a.b", 443), ("https://[2001:db8::1]:444/", "[2001:db8::1]", 444),
        ]
        for (address, host, port) in addresses {
            let report = try #require(try read(ReportDesk.networkError(at: address)).first)
            #expect(report.host == host && report.port == port, "\(address)")
        }
        for address in ["http://a.b/", "https://", "https://a b/", "https://user@a.b/", "https://a.b:0/", "https://ä/"]
        {
            expectError(.invalidValue) { try read(ReportDesk.networkError(at: address)) }
        }
    }

    @Test("The reports of RFC 7469 and of TrustKit are read, with their chains as certificates")
    func pinFailures() throws {
        let root = try TestAuthority.root()
        let chain = try root.leaf(names: [.dns(World.host)]).chain
        let plain = try #require(try read(ReportDesk.pinFailure(chain, version: "7")).first)
        #expect(plain.code == .pins && plain.port == 443 && plain.documentVersion == "7")
        #expect(plain.chain?.certificates == chain && plain.pins.count == 1)
        let results: [ClientReport.Code] = [.ok, .pins, .chain, .other, .other, .other]
        for (result, code) in results.enumerated() {
            let report = try #require(try read(ReportDesk.pinFailure(chain, result: result)).first)
            #expect(report.code == code && report.platform == .iOS && report.appVersion == "7.4.1", "\(result)")
            #expect(!"\(report)".contains("599F9C00"))
        }
        expectError(.invalidValue) { try read(ReportDesk.pinFailure(chain, result: 6)) }
        // A chain that cannot be read may be the very reason of the report.
        let unreadable = try read(ReportDesk.pinFailure([Array("no certificate".utf8)]))
        #expect(unreadable.first?.code == .pins && unreadable.first?.chain == nil)
        expectError(.invalidValue) { try read(ReportDesk.pinFailure(Array(repeating: chain[0], count: 17))) }
        expectError(.invalidValue) { try read(#"{"hostname": "a.b"}"#) }
    }

    @Test("The published examples of TrustKit, of RFC 7469 and of Network Error Logging are read")
    func published() throws {
        // TrustKit's published example: its fields in their order, lines of certificates with CRLF, slashes escaped.
        let certificate = try TestAuthority.root().root
        let pem = PEMText.block("CERTIFICATE", of: certificate).split(separator: "\n").map(String.init)
        let lines = pem.dropFirst().dropLast().joined(separator: #"\r\n"#)
        let text = "\(pem[0])\\n\(lines)\\n\(pem[pem.count - 1])".replacing("/", with: #"\/"#)
        let trustKit = """
            {
              "app-version": "1", "include-subdomains": false, "validated-certificate-chain": ["\(text)", "\(text)"],
              "date-time": "2015-06-08T01:58:05Z", "noted-hostname": "www.example.com",
              "hostname": "www.example.com", "known-pins": [
                "pin-sha256=\\"rFjc3wG7lTZe43zeYTvPq8k4xdDEutCmIhI5dn4oCeE=\\"",
                "pin-sha256=\\"TQEtdMbmwFgYUifM4LDF+xgEtd0z69mPGmkp014d6ZY=\\""
              ], "app-bundle-id": "com.example.testtrustkit2",
              "app-identifier": "599F9C00-92DC-4B5C-9464-7971F01F8370", "port": 443
            }

            """
        let sample = try #require(try read(trustKit).first)
        #expect(sample.code == .pins && sample.appVersion == "1" && sample.isRated && sample.pins.count == 2)
        #expect(sample.chain?.certificates == [certificate, certificate])
        // RFC 7469 section 3.
        let hpkp = """
            {"date-time": "2014-04-06T13:00:50Z", "hostname": "www.example.com", "port": 443, \
            "effective-expiration-date": "2014-05-01T12:40:50Z", "include-subdomains": false, \
            "served-certificate-chain": ["\(text)"], "validated-certificate-chain": ["\(text)"], \
            "known-pins": ["pin-sha256=\\"d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=\\"", \
            "pin-sha256=\\"E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=\\""]}
            """
        #expect(try read(hpkp).first?.chain?.certificates == [certificate])
        // Network Error Logging section 8, as Chromium sends it: not about TLS, and so left out.
        let browser = """
            [{"age": 0, "type": "network-error", "url": "https://widget.com/thing.js", "user_agent": "Mozilla/5.0", \
            "body": {"sampling_fraction": 1.0, "referrer": "https://www.example.com/", "server_ip": "", "protocol": "", \
            "method": "GET", "request_headers": {}, "response_headers": {}, "status_code": 0, "elapsed_time": 143, \
            "phase": "dns", "type": "dns.name_not_resolved"}}]
            """
        #expect(try read(browser) == [])
        let pinned = browser.replacing("dns.name_not_resolved", with: "tls.cert.pinned_key_not_in_cert_chain")
        #expect(try read(pinned).first?.host == "widget.com")
    }

    @Test("Holdfast's own clients say what failed, what it stands for, and the roles and states of pins")
    func added() throws {
        let root = try TestAuthority.root().root
        func report(_ failure: String, _ more: String = "") throws -> ClientReport? {
            try read(ReportDesk.pinFailure([root], more: #", "failure": "\#(failure)", "outcome": "rejected"\#(more)"#))
                .first
        }
        let codes: [(String, ClientReport.Code)] = [
            ("pinMismatch", .pins), ("hostRetired", .pins), ("pinsExpired", .expired), ("noUsablePins", .expired),
            ("candidatePinMismatch", .candidate), ("expired", .chain), ("unknownIssuer", .chain),
            ("hostNotCovered", .other), ("anything else", .chain),
        ]
        for (failure, code) in codes { #expect(try report(failure)?.code == code, "\(failure)") }
        let pins =
            #"[{"pin": "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=", "role": "leaf", "state": "backup"}]"#
        let full = try report("pinMismatch", #", "sampling-fraction": 0.25, "pins": \#(pins)"#)
        #expect(full?.weight == 4 && full?.isRated == false, "it is in the summary of its day as well")
        #expect(full?.pins.first?.role == "leaf" && full?.pins.first?.state == "backup")
    }

    @Test("A summary of a day is one report of each kind for each host, scaled by what was sampled")
    func summary() throws {
        let text = ReportDesk.summary(successes: 12, failures: ["pinMismatch": 3, "hostRetired": 1, "expired": 2])
        let reports = try read(text)
        #expect(reports.map(\.code) == [.ok, .pins, .chain] && reports.map(\.weight) == [1_200, 4, 2])
        #expect(reports.allSatisfy { $0.host == World.host && $0.documentVersion == "7" && $0.platform == .iOS })
        #expect(try read(ReportDesk.summary(successes: 0, failures: [:])) == [])
        #expect(try read(ReportDesk.summary(successes: 1_000_000, failures: [:])).first?.weight == 10_000)
        expectError(.invalidValue) { try read(ReportDesk.summary(successes: 1_000_001, failures: [:])) }
        expectError(.invalidValue) { try read(ReportDesk.summary(successes: -1, failures: [:])) }
    }

    @Test("What was served counts, and not what a client built a path of")
    func servedChain() throws {
        let (one, other) = (try TestAuthority.root().root, try TestAuthority.root().root)
        let text = String(decoding: CanonicalJSON.text(PEMText.block("CERTIFICATE", of: other)).bytes, as: UTF8.self)
        let report = try read(ReportDesk.pinFailure([one], more: #", "served-certificate-chain": [\#(text)]"#)).first
        #expect(report?.chain?.certificates == [other])
    }

    @Test("Versions that are none, and platforms nobody has, are as if nothing was said")
    func invented() throws {
        for version in ["", "a b", "7\u{0}", String(repeating: "7", count: 33), "ä", "<script>"] {
            let escaped = String(decoding: CanonicalJSON.text(version).bytes, as: UTF8.self)
            let more = #", "app-version": \#(escaped), "app-platform": \#(escaped), "document-version": \#(escaped)"#
            let report = try #require(try read(ReportDesk.networkError(more: more)).first)
            #expect(report.appVersion == "-" && report.platform == .unknown && report.documentVersion == "-")
        }
        let known = try read(ReportDesk.networkError(more: #", "document-version": 42"#))
        #expect(known.first?.documentVersion == "42")
    }

    @Test("A body of more than 64 reports is refused as a whole, and so is one with a report that cannot be read")
    func bounds() throws {
        let one = ReportDesk.networkError().dropFirst().dropLast()
        func array(_ count: Int) -> String { "[\(Array(repeating: String(one), count: count).joined(separator: ","))]" }
        #expect(try read(array(64)).count == 64)
        expectError(.invalidValue) { try read(array(65)) }
        expectError(.malformed) { try read(array(2) + "x") }
        expectError(.invalidValue) { try read("[\(one), 7]") }
        expectError(.malformed) { try read(String(repeating: "[", count: 60_000)) }
    }

    @Test("A damaged report is read as one that somebody could have sent, or refused")
    func damaged() throws {
        let root = try TestAuthority.root()
        let chain = try root.leaf(names: [.dns(World.host)]).chain
        let bodies = [
            ReportDesk.networkError(), ReportDesk.pinFailure(chain, version: "7"),
            ReportDesk.pinFailure(chain, result: 1),
            ReportDesk.summary(successes: 12, failures: ["pinMismatch": 3]),
        ].map { Array($0.utf8) }
        let read = campaign(0x2E90, bodies, count: mutants(inPartsOf: 10)) { mutant in
            for report in try ReportReader.read(mutant) {
                #expect((1...ClientReport.maximumWeight).contains(report.weight))
                #expect(report.host.utf8.count <= 255 && report.host.utf8.allSatisfy { (0x21...0x7E).contains($0) })
                #expect([report.appVersion, report.documentVersion].allSatisfy { $0.utf8.count <= 32 })
            }
        }
        #expect(read > 0)
    }
}
