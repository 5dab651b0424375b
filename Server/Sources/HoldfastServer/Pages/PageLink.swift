/// The addresses of pages. Names are checked before: what an address cannot have as it is has no page.
enum PageLink {
    static let overview = "/"
    static let audit = "/audit"
    static let people = "/people"
    static let signIn = "/signin"

    static func app(_ app: AppName) -> String { "/apps/\(app)" }

    /// The apps behind one.
    static func overview(after app: AppName) -> String { "/?after=\(app)#apps" }

    /// The hosts of an app behind one.
    static func hosts(of app: AppName, after place: AppFacts.Place) -> String {
        "/apps/\(app)?after=\(encoded(place.label))#hosts"
    }

    /// What else stands on the page of an app, from a place on.
    /// - Parameter part: the name of the part, which is the field of the query as well.
    static func app(_ app: AppName, _ part: String, from place: Int) -> String {
        "/apps/\(app)?\(part)=\(place)#\(part)"
    }

    static func reports(_ app: AppName) -> String { "/apps/\(app)/reports" }
    static func change(_ change: RandomID, of app: AppName) -> String { "/apps/\(app)/changes/\(change)" }

    /// The page of a host; an address of version 6 is a field of the query, since no path has a colon here.
    static func host(_ host: CatalogHost, of app: AppName) -> String {
        let port = host.port == 443 ? [] : ["port=\(host.port)"]
        let isPlain = host.name.utf8.allSatisfy { ASCIIText.isAlphanumeric($0) || "-._".utf8.contains($0) }
        let fields = isPlain ? port : ["name=\(encoded(host.name))"] + port
        return "/apps/\(app)/hosts/\(isPlain ? host.name : "-")"
            + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }

    /// The form that announces what a host has next.
    static func next(_ host: CatalogHost, of app: AppName) -> String {
        FormRoute.next(app).path + "?host=\(encoded(host.name))&port=\(host.port)"
    }

    /// A form, for somebody who may send it; nil for others.
    static func form(_ route: FormRoute, for viewer: Viewer) -> String? {
        route.isOpen(to: viewer) ? route.path : nil
    }

    /// Entries of the audit.
    static func audit(_ filter: AuditFilter) -> String {
        var fields: [String] = []
        if let event = filter.event { fields.append("event=\(event.rawValue)") }
        if let app = filter.app { fields.append("app=\(app)") }
        if let before = filter.before { fields.append("before=\(before)") }
        return audit + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            ASCIIText.isAlphanumeric(byte)
                ? String(decoding: [byte], as: UTF8.self) : "%\(Hex.encode([byte]))"
        }.joined()
    }
}

/// Which entries of the audit a page shows.
struct AuditFilter: Sendable, Hashable {
    /// What happened; nil for anything.
    var event: AuditEntry.Event?
    /// The app that it was about; nil for any.
    var app: AppName?
    /// The entries before a place; nil for all.
    var before: Int64?

    func matches(_ entry: AuditEntry) -> Bool {
        guard event.map({ $0 == entry.event }) ?? true else { return false }
        guard let app else { return true }
        return entry.facts["app"].map { $0.utf8.elementsEqual("\(app)".utf8) } ?? false
    }
}
