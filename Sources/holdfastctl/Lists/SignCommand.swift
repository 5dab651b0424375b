import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl sign`
struct SignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign the fingerprints of certificates, for the list that clients download.",
        discussion: """
            A certificate comes from a file (PEM or DER; issuers follow it in the file), from a server, or is named by \
            its fingerprint: SHA-256 of its DER in hexadecimal, colons allowed, or in Base64. An argument is a file if \
            a file with that name exists, if it has a slash in it, or if it ends in .pem, .der, .crt or .cer. \
            Everything else is a host. Several arguments are signed together, or none of them. Every address of a host \
            is asked, and each for an ECDSA key and for an RSA key. All certificates that are found are signed, because \
            some clients see one and some another.

            A certificate is signed for the name of its host. A certificate from a file is signed for its common name \
            if subjectAltName has that too, or for its only DNS name. --name gives other names; it can be repeated, \
            and takes wildcards as they are in the certificate. The entry expires with the certificate.

            Nothing is signed unless the certificate is for its name, has not expired, and its chain validates. \
            --allow-untrusted waives the last condition. A list pins certificates, and a certificate is renewed at two \
            thirds of its life: what is left then must suffice for every client to get the list with its successor \
            (--staleness). None of this can be checked for a fingerprint.

            With --list the entries go into that file, which is created if it does not exist. They replace the entries \
            for the same name and certificate, or with --replace all entries for the same name. The list must be \
            signed with this key; it is sorted and replaced as a whole, and left unchanged if anything fails. Without \
            --list a list of only the new entries is printed.

            EXAMPLES
              holdfastctl sign www.example.com --key signer.pem --list pins.json \\
                --no-shipped-pins
              holdfastctl sign current.pem next.pem --key signer.pem --list pins.json \\
                --replace
              holdfastctl sign chain.pem --name '*.example.com' --key signer.pem \\
                --password-file secret.txt --force offline
              holdfastctl sign intranet.example --ca company-root.pem --key signer.pem \\
                --no-shipped-pins -o pins.json
              holdfastctl sign --key signer.pem --name www.example.com \\
                --no-shipped-pins --expires 2027-02-19 --fingerprint \\
                3113500c4a66708584bf6aa4d4b7e7d9c5a4bcde3113500c4a66708584bf6aa4

            A new entry takes nothing from clients, with two exceptions: --replace, and the first entry of a name that \
            a wildcard of the list has covered so far, because clients do not look at the wildcard anymore then. In \
            both cases, and before a new list is made, with --list or without, the hosts are asked, and the outlook judges \
            every client, as list remove does: with --shipped or --no-shipped-pins, --replaced and --platform. Nothing is \
            written or printed if clients that get in now would be locked out by the new list (--force refused), or if \
            something is not known, because a host could not be asked or nobody has said which versions of the app are in \
            the field (--force unreachable; --force offline asks no host). If clients that hold something else are locked \
            out all the same, the list is signed, and the exit code is 1. A new list is judged as the first one: name what \
            was published before it with --replaced.

            Exit codes: 0 signed, and clients get in, 1 a certificate is not fit to be signed for, the list does not \
            verify, or clients would be locked out; or it was signed, and clients are locked out as before, 2 wrong usage, \
            3 could not connect, read or write, or the app versions are unknown, 4 signed, but clients get in only by grace.

            With --list and --json one object is printed on success: list, created, signed (change, which is added, \
            replaced or unchanged, state, name, fingerprint, expires, expiryDate, daysLeft), removed, entries (how \
            many the list has), namesWithoutBackup, and if hosts were asked findings (kind, host, text, until), premises. \
            Without --list the premises go to standard error.
            """)

    @Argument(
        help: ArgumentHelp("Certificate files and hosts.", valueName: "file | host[:port]"), completion: .file())
    var sources: [String] = []

    @OptionGroup
    var key: KeyOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Sign for this name. Repeatable.", valueName: "name"))
    var name: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The SHA-256 of a certificate, instead of one.", valueName: "hex or Base64"),
        transform: ListFingerprint.init)
    var fingerprint: ListFingerprint?

    @Option(
        name: [.customShort("t"), .long],
        help: ArgumentHelp("When that certificate expires: Unix seconds, or a date in UTC.", valueName: "time"),
        transform: TimeArgument.seconds)
    var expires: Int64?

    @Option(
        help: ArgumentHelp(
            "Sign for the certificate that is this many above the server's own in the valid path, for example 1 "
                + "for its issuer. The number is written beside the entry, but it is not signed.", valueName: "number"))
    var depth = 0

    @Option(
        help: ArgumentHelp(
            "How long a client may go on with an older list, such as 30d; 7d without it.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness = TimeSpan.usualStaleness

    @Option(
        help: ArgumentHelp("Put the entries into this list.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var list: String?

    @OptionGroup
    var output: DocumentOutput

    @Flag(help: "Remove what the list has for the same names.")
    var replace = false

    @Flag(name: .customLong("allow-untrusted"), help: "Sign even if a chain does not validate.")
    var allowUntrusted = false

    @OptionGroup
    var printing: PrintOptions

    @OptionGroup
    var check: ListChangeCheck

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    private struct Report: Encodable {
        let list: String
        let created: Bool
        let signed: [ListChange.Signed]
        let removed: [FingerprintListReport.Entry]
        let entries: Int
        let namesWithoutBackup: [String]
        let findings: [HostsOutlook.Finding]?
        let premises: [String]?
    }

    func validate() throws {
        guard (0...16).contains(depth) else { throw ValidationError("The depth must be 0 to 16, not \(depth).") }
        if fingerprint != nil {
            guard sources.isEmpty, !allowUntrusted else {
                throw ValidationError(
                    "--fingerprint stands for a certificate: it excludes files, hosts and --allow-untrusted.")
            }
            guard expires != nil, !name.isEmpty else {
                throw ValidationError("--fingerprint needs --name and --expires.")
            }
        } else {
            guard !sources.isEmpty else {
                throw ValidationError("Name a certificate file, a host, or a --fingerprint.")
            }
            guard expires == nil else {
                throw ValidationError("--expires goes with --fingerprint; a certificate says itself when it expires.")
            }
            for source in sources where !PinInput.isFile(source) {
                do {
                    _ = try ServerAddress.hostWithOptionalPort(source)
                } catch {
                    throw ValidationError("\(source.quotedAddress) is neither a file nor a host: \(error)")
                }
            }
            guard
                !check.overrides.isOffline || list != nil || sources.contains(where: { !PinInput.isFile($0) })
                    || !connection.concernsConnections
            else {
                throw ValidationError("With --force offline, connection options go with a host or with --list.")
            }
        }
        guard list == nil || !output.isFile else {
            throw ValidationError("--list adds to a list, and -o writes a new one: give one of them.")
        }
        guard list != nil || !(replace || printing.json) else {
            throw ValidationError("--replace and --json go with --list.")
        }
    }

    func run() async throws {
        let key = try key.read()
        let now = SystemWallClock().now
        let passed = try await passed(at: now)
        guard passed.problems.isEmpty else {
            throw CommandFailure(.notSigned, "nothing was signed\n" + passed.problems.joined(separator: "\n"))
        }
        for warning in passed.warnings { Output.standard.remark("warning: \(warning)") }
        let entries = passed.entries
        guard let list else { return try await writeNewList(of: passed, signedBy: key, at: now) }
        func sign(_ draft: inout PinListDraft) throws -> Data {
            if replace { draft.replace(with: entries) } else { for entry in entries { draft.add(entry) } }
            return try draft.signed(by: key)
        }
        var settled: SettledChange?
        if let preview = try PinListFile(list).preview(
            signedBy: try key.publicKey, creating: true, at: now, sign)
        {
            let names = passed.names.filter { name in
                guard !replace, let old = preview.old else { return true }
                return preview.new.hasLost(anyOf: old, for: name, at: now)
            }
            if !names.isEmpty {
                settled = try await check.check(
                    preview, concerning: names, of: list, signedBy: try key.publicKey, staleness: staleness,
                    by: connection, at: now)
            }
        }
        let change = try PinListFile(list).update(signedBy: try key.publicKey, creating: true, sign)
        let report = Report(
            list: list, created: change.old == nil, signed: change.signed(entries, at: now),
            removed: change.removed(at: now), entries: change.count,
            namesWithoutBackup: change.namesWithoutBackup(at: now), findings: settled?.open,
            premises: settled?.premises)
        let telling = PinListFile(list).tells
        try printing.print(report, to: telling) { print(report, to: $0) }
        FingerprintListReport.warn(ofNamesWithoutBackup: report.namesWithoutBackup, .standard)
        try settled?.finish()
    }

    /// Writes a list of only the new entries, evaluated like a first list.
    private func writeNewList(of passed: ListSubjects.Passed, signedBy key: SigningKey, at now: Date) async throws {
        let draft = PinListDraft(passed.entries)
        let (data, publicKey) = (try draft.signed(by: key), try key.publicKey)
        let name = output.isFile ? output.path ?? "" : "the list"
        let pins = try CommandFailure.rethrowing { () throws(PublishingError) in
            try PublishedPins(list: data, named: name, key: publicKey, at: now)
        }
        let settled = try await check.check(
            (old: nil, new: pins), concerning: passed.names, of: name, signedBy: publicKey, staleness: staleness,
            by: connection, at: now)
        for premise in settled?.premises ?? [] { Output.standard.remark("note: \(SafeText.escapedLine(premise))") }
        try output.write(String(decoding: data, as: UTF8.self))
        FingerprintListReport.warn(ofNamesWithoutBackup: draft.namesWithoutBackup(at: now), .standard)
        try settled?.finish()
    }

    private func print(_ report: Report, to output: Output) {
        report.findings?.printHeadline(to: output)
        let count = "\(report.entries) \(report.entries == 1 ? "entry" : "entries")"
        output.line("\(report.list): \(count)\(report.created ? ", a new list" : "")")
        for signed in report.signed {
            output.line(
                .init(signed.change.rawValue.padded(to: 11), .good), .init(SafeText.escapedLine(signed.entry.name)),
                .init("  \(signed.entry.remaining)  "), .init(signed.entry.certificatePin, .faint))
        }
        for entry in report.removed {
            output.line(
                .init("removed".padded(to: 11), .bad), .init(SafeText.escapedLine(entry.name)),
                .init("  \(entry.remaining)  "), .init(entry.certificatePin, .faint))
        }
        for premise in report.premises ?? [] { output.line("  \(SafeText.escapedLine(premise))", .faint) }
    }

    // MARK: Subjects

    /// Finds the certificates to sign for, and checks each before it becomes an entry.
    private func passed(at now: Date) async throws -> ListSubjects.Passed {
        if let fingerprint, let expires {
            return try ListSubjects.passed(fingerprint, for: name, expires: expires, depth: depth, at: now)
        }
        var rules = ListSubjects.Rules(staleness: .seconds(staleness.seconds))
        (rules.allowsUntrusted, rules.depth) = (allowUntrusted, depth)
        var subjects = ListSubjects(names: name, rules: rules, at: now)
        let asksHosts = sources.contains { !PinInput.isFile($0) }
        let anchors = try await anchors(asksHosts: asksHosts)
        let probe = asksHosts ? try await connection.probe() : nil
        for source in sources {
            if let probe, !PinInput.isFile(source) {
                try await add(source, to: &subjects, by: probe)
            } else {
                try subjects.add(try InputFile.chain(of: source).certificates, ofFile: source)
            }
        }
        return subjects.passed(trusting: anchors)
    }

    private func anchors(asksHosts: Bool) async throws(CommandFailure) -> TrustAnchors {
        do throws(CommandFailure) {
            return try await connection.anchors()
        } catch {
            guard allowUntrusted, !asksHosts, error.code == .noAnchors else { throw error }
            return TrustAnchors([])
        }
    }

    private func add(_ source: String, to subjects: inout ListSubjects, by probe: HostProbe) async throws {
        let host = try connection.dialed(try ServerAddress.hostWithOptionalPort(source))
        // The decision does not matter here: the presented chain is checked name by name afterward.
        let findings = await probe.ask(host)
        if let failure = findings.commandFailure { throw PinInput.noFile(failure, host.name) }
        if let remark = findings.remark { Output.standard.remark("\(source): \(remark)") }
        subjects.add(findings.shown.compactMap(\.decision.chain), of: host, named: source)
    }
}
