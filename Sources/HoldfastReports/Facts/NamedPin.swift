import Holdfast

/// A pin in a report, in text form, with its role and state in the document.
struct NamedPin: Codable, Hashable, Sendable {
    /// `sha256/BASE64`, or `cert-sha256/HEX` for the pin of a certificate.
    let pin: String
    /// Nil if no document states it.
    var role: String?
    var state: String?

    init(_ pin: DocumentEntry.NamedPin) {
        self.pin = pin.pin.description
        role = pin.role
        state = pin.state
    }

    init(_ pin: Pin) { self.pin = pin.description }

    /// Maximum number of pins of a host in a report; a host of a pin file has the same limit.
    static let mostPins = 32
}
