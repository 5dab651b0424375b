public import Foundation

/// The requirement of a host for its server: pins, each with the place where it counts and its end; whether one of them
/// or one of each role must match; whether that is enforced; and what happens after the pins have expired.
///
/// ```swift
/// let pins = try PinSet(
///     pins: [Pin("sha256/TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw=")],
///     backups: [Pin("sha256/S5z3Fz5ZfZAGJOBZjK6TYBquyLLKO+BndKXBlL3nPjo=")])
/// ```
/// Include a backup: the pin of a key that you keep offline, so that losing the served key does not lock the app out. A
/// backup counts like any other pin.
public struct PinSet: Hashable, Sendable {
    /// Which rules a path must match. The raw values here and below are the words of the pin file (docs/formats.md).
    public enum Requirement: String, Hashable, Sendable, CaseIterable {
        /// One rule.
        case any
        /// One rule for the server's own certificate and one for a certificate above it.
        case oneOfEachRole = "leafAndIssuer"
    }

    /// The behavior after the pins have expired.
    public enum ExpiryAction: String, Hashable, Sendable, CaseIterable {
        /// Every connection is rejected.
        case reject = "failClosed"
        /// The pins no longer matter; standard validation alone decides.
        case standardValidation = "systemTrust"
    }

    /// The behavior if the requirement is not met.
    public enum Enforcement: String, Hashable, Sendable, CaseIterable {
        /// The connection is rejected.
        case enforce
        /// The failure is reported, and the connection continues if it passes standard validation for its host.
        case reportOnly = "report"
    }

    /// The rules, in the order they were given.
    public let rules: [PinRule]
    /// Which of the rules a path must match.
    public let requirement: Requirement
    /// Whether a connection that does not meet the requirement is rejected or only reported.
    public let enforcement: Enforcement
    /// The behavior after the pins have expired.
    public let afterExpiry: ExpiryAction

    /// The parts of a certificate at a position that have to be hashed.
    private let leafSubjects: [Pin.Subject]
    private let issuerSubjects: [Pin.Subject]
    /// Every pin, if there are so many that hashing is cheaper than comparing a certificate with each.
    private let index: Set<Pin>?
    private static let mostCompared = 16

    /// Makes a requirement from rules.
    /// - Parameters:
    ///   - rules: at least one that is not a candidate; for ``Requirement/oneOfEachRole`` one for each role. A rule that
    ///     is given twice counts once, until its later end.
    ///   - requirement: which of them a path must match.
    ///   - enforcement: whether that is enforced or only reported.
    ///   - afterExpiry: what happens once so many have expired that no path can match.
    /// - Throws: ``PinError`` `noPins` for rules that no path could ever match.
    public init(
        rules: [PinRule], requirement: Requirement = .any, enforcement: Enforcement = .enforce,
        afterExpiry: ExpiryAction = .reject
    ) throws(PinError) {
        self.init(known: rules, requirement: requirement, enforcement: enforcement, afterExpiry: afterExpiry)
        guard isSatisfiable(by: { _ in true }) else {
            throw PinError(
                .noPins,
                expected: requirement == .any
                    ? "a pin that is not a candidate" : "a pin of the server's own certificate and one of an issuer",
                found: rules.isEmpty ? "none" : "rules that no path can match",
                remedy: requirement == .any
                    ? "Add the pin of a key in use; `holdfastctl pin HOST` prints those of a server."
                    : "Add a pin of the other role, or require any.")
        }
    }

    /// Makes a requirement from pins that count for every certificate of a path.
    ///
    /// - Parameters:
    ///   - pins: at least one.
    ///   - backups: pins that no certificate in use has; none of them may be in `pins`.
    ///   - end: the first instant at which the pins no longer count; nil for never.
    ///   - afterExpiry: what happens from then on.
    ///   - enforcement: whether a missing pin is rejected or only reported.
    /// - Throws: ``PinError`` if there is no pin, or the same pin twice: two equal pins are one pin, not a backup.
    public init(
        pins: [Pin], backups: [Pin] = [], until end: Date? = nil, afterExpiry: ExpiryAction = .reject,
        enforcement: Enforcement = .enforce
    ) throws(PinError) {
        guard !pins.isEmpty else {
            throw PinError(
                .noPins, expected: "at least one pin", found: backups.isEmpty ? "none" : "backups only",
                remedy: "Add the pin of a key in use; `holdfastctl pin HOST` prints those of a server.")
        }
        var seen: Set<Pin> = []
        for pin in pins where !seen.insert(pin).inserted {
            throw PinError(
                .duplicatePin, expected: "each pin once", found: "\(pin) twice",
                remedy: "Leave one out; two equal pins are one pin, not a backup.")
        }
        let primary = seen
        for pin in backups where !seen.insert(pin).inserted {
            let isPrimary = primary.contains(pin)
            throw PinError(
                isPrimary ? .backupEqualsPin : .duplicatePin,
                expected: isPrimary ? "a backup that differs from the pins" : "each backup once",
                found: isPrimary ? "\(pin) among both" : "\(pin) twice",
                remedy: "Make the backup from another key; two equal pins are one pin, not a backup.")
        }
        self.init(
            known: (pins + backups).map { PinRule($0, until: end) }, enforcement: enforcement,
            afterExpiry: afterExpiry)
    }

