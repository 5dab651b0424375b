import ServerFoundation

/// The pages by their paths.
enum PageRoute: Sendable, Hashable {
    case overview
    case app(AppName)
    case host(AppName, name: [UInt8])
    case change(AppName, RandomID)
    case reports(AppName)
    case people
    case audit
    /// A form, for a viewer who may submit it.
    case form(FormRoute)
    /// The sign-in page, for requests without a session.
    case signIn
    case invitation(Digest)
    /// A style sheet by its full path.
    case style([UInt8])
    /// The script that talks to passkeys.
    case script

    /// The route for a path; nil if there is no such page.
    init?(path: [UInt8]) {
        let parts = path.split(separator: UInt8(ascii: "/"), maxSplits: 6, omittingEmptySubsequences: false).dropFirst()
        func has(_ texts: String?...) -> Bool {
            parts.count == texts.count
                && zip(parts, texts).allSatisfy { part, text in
                    text.map { part.elementsEqual($0.utf8) } ?? !part.isEmpty
                }
        }
        func part(_ place: Int) -> [UInt8] { Array(parts[parts.startIndex + place]) }
        if has("") {
            self = .overview
        } else if has("audit") {
            self = .audit
        } else if has("people") {
            self = .people
        } else if has("signin") {
            self = .signIn
        } else if has("invitation", nil), let id = Digest(hex: part(1)) {
            self = .invitation(id)
        } else if path.elementsEqual(PageFrame.script.utf8) {
            self = .script
        } else if has(nil), part(0).starts(with: "style-".utf8) {
            self = .style(path)
        } else if let form = FormRoute(Array(parts)) {
            self = .form(form)
        } else if parts.count >= 2, part(0).elementsEqual("apps".utf8), let app = AppName(bytes: part(1)) {
            if has("apps", nil) {
                self = .app(app)
            } else if has("apps", nil, "reports") {
                self = .reports(app)
            } else if has("apps", nil, "hosts", nil) {
                self = .host(app, name: part(3))
            } else if has("apps", nil, "changes", nil), let change = RandomID(hex: part(3)) {
                self = .change(app, change)
            } else {
                return nil
            }
        } else {
            return nil
        }
    }

    /// Whether it is a file that pages use, not a page.
    var isOfFile: Bool {
        switch self {
        case .style, .script: true
        default: false
        }
    }

    /// The query fields that the page accepts.
    var queryFields: [String] {
        switch self {
        case .overview: ["after"]
        case .app: ["after", "changes", "documents"]
        case .host: ["port", "name"]
        case .reports: ["days"]
        case .audit: ["event", "app", "before"]
        case .form(.next): ["host", "port"]
        default: []
        }
    }

    /// Whether the route is available without a session.
    var isForAnybody: Bool {
        switch self {
        case .signIn, .invitation, .style, .script: true
        default: false
        }
    }
}
