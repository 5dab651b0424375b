import Holdfast
import HoldfastPublishing

/// What outlooks call kinds of clients, in the words of people who build and run apps.
enum ClientWords {
    /// - Parameter name: as the outlook has it; empty for all clients.
    static func words(_ name: String) -> String {
        guard !name.isEmpty else { return "All clients" }
        // Outlooks of before or after this program may name others.
        return known.first { $0.client.rawValue.utf8.elementsEqual(name.utf8) }?.words ?? name
    }

    private static let known: [(client: PublicationOutlook.Client, words: String)] = [
        (.shippedPins, "Apps with the pins of their build alone"),
        (.staticList, "Apps that download the signed list"),
        (.challengedList, "Apps that ask with a challenge"),
        (.trustServerCertificates, "Apps of the trust server that pin certificates"),
        (.trustServerKeys, "Apps of the trust server that pin keys"),
        (.repository, "Apps that follow the repository"),
    ]
}
