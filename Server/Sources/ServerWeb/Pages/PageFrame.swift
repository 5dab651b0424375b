import ServerApprovals

/// The parts around every page: title, navigation and notices.
struct PageFrame: Sendable {
    /// The title of the page.
    var title: String
    /// The viewer; nil without a session.
    var viewer: Viewer?
    /// The parent page.
    var above: (address: String, words: String)?
    /// The current navigation entry; nil for a page below one.
    var place: String?
    /// The warnings about the approvers.
    var notices: [String] = []
    /// The time at which the page was made, in seconds since 1970; nil if unknown.
    var made: Int64?
    /// Whether the page needs the script for passkeys.
    var needsScript = false

    /// The path of the script that talks to passkeys.
    static let script = "/passkeys.js"

    /// Returns the values of a page in this frame.
    /// - Parameters:
    ///   - content: the values of the page itself.
    ///   - style: the path of the style sheet.
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

    /// The warnings about a set of approvers.
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
