import Foundation
import Holdfast
import HoldfastPublishing

/// Checks new pins before they are published: they must lock nobody out, now or after the next mishap.
struct RepositoryPinCheck {
    /// A reason not to publish the pins.
    struct Finding: Sendable {
        let check: RepositoryOverride
        let text: String
        /// Whether the check only could not be made.
        var isUnknown = false
    }

    private let data: Data
    private let new: PinFile
    private let live: PinFile?
    private let name: String
    private let now: Date
    /// When the timestamp expires. Until then, clients may find nothing newer than these pins.
    private let end: Date
    private let lasting: TUFLastingPins

    private static let hostsAtOnce = 8
    /// How long pins must have been published, in seconds. Clients that were offline do not know younger ones.
    private static let trial: TimeInterval = 7 * 86_400

    /// - Parameters:
    ///   - path: the folder's name for messages.
    ///   - end: when the timestamp expires that is published with the pins.
    init(new data: Data, live: Data?, path: String, at now: Date, until end: Date) throws(CommandFailure) {
        name = "\(path)/draft/pins.json"
        self.data = data
        new = try PinFileReading.pinFile(data, named: name)
        self.live = live.flatMap { try? PinFile(json: $0) }
        (self.now, self.end) = (now, end)
        lasting = TUFLastingPins(new, at: end)
    }

    // MARK: The past

