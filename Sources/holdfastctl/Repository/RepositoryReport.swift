import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// The result of a verb, and the state afterward. Its fields are those of the JSON object.
struct RepositoryReport: Encodable {
    struct Draft: Encodable {
        let role: String
        let root: Int64
        let threshold: Int
        let signed: [String]
        let missing: [String]
    }

    /// The first line.
    var verdict: String
    var isGood = true
    /// Whether clients can connect now, but not for long. The exit code reports it.
    var endsSoon = false
    /// Whether it is unknown if clients can connect. The exit code reports it.
    var isUnknown = false
    /// Whether the answer is about files alone, because no host was probed. In that case it is never printed in green.
    var isOffline = false
    var roles: [RepositoryRole]?
    /// The SHA-256 of the first root, in hexadecimal. Everything was verified from this root.
    var firstRoot: String?
    /// The SHA-256 of the newest published root, in hexadecimal, if it is not the first, and its version.
    var newestRoot: String?
    var newestRootVersion: Int64?
    /// The missing requirements of drafts.
    var drafts: [Draft]?
    /// The names of keys, by their ids.
    var keyNames: [String: String]?
    /// The changes in the drafts.
    var changes: [String]?
    /// How far apps that were built with a certain root can follow.
    var following: RepositoryFollowing?
    /// When the published pins end. Grace follows, which is never planned time.
    var pinsNotAfter: String?
    /// When clients stop using the published pins, grace included.
    var pinsEnd: String?
    /// Problems of clients; absent if no host was probed.
    var findings: [HostsOutlook.Finding]?
    /// The premises of the answer about the hosts.
    var premises: [String]?
    /// The files that were written, in their order.
    var written: [String]?
    var warnings: [String] = []
    /// The checks that `--force` overrode.
    var overridden: [String] = []
    /// The next steps.
    var next: [String] = []

    init(_ verdict: String, isGood: Bool = true) {
        self.verdict = verdict
        self.isGood = isGood
    }

    /// The exit code; nil if all is well.
    var status: CommandFailure.Status? {
        !isGood ? .negativeAnswer : isUnknown ? .couldNotFindOut : endsSoon ? .endsSoon : nil
    }

    /// The report as metrics.
    /// - Parameter name: the folder or the URL of the repository.
    func metrics(of name: String) -> PrometheusText.Subject {
        var ends: [(what: String, date: Date)] = (roles ?? following?.roles ?? []).map { ($0.role, $0.end) }
        for (what, text) in [
            ("pins", pinsNotAfter ?? following?.pinsNotAfter), ("grace", pinsEnd ?? following?.pinsEnd),
        ] {
            if let end = text.flatMap({ try? Date($0, strategy: .iso8601) }) { ends.append((what, end)) }
        }
        return PrometheusText.Subject(name: name, status: status, ends: ends)
    }

    /// Reports if the published pins lock out clients, or work only in grace, which is for accidents.
    mutating func judge(_ endings: TUFRepositoryEndings) {
        let need = "only the offline key can sign new pins (repository pins, sign, publish)"
        if !endings.lockedOut.isEmpty {
            let hosts = endings.lockedOut.prefix(10).map(\.description).joined(separator: ", ")
            warnings.insert(verdict, at: 0)
            verdict =
                "CLIENTS ARE LOCKED OUT of \(hosts): the pins ran out"
                + (endings.pinsEnd.map { " at \($0.formatted(.iso8601))" } ?? "") + "; \(need)"
            isGood = false
        } else if let end = endings.graceEnd, isGood {
            warnings.insert(verdict, at: 0)
            verdict = "The pins are over, and clients get in by grace until \(end.formatted(.iso8601)): \(need)"
            endsSoon = true
        }
    }

    /// Probes the hosts of the clients' documents, unless the pins are known to lock out clients, and adds the effect
    /// on clients.
    /// - Parameters:
    ///   - published: the documents that clients hold.
    ///   - earlier: the documents of clients that have not updated for a while.
    ///   - clients: the options about clients.
    ///   - root: the first root of the repository, or the one of the app.
    ///   - isOverridden: whether findings of a kind do not matter.
    mutating func ask(
        _ published: [PublishedPins], after earlier: EarlierDocuments, in clients: ClientOptions,
        builtWith root: Data?, by connection: ConnectionOptions, watch: TimeSpan?,
        overriding isOverridden: (HostsOutlook.Finding.Kind) -> Bool = { _ in false }, at now: Date
    ) async throws(CommandFailure) {
        guard isGood, !published.isEmpty else { return }
        let asked = try await AskedHosts(
            of: published, after: earlier, in: clients, builtWith: root, by: connection, watch: watch, at: now)
        warnings += asked.remarks
        premises = asked.premises
        let open = asked.findings.filter { !isOverridden($0.kind) }
        overridden += asked.findings.filter { isOverridden($0.kind) }.map { "\($0.kind.rawValue): \($0.text)" }
        if !open.isEmpty || asked.findings.isEmpty { take(open) }
    }

