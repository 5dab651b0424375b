package import Foundation
package import Holdfast
import HoldfastSigning
import HoldfastTUF

/// Checks new pins before they are published: they must not lock out any client, now or after the next incident.
package struct PinPublicationCheck: Sendable {
    /// A reason not to publish the pins.
    package struct Finding: Sendable, Hashable {
        /// The kinds of reasons. Their raw values are the names with which an operator overrides them.
        package enum Kind: String, Sendable, CaseIterable {
            /// Clients would be locked out of a probed host.
            case refused
            /// A host could not be probed at an address, so the result is unknown.
            case unreachable
            /// A host has no backup pin that lasts and is not among its served keys.
            case backup
            /// A host or a pin that clients use would no longer be valid.
            case dropped
            /// Installed apps would refuse the whole file.
            case floor
            /// The matching pins end before the timestamp does.
            case expiry
        }

        package let kind: Kind
        package let text: String
    }

    /// The result for a client with the new pins, at one address of a host.
    package struct Answer: Sendable {
        package enum Outcome: Sendable {
            /// The client can connect.
            case letIn
            /// The client refuses the server, for this reason.
            case refused(String)
            /// The address could not be probed.
            case unreachable(String)
        }

        package let outcome: Outcome
        /// The address; nil if the host has none, or it is unknown.
        package let address: String?
        /// The validated path, if there is one.
        package let path: ValidatedPath?
        /// Whether a client can connect with the pins that remain when the timestamp expires; nil if all remain.
        package let isLetInLater: Bool?

        package init(
            _ outcome: Outcome, address: String? = nil, path: ValidatedPath? = nil, isLetInLater: Bool? = nil
        ) {
            self.outcome = outcome
            self.address = address
            self.path = path
            self.isLetInLater = isLetInLater
        }
    }

    private let new: PinFile
    private let live: PinFile?
    private let now: Date
    /// When the timestamp expires. Until then, clients may get nothing newer than these pins.
    private let end: Date
    private let lasting: TUFLastingPins

    /// The minimum time since publication of a pin, in seconds. Clients that were offline do not have younger pins.
    private static let trial: TimeInterval = 7 * 86_400

    /// - Parameters:
    ///   - new: the new pins.
    ///   - live: the published pins; nil if nothing is published.
    ///   - end: when the timestamp of this publication expires.
    package init(new: PinFile, live: PinFile?, at now: Date, until end: Date) {
        (self.new, self.live, self.now, self.end) = (new, live, now, end)
        lasting = TUFLastingPins(new, at: end)
    }

    /// The pin file with the pins that remain when the timestamp expires; nil if all remain.
    /// - Throws: `PinFileError` if they cannot form a pin file.
    package func laterFile() throws(PinFileError) -> PinFile? {
        guard lasting.hosts != new.hosts else { return nil }
        return try PinFile(notAfter: new.notAfter, refresh: new.refresh, hosts: lasting.hosts)
    }

    // MARK: Earlier versions

    /// Pins that become active but were not published for a week, neither as candidates nor as backups, one line for
    /// each. The dates that the files state are ignored.
    package func youngPins(in storage: some TUFRepositoryStorage, after version: Int64?) async -> [String] {
        guard let version, let live else { return [] }
        let trialBegan = now.addingTimeInterval(-Self.trial)
        var versions: [(entries: PinFileEntries, since: Date)] = []
        for published in await storage.publishedPins(upTo: version, backTo: trialBegan) {
            guard let file = try? PinFile(json: published.pins) else { break }
            versions.append((PinFileEntries(file), published.since))
        }
        let before = PinFileEntries(live)
        return new.hosts.flatMap { host -> [String] in
            // No client connects to other hosts yet, so a wrong pin locks no client out.
            guard let old = before.entry(of: host.pattern), !old.isRetired else { return [] }
            return host.pins.compactMap { pin in
                guard pin.state == .active, !old.pins.contains(where: { $0.state == .active && $0.isSame(as: pin) })
                else { return nil }
                // Count back from the newest version, without a gap.
                let known = versions.prefix {
                    $0.entries.entry(of: host.pattern)?.pins.contains { $0.isSame(as: pin) } ?? false
                }
                let since = known.last?.since
                if let since, since <= trialBegan { return nil }
                let age = since.map { "published only since \($0.formatted(.iso8601))" } ?? "not in the published pins"
                return "\(host.pattern): \(pin.pin) becomes active and was not a candidate or a backup for a week "
                    + "(\(age)): nobody knows yet whether it matches in the field"
            }
        }
    }

    /// The hosts, or the whole file, that clients with the published pins lose. This compares two files, because a
    /// connection cannot reveal the loss: a host that is in no file is not dialed.
    package var changes: [Finding] {
        guard let live else { return [] }
        return PinFileLostHosts(from: live, to: new).lines.map { Finding(kind: .dropped, text: $0) }
            + PinFileFloors(from: live, to: new).lines.map { Finding(kind: .floor, text: $0) }
    }

    // MARK: Later expirations

    /// Hosts whose backup pins have all expired when the timestamp does.
    package var backups: [Finding] {
        new.hosts.compactMap { host in
            guard !host.isRetired, !host.pins.contains(where: { isLastingBackup($0) }) else { return nil }
            let last = host.pins.filter { $0.state == .backup }.compactMap(\.notAfter).max()
            let found = last.map { ": the last one \($0 < now ? "expired" : "expires") at \($0.formatted(.iso8601))" }
            return Finding(
                kind: .backup,
                text: "\(host.pattern): no backup pin counts until the timestamp expires at \(end.formatted(.iso8601))"
                    + (found ?? ""))
        }
    }

    private func isLastingBackup(_ pin: PinFile.KeyPin) -> Bool {
        pin.state == .backup && pin.end.map { end < $0 } ?? true
    }

    // MARK: Present state

    /// The problems of the new pins at the probed hosts, according to the outlook of the publication.
    /// - Parameters:
    ///   - published: the new pins, for apps that have them: the repository's clients enforce the same file.
    ///   - asked: the reports about each host.
    ///   - platforms: the platforms of clients.
    package func findings(
        of published: PublishedPins, _ asked: [(host: DialedHost, reports: [CheckReport])],
        platforms: [PublicationOutlook.Platform]
    ) throws(PublishingError) -> [Finding] {
        var documents = [published.document]
        let name = published.document.name
        do throws(PinFileError) {
            if let left = try laterFile() {
                documents.append(
                    .init(
                        name, kind: .shippedPins, octets: Data(left.json), published: now,
                        appVersions: ["\(name), later"]))
            }
        } catch {
            throw PublishingError(.invalidDocument, of: name, expected: error.expected, found: error.found)
        }
        let outlook = PublishedOutlook(
            documents: documents, platforms: platforms,
            appVersions: .versions(documents.flatMap(\.appVersions).map { .init($0) }))
        var rows = try outlook.rows(of: asked.flatMap(\.reports), at: now).rows[...]
        return asked.flatMap { host, reports in
            findings(of: host, reports.map { Self.answer($0, rows.popFirst() ?? []) })
        }
    }

    /// - Parameter rows: the rows about the new pins, and about the pins that remain later if some do not.
    private static func answer(_ report: CheckReport, _ rows: [PublicationOutlook.Row]) -> Answer {
        let outcome: Answer.Outcome
        if let error = report.error {
            outcome = .unreachable(error.message)
        } else if let refused = rows.first(where: { $0.document == 0 && $0.verdict == .out }) {
            outcome = .refused(refused.cause?.words ?? "")
        } else if rows.contains(where: { $0.document == 0 && $0.verdict != .unknown }) {
            outcome = .letIn
        } else {
            outcome = .unreachable("what clients get is unknown")
        }
        let later = rows.filter { $0.document == 1 }
        return Answer(
            outcome, address: report.address, path: report.path,
            isLetInLater: later.isEmpty ? nil : later.allSatisfy { $0.verdict != .out && $0.verdict != .unknown })
    }

    /// The problems of the new pins of a host.
    /// - Parameter answers: the result for a client at each of its addresses.
    package func findings(of host: DialedHost, _ answers: [Answer]) -> [Finding] {
        var findings: [Finding] = []
        for answer in answers {
            let place = answer.address.map { " at \($0)" } ?? ""
            switch answer.outcome {
            case .letIn: continue
            case .unreachable(let reason):
                // An address that presented one certificate may have another, of the other kind of key.
                let isSeen = answers.contains { $0.address == answer.address && $0.path != nil }
                let words = isSeen ? ": \(reason)" : " could not be asked: \(reason)"
                findings.append(Finding(kind: .unreachable, text: "\(host)\(place)\(words)"))
            case .refused(let reason):
                findings.append(
                    Finding(kind: .refused, text: "\(host)\(place): clients would be locked out (\(reason))"))
            }
        }
        guard let entry = new.host(for: host), !entry.isRetired else { return findings }
        // If all pins of the host expire, no connection is needed to find out, and the publication reports it.
        if !lasting.ended.contains(entry) {
            for answer in answers {
                guard case .letIn = answer.outcome, answer.isLetInLater == false else { continue }
                findings.append(expiring(host, answer, entry))
            }
        }
        let paths = answers.compactMap(\.path)
        guard !paths.isEmpty else { return findings }
        func isServed(_ rule: PinRule) -> Bool {
            paths.contains { PinSet(known: [rule]).match(in: $0, at: now) != nil }
        }
        let backups = entry.pins.filter(isLastingBackup)
        if !backups.isEmpty, backups.allSatisfy({ isServed(PinRule($0.pin)) }) {
            findings.append(
                Finding(kind: .backup, text: "\(host): every backup pin that lasts is of a chain that it serves"))
        }
        guard let before = live?.host(for: host), !before.isRetired else { return findings }
        let kept = entry.pins.filter(isAccepted)
        for pin in before.pins.filter(isAccepted)
        where isServed(PinRule(pin.pin, at: pin.role == .leaf ? .leaf : .issuer))
            && !kept.contains(where: { $0.isSame(as: pin) })
        {
            findings.append(
                Finding(
                    kind: .dropped,
                    text: "\(host): \(pin.pin) (\(pin.role.rawValue)) is in a chain that it serves, and would not "
                        + "count"))
        }
        return findings
    }

    /// The pins with which clients can connect to a host now, but not when the timestamp expires.
    private func expiring(_ host: DialedHost, _ answer: Answer, _ entry: PinFile.Host) -> Finding {
        let ends = entry.pins.filter { pin in
            guard let path = answer.path, pin.end.map({ $0 <= end }) ?? false else { return false }
            let rule = PinRule(pin.pin, at: pin.role == .leaf ? .leaf : .issuer)
            return PinSet(known: [rule]).match(in: path, at: now) != nil
        }.compactMap { pin in pin.notAfter.map { "\(pin.pin) expires at \($0.formatted(.iso8601))" } }
        let place = answer.address.map { " at \($0)" } ?? ""
        return Finding(
            kind: .expiry,
            text: "\(host)\(place): all pins that match what it serves expire before the timestamp does at "
                + "\(end.formatted(.iso8601)) (\(ends.joined(separator: ", "))): then clients are locked out, unless "
                + "the host has another key by then")
    }

    /// Whether a client accepts a pin now, ignoring the end of the file.
    private func isAccepted(_ pin: PinFile.KeyPin) -> Bool {
        pin.state != .candidate && pin.end.map { now < $0 } ?? true
    }
}

extension PinFile.KeyPin {
    /// Whether both are the same key in the same role.
    fileprivate func isSame(as other: PinFile.KeyPin) -> Bool { pin == other.pin && role == other.role }
}
