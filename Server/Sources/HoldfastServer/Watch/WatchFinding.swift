/// What one address of a host showed, and what that means.
public struct WatchFinding: Sendable {
    /// What it means.
    public enum Verdict: Sendable, Hashable {
        /// Clients that have what is published, or what was announced, accept it.
        case known
        /// The key is known, but standard validation refuses the certificate, for example because it has expired.
        case invalid
        /// Nobody announced this key: a renewal without notice, or somebody between. People are told; it is never
        /// proposed by itself.
        case unannounced
        /// Nothing is published for the host that could be compared.
        case unpinned
        /// It showed nothing: nobody knows what clients see there. That removes no pin.
        case unreadable
    }

    /// The address with its port, or what was asked where no address was found.
    public let place: String
    /// The certificates as they were presented, in DER; empty if it showed nothing.
    public let chain: [[UInt8]]
    /// What it means.
    public let verdict: Verdict
    /// Why, for people, in one line; empty for ``Verdict/known``.
    public let words: String
    /// The SHA-256 of the SubjectPublicKeyInfo of the server's own certificate; nil if it showed none that can be read.
    public let key: Digest?

    init(place: String, chain: [[UInt8]], verdict: Verdict, words: String, key: Digest?) {
        (self.place, self.chain, self.verdict, self.key) = (place, chain, verdict, key)
        self.words = Self.line(words)
    }

    /// A failure of several lines in one: a line of a terminal, a log or a page stays one.
    private static func line(_ text: String) -> String {
        var line = ""
        for part in text.split(whereSeparator: \.isNewline) {
            let part = part.drop { $0 == " " }
            if !line.isEmpty { line += line.hasSuffix(":") ? " " : "; " }
            line += part
        }
        return line
    }
}
