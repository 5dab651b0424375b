package import struct Foundation.Date

/// The content of a document about a host in addition to the pins, for reports about decisions.
///
/// It is made once, with the document, so that a decision carries only a reference.
package final class DocumentEntry: Sendable {
    /// A pin with the document's statements about it.
    package struct NamedPin: Sendable, Hashable {
        package let pin: Pin
        /// The certificate of a path that must have the key, in the document's word.
        package let role: String
        /// The state of the key at the moment, in the document's word.
        package let state: String

        package init(_ pin: Pin, role: String, state: String) {
            self.pin = pin
            self.role = role
            self.state = state
        }
    }

    /// The destination to which the document wants failures to be reported.
    package struct Destination: Sendable, Hashable {
        /// As it is written in the document.
        package let url: String
        /// The share of failures that are reported, from 0 to 1.
        package let failureFraction: Double
        /// The share of successes that are reported, from 0 to 1.
        package let successFraction: Double

        package init(url: String, failureFraction: Double, successFraction: Double) {
            self.url = url
            self.failureFraction = failureFraction
            self.successFraction = successFraction
        }
    }

    /// The hosts that the entry is for.
    package let pattern: HostPattern
    /// The version of the document that contains the entry, in a few printable characters; nil if that is unknown.
    package let version: String?
    /// Whether a connection without a pin is rejected.
    package let enforcement: PinSet.Enforcement
    /// Every pin, candidates included, in the order of the document.
    package let pins: [NamedPin]
    /// The first instant at which the pins have expired; nil if they never do.
    package let end: Date?
    /// The destination of failure reports; nil if failures are not reported.
    package let destination: Destination?

    package init(
        _ pattern: HostPattern, version: String?, enforcement: PinSet.Enforcement, pins: [NamedPin], end: Date?,
        destination: Destination?
    ) {
        self.pattern = pattern
        self.version = version
        self.enforcement = enforcement
        self.pins = pins
        self.end = end
        self.destination = destination
    }
}
