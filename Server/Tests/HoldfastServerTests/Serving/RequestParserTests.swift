import HoldfastProbe
import Testing

@testable import PinPublication
@testable import PublicAPI
@testable import ServerHTTP

@Suite("What the server reads of a request")
struct RequestParserTests {
    @Test("A damaged address is read or refused, with work that its length bounds")
    func targets() throws {
        var generator = SeededGenerator(seed: 0xADD)
        let seeds = [
            "/app/init?appName=bank&appVersion=1.2.3&osVersion=17.1.0&platform=IOS", "/lists/bank.json",
            "https://pins.example.net/repo/bank/12.root.json?%61=%62+c&&=", "/app/init?a=%zz&%=1",
        ].map { Array($0.utf8) }
        var read = 0
        defer { noteCampaign(of: mutants) }
        for number in 0..<mutants {
            let bytes = mutated(seeds[number % seeds.count], &generator)
            guard let target = try? RequestTarget(bytes) else { continue }
            read += 1
            #expect(target.effort <= 4 * bytes.count + 4)
            #expect(target.path.first == UInt8(ascii: "/"))
            #expect(!target.path.contains { $0 < 0x21 || $0 > 0x7E || $0 == UInt8(ascii: "%") })
            #expect(!String(decoding: target.path, as: UTF8.self).contains("/../"))
            let size = target.fields.reduce(0) { $0 + $1.name.count + $1.value.count }
            #expect(size <= bytes.count && target.fields.count <= RequestTarget.maximumFieldCount)
            _ = try? InitRequest(target)
        }
        #expect(read > mutants / 10 && read < mutants)
    }

    @Test("Damaged headers are read or ignored, and say nothing that they could not have")
    func headers() throws {
        var generator = SeededGenerator(seed: 0x4EAD)
        let codings = Array("br, gzip;q=0.8, deflate, *;q=0.1".utf8)
        let forwarded = Array("203.0.113.7, 2001:db8::7, [2001:db8::8], 10.0.0.1".utf8)
        let challenge = Array("AAECAwQFBgcICQoLDA0ODw==".utf8)
        let proxies = TrustedProxies([try AddressBlock("10.0.0.0/8"), try AddressBlock("127.0.0.0/8")])
        let peer = try IPAddress("10.0.0.9")
        var challenges = 0
        defer { noteCampaign(of: mutants) }
        for _ in 0..<mutants {
            _ = Weight.acceptsGzip(mutated(codings, &generator))
            let text = String(decoding: mutated(forwarded, &generator), as: UTF8.self)
            _ = proxies.client(behind: peer, forwarded: [text])
            let mutant = mutated(challenge, &generator)
            guard let read = Challenge(String(decoding: mutant, as: UTF8.self)) else { continue }
            challenges += 1
            #expect(read.text.count <= 44)
        }
        #expect(challenges > 0)
    }

    @Test("An address is read as it is meant")
    func target() throws {
        let target = try RequestTarget("/app/init?appName=a%2Bb&x=1+2&appName=&flag".utf8)
        #expect(target.path == Array("/app/init".utf8))
        #expect(target.values("appName") == [Array("a+b".utf8), []])
        #expect(target.values("x") == [Array("1 2".utf8)] && target.values("flag") == [[]])
        for bad in ["", "?", "/a b", "/a?x=%4", "/a?x=%", "http:///a", "ftp://h/a", "/a?x=\u{e9}", "/a#b"] {
            #expect(throws: RequestTarget.Refusal.self, "\(bad)") { try RequestTarget(bad.utf8) }
        }
        let many = "/a?" + String(repeating: "x=1&", count: 17)
        #expect(throws: RequestTarget.Refusal.tooManyFields) { try RequestTarget(many.utf8) }
    }

    @Test("Only proxies that are trusted say where a request comes from, and only the last word of others counts")
    func forwarded() throws {
        let proxies = TrustedProxies([try AddressBlock("10.0.0.0/8")])
        func client(_ peer: String, _ header: [String]) throws -> String {
            proxies.client(behind: try IPAddress(peer), forwarded: header).description
        }
        #expect(try client("10.0.0.1", ["203.0.113.7"]) == "203.0.113.7")
        // The client's own part stands before the part that the proxy added.
        #expect(try client("10.0.0.1", ["198.51.100.1, 203.0.113.7"]) == "203.0.113.7")
        #expect(try client("10.0.0.1", ["198.51.100.1, 203.0.113.7", "10.1.1.1"]) == "203.0.113.7")
        #expect(try client("203.0.113.9", ["198.51.100.1"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", []) == "10.0.0.1")
        #expect(try client("10.0.0.1", ["203.0.113.7, unknown"]) == "10.0.0.1")
        #expect(try client("::ffff:10.0.0.1", ["2001:db8::1"]) == "2001:db8::1")
        #expect(try client("10.0.0.1", [String(repeating: "203.0.113.7,", count: 200)]) == "10.0.0.1")
    }

    @Test("A source is the /24 of IPv4 and the /56 of IPv6, also where IPv4 is mapped")
    func prefixes() throws {
        func prefix(_ text: String) throws -> SourcePrefix { SourcePrefix(try IPAddress(text)) }
        #expect(try prefix("192.0.2.1") == prefix("192.0.2.254"))
        #expect(try prefix("192.0.2.1") != prefix("192.0.3.1"))
        #expect(try prefix("::ffff:192.0.2.9") == prefix("192.0.2.1"))
        #expect(try prefix("2001:db8:0:aa00::1") == prefix("2001:db8:0:aaff::2"))
        #expect(try prefix("2001:db8:0:aa00::1") != prefix("2001:db8:0:ab00::1"))
        #expect(try prefix("::c000:200") != prefix("192.0.2.0"))
    }
}
