/// From where hosts are seen: the name of a machine, or of the network that it is in.
///
/// Whoever stands between one machine and a host shows that machine what they like. Two that stand elsewhere and see the
/// same are harder to deceive.
public enum Vantage {
    /// The one of this server, for what `serve` and `host see` find.
    public static let usual = "server"
    /// For how many seconds a sighting counts: what was shown once, to somebody who looked then, is no reason to pin it.
    static let lifetime: Int64 = 3_600
    /// Maximum number of vantages of a host of which sightings are kept.
    static let maximumPerHost = 32

    static func isName(_ text: String) -> Bool { ASCIIText.isName(text.utf8, 1...64, others: ".-_") }

    /// Requires a name.
    /// - Throws: ``ServerError`` `invalidValue`.
    public static func require(_ text: String) throws(ServerError) {
        guard isName(text) else {
            throw ServerError(
                .invalidValue, of: "vantage", expected: "1 to 64 letters, digits, periods, hyphens and underscores",
                found: "another text of \(text.utf8.count) bytes")
        }
    }
}
