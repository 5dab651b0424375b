import Holdfast
import NIOHTTP1
import ServerApprovals
import ServerFoundation
import ServerModel

/// A request with a known route and a verified token.
struct AdministrationCall: Sendable {
    let route: AdministrationRoute
    /// The parameters of the path, by the names in its braces.
    let parameters: [String: [UInt8]]
    /// The fields of the query.
    let query: [String: [UInt8]]
    /// The body.
    let body: [UInt8]
    /// The permissions of the token; nil if none is needed.
    let grant: TokenGrant?

    /// Maximum size in bytes, more than any body needs; the listener refuses larger ones earlier.
    static let maximumBody = 1 << 20

    /// The caller for the audit.
    var actor: String { "token \(grant?.name ?? "-")" }

    /// Parses the fields of the body.
    /// - Throws: ``AdministrationError`` 400 for invalid JSON.
    func fields() throws(AdministrationError) -> JSONFields {
        do throws(ServerError) {
            let value = try JSONReader.read(body, "body", limit: Self.maximumBody)
            guard case .object = value else {
                throw ServerError(.malformed, of: "body", expected: "an object", found: "another value")
            }
            return try JSONFields(value, "")
        } catch {
            throw AdministrationError(
                .badRequest, .badRequest, of: "body", expected: error.expected, found: error.found,
                remedy: "Send one object of JSON, each field once.")
        }
    }

    /// The app of the path. Requires that the token is for it.
    func app() throws(AdministrationError) -> AppName {
        try allowed(AppName(bytes: parameters["app"] ?? []), "app")
    }

    /// The app of the query; nil if the query names none. Requires that the token is for it.
    func queriedApp() throws(AdministrationError) -> AppName? {
        guard let bytes = query["app"] else { return nil }
        return try allowed(AppName(bytes: bytes), "app")
    }

    private func allowed(_ app: AppName?, _ field: String) throws(AdministrationError) -> AppName {
        guard let app else {
            throw Self.invalid(field, "2 to 255 letters, digits, hyphens and underscores")
        }
        try require(app)
        return app
    }

    /// Refuses a token of another app, whether this app exists or not.
    func require(_ app: AppName) throws(AdministrationError) {
        guard grant?.isFor(app) == true else {
            throw AdministrationError(
                .forbidden, .forbidden, of: "app", expected: "the app of the token", found: "another",
                remedy: "Use a token of that app.")
        }
    }

    /// Refuses a token for a single app if the call is about all apps.
    func requireEveryApp() throws(AdministrationError) {
        guard grant?.app == nil else {
            throw AdministrationError(
                .forbidden, .forbidden, of: "token", expected: "a token for all apps", found: "one for a single app",
                remedy: "Use a token for all apps, as this makes one: "
                    + "`holdfast-server token add NAME --every-app --scope SCOPE --data DIR`.")
        }
    }

    /// The name of the host in the path, and the port of the query.
    func host() throws(AdministrationError) -> (name: String, port: Int64) {
        guard let name = parameters["host"], ContentHost.isName(name) else {
            throw Self.invalid("host", "the name of a host in lower case")
        }
        return (String(decoding: name, as: UTF8.self), try number("port", in: 1...65_535) ?? 443)
    }

    func digest() throws(AdministrationError) -> Digest {
        guard let digest = Digest(hex: parameters["digest"] ?? []) else {
            throw Self.invalid("digest", "64 lower-case hexadecimal digits")
        }
        return digest
    }

    func change() throws(AdministrationError) -> RandomID {
        guard let id = RandomID(hex: parameters["change"] ?? []) else {
            throw Self.invalid("change", "32 lower-case hexadecimal digits")
        }
        return id
    }

    /// A number of the query; nil if it is missing.
    func number(_ name: String, in range: ClosedRange<Int64>) throws(AdministrationError) -> Int64? {
        guard let bytes = query[name] else { return nil }
        guard let number = LineReader.number(bytes[...]), range.contains(number) else {
            throw Self.invalid(name, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The error for an invalid parameter.
    static func invalid(_ field: String, _ expected: String) -> AdministrationError {
        AdministrationError(
            .badRequest, .invalidValue, of: field, expected: expected, found: "another text",
            remedy: "Correct the address; openapi.yaml describes each.")
    }
}
