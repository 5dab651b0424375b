import Foundation
import Testing

@testable import Holdfast

@Suite("Answers to downloads")
struct DownloadAnswerTests {
    @Test("A header is found whatever the case of its name; a name that is not ASCII, or long, is none")
    func headers() {
        let marks = String(repeating: "\u{301}", count: 100_000)
        let response = RemoteDataResponse(
            .notModified, headers: ["eTaG": "1", marks: "2", String(repeating: "x", count: 129): "3", "\u{212A}": "4"])
        #expect(response.header("ETag") == "1")
        #expect(response.header(String(repeating: "x", count: 129)) == nil && response.header("K") == nil)
    }

    @Test("Where a redirect leads is judged by the octets of its scheme and host")
    func redirects() throws {
        let rules = DownloadRules(allowsPlainHTTPToLoopback: true)
        for (text, isAllowed) in [
            ("HTTPS://a.example", true), ("http://localhost/x", true), ("http://127.0.0.1:80/", true),
            ("http://[::1]:80/", true), ("http://localhost%CC%81/", false), ("http://localhost.example/", false),
            ("ftp://localhost", false), ("httpss://a.example", false),
        ] {
            let url = try #require(URL(string: text))
            #expect(((try? rules.check(url)) != nil) == isAllowed, "\(text)")
        }
    }

    @Test("An expected name is compared octet by octet")
    func expectedNames() throws {
        var fixture = try StoreFixture()
        fixture.configuration.expectedCommonNames = ["\u{E9}.example.com"]
        #expect(fixture.configuration.expects("\u{E9}.example.com"))
        #expect(!fixture.configuration.expects("e\u{301}.example.com"))
        #expect(!fixture.configuration.expects("\u{E9}" + String(repeating: "\u{301}", count: 1_000_000)))
    }
}
