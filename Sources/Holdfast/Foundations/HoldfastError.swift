public import protocol Foundation.LocalizedError

/// The form of every error that Holdfast throws or reports: a code to switch over, the facts, and the remedy.
///
/// Two errors of one type are equal when their codes are: code that handles an error asks what went wrong, not how it
/// was worded. `localizedDescription`, and an `NSError` in Objective-C, contain the same text, in English.
public protocol HoldfastError: LocalizedError, Hashable, CustomStringConvertible {
    /// The reasons; a raw value is stable and fit for logs and machine-readable output. Holdfast's own are
    /// ``OpenCode``s.
    associatedtype Code: RawRepresentable<String>, Hashable, Sendable

    /// The error code.
    var code: Code { get }
    /// The expected and the found value, and the remedy.
    var facts: ErrorFacts { get }
}

/// The facts of an error, besides its code.
public struct ErrorFacts: Sendable, Hashable {
    /// The value or condition that would have been right.
    public let expected: String
    /// The value or condition that was there instead.
    public let found: String
    /// The action that fixes the error, in one sentence.
    public let remedy: String

    /// States the facts of an error.
    public init(expected: String, found: String, remedy: String) {
        self.expected = expected
        self.found = found
        self.remedy = remedy
    }
}

extension HoldfastError {
    /// The value or condition that would have been right.
    public var expected: String { facts.expected }

    /// The value or condition that was there instead.
    public var found: String { facts.found }

    /// The action that fixes the error, in one sentence.
    public var remedy: String { facts.remedy }

    /// Equality on the code alone.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Consistent with equality: hashes the code alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// `code: expected …, found …. Remedy.`
    public var description: String { "\(code.rawValue): expected \(expected), found \(found). \(remedy)" }

    /// The ``description``, as `localizedDescription` has it.
    public var errorDescription: String? { description }

    /// The expected and the found value, in one phrase.
    public var failureReason: String? { "expected \(expected), found \(found)" }

    /// The ``remedy``.
    public var recoverySuggestion: String? { remedy }

    /// nil: there is no help book.
    public var helpAnchor: String? { nil }
}