    /// Adds the findings about clients that hold other documents, whether pins were signed and published or not.
    mutating func take(_ change: SettledChange) {
        premises = change.premises
        guard !change.open.isEmpty else { return }
        take(change.open)
    }

    private mutating func take(_ found: [HostsOutlook.Finding]) {
        findings = found
        func texts(_ kind: HostsOutlook.Finding.Kind) -> [String] { found.filter { $0.kind == kind }.map(\.text) }
        let (refused, unreachable, ending) = (texts(.refused), texts(.unreachable), texts(.ending))
        let before = verdict
        let headline = found.headline ?? verdict
        switch found.status {
        case .negativeAnswer: (verdict, isGood) = (headline, false)
        case .couldNotFindOut: (verdict, isUnknown) = (headline, true)
        case nil: if status == nil { verdict += ", and clients get in at every host that was asked" }
        default:
            if !endsSoon { verdict = headline }
            endsSoon = true
        }
        if status != nil, !verdict.utf8.elementsEqual(before.utf8) { warnings.insert(before, at: 0) }
        let others = refused + unreachable + ending
        warnings += others.filter { !verdict.hasSuffix($0) }
    }

    /// Adds the published state.
    mutating func take(_ state: TUFRepositoryState, at now: Date) throws(CommandFailure) {
        guard let live = state.live, let root = live.root else { return }
        take(live.roots)
        var roles: [RepositoryRole] = []
        for file in [root, live.targets, live.snapshot, live.timestamp] {
            let keys = try CommandFailure.translating { () throws(TUFRepositoryError) in
                try state.keys(of: file.role, in: .published)
            }
            let signed = try CommandFailure.translating { () throws(TUFRepositoryError) in
                try state.signers(of: file)
            }
            roles.append(RepositoryRole(file, keys: keys.ids, threshold: keys.threshold, signed: signed, at: now))
        }
        self.roles = roles
        takeNames(state)
        let pins = live.pinFile
        pinsNotAfter = pins?.notAfter?.formatted(.iso8601)
        pinsEnd = pins?.end?.formatted(.iso8601)
    }

    private mutating func take(_ roots: [TUFMetadataFile]) {
        firstRoot = roots.first?.fingerprint
        guard roots.count > 1, let newest = roots.last else { return }
        (newestRoot, newestRootVersion) = (newest.fingerprint, newest.version)
    }

    /// Adds the drafts.
    mutating func takeDrafts(_ state: TUFRepositoryState, withChanges: Bool) throws(CommandFailure) {
        take(state.live?.roots ?? [])
        takeNames(state)
        guard !state.hasNoDraft else { return }
        drafts = try CommandFailure.translating { () throws(TUFRepositoryError) in try state.progress() }.map {
            Draft(
                role: $0.role.rawValue, root: $0.root, threshold: $0.threshold, signed: $0.signed, missing: $0.missing)
        }
        guard withChanges else { return }
        changes = try CommandFailure.translating { () throws(TUFRepositoryError) in try state.changes() }
    }

    private mutating func takeNames(_ state: TUFRepositoryState) {
        let named = state.publicKeys(of: TUFRole.allCases).compactMap { key in key.name.map { (key.id, $0) } }
        guard !named.isEmpty else { return }
        keyNames = Dictionary(named) { first, _ in first }
    }

    /// The name of a key with the beginning of its id, or the whole id.
    private func text(ofKey id: String) -> String {
        guard let name = keyNames?[id] else { return SafeText.escapedLine(id) }
        return SafeText.escapedLine("\(name) (\(id.prefix(12))…)")
    }

