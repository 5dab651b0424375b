import Holdfast

/// A pin in a report, as people write it, with what its document says about it.
struct NamedPin: Codable, Hashable, Sendable {
    /// `sha256/BASE64`, or `cert-sha256/HEX` for the pin of a certificate.
    let pin: String
    /// Nil if no document says it.
    var role: String?
    var state: String?

    init(_ pin: DocumentEntry.NamedPin) {
        self.pin = pin.pin.description
        role = pin.role
        state = pin.state
    }

    init(_ pin: Pin) { self.pin = pin.description }

    /// The pins of a host that a report has at most, as many as a host of a pin file.
    static let mostPins = 32
}
