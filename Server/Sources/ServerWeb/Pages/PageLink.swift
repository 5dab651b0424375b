import ServerFoundation
import ServerModel

/// The addresses of pages. Names are checked beforehand: a name that an address cannot contain has no page.
enum PageLink {
    static let overview = "/"
    static let audit = "/audit"
    static let people = "/people"
    static let signIn = "/signin"

    static func app(_ app: AppName) -> String { "/apps/\(app)" }

    /// The overview with the apps after one.
    static func overview(after app: AppName) -> String { "/?after=\(app)#apps" }

    /// The hosts of an app after one.
    static func hosts(of app: AppName, after place: AppFacts.Place) -> String {
        "/apps/\(app)?after=\(encoded(place.label))#hosts"
    }

    /// A further part of an app's page, from an offset on.
    /// - Parameter part: the name of the part, which is also the name of the query field.
    static func app(_ app: AppName, _ part: String, from place: Int) -> String {
        "/apps/\(app)?\(part)=\(place)#\(part)"
    }

    static func reports(_ app: AppName) -> String { "/apps/\(app)/reports" }
    static func change(_ change: RandomID, of app: AppName) -> String { "/apps/\(app)/changes/\(change)" }

    /// The page of a host. An IPv6 address is a query field, because paths here contain no colon.
    static func host(_ host: CatalogHost, of app: AppName) -> String {
        let port = host.port == 443 ? [] : ["port=\(host.port)"]
        let isPlain = host.name.utf8.allSatisfy { ASCIIText.isAlphanumeric($0) || "-._".utf8.contains($0) }
        let fields = isPlain ? port : ["name=\(encoded(host.name))"] + port
        return "/apps/\(app)/hosts/\(isPlain ? host.name : "-")"
            + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }

    /// The form that announces a certificate of a host.
    static func next(_ host: CatalogHost, of app: AppName) -> String {
        FormRoute.next(app).path + "?host=\(encoded(host.name))&port=\(host.port)"
    }

    /// The path of a form for a viewer who may submit it; nil for others.
    static func form(_ route: FormRoute, for viewer: Viewer) -> String? {
        route.isOpen(to: viewer) ? route.path : nil
    }

    /// The audit page for a filter.
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

/// Selects the entries of the audit that a page shows.
struct AuditFilter: Sendable, Hashable {
    /// The event; nil for all events.
    var event: AuditEntry.Event?
    /// The app; nil for all apps.
    var app: AppName?
    /// Only entries before this index; nil for all.
    var before: Int64?

    func matches(_ entry: AuditEntry) -> Bool {
        guard event.map({ $0 == entry.event }) ?? true else { return false }
        guard let app else { return true }
        return entry.facts["app"].map { $0.utf8.elementsEqual("\(app)".utf8) } ?? false
    }
}
