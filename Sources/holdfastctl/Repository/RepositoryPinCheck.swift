import Foundation
import Holdfast
import HoldfastSigning

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

    private static let hostsAtOnce = 8
    /// How long pins must have been published, in seconds. Clients that were offline do not know younger ones.
    private static let trial: TimeInterval = 7 * 86_400
    /// How many earlier versions are examined.
    private static let history: Int64 = 100

    /// - Parameter path: the folder's name for messages.
    init(new data: Data, live: Data?, path: String) throws(CommandFailure) {
        name = "\(path)/draft/pins.json"
        self.data = data
        new = try PinFileReading.pinFile(data, named: name)
        self.live = live.flatMap { try? PinFile(json: $0) }
    }

    // MARK: The past

    /// Active pins that were not published a week ago, not even as candidates, one line for each.
    func youngPins(in folder: TUFRepositoryFolder, after version: Int64?, at now: Date) -> [String] {
        guard let version, let live else { return [] }
        var files = [live]
        for earlier in stride(from: version - 1, through: max(1, version - Self.history), by: -1) {
            guard let file = folder.publishedPins(ofTargets: earlier).flatMap({ try? PinFile(json: $0) }) else { break }
            files.append(file)
        }
        return new.hosts.flatMap { host in
            host.pins.filter { pin in
                guard pin.state == .active, !Self.accepts(live, host.pattern, pin.pin) else { return false }
                // Counting back from the newest version, without a gap.
                let known = files.prefix { Self.entry($0, host.pattern)?.pins.contains { $0.pin == pin.pin } ?? false }
                let since = known.last?.issuedAt ?? now
                return now.timeIntervalSince(since) < Self.trial
            }.map {
                "\(host.pattern): \($0.pin) becomes active and was not a candidate for a week: nobody knows yet whether "
                    + "it matches in the field"
            }
        }
    }

    /// Hosts to which clients connect with the published pins, but could not connect with the new ones. This compares
    /// two files, because no connection would show it: a host that is in no file is not dialled.
    var lostHosts: [Finding] {
        live.map { RepositoryLostHosts(from: $0, to: new).lines.map { Finding(check: .dropped, text: $0) } } ?? []
    }

    // MARK: The present

    /// Connects to every host that can be dialled, at each of its addresses.
    func ask(
        _ connection: ConnectionOptions, at now: Date
    ) async throws -> (findings: [Finding], remarks: [String]) {
        let published = try PublishedPins(pinFile: data, named: "the new pin file")
        var remarks: [String] = []
        let open = published.namesThatCannotBeDialled
        if !open.isEmpty { remarks.append("not asked, since they name no host: \(open.joined(separator: ", "))") }
        let limit = Duration.seconds(connection.timeout)
        let lookup = try RevocationLookup(lists: [], fetches: false, within: limit)
        let probe = try await ServerProbe(options: connection)
        let examinations = try published.hosts.map { host in
            let dialled = try connection.dialled(host)
            return HostExamination(
                policy: published.policy(of: dialled) ?? StandardPolicy(host: HostPattern(dialled)), host: dialled,
                report: CheckReport(host: dialled, time: now, pins: published.pins(of: dialled, at: now)), watch: nil,
                pins: published)
        }
        let all = await SideBySide.map(examinations, atMost: Self.hostsAtOnce) { examination in
            (host: examination.host, reports: await examination.runEverywhere(probe, lookup, within: limit))
        }
        return (all.flatMap { findings(of: $0.host, $0.reports) }, remarks)
    }

    private func findings(of host: DialledHost, _ reports: [CheckReport]) -> [Finding] {
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
        guard let entry = entry(of: host, in: new), !entry.isRetired else { return findings }
        let served = Set(
            reports.flatMap { report in
                ((report.chain ?? []) + (report.anchor.map { [$0] } ?? [])).compactMap(\.keyPin)
            })
        guard !served.isEmpty else { return findings }
        let backups = entry.pins.filter { $0.state == .backup }
        if !backups.contains(where: { !served.contains($0.pin.description) }) {
            findings.append(Finding(check: .backup, text: "\(host): every backup pin is of a chain that it serves"))
        }
        guard let before = live.flatMap({ self.entry(of: host, in: $0) }), !before.isRetired else { return findings }
        for pin in before.pins
        where pin.state != .candidate && served.contains(pin.pin.description)
            && !entry.pins.contains(where: { $0.pin == pin.pin && $0.state != .candidate })
        {
            findings.append(
                Finding(check: .dropped, text: "\(host): \(pin.pin) is in a chain that it serves, and would not count"))
        }
        return findings
    }

    /// The entry that decides about a host, found as clients find it.
    private func entry(of host: DialledHost, in file: PinFile) -> PinFile.Host? {
        file.hosts.filter { $0.pattern.matches(host) }.min { $0.pattern < $1.pattern }
    }

    private static func entry(_ file: PinFile, _ pattern: HostPattern) -> PinFile.Host? {
        file.hosts.first { $0.pattern == pattern }
    }

    private static func accepts(_ file: PinFile, _ pattern: HostPattern, _ pin: Pin) -> Bool {
        entry(file, pattern)?.pins.contains { $0.pin == pin && $0.state != .candidate } ?? false
    }
}
