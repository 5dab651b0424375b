import Holdfast
import HoldfastPublishing

/// The names of the kinds of clients in outlooks, in the terms of people who build and run apps.
enum ClientWords {
    /// - Parameter name: the name in the outlook; empty for all clients.
    static func words(_ name: String) -> String {
        guard !name.isEmpty else { return "All clients" }
        // Outlooks from other versions of this program may contain other names.
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