    /// Makes a requirement from rules of a verified document. Without rules, no server can meet the requirement.
    package init(
        known rules: [PinRule], requirement: Requirement = .any, enforcement: Enforcement = .enforce,
        afterExpiry: ExpiryAction = .reject
    ) {
        self.rules = rules
        self.requirement = requirement
        self.enforcement = enforcement
        self.afterExpiry = afterExpiry
        func subjects(_ covers: (PinRule.Place) -> Bool) -> [Pin.Subject] {
            [.publicKey, .certificate].filter { subject in
                rules.contains { $0.pin.subject == subject && covers($0.place) }
            }
        }
        leafSubjects = subjects { $0.coversLeaf }
        issuerSubjects = subjects { $0.coversIssuers }
        index = rules.count > Self.mostCompared ? Set(rules.lazy.map(\.pin)) : nil
    }

    /// The pins that are accepted, each once, in the order they were given.
    public var pins: [Pin] { pins(of: { !$0.isCandidate }) }

    /// The pins that are accepted at an instant; all of them after they have expired.
    package func pins(at time: Date) -> [Pin] {
        isExpired(at: time) ? pins : pins(of: { !$0.isCandidate && $0.counts(at: time) })
    }

    /// The pins of some rules, each once.
    func pins(of isMeant: (PinRule) -> Bool) -> [Pin] {
        guard rules.count > Self.mostCompared else {
            var pins: [Pin] = []
            for rule in rules where isMeant(rule) && !pins.contains(rule.pin) { pins.append(rule.pin) }
            return pins
        }
        return rules.filter(isMeant).map(\.pin).distinct
    }

    /// Whether so many pins have expired that no path can match, as at ``end`` itself; ``afterExpiry`` then applies.
    package func isExpired(at now: Date) -> Bool { !isSatisfiable { $0.counts(at: now) } }

    /// The first instant at which the pins have expired; nil if they never do.
    public var end: Date? {
        func last(_ covers: (PinRule.Place) -> Bool) -> Date {
            rules.filter { !$0.isCandidate && covers($0.place) }.map(\.end).max() ?? .distantPast
        }
        let end =
            switch requirement {
            case .any: last { _ in true }
            case .oneOfEachRole: min(last { $0.coversLeaf }, last { $0.coversIssuers })
            }
        return end == .distantFuture ? nil : end
    }

    private func isSatisfiable(by counts: (PinRule) -> Bool) -> Bool {
        func hasOne(_ covers: (PinRule.Place) -> Bool) -> Bool {
            rules.contains { !$0.isCandidate && counts($0) && covers($0.place) }
        }
        return switch requirement {
        case .any: hasOne { _ in true }
        case .oneOfEachRole: hasOne { $0.coversLeaf } && hasOne { $0.coversIssuers }
        }
    }

    // MARK: Comparing

    /// The digests of the leaf, or of a certificate above it, that the rules need.
    func subjects(ofLeaf: Bool) -> [Pin.Subject] { ofLeaf ? leafSubjects : issuerSubjects }

    /// Whether a pin is accepted at any place and time. It does not decide whether a server is trusted; a
    /// ``PinnedPolicy`` does.
    public func contains(_ pin: Pin) -> Bool {
        index.map { $0.contains(pin) } != false && rules.contains { $0.pin == pin && !$0.isCandidate }
    }

    /// The rules that a pin matches where they count.
    func rules(
        matching pin: Pin, at time: Date, isCandidate: Bool = false, where covers: (PinRule.Place) -> Bool
    ) -> [PinRule] {
        if let index, !index.contains(pin) { return [] }
        return rules.filter { $0.matches(pin, at: time, isCandidate: isCandidate, where: covers) }
    }
}
