import Foundation
import Testing

@testable import Holdfast

@Suite("Where downloads may be led")
struct DownloadRulesTests {
    private static let lists = DownloadRules(allowsPlainHTTPToLoopback: true, allowsPlainHTTP: true)

    private static func isFollowed(_ target: String, from origin: String) throws -> Bool {
        let (target, origin) = (try #require(URL(string: target)), try #require(URL(string: origin)))
        return (try? lists.redirected(to: target, from: origin, number: 1, status: 302)) != nil
    }

    @Test("Whoever answers over plain HTTP leads nobody to this machine, to a user's name or out of https")
    func redirects() throws {
        let origin = "http://lists.example.com/a.crl"
        for target in [
            "http://127.0.0.1:8080/admin", "http://localhost/", "https://[::1]/",
            "http://user:password@lists.example.com/",
            "file:///etc/passwd",
        ] {
            #expect(try !Self.isFollowed(target, from: origin), "\(target)")
        }
        #expect(try !Self.isFollowed("http://lists.example.com/", from: "https://lists.example.com/"))
        #expect(try Self.isFollowed("http://other.example.com/a.crl", from: origin))
        #expect(try Self.isFollowed("https://other.example.com/a.crl", from: origin))
        #expect(try Self.isFollowed("http://127.0.0.1:2/", from: "http://127.0.0.1:1/"), "it is there already")
    }
}
