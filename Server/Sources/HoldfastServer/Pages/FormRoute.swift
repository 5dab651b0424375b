/// The forms of pages, by their addresses: a `GET` shows one, and a `POST` sends it.
enum FormRoute: Sendable, Hashable {
    /// `/add/app`
    case app
    /// `/add/host/APP`
    case host(AppName)
    /// `/add/next/APP`, with the host in the query, and then in the form.
    case next(AppName)
    /// `/add/change/APP`
    case change(AppName)

    /// The route of the segments of a path; nil for another one.
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

    /// The route of a path; nil for another one.
    init?(path: [UInt8]) {
        let parts = path.split(separator: UInt8(ascii: "/"), maxSplits: 6, omittingEmptySubsequences: false)
        guard parts.first?.isEmpty == true else { return nil }
        self.init(Array(parts.dropFirst()))
    }

    /// Where it is.
    var path: String {
        switch self {
        case .app: "/add/app"
        case .host(let app): "/add/host/\(app)"
        case .next(let app): "/add/next/\(app)"
        case .change(let app): "/add/change/\(app)"
        }
    }

    /// The app that it is about; nil for a new one.
    var app: AppName? {
        switch self {
        case .app: nil
        case .host(let app), .next(let app), .change(let app): app
        }
    }

    /// What it takes, as for the calls of `/v1` that do the same.
    var scope: TokenGrant.Scope {
        switch self {
        case .app, .host: .administer
        case .next, .change: .propose
        }
    }

    /// Whether somebody may send it. A new app is no app of anybody who is there for certain apps.
    func isOpen(to viewer: Viewer) -> Bool {
        viewer.scope.allows(scope) && (app.map(viewer.sees) ?? viewer.seesEverything)
    }

    /// What somebody may write into it.
    var names: [String] {
        switch self {
        case .app: ["name", "title", "staleness", "canary", "anchors", "unshipped"]
        case .host: ["name", "port", "dial", "renewal", "onekind"]
        case .next: ["host", "port", "next", "begins"]
        case .change: ["reason"] + Self.kinds.map(\.rawValue)
        }
    }

    /// The formats that need nothing but the key that a new app gets.
    static let kinds: [ContentFormat.Kind] = [.list, .challenge, .pinFile]
}
