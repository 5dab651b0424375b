/// The reason why the pins that a host requires are unknown.
///
/// There is no fourth reason: a source has no pins, has expired pins, or has pins for other hosts only.
public enum PinAbsence: String, Sendable, Hashable, CaseIterable {
    /// The source has no document, or the document has no valid entry for this host.
    case empty
    /// The document, or every entry for the host, has expired.
    case expired
    /// The document is valid but does not cover this host.
    case notCovered
}

/// A finding of a decision by pins. The source of the pins may act on it once the decision is final.
public struct PinFinding: Sendable, Hashable {
    /// The kinds of findings, a set that may grow.
    public typealias Kind = OpenCode<PinFinding>

    /// The kind of finding.
    public let kind: Kind
    /// How the pins that no valid path met are enforced; nil for any finding but a mismatch.
    public private(set) var enforcement: PinSet.Enforcement?
    /// The reason why there were no pins; nil if there were some.
    public private(set) var absence: PinAbsence?
    /// The time for which the document has been past its freshness; nil while it is fresh.
    public private(set) var age: Duration?
}

extension PinFinding.Kind {
    /// No valid path meets the requirement. In report mode the connection continues.
    public static var mismatch: Self { Self() }
    /// No pins were available to decide by.
    public static var noPins: Self { Self() }
    /// A document exempts the host.
    public static var exempt: Self { Self() }
    /// No candidate matches.
    public static var candidateMismatch: Self { Self() }
    /// The pins came from a document that is no longer fresh.
    public static var pastTheirTime: Self { Self() }
}

extension PinFinding {
    package static func mismatch(_ enforcement: PinSet.Enforcement) -> Self {
        Self(kind: .mismatch, enforcement: enforcement)
    }
    package static func noPins(_ absence: PinAbsence) -> Self { Self(kind: .noPins, absence: absence) }
    package static var exempt: Self { Self(kind: .exempt) }
    package static var candidateMismatch: Self { Self(kind: .candidateMismatch) }
    package static func pastTheirTime(_ age: Duration) -> Self { Self(kind: .pastTheirTime, age: age) }
}
