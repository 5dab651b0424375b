package import ServerFoundation

/// The vantage that hosts are observed from: the name of a machine, or of its network.
///
/// An attacker between one machine and a host can present any certificate to that machine. Two machines in different
/// networks that see the same are harder to deceive.
package enum Vantage {
    /// The vantage of this server, for the findings of `serve` and `host see`.
    package static let usual = "server"
    /// The number of seconds that a sighting is valid: a chain presented once, in one probe, is no reason to pin it.
    package static let lifetime: Int64 = 3_600
    /// Maximum number of vantages per host with stored sightings.
    package static let maximumPerHost = 32

    package static func isName(_ text: String) -> Bool { ASCIIText.isName(text.utf8, 1...64, others: ".-_") }

    /// Requires a name.
    /// - Throws: ``ServerError`` `invalidValue`.
    package static func require(_ text: String) throws(ServerError) {
        guard isName(text) else {
            throw ServerError(
                .invalidValue, of: "vantage", expected: "1 to 64 letters, digits, periods, hyphens and underscores",
                found: "another text of \(text.utf8.count) bytes")
        }
    }
}
