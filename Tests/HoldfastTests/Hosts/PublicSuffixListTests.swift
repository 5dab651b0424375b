import Testing

@testable import Holdfast

@Suite("Public suffix lists")
struct PublicSuffixListTests {
    private static let text = """
        // ===BEGIN ICANN DOMAINS===
        com
        // jp: comment
        jp
        co.jp   trailing words are no part of the rule
        *.ck
        !www.ck

        公司.cn
        // ===END ICANN DOMAINS===
        // ===BEGIN PRIVATE DOMAINS===
        github.io
        *.compute.example.com
        // ===END PRIVATE DOMAINS===
        """

    @Test("Rules, wildcards and exceptions decide what is a public suffix")
    func rules() throws {
        let list = try PublicSuffixList(Self.text)
        for name in [
            "com", "jp", "co.jp", "foo.ck", "xn--55qx5d.cn", "github.io", "x.compute.example.com",
        ] {
            #expect(list.lists(name), "\(name)")
        }
        for name in [
            "example.com", "ck", "www.ck", "a.foo.ck", "b.co.jp", "io.github.io", "compute.example.com",
            "unlisted.name",
        ] {
            #expect(!list.lists(name), "\(name)")
        }
    }

    @Test("Windows line ends and a missing last line end change nothing")
    func lineEnds() throws {
        let windows = Self.text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        #expect(try PublicSuffixList(windows) == PublicSuffixList(Self.text))
    }

    @Test("The private section counts unless it is left out")
    func privateSection() throws {
        let list = try PublicSuffixList(Self.text, includingPrivateDomains: false)
        #expect(!list.lists("github.io"))
        #expect(list.lists("co.jp"))
        #expect(throws: HostPatternError.self) {
            try HostPattern("*.github.io", publicSuffixes: PublicSuffixList(Self.text))
        }
        #expect(try HostPattern("*.github.io", publicSuffixes: list).matches(DialedHost("me.github.io")))
    }

    @Test(
        "A line that is no rule is an error that gives its number", arguments: ["a..b", "a.*.b", "*", "!", "!*.x", "1"])
    func badRules(_ rule: String) {
        do throws(HostPatternError) {
            _ = try PublicSuffixList("com\n\(rule)\n")
            Issue.record("accepted \(rule)")
        } catch {
            #expect(error.code == .invalidSuffixRule)
            #expect(error.found.contains("line 2"))
        }
    }
}
