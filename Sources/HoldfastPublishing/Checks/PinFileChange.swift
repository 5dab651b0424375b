package import Foundation
package import Holdfast
import HoldfastSigning

/// What a changed pin file may take from clients, for verbs that change one or compare two: what is certain whatever hosts
/// show, and the hosts that have to be asked so that the outlook can judge.
///
/// It compares no pins with chains. With a file that requires of a host nothing that another one does not, clients fare no
/// worse there, whatever it shows: so nobody needs to ask it.
package struct PinFileChange: Sendable {
    /// A host, or all hosts of a pattern, to which clients with the earlier file connect, and which they would refuse.
    package struct Loss: Sendable, Hashable {
        /// The entry that decides about it in the earlier file.
        package let pattern: HostPattern
        /// Why, in words.
        package let text: String
    }

    /// What the outlook judges.
    package let subject: ChangeOutlook.Subject
    /// What is certain.
    package let losses: [Loss]
    /// The hosts for which the chain decides, each once.
    package let hosts: [DialedHost]
    /// The entries for whose hosts the chain decides, and which name none that can be dialed.
    package let patterns: [HostPattern]

    /// Whether clients fare as before, whatever hosts show.
    package var takesNothing: Bool { losses.isEmpty && hosts.isEmpty && patterns.isEmpty }

    /// - Parameters:
    ///   - old: the file that clients have.
    ///   - new: the file that they get.
    ///   - name: what people call it.
    ///   - now: the time from which on they use it.
    package init(from old: PinFile, to new: PinFile, named name: String, at now: Date) throws(PublishingError) {
        let before = try PublishedPins(
            pinFile: Data(old.json), named: "\(name) as it was", carriedBy: [], at: now)
        let after = try PublishedPins(pinFile: Data(new.json), named: name, carriedBy: [], at: now)
        var subject = ChangeOutlook.Subject(
            // Nobody who has the earlier file connects to a host that is added.
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
                // What clients refuse already, whatever it shows, nobody can take from them.
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

    /// Where clients connect: each host on its ports, and of a pattern a name that no entry has.
    private static func places(of files: [PinFile]) -> [(host: DialedHost, pattern: HostPattern?)] {
        files.flatMap(\.hosts).filter { !$0.isRetired }.flatMap { entry in
            let base = entry.pattern.base.name
            let ports: [Int?] = entry.ports.isEmpty ? [nil] : entry.ports
            return ports.flatMap { port -> [(host: DialedHost, pattern: HostPattern?)] in
                func host(_ name: String) -> DialedHost? {
                    try? port.map { try DialedHost(name, port: $0) } ?? DialedHost(name)
                }
                let own = entry.pattern.scope == .oneLabel ? nil : host(base)
                // Where another entry decides about the domain itself, it says nothing of its subdomains.
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

    /// Whether a chain with which clients of the earlier file get in may be refused with the other one.
    private static func mayTake(from old: PinFile, to new: PinFile, _ host: DialedHost, at now: Date) -> Bool {
        let question = PinQuestion(host: host, time: now)
        switch (old.answer(to: question).content, new.answer(to: question).content) {
        case (.required(let before), .required(let after)): return !before.isMet(byMeeting: after, at: now)
        // A host that is added may have wrong pins.
        case (_, .required), (.required, _): return true
        default: return false
        }
    }
}

extension PinFile.Host {
    /// Whether it decides about a port; nil stands for any.
    fileprivate func isFor(_ port: Int?) -> Bool { port.map { ports.isEmpty || ports.contains($0) } ?? true }
}

extension PinSet {
    /// Whether what matches these pins, at a time and as long as they last, matches others that are in their place.
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
