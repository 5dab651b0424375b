import Testing

@testable import HoldfastTUF

@Suite("Patterns of names of targets (section 4.5)")
struct PathPatternTests {
    @Test(
        "Stars and question marks stand for anything but slashes",
        arguments: [
            ("*", "a", true), ("*", "", true), ("*", "a/b", false), ("*/*", "a/b", true), ("a*", "ab", true),
            ("a*", "ba", false), ("*.zip", "x.zip", true), ("*.zip", "x.zipp", false), ("a?c", "abc", true),
            ("a?c", "aéc", true), ("a?c", "ac", false), ("a?c", "a/c", false), ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false), ("[ab]*", "bc", true), ("[!ab]*", "bc", false), ("[!ab]*", "cb", true),
            ("[a-c]x", "bx", true), ("[]]", "]", true), ("[", "[", true), ("a[", "a[", true), ("[a/b]", "a", false),
            ("*\\*", "a\\b", true), ("targets/*.tgz", "targets/foo.tgz", true),
            ("targets/*.tgz", "targets/x/foo.tgz", false),
            ("A", "a", false), ("é", "e\u{301}", false), ("**", "a", true), ("", "", true), ("/a", "a", false),
        ])
    func match(pattern: String, name: String, isMatch: Bool) throws {
        let meter = WorkMeter(TUFSettings())
        let parts = PathPattern.parts(Array(name.utf8)[...])
        #expect(try PathPattern(Array(pattern.utf8)).matches(parts, meter: meter) == isMatch)
    }
}
