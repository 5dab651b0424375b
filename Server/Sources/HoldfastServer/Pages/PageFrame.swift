/// What stands around every page.
struct PageFrame: Sendable {
    /// What the page is called.
    var title: String
    /// Who looks at it; nil for somebody who is not signed in.
    var viewer: Viewer?
    /// The page above it.
    var above: (address: String, words: String)?
    /// Where in the navigation it is; nil for a page below.
    var place: String?
    /// What everybody should know who approves anything.
    var notices: [String] = []
    /// When it was made, in seconds since 1970; nil if nobody knows.
    var made: Int64?
    /// Whether it needs a script, for a passkey.
    var needsScript = false

    /// Where the script is, which talks to passkeys.
    static let script = "/passkeys.js"

    /// A page in this frame.
    /// - Parameters:
    ///   - content: what is in it.
    ///   - style: where the style sheet is.
    func value(around content: [String: PageValue], style: String) -> PageValue {
        let frame: [String: PageValue] = [
            "title": .text(title), "style": .text(style), "script": .optional(needsScript ? Self.script : nil),
            "made": .optional(made.map(PageText.time)), "notices": .texts(notices),
            "trail": .optional(
                above.map { ["address": .text($0.address), "words": .text($0.words)] as PageValue }),
            "viewer": .optional(viewer.map(person)),
        ]
        return .record(frame.merging(content) { _, own in own })
    }

    private func person(_ viewer: Viewer) -> PageValue {
        var pages = [(PageLink.overview, "Overview"), (PageLink.people, "People")]
        if viewer.seesEverything { pages.append((PageLink.audit, "Audit")) }
        return [
            "name": .text(viewer.name), "csrf": .text(viewer.csrfToken),
            "navigation": .list(
                pages.map { address, words in
                    ["address": .text(address), "words": .text(words), "isHere": .flag(address == place)]
                }),
        ]
    }

    /// What everybody should know about those who approve.
    static func notices(_ set: ApproverSet) -> [String] {
        var notices: [String] = []
        if set.number == 1 { notices.append("One person is enough to approve a change, even their own.") }
        if set.passkeys?.rule == .passkeysOnly {
            notices.append(
                "Changes may be approved by passkeys alone, which do not show what they sign: who controls this page "
                    + "can have them sign something else.")
        }
        return notices
    }
}
