import Foundation
import Holdfast

/// Describes the differences between two pin files.
enum PinFileChanges {
    /// - Parameter old: the earlier pin file; nil if it does not exist yet.
    static func words(from old: PinFile?, to new: PinFile) -> [String] {
        var lines: [String] = []
        func differs<Value: Equatable>(_ field: String, _ value: (PinFile) -> Value, _ text: (Value) -> String) {
            guard old.map(value) != value(new) else { return }
            lines.append("pins: \(field) \(text(value(new)))\(old.map { ", before \(text(value($0)))" } ?? "")")
        }
        differs("app", \.app) { $0.map { "\($0.quoted)" } ?? "none" }
        differs("issued", \.issuedAt) { $0.map { $0.formatted(.iso8601) } ?? "none" }
        differs("valid until", \.notAfter, time)
        differs("refresh", \.refresh) { $0?.text ?? "none" }
        let before = Dictionary((old?.hosts ?? []).map { ($0.pattern, $0) }) { first, _ in first }
        for host in new.hosts { lines += words(from: before[host.pattern], to: host) }
        let kept = Set(new.hosts.map(\.pattern))
        for host in old?.hosts ?? [] where !kept.contains(host.pattern) {
            lines.append("\(host.pattern): no entry anymore: clients refuse it, or use another entry that covers it")
        }
        return lines
    }

    /// The shortages of entries that differ from those of an earlier file.
    static func shortages(from old: PinFile, to new: PinFile) -> [String] {
        new.hosts.filter { !$0.isRetired && !old.hosts.contains($0) }.flatMap { host -> [String] in
            let isInUse = host.pins.contains { $0.state == .active }
            return
                (isInUse
                ? []
                : [
                    "\(host.pattern): it has no active pin: clients get in only while servers show a key that is retiring "
                        + "or a backup"
                ])
                + (host.hasUsableBackup
                    ? [] : ["\(host.pattern): it has no backup: if its key is lost, every client is locked out"])
        }
    }

    private static func words(from old: PinFile.Host?, to new: PinFile.Host) -> [String] {
        guard old != new else { return [] }
        let name = new.pattern.description
        guard !new.isRetired else {
            let ports = new.ports.isEmpty ? "" : " to port \(new.ports.map(String.init).joined(separator: ", "))"
            return ["\(name): retired: clients refuse to connect\(ports)"]
        }
        var lines: [String] = []
        if old?.isRetired == true { lines.append("\(name): no longer retired") }
        if old == nil { lines.append("\(name): new") }
        let (before, after) = (old?.pins ?? [], new.pins)
        for pin in before where !after.contains(where: { $0.pin == pin.pin && $0.role == pin.role }) {
            lines.append("\(name): \(pin.pin) is no longer accepted (\(text(pin)))")
        }
        for pin in after {
            let same = before.first { $0.pin == pin.pin && $0.role == pin.role }
            guard same != pin else { continue }
            lines.append("\(name): \(pin.pin) \(same == nil ? "is added" : "is now") (\(text(pin)))")
        }
        if old.map({ $0.enforcement != new.enforcement }) ?? (new.enforcement != .enforce) {
            lines.append("\(name): mode \(new.enforcement.rawValue)")
        }
        if old.map({ $0.requirement != new.requirement }) ?? (new.requirement != .any) {
            lines.append("\(name): require \(new.requirement.rawValue)")
        }
        if old.map({ $0.afterExpiry != new.afterExpiry }) ?? (new.afterExpiry != .reject) {
            lines.append("\(name): onExpiry \(new.afterExpiry.rawValue)")
        }
        if old.map({ $0.ports != new.ports }) ?? !new.ports.isEmpty {
            let ports = new.ports.map(String.init).joined(separator: ", ")
            lines.append("\(name): ports \(ports.isEmpty ? "any" : ports)")
        }
        if old?.report != new.report {
            let report = new.report.map {
                "\($0.url.quoted), \($0.failureFraction.value) of failures and \($0.successFraction.value) of successes"
            }
            lines.append("\(name): reports to \(report ?? "nowhere")")
        }
        return lines
    }

    private static func text(_ pin: PinFile.KeyPin) -> String {
        "\(pin.role.rawValue), \(pin.state.rawValue)" + (pin.notAfter.map { ", until \(time($0))" } ?? "")
    }

    private static func time(_ date: Date?) -> String { date.map { $0.formatted(.iso8601) } ?? "forever" }
}
