/// A word from a set that may grow, such as the code of an error or the kind of an event.
///
/// `Subject` is the type that the word belongs to. It makes `StoreError.Code` and `DocumentError.Code` different types.
/// A `switch` over a word has a `default`, because a later version may add to the set. Your own code may add to it too,
/// for example a validator with a reason that Holdfast does not have:
///
/// ```swift
/// extension TrustFailure.Code {
///     nonisolated static var notAttested: Self { Self(rawValue: "notAttested") }
/// }
/// ```
public struct OpenCode<Subject>: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the static member: stable, and fit for logs and machine-readable output.
    public let rawValue: String
    /// The usual remedy; empty for a code whose errors each state their own.
    package let remedy: String

    /// Makes a word from its raw value: a word of your own, or one that was stored.
    public init(rawValue: String) { self.init(named: rawValue) }

    /// Makes a word that is named like the static member that returns it.
    package init(_ remedy: String = "", named name: String = #function) {
        rawValue = name
        self.remedy = remedy
    }

    /// The raw value.
    public var description: String { rawValue }

    /// Equality on the raw value alone.
    public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

    /// Consistent with equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