    /// Warns of earlier drafts that were discarded, or that the key did not sign.
    mutating func warn(ofStale stale: [TUFRole], unread: [TUFRole]) {
        warnings += stale.map {
            "an older draft of \($0.rawValue) was discarded: something else was published since it was prepared"
        }
        warnings += unread.map {
            "\($0.rawValue) was not signed: it contains a draft that was there before, and that the key has not signed. "
                + "Read what changes, then use holdfastctl repository sign"
        }
    }

    /// Warns of drafts that publish would refuse, as far as that is known without probing a host.
    mutating func warn(ofRefusalsOf state: TUFRepositoryState, in place: RepositoryPlace, at now: Date)
        throws(CommandFailure)
    {
        warnings += state.refusals(at: now, allowing: [.expiry]).map { "publish will refuse this: \($0)" }
        warnings += state.refusals(at: now).filter { $0.code == .tooShort }.map {
            "publish will refuse this, unless --force names expiry: \($0)"
        }
        guard let pins = state.draftPins else { return }
        warnings += try PinFileReading.pinFile(pins, named: "\(place.path)/draft/pins.json").coveredReports.map(\.text)
        let end = now.addingTimeInterval(TUFRepositoryState.Lifetimes().timestamp.inSeconds)
        let check = try RepositoryPinCheck(new: pins, live: state.live?.pinFile, path: place.path, at: now, until: end)
        warnings += (check.rules.changes + check.rules.backups).map {
            "publish will refuse this, unless --force names \($0.kind.rawValue): \($0.text)"
        }
    }

    /// Whether every draft has the signatures that it needs.
    var isSigned: Bool { (drafts ?? []).allSatisfy { $0.signed.count >= $0.threshold } }

    /// - Parameter isQuiet: whether only warnings are printed if all is well.
    func print(asJSON: Bool, isQuiet: Bool = false) throws {
        let output = Output.standard
        guard !asJSON else { return try output.json(self) }
        guard !isQuiet || status != nil else {
            for warning in warnings { output.complain("warning: \(SafeText.escapedLine(warning))") }
            return
        }
        output.line(SafeText.escapedLine(verdict), status != nil ? .bad : isOffline ? .plain : .good)
        if let following, following.verdict != verdict {
            output.line("  \(SafeText.escapedLine(following.verdict))", following.isGood ? .good : .bad)
        }
        for role in roles ?? following?.roles ?? [] {
            output.line(
                "  \(role.role.padded(to: 10))version \(role.version), \(DaysLeft.text(role.daysLeft)), "
                    + "\(role.threshold) of \(role.keys.count) \(role.keys.count == 1 ? "key" : "keys")")
            for key in role.keys {
                let sign = role.signed.contains { $0.utf8.elementsEqual(key.utf8) } ? ", has signed" : ""
                output.line("            \(text(ofKey: key))\(sign)", .faint)
            }
        }
        if let notAfter = pinsNotAfter ?? following?.pinsNotAfter, let end = pinsEnd ?? following?.pinsEnd {
            output.line("  pins      valid until \(notAfter), then by grace until \(end)")
        }
        if let firstRoot { output.line("  first root, SHA-256 \(firstRoot)", .faint) }
        if let newestRoot, let newestRootVersion {
            output.line("  newest root, version \(newestRootVersion), SHA-256 \(newestRoot)", .faint)
        }
        if let changes {
            output.heading("What changes")
            for change in changes { output.line("  \(SafeText.escapedLine(change))") }
        }
        if let drafts {
            output.heading("Signatures")
            for draft in drafts {
                output.line(
                    "  \(draft.role), by the keys of root \(draft.root): \(draft.signed.count) of "
                        + "\(draft.threshold) needed",
                    draft.signed.count >= draft.threshold ? .good : .bad)
                if draft.signed.count < draft.threshold {
                    for key in draft.missing { output.line("    not yet \(text(ofKey: key))", .faint) }
                }
            }
        }
        for premise in premises ?? [] { output.line("  \(SafeText.escapedLine(premise))", .faint) }
        for path in written ?? [] { output.line("  wrote \(path)", .faint) }
        for line in overridden { output.line("  overridden: \(SafeText.escapedLine(line))", .bad) }
        for line in next { output.line("Next: \(line)") }
        for warning in warnings { output.complain("warning: \(SafeText.escapedLine(warning))") }
    }

    private enum CodingKeys: CodingKey {
        case verdict, isGood, roles, firstRoot, newestRoot, newestRootVersion, drafts, changes, following, pinsEnd,
            pinsNotAfter, keyNames, findings, premises
        case written, warnings, overridden, next
    }
}
