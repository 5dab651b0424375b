package import ServerFoundation

/// The chain that one address of a host presented, with its evaluation.
package struct WatchFinding: Sendable {
    /// The evaluation of a finding.
    package enum Verdict: Sendable, Hashable {
        /// Clients with the published or announced pins accept it.
        case known
        /// The key is known, but standard validation refuses the certificate, for example because it has expired.
        case invalid
        /// The key was not announced: an unannounced renewal, or an attacker in between. An alert is raised; the key is
        /// never proposed automatically.
        case unannounced
        /// Nothing is published for the host to compare with.
        case unpinned
        /// Nothing could be read: it is unknown what clients see there. That removes no pin.
        case unreadable
    }

    /// The address with its port, or the dialed name if no address was found.
    package let place: String
    /// The certificates as they were presented, in DER; empty if nothing could be read.
    package let chain: [[UInt8]]
    /// The evaluation.
    package let verdict: Verdict
    /// The reason, for people, in one line; empty for ``Verdict/known``.
    package let words: String
    /// The SHA-256 of the leaf certificate's SubjectPublicKeyInfo; nil if no certificate could be read.
    package let key: Digest?

    init(place: String, chain: [[UInt8]], verdict: Verdict, words: String, key: Digest?) {
        (self.place, self.chain, self.verdict, self.key) = (place, chain, verdict, key)
        self.words = Self.line(words)
    }

    /// Joins a failure of several lines into one, for terminals, logs and pages.
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
