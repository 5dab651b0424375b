import Foundation
import Testing

@testable import Holdfast

@Suite("Texts that may be URLs, in messages")
struct QuotedAddressTests {
    @Test(
        "Scheme and host are shown and nothing else",
        arguments: [
            ("https://www.example.com", "\"https://www.example.com\""),
            ("https://www.example.com/", "\"https://www.example.com\"…"),
            ("https://user:pw@www.example.com:8443/p?q#f", "\"https://www.example.com\"…"),
            ("https://www.example.com:pw", "\"https://www.example.com\"…"),
            ("https://user:p@w@www.example.com", "\"https://www.example.com\"…"),
            ("https://[2001:db8::1]:8443/p", "\"https://[2001:db8::1]\"…"),
            ("user:pw@www.example.com", "\"www.example.com\"…"), ("www.example.com?token", "\"www.example.com\"…"),
            ("www.example.com:443", "\"www.example.com:443\""), ("//user:pw@host", "\"\"…"), ("", "\"\""),
            ("https://a\n\u{1B}b/x", "\"https://a\\n\\u{1B}b\"…"),
        ])
    func shown(text: String, expected: String) {
        #expect(text.quotedAddress == expected)
    }

    @Test("Errors about hosts and URLs hold no user, password, path or query")
    func errors() throws {
        let texts = [
            "https://user:hunter2@www.example.com/", "user:hunter2@www.example.com", "https://x y/?hunter2",
            "https://user:hunter2@www.example.com\\@other/", "https://user:hunter2@/", "ftp:hunter2@x/",
        ]
        for text in texts {
            for read: () throws -> Void in [
                { _ = try DialedHost(text) }, { _ = try HostPattern(text) }, { _ = try HostPattern("**." + text) },
            ] {
                do { try read() } catch { #expect(!"\(error)".contains("hunter2"), "\(error)") }
            }
            do {
                _ = try DialedHost(publishedHostName: text)
            } catch {
                #expect(!"\(error)".contains("hunter2"), "\(error)")
            }
        }
        let rules = DownloadRules(allowsPlainHTTPToLoopback: false)
        let url = try #require(URL(string: "http://user:hunter2@www.example.com/hunter2"))
        for check: () throws -> Void in [
            { try rules.check(url) }, { _ = try rules.redirected(to: url, from: url, number: 1, status: 302) },
        ] {
            do {
                try check()
                Issue.record("http is refused")
            } catch {
                #expect(!"\(error)".contains("hunter2") && "\(error)".contains("\"http://www.example.com\""))
            }
        }
    }

    @Test("An error of another library is named by its kind")
    func foreignErrors() {
        struct Leaky: Error, CustomStringConvertible, LocalizedError {
            var description: String { "hunter2" }
            var errorDescription: String? { "hunter2" }
        }
        #expect(ForeignErrorText.found(Leaky()) == "an error of the kind Leaky")
        #expect(ForeignErrorText.whole(URLError(.timedOut)) == "URLError \(URLError.Code.timedOut.rawValue)")
        let own = HostError(.empty, expected: "a host", found: "none", remedy: "Give one.")
        #expect(ForeignErrorText.whole(own) == own.description)
        #expect(ForeignErrorText.found(own) == "none instead of a host")
    }
}
