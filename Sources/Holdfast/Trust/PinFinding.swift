public import struct Foundation.TimeInterval

/// Why nobody can say what a host requires.
public enum PinAbsence: String, Sendable, Hashable, CaseIterable {
    /// It has no document at all, or nothing in it for this host that counts.
    case empty
    /// Its document, or all that it says of the host, has run out.
    case expired
    /// Its document counts, and is not about this host.
    case notCovered
}

/// What a decision by pins found that the source of the pins may act on, once the decision stands.
public enum PinFinding: Sendable, Hashable {
    /// No valid path meets the requirement. In report mode the connection goes on.
    case mismatch(PinSet.Enforcement)
    /// There were no pins to decide by.
    case noPins(PinAbsence)
    /// A document exempts the host.
    case exempt
    /// No pin on trial matches.
    case candidateMismatch
    /// The pins came from a document that has been past its time for so many seconds.
    case pastTheirTime(TimeInterval)
}
