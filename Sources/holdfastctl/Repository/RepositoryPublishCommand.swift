import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// `holdfastctl repository publish`
struct RepositoryPublishCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Check the drafts, and publish them.",
        usage: """
            holdfastctl repository publish <folder> --key <online key> [<options>]
            holdfastctl repository publish <folder> --plan [--json]
            """,
        discussion: """
            Asks every host of the new pin file at every address, as check --pins does, and judges every client on each \
            --platform. Then it makes snapshot and \
            timestamp with the online key. It rehearses the publication: after each single write, new clients and one \
            that knows what is published must accept what they find. Only then it writes the files to public: pins, \
            targets, snapshot, timestamp, root, bundle.json. If it is killed halfway, run it again.

            It refuses to publish, unless --force names the reason:
              refused   clients would be locked out of a host that was asked
              unreachable
                        a host could not be asked at one of its addresses, or nobody has
                        said which versions of the app are in the field (--shipped, each
                        with what it carries, or --no-shipped-pins), so nobody knows; it
                        overrides no lock-out that was seen
              backup    a host has no backup pin that lasts until the timestamp expires
                        and is outside of the chains that the host serves
              dropped   a pin of a chain that is served would no longer count in its
                        role, or a host that clients connect to now has no entry
                        anymore, is retired, or has other ports
              floor     installed apps would refuse the whole file: an entry changes to
                        mode report or onExpiry systemTrust, or app changes
              offline   no host is asked; refused is not checked, and backup, dropped and
                        expiry are checked only as far as the pin files tell
              lifetime  the timestamp lasts less than 7 days
              expiry    before the timestamp expires, the pin file does, grace included,
                        or all pins do that match what a host serves
              gap       clients of single files are refused between two writes, since an
                        old key is lost; bundle.json has no such gap

            Clients that have not asked yet still hold the published pins, or earlier ones: the folder keeps those, and \
            --replaced names others. If those clients, or versions of the app, are locked out whatever is published, the \
            command publishes, says so, and exits with 1. Roots alone change no pins: they are published, and then the hosts of \
            the published pins are asked, as renew does.

            It warns if a pin becomes active that was not published for a week as a candidate or a backup.

            While online keys are being replaced, give both the new one and the old one: what both have signed \
            verifies at every moment.

            With --plan it checks all of that and writes nothing. It prints the files in their order, each with the \
            headers and the precondition for an object store or a CDN. Without --key it prints the same for what is \
            published already, so that you can upload it; docs/formats.md has the fields of --json.

            EXAMPLES
              holdfastctl repository publish site --key online.pem --no-shipped-pins --plan
              holdfastctl repository publish site --key online.pem \\
                --shipped 7.4=app-7.4.pins.json
              holdfastctl repository publish site --key new-online.pem --key online.pem
              holdfastctl repository publish site --key online.pem --force offline
              holdfastctl repository publish site --plan --json | scripts/publish-s3 BUCKET

            Exit codes: 0 published or planned, 1 not published, because a check failed or a signature is missing; or \
            published, and clients that hold something else are locked out as before, 2 wrong usage, 3 a host could not be \
            asked, the app versions are unknown, or a file could not be read or written, 4 published, but clients get in only \
            by grace.
            """)

    @OptionGroup
    var place: RepositoryPlace

    @OptionGroup
    var root: RepositoryRootOption

    @OptionGroup
    var keys: RepositoryKeyOptions

    @OptionGroup
    var publishing: RepositoryPublishing

    @Option(help: ArgumentHelp("Publish even if this check fails. Repeatable.", valueName: "name"))
    var force: [RepositoryOverride] = []

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @OptionGroup
    var age: StalenessOptions

    @OptionGroup
    var platforms: PlatformOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws { try publishing.validate(keys) }

    func run() async throws {
        let files = try keys.read()
        let lock = try place.lock()
        defer { withExtendedLifetime(lock) {} }
        let state = try await place.state()
        try root.check(state, in: place.path)
        let signers = try keys.onlineSigners(files, of: state)
        let now = SystemWallClock().now
        if try await publishing.printUpload(of: state, in: place, signers, at: now) { return }
        var warnings: [String] = []
        var overridden: [String] = []
        var change: SettledChange?
        if let pins = state.draftPins {
            let end = now.addingTimeInterval(Double(publishing.lifetime.seconds))
            let check = try RepositoryPinCheck(
                new: pins, live: state.live?.pinFile, path: place.path, at: now, until: end)
            warnings += await check.rules.youngPins(in: place.folder, after: state.live?.targets.version)
            warnings += try PinFileReading.pinFile(pins, named: "\(place.path)/draft/pins.json").coveredReports.map(
                \.text)
            var findings = (check.rules.changes + check.rules.backups).map(RepositoryOverride.objection)
            var remarks: [String] = []
            if force.contains(.offline) {
                overridden.append("offline: no host was asked whether it has these pins")
            } else {
                let draft = try await RepositoryChange(to: pins, of: state, in: place, for: clients, at: now)
                let result = try await check.ask(connection, about: draft, on: clients.platforms)
                remarks = result.remarks
                findings += result.findings
                if let asked = result.asked {
                    let standing = asked.standing.filter { !isOverridden($0.kind) }
                    overridden += asked.standing.filter { isOverridden($0.kind) }
                        .map { "\($0.kind.rawValue): \($0.text)" }
                    change = SettledChange(open: standing, premises: asked.premises)
                }
            }
            overridden += try Self.overriding(findings, force, remarks)
            warnings += remarks
        } else if force.contains(.offline) {
            overridden.append("offline: no host was asked whether clients get in")
        }
        // New roots alone change no pins, and any clients they lock out are locked out in any case.
        let asksAfter = state.draftPins == nil
        try await publishing.publish(
            state, place, signers, includingDrafts: true, allowing: Set(force.compactMap(\.exception)),
            warnings: warnings, overridden: overridden, after: change,
            asking: asksAfter && !force.contains(.offline) ? connection : nil, in: asksAfter ? clients : nil,
            overriding: isOverridden, at: now)
    }

    /// Whether findings about clients that hold other documents do not matter. Hosts that only those know were dropped.
    private func isOverridden(_ kind: HostsOutlook.Finding.Kind) -> Bool {
        switch kind {
        case .refused: force.contains(.refused)
        case .unreachable: force.contains(.unreachable) || force.contains(.dropped)
        case .ending: false
        }
    }

    /// - Parameter remarks: hosts that could not be probed, or other remarks, if the publication is refused.
    /// - Returns: the overridden objections.
    private static func overriding(
        _ findings: [RepositoryOverride.Objection], _ force: [RepositoryOverride], _ remarks: [String]
    ) throws -> [String] {
        let open = findings.filter { !force.contains($0.kind) }
        for finding in open {
            Output.standard.complain("\(finding.kind.rawValue): \(SafeText.escapedLine(finding.text))")
        }
        guard open.isEmpty else {
            for remark in remarks { Output.standard.remark(SafeText.escapedLine(remark)) }
            Output.standard.complain("nothing was published")
            if open.allSatisfy({ $0.kind == .unreachable }) { Output.standard.remark(HostOverrides.remedy) }
            throw NegativeAnswer(
                status: open.allSatisfy { $0.kind == .unreachable } ? .couldNotFindOut : .negativeAnswer)
        }
        return findings.map { "\($0.kind.rawValue): \($0.text)" }
    }
}

/// A check that `--force` overrides.
enum RepositoryOverride: String, ExpressibleByArgument, CaseIterable {
    case refused, unreachable, backup, dropped, floor, offline, lifetime, expiry, gap

    /// A reason not to publish, and its name.
    typealias Objection = (kind: RepositoryOverride, text: String)

    static func objection(_ finding: PinPublicationCheck.Finding) -> Objection {
        (kind: Self(finding.kind), text: finding.text)
    }

    init(_ kind: PinPublicationCheck.Finding.Kind) {
        self =
            switch kind {
            case .refused: .refused
            case .unreachable: .unreachable
            case .backup: .backup
            case .dropped: .dropped
            case .floor: .floor
            case .expiry: .expiry
            }
    }

    var exception: TUFPublication.Exception? {
        switch self {
        case .lifetime: .lifetime
        case .expiry: .expiry
        case .gap: .gap
        case .refused, .unreachable, .backup, .dropped, .floor, .offline: nil
        }
    }
}
