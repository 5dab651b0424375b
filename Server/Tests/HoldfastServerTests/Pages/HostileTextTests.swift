import Foundation
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import ServerApprovals
@testable import ServerWeb

/// Whatever hosts, clients and people write stays text.
@Suite("Hostile text on pages", .needs(.program("python3")), .timeLimit(.minutes(10)))
struct HostileTextTests {
    /// Each begins markup where something else escapes too little.
    private static let texts = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'><svg/onload=alert(1)>",
        "\"\u{301} onmouseover=\"alert(1)", "<\u{338}b>\u{338}", "javascript:alert(1)",
        "</textarea></title></style><b>",
        "<!--", "]]><?x", "{{{csrf}}}{{#needs}}", "\u{202E}moc.live\u{2067}", "a\0b\u{1B}[31m", "&lt;b&gt;",
        "\u{FEFF}\u{200D}",
    ]
    private static let all = texts.joined(separator: " ")

    @Test("No text of any page becomes an element or an attribute, wherever it stands")
    func everyText() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            let open = try await PageDesk.fill(world)
            let templates = try PageTemplates()
            var all: [(address: String, made: PageResponder.Made)] = []
            for address in desk.addresses(open) { all.append((address, try await desk.made(address))) }
            for address in PageDesk.forms + ["/", "/apps/bank", "/apps/bank/hosts/\(World.host)"] {
                all.append((address, try await desk.made(address, for: PageDesk.keeper)))
            }
            // Those that people see who are not signed in, and those of errors, have no texts of others yet.
            for page in PageTemplates.Page.allCases where !all.contains(where: { $0.made.page == page }) {
                let frame = PageFrame(title: "title", viewer: PageDesk.viewer, needsScript: true)
                all.append(
                    (page.rawValue, PageResponder.Made(page, frame, ["words": "a", "remedy": "b", "id": "c"])))
            }
            #expect(Set(all.map(\.made.page)).count == PageTemplates.Page.allCases.count)
            var pages: [String] = []
            for (_, made) in all {
                let value = made.frame.value(around: made.content, style: templates.stylePath)
                pages.append(templates.html(made.page, value.appending("x")))
                pages.append(templates.html(made.page, value.appending(Self.all)))
            }
            for html in pages { Self.expectVisible(html) }
            let parsed = try await ParsedPage.all(pages)
            for (place, address) in all.map(\.address).enumerated() {
                let (usual, hostile) = (parsed[2 * place], parsed[2 * place + 1])
                #expect(
                    usual.problems.isEmpty && hostile.problems.isEmpty,
                    "\(address): \(usual.problems) \(hostile.problems)")
                #expect(usual.elements.count > (address.hasPrefix("/") ? 20 : 10), "\(address)")
                #expect(usual.skeleton == hostile.skeleton, "\(address)")
                #expect(
                    hostile.text.contains("<script>alert(1)</script> \"><img src=x onerror=alert(1)>"), "\(address)")
            }
        }
    }

    @Test("What hosts, clients and people have written is text on every page, and leads nowhere")
    func everyField() async throws {
        var pages: [[String]] = []
        // A world takes a second, so most texts are in the other test alone.
        for text in ["usual"] + Self.texts.prefix(4) {
            try await World.run { world in
                let desk = try PageDesk(world)
                let open = try await PageDesk.fill(world, text)
                var all: [String] = []
                for address in desk.addresses(open) { all.append(try await desk.html(address)) }
                pages.append(all)
            }
        }
        for html in pages.joined() { Self.expectVisible(html) }
        let parsed = try await ParsedPage.all(Array(pages.joined()))
        let count = pages[0].count
        for (place, page) in parsed.enumerated() {
            #expect(page.problems.isEmpty, "\(page.problems)")
            // Certificates are drawn at random, and where they are sorted by their digests their rows are in any order.
            let (own, usual) = (page.skeleton.map(\.description), parsed[place % count].skeleton.map(\.description))
            #expect(own.sorted() == usual.sorted(), "page \(place % count) of text \(place / count)")
            for address in page.addresses {
                #expect(address.hasPrefix("/") && !address.hasPrefix("//") || address.hasPrefix("#"), "\(address)")
            }
        }
        // It does stand there.
        for (number, text) in Self.texts.prefix(4).enumerated() {
            let shown = parsed[(number + 1) * count..<(number + 2) * count]
            #expect(shown.count { $0.text.contains(text) } >= 4, "\(text)")
        }
    }

    /// Nothing in a page is invisible, or turns text around.
    private static func expectVisible(_ html: String) {
        let unseen = html.unicodeScalars.first { scalar in
            [.control, .format].contains(scalar.properties.generalCategory) && scalar != "\n" && scalar != "\t"
        }
        #expect(unseen == nil)
    }
}
