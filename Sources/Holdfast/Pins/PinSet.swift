public import Foundation

/// The pins of one policy: those in use, the backups, when they expire, and what happens then.
///
/// A connection satisfies the set when one pin of it, backup or not, is in a validated path. Keep a backup: the pin of
/// a key that is kept offline, so that losing the served key does not lock the app out.
public struct PinSet: Hashable, Sendable {
    /// What happens once the set has expired.
    public enum ExpiryAction: String, Hashable, Sendable, CaseIterable {
        /// Every connection is rejected.
        case reject
        /// The pins no longer matter; standard validation alone decides.
        case standardValidation
    }

    /// What happens when no pin is found.
    public enum Enforcement: String, Hashable, Sendable, CaseIterable {
        /// The connection is rejected.
        case enforce
        /// The failure is reported and the connection goes on, if it passes standard validation for its host.
        case reportOnly
    }

    /// Whether the pins still hold.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// The set has no expiry date, or the date has not been reached.
        case active
        /// The expiry date has been reached: ``PinSet/afterExpiry`` decides.
        case expired
    }

    /// The pins that are expected to be in use, in the order they were given.
    public let pins: [Pin]
    /// The backup pins, in the order they were given.
    public let backups: [Pin]
    /// The first instant at which the pins no longer hold; nil if they never expire.
    public let expires: Date?
    /// What happens from ``expires`` on.
    public let afterExpiry: ExpiryAction
    /// Whether a connection without a pin is rejected or only reported.
    public let enforcement: Enforcement

    /// Whether some pin is of a whole certificate; without one no certificate need be hashed as a whole.
    package let hasCertificatePins: Bool
    /// Whether some pin is of a key; without one no SubjectPublicKeyInfo need be found and hashed.
    package let hasPublicKeyPins: Bool

    private let lookup: Set<Pin>

    /// Makes a set.
    ///
    /// - Parameters:
    ///   - pins: at least one.
    ///   - backups: pins that no certificate in use has; none of them may be in `pins`.
    ///   - expires: the first instant at which the pins no longer hold; nil for never.
    ///   - afterExpiry: what happens from then on.
    ///   - enforcement: whether a missing pin is rejected or only reported.
    /// - Throws: ``PinError`` when there is no pin, or the same pin twice: two equal pins are one pin, not a backup.
    public init(
        pins: [Pin], backups: [Pin] = [], expires: Date? = nil, afterExpiry: ExpiryAction = .reject,
        enforcement: Enforcement = .enforce
    ) throws(PinError) {
        guard !pins.isEmpty else {
            throw PinError(
                .noPins, expected: "at least one pin", found: backups.isEmpty ? "none" : "backups only",
                remedy: "Add the pin of a key in use; `holdfastctl pin HOST` prints those of a server.")
        }
        var lookup: Set<Pin> = []
        for pin in pins where !lookup.insert(pin).inserted {
            throw PinError(
                .duplicatePin, expected: "each pin once", found: "\(pin) twice",
                remedy: "Leave one out; two equal pins are one pin, not a backup.")
        }
        let primary = lookup
        for pin in backups where !lookup.insert(pin).inserted {
            let isPrimary = primary.contains(pin)
            throw PinError(
                isPrimary ? .backupEqualsPin : .duplicatePin,
                expected: isPrimary ? "a backup that differs from the pins" : "each backup once",
                found: isPrimary ? "\(pin) among both" : "\(pin) twice",
                remedy: "Make the backup from another key; two equal pins are one pin, not a backup.")
        }
        self.pins = pins
        self.backups = backups
        self.expires = expires
        self.afterExpiry = afterExpiry
        self.enforcement = enforcement
        self.lookup = lookup
        hasCertificatePins = lookup.contains { $0.subject == .certificate }
        hasPublicKeyPins = lookup.contains { $0.subject == .publicKey }
    }

    /// Whether a pin, backup or not, is in the set.
    public func contains(_ pin: Pin) -> Bool { lookup.contains(pin) }

    /// Every pin: those in use, then the backups.
    public var all: [Pin] { pins + backups }

    /// Whether the pins still hold at an instant; at ``expires`` itself they do not.
    public func state(at now: Date) -> State {
        guard let expires else { return .active }
        // Written so that an instant that is not a number counts as expired.
        return now < expires ? .active : .expired
    }

    /// The pins of the set that a certificate satisfies, the key's first; empty when it satisfies none.
    ///
    /// It hashes the key only if the set has key pins, and the certificate only if it has certificate pins.
    ///
    /// - Throws: ``CertificateError`` when the key is needed and not found. A certificate pin needs no readable
    ///   certificate, but what cannot be read proves nothing.
    func matches(inCertificate der: [UInt8]) throws(CertificateError) -> [Pin] {
        var matches: [Pin] = []
        if hasPublicKeyPins {
            let pin = try Pin.publicKey(of: der)
            if lookup.contains(pin) { matches.append(pin) }
        }
        if hasCertificatePins {
            let pin = Pin.certificate(der)
            if lookup.contains(pin) { matches.append(pin) }
        }
        return matches
    }
}
