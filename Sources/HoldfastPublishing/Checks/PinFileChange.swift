package import Foundation
package import Holdfast
import HoldfastSigning

/// The clients that a changed pin file may lock out, for commands that change or compare pin files: the losses that are
/// certain regardless of the hosts' chains, and the hosts that must be probed for the outlook.
///
/// It does not compare pins with chains. If the new file requires nothing of a host that the old one does not, clients
/// can connect there as before, no matter which chain the host presents. Such a host need not be probed.
package struct PinFileChange: Sendable {
    /// A host, or all hosts of a pattern, that clients with the earlier file accept and would then refuse.
    package struct Loss: Sendable, Hashable {
        /// The entry that applies in the earlier file.
        package let pattern: HostPattern
        /// The reason, as text.
        package let text: String
    }

    /// The documents that the outlook evaluates.
    package let subject: ChangeOutlook.Subject
    /// The losses that are certain.
    package let losses: [Loss]
    /// The hosts for which the result depends on the chain, each once.
    package let hosts: [DialedHost]
    /// The entries with such hosts that contain no name to dial.
    package let patterns: [HostPattern]

    /// Whether clients can connect as before, no matter which chains hosts present.
    package var takesNothing: Bool { losses.isEmpty && hosts.isEmpty && patterns.isEmpty }

    /// - Parameters:
    ///   - old: the file that clients have.
    ///   - new: the file that they get.
    ///   - name: the name of the file for messages.
    ///   - now: the time from which clients use it.
    package init(from old: PinFile, to new: PinFile, named name: String, at now: Date) throws(PublishingError) {
        let before = try PublishedPins(
            pinFile: Data(old.json), named: "\(name) as it was", carriedBy: [], at: now)
        let after = try PublishedPins(pinFile: Data(new.json), named: name, carriedBy: [], at: now)
        var subject = ChangeOutlook.Subject(
            // Clients with the earlier file do not connect to an added host.
            from: [before.document.ofOwnHosts(at: now)], to: [after.document],
            after: EarlierDocuments(premises: [
                "only clients with the pin file were judged, as it was and as it is: check and rollover judge all"
            ]),
            appVersions: .versions([.init("the one that gets the pin file", carriesDocument: false)]))
        subject.isCompared = true
        self.subject = subject
        let (unseenOld, unseenNew) = (try UnseenOutlook(old), try UnseenOutlook(new))
        var losses = PinFileLostHosts(from: old, to: new).losses.map { Loss(pattern: $0.entry, text: $0.line) }
        var (hosts, patterns): ([DialedHost], [HostPattern]) = ([], [])
        var seen: Set<DialedHost> = []
        for place in Self.places(of: [old, new]) where seen.insert(place.host).inserted {
            guard Self.mayTake(from: old, to: new, place.host, at: now) else { continue }
            let entry = old.host(for: place.host).flatMap { $0.isFor(place.host.port) ? $0.pattern : nil }
            if let entry {
                // Clients refuse this host already, no matter which chain it presents, so the change takes nothing
                // away.
                guard unseenOld.refusal(of: place.host, at: now) == nil else { continue }
                if let words = unseenNew.refusal(of: place.host, at: now) {
                    guard !losses.contains(where: { $0.pattern == entry }) else { continue }
                    let text = "\(entry): clients connect to it now, and would refuse to: \(words)"
                    losses.append(Loss(pattern: entry, text: text))
                    continue
                }
            }
            if let pattern = place.pattern {
                if !patterns.contains(pattern) { patterns.append(pattern) }
            } else {
                hosts.append(place.host)
            }
        }
        (self.losses, self.hosts, self.patterns) = (losses, hosts, patterns)
    }

    /// The destinations of clients: each host on its ports, and for a pattern a name that has no own entry.
    private static func places(of files: [PinFile]) -> [(host: DialedHost, pattern: HostPattern?)] {
        files.flatMap(\.hosts).filter { !$0.isRetired }.flatMap { entry in
            let base = entry.pattern.base.name
            let ports: [Int?] = entry.ports.isEmpty ? [nil] : entry.ports
            return ports.flatMap { port -> [(host: DialedHost, pattern: HostPattern?)] in
                func host(_ name: String) -> DialedHost? {
                    try? port.map { try DialedHost(name, port: $0) } ?? DialedHost(name)
                }
                let own = entry.pattern.scope == .oneLabel ? nil : host(base)
                // If another entry applies to the domain itself, that entry does not cover its subdomains.
                let stands = own.map { own in
                    files.allSatisfy { ($0.host(for: own)?.pattern ?? entry.pattern) == entry.pattern }
                }
                guard stands != true else { return own.map { [($0, nil)] } ?? [] }
                let other = host("any-other-name.\(base)").map { ($0, Optional(entry.pattern)) }
                return (own.map { [($0, nil)] } ?? [])
                    + (entry.pattern.scope == .exact ? [] : [other].compactMap(\.self))
            }
        }
    }

    /// Whether a chain that clients accept with the earlier file may be refused with the other one.
    private static func mayTake(from old: PinFile, to new: PinFile, _ host: DialedHost, at now: Date) -> Bool {
        let question = PinQuestion(host: host, time: now)
        switch (old.answer(to: question).content, new.answer(to: question).content) {
        case (.required(let before), .required(let after)): return !before.isMet(byMeeting: after, at: now)
        // An added host may have wrong pins.
        case (_, .required), (.required, _): return true
        default: return false
        }
    }
}

extension PinFile.Host {
    /// Whether it applies to a port; nil for any port.
    fileprivate func isFor(_ port: Int?) -> Bool { port.map { ports.isEmpty || ports.contains($0) } ?? true }
}

extension PinSet {
    /// Whether every chain that matches these pins, from a time until they end, also matches the pins that replace
    /// them.
    fileprivate func isMet(byMeeting other: PinSet, at time: Date) -> Bool {
        guard self != other else { return true }
        guard enforcement == other.enforcement || other.enforcement == .reportOnly, requirement == other.requirement,
            afterExpiry == other.afterExpiry, !isExpired(at: time)
        else { return false }
        return rules.filter { !$0.isCandidate && time < $0.end }.allSatisfy { rule in
            other.rules.contains {
                !$0.isCandidate && $0.pin == rule.pin && $0.place == rule.place && rule.end <= $0.end
            }
        }
    }
}
