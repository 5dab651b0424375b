package import ServerFoundation

/// A format that an app publishes, with the settings of its documents.
package struct ContentFormat: Sendable, Hashable {
    /// The kinds of document.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Answers to challenges on `/app/init`.
        case challenge
        /// A signed fingerprint list, `/lists/APP.json`.
        case list
        /// A trust-server document, `/trust/CUSTOMER.json.signed`.
        case trustServer = "trust-server"
        /// A signed repository, `/repo/APP/`.
        case repository
        /// A pin file, `/pins/APP.pins.json`.
        case pinFile = "pin-file"

        /// Whether the document names the application of its pins.
        var namesApplication: Bool { self == .repository || self == .pinFile }
    }

    /// The kind of document.
    package let kind: Kind
    /// The number of seconds after which clients should request an update; the maximum time that a document may be
    /// cached.
    package let refresh: Int64
    /// The customer of a trust-server document; nil for other kinds.
    package let customer: String?
    /// The SHA-256 of a repository's first root, which apps ship with; nil for other kinds.
    package let root: Digest?
    /// The application that a pin file names, whose clients refuse other names; nil for the name of the app here.
    package let application: String?

    /// Makes a format.
    /// - Throws: ``ServerError`` `invalidValue` for a refresh outside a minute to a year, for a missing, unneeded or
    ///   invalid customer (1 to 64 letters, digits, periods, hyphens and underscores), for a missing or unneeded root,
    ///   and for an unneeded or invalid application (1 to 255 printable ASCII characters).
    package init(
        _ kind: Kind, refresh: Int64, customer: String? = nil, root: Digest? = nil, application: String? = nil
    ) throws(ServerError) {
        guard Self.refreshes.contains(refresh) else {
            throw ServerError(
                .invalidValue, of: "refresh", expected: "60 to 31536000 seconds", found: "\(refresh)")
        }
        guard (kind == .trustServer) == (customer != nil), customer.map({ Self.isCustomer($0.utf8) }) ?? true else {
            throw ServerError(
                .invalidValue, of: "customer",
                expected: "1 to 64 letters, digits, periods, hyphens and underscores, for a trust server only",
                found: "another value")
        }
        guard (kind == .repository) == (root != nil) else {
            throw ServerError(
                .invalidValue, of: "root", expected: "the SHA-256 of the first root, for a repository only",
                found: "another value")
        }
        guard application.map({ kind.namesApplication && Self.isApplication($0.utf8) }) ?? true else {
            throw ServerError(
                .invalidValue, of: "application",
                expected: "1 to 255 printable characters of ASCII, for a repository or a pin file only",
                found: "another value")
        }
        self.kind = kind
        self.refresh = refresh
        self.customer = customer
        self.root = root
        self.application = application
    }

    private static let refreshes: ClosedRange<Int64> = 60...31_536_000

    private static func isCustomer(_ bytes: some Collection<UInt8>) -> Bool {
        ASCIIText.isName(bytes, 1...64, others: ".-_") && bytes.first != UInt8(ascii: ".")
    }

    private static func isApplication(_ bytes: some Collection<UInt8>) -> Bool {
        ASCIIText.isPrintable(bytes, 1...255)
    }

    /// The application that a pin file names.
    package func application(of app: AppName) -> String { application ?? "\(app)" }

    package var sortingKey: [UInt8] { Array(kind.rawValue.utf8) }

    package var json: CanonicalJSON {
        var members: [String: CanonicalJSON] = ["kind": .text(kind.rawValue), "refresh": .integer(refresh)]
        if let customer { members["customer"] = .text(customer) }
        if let root { members["root"] = .text("\(root)") }
        if let application { members["application"] = .text(application) }
        return .object(members)
    }

    package init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
        var fields = try JSONFields(value, path)
        let kind = try fields.text("kind", "the name of a format") { Kind(bytes: $0) }
        let refresh = try fields.integer("refresh", in: Self.refreshes)
        let customer = try fields.optionalText("customer")
        let root = try fields.optionalText("root").map { text throws(ServerError) in
            guard let root = Digest(hex: text) else { throw fields.invalid("root", "64 lower-case hexadecimal digits") }
            return root
        }
        let application = try fields.optionalText("application")
        try fields.finish()
        guard customer.map({ Self.isCustomer($0) }) ?? true else {
            throw ServerError(
                .invalidValue, of: "\(path).customer", expected: "a short ASCII name", found: "another text")
        }
        guard application.map({ Self.isApplication($0) }) ?? true else {
            throw ServerError(
                .invalidValue, of: "\(path).application", expected: "a short ASCII name", found: "another text")
        }
        try self.init(
            kind, refresh: refresh, customer: customer.map { String(decoding: $0, as: UTF8.self) }, root: root,
            application: application.map { String(decoding: $0, as: UTF8.self) })
    }
}
