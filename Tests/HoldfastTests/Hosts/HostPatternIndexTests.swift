import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("The index of host patterns")
struct HostPatternIndexTests {
    private func index(_ patterns: String...) throws -> HostPatternIndex<String> {
        var index = HostPatternIndex<String>()
        for pattern in patterns { index[try HostPattern(pattern, allowingTopLevel: true)] = pattern }
        return index
    }

    @Test("One pattern decides: exact, then most labels, then one label before any depth")
    func precedence() throws {
        let index = try index(
            "www.example.com", "*.example.com", "**.example.com", "**.sub.example.com", "*.sub.example.com", "**.com")
        for (host, expected) in [
            ("www.example.com", "www.example.com"), ("mail.example.com", "*.example.com"),
            ("example.com", "**.example.com"),
            ("sub.example.com", "**.sub.example.com"), ("a.sub.example.com", "*.sub.example.com"),
            ("a.b.sub.example.com", "**.sub.example.com"), ("a.b.example.com", "**.example.com"),
            ("dexample.com", "**.com"), ("com", "**.com"), ("example.org", nil), ("com.org", nil),
        ] {
            #expect(try index.value(for: DialedHost(host)) == expected, "\(host)")
        }
    }

    @Test("The same pattern twice replaces, in whatever spelling")
    func replaces() throws {
        var index = try index("*.bücher.de", "*.xn--bcher-kva.de", "example.com", "EXAMPLE.COM.")
        #expect(index.count == 2)
        #expect(try index.value(for: DialedHost("www.bücher.de")) == "*.xn--bcher-kva.de")
        #expect(index.set("new", for: try HostPattern("example.com")) == "EXAMPLE.COM.")
        #expect(index.entries.map(\.value) == ["new", "*.xn--bcher-kva.de"])
    }

    @Test("Removing a pattern leaves the others, and the next one decides")
    func removal() throws {
        var index = try index("www.example.com", "*.example.com", "**.example.com")
        let host = try DialedHost("www.example.com")
        index[try HostPattern("www.example.com")] = nil
        #expect(index.value(for: host) == "*.example.com")
        index[try HostPattern("*.example.com")] = nil
        #expect(index.value(for: host) == "**.example.com")
        index[try HostPattern("*.example.com")] = nil
        #expect(index.count == 1)
        index[try HostPattern("**.example.com")] = nil
        #expect(index.value(for: host) == nil)
        #expect(index.count == 0 && index.entries.isEmpty)
    }

    @Test("Addresses are found exactly and by no wildcard")
    func addresses() throws {
        let index = try index("192.0.2.1", "::1", "**.example.com")
        #expect(try index.value(for: DialedHost("192.0.2.1", port: 443)) == "192.0.2.1")
        #expect(try index.value(for: DialedHost("[::1]")) == "::1")
        #expect(try index.value(for: DialedHost("192.0.2.2")) == nil)
    }

    @Test("A value that is itself optional can be stored")
    func optionalValues() throws {
        var index = HostPatternIndex<Int?>()
        let pattern = try HostPattern("example.com")
        index.set(.some(nil), for: pattern)
        #expect(index.count == 1)
    }

    @Test("The index finds what a search through all patterns finds")
    func agreesWithSearch() throws {
        var generator = SplitMix64(seed: 20)
        let labels = ["a", "b", "c", "ab"]
        func name(_ most: Int) -> String {
            (0..<Int.random(in: 1...most, using: &generator)).map { _ in labels.randomElement(using: &generator) ?? "a"
            }
            .joined(separator: ".")
        }
        for _ in 0..<40 {
            var index = HostPatternIndex<HostPattern>()
            var patterns: Set<HostPattern> = []
            for _ in 0..<30 {
                let text = (["", "*.", "**."].randomElement(using: &generator) ?? "") + name(4)
                let pattern = try HostPattern(text, allowingTopLevel: true)
                if Bool.random(using: &generator) || patterns.isEmpty {
                    index[pattern] = pattern
                    patterns.insert(pattern)
                } else if let gone = patterns.min() {
                    index[gone] = nil
                    patterns.remove(gone)
                }
            }
            #expect(index.count == patterns.count)
            #expect(index.entries.map(\.pattern) == patterns.sorted())
            for _ in 0..<60 {
                let host = try DialedHost(name(6))
                #expect(index.value(for: host) == patterns.filter { $0.matches(host) }.min(), "\(host)")
            }
        }
    }

    @Test("Many patterns do not hide one another")
    func manyPatterns() throws {
        var index = HostPatternIndex<Int>()
        for number in 0..<5_000 { index[try HostPattern("**.n\(number).example.com")] = number }
        #expect(index.count == 5_000)
        for number in stride(from: 0, to: 5_000, by: 97) {
            #expect(try index.value(for: DialedHost("a.b.n\(number).example.com")) == number)
        }
        let deep = Array(repeating: "a", count: 119).joined(separator: ".") + ".n7.example.com"
        #expect(try index.value(for: DialedHost(deep)) == 7)
    }
}
