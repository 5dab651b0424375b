import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastSigning

/// `holdfastctl list remove`
struct ListRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the entries of a name or of a certificate from a list.",
        usage: """
            holdfastctl list remove <list> <name | fingerprint> ... \\
              --public-key <public> [<options>]
            """,
        discussion: """
            The list is verified first, and no private key is needed: the remaining entries keep their signatures.

            Clients refuse a list that has no entry for a name for which they have live entries, because connections \
            to that host would have no pins. So the last live entry of a name stays, unless --retire is given for a \
            host that no longer exists. Clients then keep its old entry until the app forces the list, or until the \
            entry expires.

            EXAMPLES
              holdfastctl list remove pins.json old.example.com --retire \\
                --public-key signer.pub
              holdfastctl list remove pins.json --public-key signer.pub \\
                3113500c4a66708584bf6aa4d4b7e7d9c5a4bcde3113500c4a66708584bf6aa4

            Exit codes: 0 success, 1 the list does not verify, has no such entry, a name would lose its last one, or \
            clients would be locked out, 2 wrong usage, 3 it could not be read or written, or a host not be asked.

            With --json one object is printed: file, removed (the fields of the entries of verify), remaining.
            """)

    @Argument(help: ArgumentHelp("The list.", valueName: "list"), completion: .file(extensions: ["json"]))
    var list: String

    @Argument(
        help: ArgumentHelp(
            "Names as in the list, and the SHA-256 of certificates in hexadecimal or Base64.",
            valueName: "name | fingerprint"))
    var subjects: [String]

    @Option(
        name: .customLong("public-key"), help: ArgumentHelp(PublicKeyArgument.help, valueName: "public"),
        completion: .file(),
        transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>

    @Flag(help: "Remove the last live entry of a name as well.")
    var retire = false

    @OptionGroup
    var printing: PrintOptions

    @OptionGroup
    var check: ListChangeCheck

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws { try key.validate("--public-key") }

    func run() async throws {
        let now = SystemWallClock().now
        // An entry is valid up to and including the second of its expiration.
        let second = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        var removed: [FingerprintEntry] = []
        var orphans: [String] = []
        func remove(from draft: inout PinListDraft) throws -> Data {
            removed = []
            for subject in subjects {
                let found = draft.remove { Self.matches($0, subject) }
                guard !found.isEmpty else {
                    throw CommandFailure(
                        .invalidList, "\(list) is left as it is: it has no entry of \(SafeText.escapedLine(subject))")
                }
                removed += found
            }
            let live = Set(draft.entries.filter { $0.expiryDate >= second }.map { Array($0.name.utf8) })
            orphans = Set(removed.filter { $0.expiryDate >= second }.map { Array($0.name.utf8) }).subtracting(live)
                .sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
            guard orphans.isEmpty || retire else {
                throw CommandFailure(
                    .invalidList,
                    "\(list) is left as it is: \(Self.listed(orphans)) would have no live entry, and clients refuse "
                        + "such a list. Sign what replaces it first; --retire is for a host that is gone.")
            }
            return try draft.withItsSignatures()
        }
        let (file, publicKey) = (PinListFile(list), try key.get())
        if let preview = try file.preview(signedBy: publicKey, at: now, remove) {
            // A host that is gone cannot be asked.
            let names = removed.filter { entry in
                entry.expiryDate >= second && !orphans.contains { $0.utf8.elementsEqual(entry.name.utf8) }
            }.map(\.name)
            try await check.check(preview, concerning: names, of: list, by: connection, at: now)
        }
        let change = try file.update(signedBy: publicKey, creating: false, remove)
        if !orphans.isEmpty {
            Output.standard.remark(
                "warning: \(Self.listed(orphans)) has no live entry any more: clients that know one refuse this list")
        }
        try ListRemoval(file: list, removed: removed.map { .init($0, now: now) }, remaining: change.after.count)
            .print(printing, to: PinListFile(list).tells)
    }

    private static func listed(_ names: [String]) -> String {
        names.map { SafeText.escapedLine($0) }.joined(separator: ", ")
    }

    private static func matches(_ entry: FingerprintEntry, _ subject: String) -> Bool {
        if let pin = try? SignCommand.fingerprint(subject) { return entry.pin == pin }
        return ASCIIText.lowercased(entry.name) == ASCIIText.lowercased(subject)
    }
}
