/// An SQL text for every engine. Parts that differ between engines have names in braces: `{now}` is the database's time
/// in seconds since 1970, `{lock}` locks the rows of a SELECT until the end of the transaction, `{skip}` leaves out
/// rows that others have locked, and `{blob}` is the type of bytes. Parameters are `$1`, `$2` and so on.
package struct Query: Sendable, Hashable, ExpressibleByStringLiteral {
    /// An engine's spelling of the names in queries.
    struct Dialect: Sendable {
        /// The database's time in seconds since 1970, an expression.
        let now: String
        /// The end of a SELECT that locks rows; empty if a transaction that writes runs alone anyway.
        let lock: String
        /// After ``lock``.
        let skip: String
        /// The type of bytes.
        let blob: String

        /// Makes a dialect.
        init(now: String, lock: String, skip: String, blob: String) {
            self.now = now
            self.lock = lock
            self.skip = skip
            self.blob = blob
        }
    }

    /// The text with names in braces.
    let text: String

    /// Makes a query from a literal of this program, so it never contains parts of a request.
    package init(stringLiteral text: StaticString) { self.text = text.description }

    /// The text for an engine.
    func rendered(for dialect: Dialect) -> String {
        var rendered: [Substring] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            rendered.append(rest[..<start])
            switch rest[rest.index(after: start)..<end] {
            case "now": rendered.append(dialect.now[...])
            case "lock": rendered.append(dialect.lock[...])
            case "skip": rendered.append(dialect.skip[...])
            case "blob": rendered.append(dialect.blob[...])
            // No engine accepts a brace, so a misspelled name fails at its first use.
            default: rendered.append(rest[start...end])
            }
            rest = rest[rest.index(after: end)...]
        }
        return rendered.joined() + rest
    }
}
