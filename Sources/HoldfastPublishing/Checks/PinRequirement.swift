package import Holdfast

/// Pins that an operator requires of hosts, independent of any document.
package struct PinRequirement: Sendable {
    package let pins: [Pin]

    /// - Parameter pins: of keys or certificates; empty to require only a valid path.
    package init(_ pins: [Pin]) { self.pins = pins }

    /// The policy for a host.
    /// - Throws: ``PublishingError`` `invalidInput` if no chain can match the pins.
    package func policy(of host: DialedHost) throws(PublishingError) -> any TrustPolicy {
        let pattern = HostPattern(host)
        guard !pins.isEmpty else { return StandardPolicy(host: pattern) }
        do {
            return try PinnedPolicy(host: pattern, pins: PinSet(pins: pins))
        } catch {
            let facts = error as? any HoldfastError
            throw PublishingError(
                .invalidInput, expected: facts?.expected ?? "pins that a chain can have",
                found: facts?.found ?? "others",
                remedy: facts?.remedy)
        }
    }
}