    /// Pins that become active and that were not published for a week, neither as candidates nor as backups, one line
    /// for each. What the files say about their own age does not count.
    func youngPins(in folder: TUFRepositoryFolder, after version: Int64?) -> [String] {
        guard let version, let live else { return [] }
        let trialBegan = now.addingTimeInterval(-Self.trial)
        var versions: [(entries: RepositoryEntries, since: Date)] = []
        for published in folder.publishedPins(upTo: version, backTo: trialBegan) {
            guard let file = try? PinFile(json: published.pins) else { break }
            versions.append((RepositoryEntries(file), published.since))
        }
        let before = RepositoryEntries(live)
        return new.hosts.flatMap { host -> [String] in
            // No client connects to other hosts yet, so a wrong pin locks nobody out.
            guard let old = before.entry(of: host.pattern), !old.isRetired else { return [] }
            return host.pins.compactMap { pin in
                guard pin.state == .active, !old.pins.contains(where: { $0.state == .active && $0.isSame(as: pin) })
                else { return nil }
                // Counting back from the newest version, without a gap.
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

    /// What clients with the published pins lose: hosts to which they connect, or the whole file. This compares two
    /// files, because no connection would show it: a host that is in no file is not dialed.
    var changes: [Finding] {
        guard let live else { return [] }
        return RepositoryLostHosts(from: live, to: new).lines.map { Finding(check: .dropped, text: $0) }
            + RepositoryFloors(from: live, to: new).lines.map { Finding(check: .floor, text: $0) }
    }

    // MARK: The future

    /// Hosts whose backup pins have all expired when the timestamp does.
    var backups: [Finding] {
        new.hosts.compactMap { host in
            guard !host.isRetired, !host.pins.contains(where: { isLastingBackup($0) }) else { return nil }
            let last = host.pins.filter { $0.state == .backup }.compactMap(\.notAfter).max()
            let found = last.map { ": the last one \($0 < now ? "expired" : "expires") at \($0.formatted(.iso8601))" }
            return Finding(
                check: .backup,
                text: "\(host.pattern): no backup pin counts until the timestamp expires at \(end.formatted(.iso8601))"
                    + (found ?? ""))
        }
    }

    private func isLastingBackup(_ pin: PinFile.KeyPin) -> Bool {
        pin.state == .backup && pin.end.map { end < $0 } ?? true
    }

    /// The policies of the pins that are left when the timestamp expires; nil if all are.
    private func laterPins() throws(CommandFailure) -> PublishedPins? {
        guard lasting.hosts != new.hosts else { return nil }
        do throws(PinFileError) {
            return PublishedPins(
                pinFile: try PinFile(notAfter: new.notAfter, refresh: new.refresh, hosts: lasting.hosts), named: name)
        } catch {
            throw CommandFailure(.invalidList, "\(name): \(error)")
        }
    }

    /// The pins that let clients into a host now and not when the timestamp expires.
    private func expiring(_ host: DialedHost, _ report: CheckReport, _ entry: PinFile.Host) -> Finding {
        let matched = Set((report.matchedPins ?? []).map { Array($0.utf8) })
        let ends = entry.pins.filter { pin in
            matched.contains(Array(pin.pin.description.utf8)) && pin.end.map { $0 <= end } ?? false
        }.compactMap { pin in pin.notAfter.map { "\(pin.pin) expires at \($0.formatted(.iso8601))" } }
        let place = report.address.map { " at \($0)" } ?? ""
        return Finding(
            check: .expiry,
            text: "\(host)\(place): all pins that match what it serves expire before the timestamp does at "
                + "\(end.formatted(.iso8601)) (\(ends.joined(separator: ", "))): then clients are locked out, unless "
                + "the host has another key by then")
    }

    // MARK: The present

    /// Connects to every host that can be dialed, at each of its addresses.
    func ask(_ connection: ConnectionOptions) async throws -> (findings: [Finding], remarks: [String]) {
        let published = try PublishedPins(pinFile: data, named: "the new pin file")
        var remarks: [String] = []
        let open = published.namesThatCannotBeDialed
        if !open.isEmpty { remarks.append("not asked, since they name no host: \(open.joined(separator: ", "))") }
        let limit = Duration.seconds(connection.timeout)
        let lookup = try RevocationLookup(lists: [], fetches: false, within: limit)
        let probe = try await ServerProbe(options: connection)
        let later = try laterPins()
        let examinations = try published.hosts.map { host in
            let dialed = try connection.dialed(host)
            return HostExamination(
                policy: try published.policy(of: dialed), host: dialed,
                report: CheckReport(host: dialed, time: now, pins: published.pins(of: dialed, at: now)), watch: nil,
                pins: published, later: try later?.policy(of: dialed))
        }
        let all = await SideBySide.map(examinations, atMost: Self.hostsAtOnce) { examination in
            (host: examination.host, reports: await examination.runEverywhere(probe, lookup, within: limit))
        }
        return (all.flatMap { findings(of: $0.host, $0.reports) }, remarks)
    }

    private func findings(of host: DialedHost, _ reports: [CheckReport]) -> [Finding] {
        var findings: [Finding] = []
        for report in reports where report.outcome != .trusted {
            let place = report.address.map { " at \($0)" } ?? ""
            if let error = report.error {
                findings.append(
                    Finding(
                        check: .hosts, text: "\(host)\(place) could not be asked: \(error.message)", isUnknown: true))
            } else {
                let reason =
                    report.failure.map { "\($0.code), expected \($0.expected)" } ?? report.published?.text ?? ""
                findings.append(
                    Finding(check: .hosts, text: "\(host)\(place): clients would be locked out (\(reason))"))
            }
        }
        guard let entry = new.host(for: host), !entry.isRetired else { return findings }
        // If all pins of the host expire, no connection is needed to know it, and the publication says so.
        if !lasting.ended.contains(entry) {
            for report in reports where report.outcome == .trusted && report.isTrustedLater == false {
                findings.append(expiring(host, report, entry))
            }
        }
        let paths = reports.compactMap(\.path)
        guard !paths.isEmpty else { return findings }
        func isServed(_ rule: PinRule) -> Bool {
            paths.contains { PinSet(known: [rule]).match(in: $0, at: now) != nil }
        }
        let backups = entry.pins.filter(isLastingBackup)
        if !backups.isEmpty, backups.allSatisfy({ isServed(PinRule($0.pin)) }) {
            findings.append(
                Finding(check: .backup, text: "\(host): every backup pin that lasts is of a chain that it serves"))
        }
        guard let before = live?.host(for: host), !before.isRetired else { return findings }
        let kept = entry.pins.filter(isAccepted)
        for pin in before.pins.filter(isAccepted)
        where isServed(PinRule(pin.pin, at: pin.role == .leaf ? .leaf : .issuer))
            && !kept.contains(where: { $0.isSame(as: pin) })
        {
            findings.append(
                Finding(
                    check: .dropped,
                    text: "\(host): \(pin.pin) (\(pin.role.rawValue)) is in a chain that it serves, and would not "
                        + "count"))
        }
        return findings
    }

    /// Whether a client accepts a pin now, apart from the end of the file.
    private func isAccepted(_ pin: PinFile.KeyPin) -> Bool {
        pin.state != .candidate && pin.end.map { now < $0 } ?? true
    }
}

extension PinFile.KeyPin {
    /// Whether both are the same key in the same role.
    fileprivate func isSame(as other: PinFile.KeyPin) -> Bool { pin == other.pin && role == other.role }
}
