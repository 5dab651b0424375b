/// The shape of every error that Holdfast throws or reports: a closed code to switch over, the facts, and what to do.
///
/// Two errors of one type are equal when their codes are: code that handles an error asks what went wrong, not how it
/// was worded. Values are immutable and may be used from any thread.
public protocol HoldfastError: Error, Hashable, CustomStringConvertible {
    /// A closed set of reasons; its raw value is stable and fit for logs and machine-readable output.
    associatedtype Code: RawRepresentable<String>, Hashable, Sendable

    /// What went wrong.
    var code: Code { get }
    /// What would have been right.
    var expected: String { get }
    /// What was there instead.
    var found: String { get }
    /// What to do about it, in one sentence.
    var remedy: String { get }
}

extension HoldfastError {
    /// Equality on the code alone.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Consistent with equality: hashes the code alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// `code: expected …, found …. Remedy.`
    public var description: String { "\(code.rawValue): expected \(expected), found \(found). \(remedy)" }
}
