public import Foundation
public import Holdfast

/// What may go wrong for clients when a pin file takes the place of another.
public struct PinFileRisk: Sendable, Hashable {
    /// The kinds, a set that may grow.
    public typealias Kind = OpenCode<PinFileRisk>

    /// The kind.
    public let kind: Kind
    /// The risk, in one sentence that names the host.
    public let text: String

    /// Whether clients are refused at once, as far as the two files tell.
    public var locksOut: Bool { kind == .hostLost || kind == .pinLost || kind == .expired }

    /// The risks of a change, those that lock out clients first.
    /// - Parameters:
    ///   - old: the file that clients have.
    ///   - new: the file that they get.
    ///   - now: the time from which on they use it.
    public static func risks(from old: PinFile, to new: PinFile, at now: Date) -> [PinFileRisk] {
        var risks = PinFileLostHosts(from: old, to: new).lines.map { PinFileRisk(kind: .hostLost, text: $0) }
        if let end = new.end, end <= now, old.end != new.end {
            risks.append(
                PinFileRisk(kind: .expired, text: "the pins of the file have run out at \(end.formatted(.iso8601))"))
        }
        let (before, after) = (PinFileEntries(old), PinFileEntries(new))
        for pattern in PinFileEntries.patterns(of: old, and: new) {
            guard let entry = after.entry(of: pattern), !entry.isRetired else { continue }
            risks += Self.risks(of: pattern, from: before.entry(of: pattern), to: entry, at: now)
        }
        return risks.filter(\.locksOut) + risks.filter { !$0.locksOut }
    }

    private static func risks(
        of pattern: HostPattern, from old: PinFile.Host?, to new: PinFile.Host, at now: Date
    ) -> [PinFileRisk] {
        guard old != new else { return [] }
        var risks: [PinFileRisk] = []
        func add(_ kind: Kind, _ text: String) { risks.append(PinFileRisk(kind: kind, text: "\(pattern): \(text)")) }
        func isAccepted(_ pin: PinFile.KeyPin) -> Bool {
            pin.state != .candidate && pin.end.map { $0 > now } ?? true
        }
        let pins = old?.isRetired == false ? old?.pins ?? [] : []
        for pin in pins where pin.state == .active && isAccepted(pin) {
            guard !new.pins.contains(where: { $0.pin == pin.pin && $0.role == pin.role && isAccepted($0) }) else {
                continue
            }
            add(
                .pinLost,
                "\(pin.pin) (\(pin.role.rawValue)) is in use, and clients would no longer accept it: retire it first, "
                    + "and remove it when no server shows it anymore")
        }
        if let old, !old.isRetired {
            if old.enforcement == .reportOnly, new.enforcement == .enforce {
                add(.stricter, "pins are enforced from now on, and no longer only reported on")
            }
            if old.requirement == .any, new.requirement == .oneOfEachRole {
                add(.stricter, "a leaf pin and an issuer pin must match from now on")
            }
            if old.afterExpiry == .standardValidation, new.afterExpiry == .reject {
                add(
                    .stricter,
                    "clients are refused when the pins have run out, and no longer trusted by the system's rules")
            }
        }
        if !new.pins.contains(where: { $0.state == .active }) {
            add(
                .noKeyInUse,
                "it has no active pin: clients get in only while servers show a key that is retiring or a backup")
        }
        if !new.hasBackup {
            add(.noBackup, "it has no backup: if its key is lost, every client is locked out")
        }
        return risks
    }
}

extension PinFileRisk.Kind {
    /// Clients connect to a host now, and would refuse to, whatever it shows.
    public static var hostLost: Self { Self() }
    /// The pin of a key that is in use, as the earlier file says, is no longer accepted.
    public static var pinLost: Self { Self() }
    /// The pins of the file have run out.
    public static var expired: Self { Self() }
    /// Connections that were accepted without a matching pin may be refused.
    public static var stricter: Self { Self() }
    /// No key in use is left, only keys that are retiring or in reserve.
    public static var noKeyInUse: Self { Self() }
    /// A host has no second key to use when the first is lost.
    public static var noBackup: Self { Self() }
}
