import Foundation
import Holdfast

/// A pin file as it is in clients that ship it: the same policies decide.
struct PinFilePins: Sendable {
    /// Where to dial a host of the file: its name, or a pattern that cannot be dialled.
    struct Place {
        let name: String
        let port: Int?
    }

    private let file: PinFile
    private let manager: TrustManager

    init(_ file: PinFile) {
        self.file = file
        manager = TrustManager(policies: file.policies())
    }

    /// All hosts that are not retired, on each of their ports. For a domain with its subdomains, the domain itself is
    /// dialled.
    var places: [Place] {
        file.hosts.filter { !$0.isRetired }.flatMap { host in
            let name = host.pattern.scope == .oneLabel ? host.pattern.description : host.pattern.base.name
            return host.ports.isEmpty ? [Place(name: name, port: nil)] : host.ports.map { Place(name: name, port: $0) }
        }
    }

    func policy(of host: DialledHost) -> (any TrustPolicy)? { manager.policy(for: host) }

    func pins(of host: DialledHost) -> [Pin] {
        var seen: Set<Pin> = []
        return (entry(of: host)?.pins ?? []).filter { $0.state != .candidate }.map(\.pin)
            .filter { seen.insert($0).inserted }
    }

    /// The first instant at which clients stop enforcing the file.
    var documentEnd: Date? { file.end }

    /// When the file says that it was made.
    var issued: Date? { file.issuedAt }

    /// For how many seconds a client that refreshes the file may use an older one; nil for a file that apps ship.
    var staleness: TimeInterval? { file.refresh.map { Double($0.after) * (1 + $0.jitter.value) } }

    /// Why clients refuse a host, if the decision itself does not say it.
    func problem(of host: DialledHost, _ decision: TrustDecision) -> String? {
        entry(of: host) == nil
            ? "has no entry for \(host.name), and clients refuse hosts without an entry" : nil
    }

    /// What else an operator should know about clients that get in.
    func remark(on decision: TrustDecision) -> String? {
        for notice in decision.notices {
            switch notice.code {
            case .pinMismatch: return "although no pin matches: mismatches are only reported (mode report)"
            case .pinsExpired: return "although its pins have expired: only the system's trust decides"
            case .candidatePinMismatch: return "and no candidate matches"
            default: continue
            }
        }
        return nil
    }

    /// The first instant at which no matched pin is valid any more; nil if that never happens.
    func entryEnd(of host: DialledHost, _ decision: TrustDecision) -> Date? {
        guard let entry = entry(of: host), let path = decision.path?.certificates else { return nil }
        return Self.end(of: Self.matched(Self.accepted(entry.pins, at: decision.time), in: path), entry.requirement)
    }

    /// The first instant at which pins do not meet a requirement any more, apart from the end of the file; nil if that
    /// never happens.
    static func end(of pins: [PinFile.KeyPin], _ requirement: PinFile.Host.Requirement) -> Date? {
        let ends = PinFile.KeyPin.Role.allCases.compactMap { role in
            pins.filter { $0.role == role }.map { $0.end ?? .distantFuture }.max()
        }
        // If both roles are required, the first end decides; otherwise the last.
        let end = requirement == .leafAndIssuer ? ends.min() : ends.max()
        return end == .distantFuture ? nil : end
    }

    /// The pins that a client accepts at a time, apart from the end of the file. Candidates are not accepted.
    static func accepted(_ pins: [PinFile.KeyPin], at time: Date) -> [PinFile.KeyPin] {
        pins.filter { pin in pin.state != .candidate && pin.end.map { time < $0 } ?? true }
    }

    /// The pins that a validated path has in the place that their role requires.
    static func matched(_ pins: [PinFile.KeyPin], in path: [X509Certificate]) -> [PinFile.KeyPin] {
        guard let leaf = path.first?.publicKeyPin else { return [] }
        let issuers = Set(path.dropFirst().map(\.publicKeyPin))
        return pins.filter { $0.role == .leaf ? $0.pin == leaf : issuers.contains($0.pin) }
    }

    /// The entry that decides about a host, even on ports that it does not cover.
    func entry(of host: DialledHost) -> PinFile.Host? {
        guard let policy = manager.policy(for: host) else { return nil }
        return file.hosts.first { $0.pattern.description.utf8.elementsEqual(policy.hostName.utf8) }
    }
}
