import Foundation
import Holdfast

/// The next step of a key change that locks nobody out. It depends only on the state.
enum RolloverStep: Sendable, Equatable {
    /// Clients refuse a server now. It must show a published key or certificate, or the one that it shows must be
    /// published.
    case letClientsIn
    /// The key or certificate that will be deployed is not published.
    case publishNext([Pin])
    /// Every published pin is in use: there is no way out if the key is lost or the certificate ends.
    case addBackup(by: Date)
    /// The pins end soon.
    case renew(by: Date)
    /// Not every client has the document yet; nil if nobody knows until when.
    case wait(until: Date?)
    /// The servers may change to one of these.
    case deploy([Pin], by: Date?)
    /// No server shows these any more.
    case remove([Pin])
    /// There is nothing to do until then, or at all.
    case nothing(until: Date?)

    /// Pins are renewed this many seconds, thirty days, before it would be too late.
    private static let lead: TimeInterval = 30 * 86_400

    /// The next step.
    init(_ state: RolloverState, at now: Date) {
        self = Self.urgent(state, now) ?? Self.change(state, now) ?? Self.cleaning(state, now)
    }

    /// A step without which clients lose hosts, now or soon.
    private static func urgent(_ state: RolloverState, _ now: Date) -> RolloverStep? {
        guard state.refusals.isEmpty else { return .letClientsIn }
        let missing = state.next.filter { next in !state.pins.contains { $0.pin == next } }
        guard missing.isEmpty else { return .publishNext(missing) }
        if !state.hasSpare, !state.isChanging || state.targets.isEmpty, state.backupTime(now) <= now {
            return .addBackup(by: now)
        }
        guard let end = state.pinsEnd?.addingTimeInterval(-(state.staleness ?? 0)),
            end.addingTimeInterval(-lead) <= now
        else { return nil }
        return .renew(by: max(now, end))
    }

    /// A step of the change itself, if one is under way.
    private static func change(_ state: RolloverState, _ now: Date) -> RolloverStep? {
        guard state.isChanging, !state.targets.isEmpty else { return nil }
        guard let ready = state.everybodyHasIt, ready <= now else { return .wait(until: state.everybodyHasIt) }
        return .deploy(state.targets, by: state.certificateEnd)
    }

    private static func cleaning(_ state: RolloverState, _ now: Date) -> RolloverStep {
        let old = state.pins.filter { $0.isRetiring && !$0.isServed && !state.next.contains($0.pin) }.map(\.pin)
        // Never remove all pins.
        if !old.isEmpty, old.count < state.pins.count { return .remove(old) }
        guard state.hasSpare else { return .addBackup(by: state.backupTime(now)) }
        let ends = [state.certificateEnd, state.pinsEnd].compactMap(\.self)
        return .nothing(until: ends.min()?.addingTimeInterval(-(state.staleness ?? 0) - lead))
    }
}

extension RolloverState {
    /// Pins that no server shows and that will not be removed.
    private var spares: [Pin] { pins.filter { !$0.isServed && !$0.isRetiring }.map(\.pin) }

    fileprivate var hasSpare: Bool { !spares.isEmpty }

    /// What the servers will change to.
    fileprivate var targets: [Pin] { next.isEmpty ? spares : next.filter { next in pins.contains { $0.pin == next } } }

    /// Whether some server has to change: to a key or certificate that was named, from a pin that will be removed, or
    /// from a certificate, because it ends.
    fileprivate var isChanging: Bool {
        let served = pins.filter(\.isServed)
        guard next.isEmpty else { return served.contains { !next.contains($0.pin) } }
        return pinsCertificates || served.contains(where: \.isRetiring)
    }

    /// When a backup must be published at the latest: for keys at once, for certificates in time before those in use
    /// end.
    fileprivate func backupTime(_ now: Date) -> Date {
        guard pinsCertificates, let certificateEnd, let staleness else { return now }
        return max(now, certificateEnd.addingTimeInterval(-staleness))
    }
}
