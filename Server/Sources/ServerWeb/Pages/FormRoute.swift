import ServerApprovals
package import ServerFoundation
import ServerModel

/// The forms of pages by their paths: `GET` shows a form, and `POST` submits it.
package enum FormRoute: Sendable, Hashable {
    /// `/add/app`
    case app
    /// `/add/host/APP`
    case host(AppName)
    /// `/add/next/APP`, with the host first in the query, then in the form.
    case next(AppName)
    /// `/add/change/APP`
    case change(AppName)

    /// The route for the segments of a path; nil for another path.
    init?(_ parts: [ArraySlice<UInt8>]) {
        guard (2...3).contains(parts.count), parts[0].elementsEqual("add".utf8) else { return nil }
        let app = parts.count == 3 ? AppName(bytes: parts[2]) : nil
        switch (String(decoding: parts[1], as: UTF8.self), app) {
        case ("app", nil) where parts.count == 2: self = .app
        case ("host", let app?): self = .host(app)
        case ("next", let app?): self = .next(app)
        case ("change", let app?): self = .change(app)
        default: return nil
        }
    }

    /// The route for a path; nil for another path.
    init?(path: [UInt8]) {
        let parts = path.split(separator: UInt8(ascii: "/"), maxSplits: 6, omittingEmptySubsequences: false)
        guard parts.first?.isEmpty == true else { return nil }
        self.init(Array(parts.dropFirst()))
    }

    /// The path of the form.
    var path: String {
        switch self {
        case .app: "/add/app"
        case .host(let app): "/add/host/\(app)"
        case .next(let app): "/add/next/\(app)"
        case .change(let app): "/add/change/\(app)"
        }
    }

    /// The app of the form; nil for a new app.
    var app: AppName? {
        switch self {
        case .app: nil
        case .host(let app), .next(let app), .change(let app): app
        }
    }

    /// The scope that the form requires, the same as for the corresponding calls of `/v1`.
    var scope: TokenGrant.Scope {
        switch self {
        case .app, .host: .administer
        case .next, .change: .propose
        }
    }

    /// Whether a viewer may submit the form. Only viewers of all apps may add an app.
    func isOpen(to viewer: Viewer) -> Bool {
        viewer.scope.allows(scope) && (app.map(viewer.sees) ?? viewer.seesEverything)
    }

    /// The names of the form's fields.
    var names: [String] {
        switch self {
        case .app: ["name", "title", "staleness", "canary", "anchors", "unshipped"]
        case .host: ["name", "port", "dial", "renewal", "onekind"]
        case .next: ["host", "port", "next", "begins"]
        case .change: ["reason"] + Self.kinds.map(\.rawValue)
        }
    }

    /// The formats that need no key other than the one made for a new app.
    static let kinds: [ContentFormat.Kind] = [.list, .challenge, .pinFile]
}
