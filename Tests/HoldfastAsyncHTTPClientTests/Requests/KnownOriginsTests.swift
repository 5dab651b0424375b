import Foundation
import Holdfast
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("Origins that are known by their URL's text")
struct KnownOriginsTests {
    @Test(
        "are found for plain URLs",
        arguments: [
            ("https://www.example.com", "https://www.example.com"),
            ("https://www.example.com/", "https://www.example.com"),
            ("https://www.example.com:8443/a/b?c=d&E=f", "https://www.example.com:8443"),
            ("http://127.0.0.1?a", "http://127.0.0.1"),
        ])
    func plain(url: String, authority: String) {
        #expect(KnownOrigins.authority(of: url) == authority)
    }

    @Test(
        "are worked out anew for every other spelling",
        arguments: [
            "https://www.example.com@evil.example/", "https://www.example.com\\@evil.example/",
            "https://www.example.com/@evil.example", "https://www.example.com#@evil.example",
            "HTTPS://www.example.com/",
            "https://WWW.example.com/", "https://[::1]/", "https://www.example.com/%2e", "https://www.example.com/ü",
            "https://münchen.example/", "ftp://www.example.com/", "//www.example.com/", "", "https:/www.example.com/",
            "https://www.example.com/a b", "https://www.example.com/\n", "https://www.example.com:80:90/",
        ])
    func others(url: String) {
        #expect(KnownOrigins.authority(of: url) == nil)
    }

    @Test("are the same the second time, and when there is no room the new one takes the place of one other")
    func same() throws {
        let origins = KnownOrigins(capacity: 2)
        for round in 0..<2 {
            for port in 1...5 {
                let text = "https://www.example.com:\(port)/"
                let target = try RequestTarget(text, origins: origins)
                #expect(target.origin.port == port)
                #expect(target.text == text)
                #expect(try target.url.absoluteString == text)
                #expect(origins.count == (round == 0 ? min(port, 2) : 2))
            }
        }
    }
}
