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

    @Test("Every way to write this machine is refused to who answers elsewhere, over http and https")
    func everySpelling() throws {
        let origin = "http://lists.example.com/a.crl"
        for host in LocalHostTests.surely + LocalHostTests.maybe where URL(string: "http://\(host)/") != nil {
            #expect(try !Self.isFollowed("http://\(host):8080/", from: origin), "\(host)")
            #expect(try !Self.isFollowed("https://\(host)/", from: origin), "\(host)")
        }
        for host in LocalHostTests.others {
            #expect(try Self.isFollowed("http://\(host)/", from: origin), "\(host)")
        }
        #expect(try Self.isFollowed("http://127.0.0.3:2/", from: "http://LOCALHOST.:1/"), "it is there already")
    }

    @Test("Where plain HTTP is for this machine alone, only what surely is this machine is allowed")
    func loopbackOnly() throws {
        let rules = DownloadRules(allowsPlainHTTPToLoopback: true)
        func isAllowed(_ host: String) throws -> Bool {
            guard let url = URL(string: "http://\(host)/") else { return false }
            return (try? rules.check(url)) != nil
        }
        for host in LocalHostTests.surely { #expect(try isAllowed(host), "\(host)") }
        for host in LocalHostTests.others + ["db.localhost", "127.0.0.1.example.com"] {
            #expect(try !isAllowed(host), "\(host)")
        }
    }
}
