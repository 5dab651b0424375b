package import Holdfast

/// A pin as people write it, `sha256/BASE64` or `cert-sha256/HEX`.
package struct NamedPin: Sendable, Hashable {
    package let pin: Pin

    package init(_ text: String) throws(PinError) { pin = try Pin(text) }

    /// Whether it is a pin of a key, and not of a certificate.
    package var isOfKey: Bool { pin.subject == .publicKey }
}
