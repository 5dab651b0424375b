import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
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
              holdfastctl sign www.example.com --key signer.pem --list pins.json
              holdfastctl sign current.pem next.pem --key signer.pem --list pins.json \\
                --replace
              holdfastctl sign chain.pem --name '*.example.com' --key signer.pem \\
                --password-file secret.txt
              holdfastctl sign intranet.example --ca company-root.pem --key signer.pem \\
                -o pins.json
              holdfastctl sign --key signer.pem --name www.example.com \\
                --expires 2027-02-19 --fingerprint \\
                3113500c4a66708584bf6aa4d4b7e7d9c5a4bcde3113500c4a66708584bf6aa4

            A new entry takes nothing from clients, with two exceptions: --replace, and the first entry of a name that \
            a wildcard of the list has covered so far, because clients do not look at the wildcard any more then. In \
            both cases the hosts are asked, and the list stays as it is if clients that get in now would be locked out \
            by the new one (--force refused), or a host could not be asked (--force unreachable).

            Exit codes: 0 success, 1 a certificate is not fit to be signed for, the list does not verify, or clients \
            would be locked out, 2 wrong usage, 3 could not connect, read or write.

            With --list and --json one object is printed on success: list, created, signed (change, which is added, \
            replaced or unchanged, state, name, fingerprint, expires, expiryDate, daysLeft), removed, entries (how \
            many the list has), namesWithoutBackup.
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
        transform: Self.fingerprint)
    var fingerprint: Pin?

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
        help: ArgumentHelp("How long a client may go on with an older list, such as 7d.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness = TimeSpan.days(7)

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

    @Flag(help: "Print JSON instead of text; goes with --list.")
    var json = false

    @OptionGroup
    var check: ListChangeCheck

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    private struct Report: Encodable {
        enum Change: String, Encodable {
            case added, replaced, unchanged
        }

        struct Signed: Encodable {
            let change: Change
            let entry: PinListReport.Entry

            private enum Key: CodingKey {
                case change
            }

            func encode(to encoder: any Encoder) throws {
                try entry.encode(to: encoder)
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(change, forKey: .change)
            }
        }

        let list: String
        let created: Bool
        let signed: [Signed]
        let removed: [PinListReport.Entry]
        let entries: Int
        let namesWithoutBackup: [String]
    }

    func validate() throws {
        guard (0...16).contains(depth) else { throw ValidationError("The depth must be 0 to 16, not \(depth).") }
        if fingerprint != nil {
            guard sources.isEmpty, !allowUntrusted, replace || connection.isEmpty else {
                throw ValidationError(
                    "--fingerprint stands for a certificate: it excludes files, hosts and options for their chains."
                )
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
            guard list != nil || sources.contains(where: { !PinInput.isFile($0) }) || !connection.concernsConnections
            else {
                throw ValidationError("Connection options go with a host or with --list, not with files.")
            }
        }
        guard list != nil || check.force.isEmpty else { throw ValidationError("--force goes with --list.") }
        guard list == nil || !output.isFile else {
            throw ValidationError("--list adds to a list, and -o writes a new one: give one of them.")
        }
        guard list != nil || !(replace || json) else {
            throw ValidationError("--replace and --json go with --list.")
        }
    }

    func run() async throws {
        let key = try key.read()
        let now = SystemWallClock().now
        let entries: [FingerprintEntry]
        if let fingerprint, let expires {
            entries = try SignedSubjects.entries(
                for: name, fingerprint: fingerprint, expires: expires, depth: depth, now: now)
        } else {
            entries = try await SignedSubjects(
                names: name, connection: connection, allowsUntrusted: allowUntrusted, depth: depth,
                staleness: .seconds(staleness.seconds), now: now
            ).entries(of: sources)
        }
        guard let list else {
            let draft = PinListDraft(entries)
            try output.write(String(decoding: try draft.signed(by: key), as: UTF8.self))
            PinListReport.warn(ofNamesWithoutBackup: draft.namesWithoutBackup(at: now), .standard)
            return
        }
        func sign(_ draft: inout PinListDraft) throws -> Data {
            if replace { draft.replace(with: entries) } else { for entry in entries { draft.add(entry) } }
            return try draft.signed(by: key)
        }
        if let preview = try PinListFile(list).preview(signedBy: try key.publicKey, at: now, sign) {
            let names = entries.map(\.name).filter {
                replace || preview.new.hasLost(anyOf: preview.old, for: $0, at: now)
            }
            if !names.isEmpty {
                try await check.check(preview, concerning: names, of: list, by: connection, at: now)
            }
        }
        let change = try PinListFile(list).update(signedBy: try key.publicKey, creating: true, sign)
        let report = Report(
            list: list, created: change.isNew,
            signed: PinListDraft(entries).entries.map { entry in
                let kind: Report.Change =
                    change.before.contains(entry)
                    ? .unchanged
                    : change.before.contains { Self.areAlike($0, entry) } ? .replaced : .added
                return .init(change: kind, entry: .init(entry, now: now))
            },
            removed: change.before.filter { old in
                !change.after.contains { Self.areAlike($0, old) && $0.depth == old.depth }
            }.map { .init($0, now: now) },
            entries: change.after.count, namesWithoutBackup: PinListDraft(change.after).namesWithoutBackup(at: now))
        let telling = PinListFile(list).tells
        if json { try telling.json(report) } else { print(report, to: telling) }
        PinListReport.warn(ofNamesWithoutBackup: report.namesWithoutBackup, .standard)
    }

    /// Names are compared octet by octet, as clients do.
    private static func areAlike(_ one: FingerprintEntry, _ other: FingerprintEntry) -> Bool {
        one.name.utf8.elementsEqual(other.name.utf8) && one.pin == other.pin
    }

    private func print(_ report: Report, to output: Output) {
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
        let count = "\(report.entries) \(report.entries == 1 ? "entry" : "entries")"
        output.line("\(report.list): \(count)\(report.created ? ", a new list" : "")")
    }

    // MARK: Arguments

    /// Reads a fingerprint in hexadecimal as the reference tool takes it, in Base64 as lists have it, or as `pin`
    /// prints it.
    static func fingerprint(_ text: String) throws -> Pin {
        if text.hasPrefix("cert-sha256/") { return try Pin(text) }
        guard !text.hasPrefix("sha256/") else {
            throw CommandFailure(.wrongUsage, "expected the SHA-256 of a certificate, found the pin of a key")
        }
        if let pin = try? Pin("cert-sha256/\(text)") { return pin }
        if let octets = CanonicalBase64.decode(text.utf8),
            let pin = try? Pin(subject: .certificate, digest: octets)
        {
            return pin
        }
        throw CommandFailure(
            .wrongUsage, "expected the SHA-256 of a certificate, 64 hexadecimal digits or 44 characters of Base64")
    }
}
