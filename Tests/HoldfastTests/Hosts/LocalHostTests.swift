import Foundation
import Testing

@testable import Holdfast

@Suite("Whether a host is this machine")
struct LocalHostTests {
    static let surely = [
        "127.0.0.1", "127.0.0.3", "127.255.255.254", "0.0.0.0", "0.1.2.3", "localhost", "LOCALHOST", "LocalHost",
        "localhost.", "LOCALHOST.", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::ffff:127.0.0.1]",
        "[::FFFF:7f00:1]", "[0:0:0:0:0:ffff:127.9.9.9]", "[::ffff:0.0.0.0]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]",
    ]
    /// Spellings that some readers take for an address of this machine, and other names of it.
    static let maybe = [
        "127.1", "127.0.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "0x7f000001", "0", "0x0", "127.0.0.1.",
        "127.000.000.001", "db.localhost", "DB.LocalHost.", "ip6-localhost", "localhost.localdomain", "[::1%25lo]",
        "%31%32%37.0.0.1", "loc%61lhost",
    ]
    static let others = [
        "128.0.0.1", "126.255.255.255", "1.0.0.1", "10.0.0.1", "192.168.0.1", "[2001:db8::1]", "[::2]", "[::1:0]",
        "[fe80::1]", "[::ffff:128.0.0.1]", "[2002:8000:1::]", "localhost.example.com", "mylocalhost", "example.com",
        "127.0.0.1.example.com", "xlocalhost",
    ]

    @Test("is known from every spelling of an address and of localhost", arguments: surely)
    func isSurely(host: String) throws {
        let url = try #require(URL(string: "http://\(host):8080/admin"))
        #expect(LocalHost.isSurely(url) && LocalHost.mayBe(url))
    }

    @Test("is possible for spellings that readers differ about; these allow nothing", arguments: maybe)
    func mayBe(host: String) throws {
        guard let url = URL(string: "http://\(host)/") else { return }
        #expect(LocalHost.mayBe(url), "\(url.absoluteString)")
        // Foundation may have canonicalized what it was given.
        if url.host(percentEncoded: true) == host { #expect(!LocalHost.isSurely(url)) }
    }

    @Test("is not the case for anything else", arguments: others)
    func isAnother(host: String) throws {
        let url = try #require(URL(string: "http://\(host)/"))
        #expect(!LocalHost.mayBe(url) && !LocalHost.isSurely(url))
    }

    @Test("is so for the machine's own name")
    func ownName() throws {
        let name = ProcessInfo.processInfo.hostName
        guard (try? DialedHost(name)) != nil else { return }
        #expect(LocalHost.mayBe(try #require(URL(string: "http://\(name.uppercased()):1/"))))
    }
}
