/// Why the pins that a host requires are unknown.
///
/// There is no fourth reason: a source has nothing, has had something, or has something about others.
public enum PinAbsence: String, Sendable, Hashable, CaseIterable {
    /// It has no document, or the document has no valid entry for this host.
    case empty
    /// Its document, or every entry for the host, has expired.
    case expired
    /// Its document is valid but does not cover this host.
    case notCovered
}

/// Something that a decision by pins found. The source of the pins may act on it once the decision is final.
public struct PinFinding: Sendable, Hashable {
    /// What can be found, a set that may grow.
    public typealias Kind = OpenCode<PinFinding>

    /// What was found.
    public let kind: Kind
    /// How the pins that no valid path met are enforced; nil for anything but a mismatch.
    public private(set) var enforcement: PinSet.Enforcement?
    /// Why there were no pins; nil if there were some.
    public private(set) var absence: PinAbsence?
    /// How long the document has been past its time; nil while it is fresh.
    public private(set) var age: Duration?
}

extension PinFinding.Kind {
    /// No valid path meets the requirement. In report mode the connection continues.
    public static var mismatch: Self { Self() }
    /// There were no pins by which to decide.
    public static var noPins: Self { Self() }
    /// A document exempts the host.
    public static var exempt: Self { Self() }
    /// No candidate matches.
    public static var candidateMismatch: Self { Self() }
    /// The pins came from a document that is past its time.
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
