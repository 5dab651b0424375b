import Holdfast

/// A pin source: pins from the service's own configuration, by host.
public struct ConfiguredPins: PinSource {
    private let pins: [String: PinSet]

    /// - Parameter pins: what each host requires, by its name in lower case.
    public init(_ pins: [String: PinSet]) { self.pins = pins }

    /// What the host requires, or that the configuration says nothing about it.
    public func answer(to question: PinQuestion) -> PinAnswer {
        guard let host = question.host, let pins = pins[host.name] else {
            let failure = TrustFailure(
                .noUsablePins, expected: "pins for the host", found: "none",
                remedy: "Add the host to the configuration.")
            return .none(.notCovered, failure, at: question.time)
        }
        return .required(pins, at: question.time)
    }

    /// The pins of this configuration are all enforced.
    public var mayAdmitWithoutPins: Bool { false }
}
