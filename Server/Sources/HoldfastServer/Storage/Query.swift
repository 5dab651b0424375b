/// One text of SQL for every engine. What engines say differently is named in braces: `{now}` is the database's time in
/// seconds since 1970, `{lock}` locks the rows of a SELECT until the end of the transaction, `{skip}` leaves out rows that
/// others have locked, and `{blob}` is the type of bytes. Parameters are `$1`, `$2` and so on.
public struct Query: Sendable, Hashable, ExpressibleByStringLiteral {
    /// How an engine says what queries name.
    public struct Dialect: Sendable {
        /// The database's time in seconds since 1970, an expression.
        public let now: String
        /// At the end of a SELECT; empty where a transaction that writes is alone anyway.
        public let lock: String
        /// After ``lock``.
        public let skip: String
        /// The type of bytes.
        public let blob: String

        /// Names the words of an engine.
        public init(now: String, lock: String, skip: String, blob: String) {
            self.now = now
            self.lock = lock
            self.skip = skip
            self.blob = blob
        }
    }

    /// The text with names in braces.
    public let text: String

    /// Takes a text of this program; nothing of a request is ever part of one.
    public init(stringLiteral text: StaticString) { self.text = text.description }

    /// The text for an engine.
    public func rendered(for dialect: Dialect) -> String {
        var rendered: [Substring] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            rendered.append(rest[..<start])
            switch rest[rest.index(after: start)..<end] {
            case "now": rendered.append(dialect.now[...])
            case "lock": rendered.append(dialect.lock[...])
            case "skip": rendered.append(dialect.skip[...])
            case "blob": rendered.append(dialect.blob[...])
            // No engine takes a brace, so a misspelled name fails the first time it is used.
            default: rendered.append(rest[start...end])
            }
            rest = rest[rest.index(after: end)...]
        }
        return rendered.joined() + rest
    }
}
