public import Holdfast

/// Why a pin file is refused although it is signed and complete: it falls short of the app's floor, or is meant for
/// another app.
public struct PinFloorError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<PinFloorError>

    /// The reason.
    public let code: Code
    /// The expected value, the value that was found, and the fix.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension PinFloorError.Code {
    /// A host that every document must cover has no entry.
    public static var hostNotCovered: Self { Self() }
    /// An entry for a host that documents may not contain.
    public static var hostNotAllowed: Self { Self() }
    /// A report URL whose host the app does not allow.
    public static var reportHostNotAllowed: Self { Self() }
    /// A covered host has mode `report`, or an `onExpiry` other than `failClosed`.
    public static var notEnforced: Self { Self() }
    /// The pins would be enforced for longer than the floor allows.
    public static var validTooLong: Self { Self() }
    /// The document is meant for another app.
    public static var otherApplication: Self { Self() }
}
