import Foundation
import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerWeb

@Suite("Values of pages")
struct PageValueTests {
    private func markup(_ text: String) -> [UInt8] {
        guard let markup = PageValue.text(text).markup as? String else { return [] }
        return Array(markup.utf8)
    }

    @Test("Every character of markup is escaped, with an accent upon it as well")
    func escaping() {
        #expect(
            markup("<a href='x' b=\"y\">&amp;") == Array("&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp;".utf8))
        // With an accent it is another character for Swift, and the same byte for a browser.
        #expect(markup("\"\u{301} onclick=\"") == Array("&quot;\u{301} onclick=&quot;".utf8))
        #expect(
            markup("<\u{338}>\u{338}&\u{301}'\u{301}") == Array("&lt;\u{338}&gt;\u{338}&amp;\u{301}&#39;\u{301}".utf8))
        #expect(markup("Größe 水 🔑") == Array("Größe 水 🔑".utf8))
    }

    @Test("What cannot be seen, and what turns text around, is named")
    func unseen() {
        #expect(markup("a\0b") == Array("a[U+0000]b".utf8))
        #expect(markup("\u{202E}moc.live\u{2066}") == Array("[U+202E]moc.live[U+2066]".utf8))
        #expect(
            markup("pay\u{200B}pal\u{FEFF}\u{2028}\u{E0041}\u{7F}\r")
                == Array(
                    "pay[U+200B]pal[U+FEFF][U+2028][U+E0041][U+007F][U+000D]".utf8))
        #expect(markup("one\n\ttwo") == Array("one\n\ttwo".utf8))
    }

    @Test("Times are said to the minute, and how far away they are in the largest unit that fits")
    func times() {
        let now = Story.now
        #expect(PageText.time(1_795_694_400) == "2026-11-26 12:00")
        #expect(PageText.distance(to: now + 41 * 86_400 + 5, from: now) == "in 41 days")
        #expect(PageText.distance(to: now - 7_200, from: now) == "2 hours ago")
        #expect(PageText.distance(to: now + 90, from: now) == "in 90 seconds")
        #expect(PageText.distance(to: now + 59, from: now) == "now")
        #expect(PageText.distance(to: .max, from: -5) == "now")
        #expect(PageText.time(.min) == PageText.nothing)
        #expect(QuantityText.span(86_400) == "24 hours" && QuantityText.span(2 * 86_400) == "2 days")
        #expect(QuantityText.count(1, "key") == "1 key" && QuantityText.count(0, "key") == "0 keys")
    }

    @Test("No template writes a value as it is, or has a style, a script or anything of another host in it")
    func templates() throws {
        _ = try PageTemplates()
        #expect(Set(PageTemplates.texts.keys).isSuperset(of: PageTemplates.Page.allCases.map(\.rawValue)))
        for (name, text) in PageTemplates.texts {
            #expect(!text.isEmpty)
            for markup in ["{{{", "{{&", "{{%", "{{=", "style=", "<style", "javascript:", "//", "<iframe", "<img"] {
                #expect(!text.contains(markup), "\(markup) in \(name)")
            }
            #expect(text.firstMatch(of: /<script(?! src="\{\{\.\}\}" defer>)/) == nil, "\(name)")
            #expect(text.firstMatch(of: /\son[a-z]+\s*=/) == nil, "\(name)")
            // A value without quotation marks around it could begin another attribute.
            #expect(text.firstMatch(of: #/=\{\{/#) == nil, "\(name)")
        }
    }

    @Test("Everything that is called by another template is there")
    func partials() {
        let texts = PageTemplates.texts
        for (name, text) in texts {
            for match in text.matches(of: /\{\{>\s*([a-z]+)\s*\}\}/) {
                #expect(texts[String(match.1)] != nil, "\(match.1) in \(name)")
            }
        }
    }
}
