import Foundation
import Holdfast
import Testing

@testable import HoldfastPublishing

/// The reader of other systems' configurations in XML.
@Suite("XML of other systems")
struct ConfigurationParserTests {
    private func read(_ text: String) throws(PublishingError) -> ConfigurationElement {
        try ConfigurationElement.document(Data(text.utf8), wanted: "a configuration")
    }

    private func refusal(_ text: String) -> String? {
        do throws(PublishingError) {
            _ = try read(text)
            return nil
        } catch {
            return error.found
        }
    }

    @Test("Text, attributes and lines are read as XML 1.0 has them")
    func content() throws {
        let root = try read(
            """
            \u{FEFF}<?xml version="1.0" encoding="UTF-8" standalone='yes'?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <!-- a < comment - & -->
            <a:root one = "1 &lt; &#x32;\t&quot;" two='"&#10;'
            ><?tool a > b?><ä-b.c/>
              <text>a&amp;b&#x1F512;<![CDATA[<&amp;]]]]><!-- c --></text >
            </a:root>
            <?end?>
            """)
        #expect(root.name == "a:root" && root.line == 4)
        #expect(root.attributes == ["one": "1 < 2 \"", "two": "\"\n"])
        #expect(root.children.map(\.name) == ["ä-b.c", "text"] && root.children.map(\.line) == [5, 6])
        #expect(root.children.map(\.text) == ["", "a&b\u{1F512}<&amp;]]"])
        #expect(try read("<a>\r\nb\rc&#13;</a>").text == "\nb\nc\r")
        #expect(try read("<a b='\r\n\t'/>").attributes == ["b": "  "])
    }

    @Test(
        "What is not well-formed is refused",
        arguments: [
            "", " ", "text", "<a>", "<a></b>", "<a/><b/>", "<a/>text", "text<a/>", "<a", "<a b/>", "<a b=c/>",
            "<a b='/>", "<a b='1'c='2'/>", "<a b='1' b='2'/>", "<a b='<'/>", "<a>]]></a>", "<a>&#0;</a>",
            "<a>&#x110000;</a>", "<a>&#xD800;</a>", "<a>&#+65;</a>", "<a>&#;</a>", "<a>&#xFFFE;</a>", "<a>\u{1}</a>",
            "<a>\u{FFFF}</a>",
            "<1/>", "<a><!-- a -- b --></a>", "<a><!-- a", "<a><![CDATA[a</a>", "<![CDATA[a]]><a/>", "<a/><!DOCTYPE a>",
            "<!DOCTYPE a><!DOCTYPE a><a/>", "<a><?xml version='1.0'?></a>", " <?xml version='1.0'?><a/>",
            "<a><? b?></a>", "</a>", "<a>< b/></a>", "<!DOCTYPE a <a/>", "<?xml version='1.0'><a/>", "&amp;",
            "<!a><a/>",
        ])
    func malformed(text: String) {
        #expect(refusal(text)?.hasPrefix("one that is not a configuration, or ends early (line 1)") == true, "\(text)")
    }

    @Test("Another encoding, declarations, and nesting beyond 32 elements are refused by name")
    func limits() throws {
        let encoded = "<?xml version='1.0' encoding='latin1'?>\n<a/>"
        #expect(refusal(encoded) == "one that is not UTF-8; convert a copy of it (line 1)")
        #expect(refusal("<!DOCTYPE a\n[ ]><a/>") == "one that has declarations of its own (line 2)")
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(try read(nested(32)).children.count == 1)
        #expect(refusal(nested(33)) == "one that nests too deep (line 1)")
        #expect(refusal("<a>\nb<c/></a>") == "one that has text beside elements (line 1)")
    }

    @Test("Every beginning of a document is refused without a crash")
    func prefixes() throws {
        let text = "<?xml version='1.0'?><!DOCTYPE a 'b'><a b='&amp;&#65;'><!--c--><?d e?><![CDATA[f]]>&lt;</a>"
        _ = try read(text)
        for length in 0..<text.utf8.count {
            #expect(refusal(String(text.prefix(length))) != nil, "\(length)")
        }
    }
}
