public import Holdfast

/// Why a pin file is refused although it is signed and complete: it falls short of the app's floor, or is meant for
/// another app.
public struct PinFloorError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// A host that every document must cover has no entry.
        case hostNotCovered
        /// An entry for a host that documents may not contain.
        case hostNotAllowed
        /// A report URL whose host the app does not allow.
        case reportHostNotAllowed
        /// A covered host has mode `report`, or an `onExpiry` other than `failClosed`.
        case notEnforced
        /// The pins would be enforced for longer than the floor allows.
        case validTooLong
        /// The document is meant for another app.
        case otherApplication
    }

    /// The reason.
    public let code: Code
    /// What would have been right, what was found instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}
