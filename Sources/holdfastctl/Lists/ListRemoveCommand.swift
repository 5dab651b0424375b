import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
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

            Every host that the change concerns is asked at every address, and the outlook judges every client on each \
            --platform. An entry stays if clients that get in now would be locked out without it; if they would get in for \
            a shorter time than before, the command warns. It also stays as long as something is not known, for example \
            which versions of the app are in the field: name them with --shipped, each with what it carries, or give \
            --no-shipped-pins. --force names what does not matter: refused, if clients would be locked out; unreachable, \
            if something is not known; offline, to ask no host.

            Clients that have not asked yet still hold the list as it is now, or an earlier one (--replaced). If those, or \
            versions of the app, are locked out whether the list changes or not, it is changed, and the exit code is 1.

            EXAMPLES
              holdfastctl list remove pins.json old.example.com --retire \\
                --public-key signer.pub
              holdfastctl list remove pins.json --public-key signer.pub \\
                --no-shipped-pins \\
                3113500c4a66708584bf6aa4d4b7e7d9c5a4bcde3113500c4a66708584bf6aa4

            Exit codes: 0 changed, and clients get in, 1 the list does not verify, has no such entry, a name would lose its \
            last one, or clients would be locked out; or it was changed, and clients are locked out as before, 2 wrong \
            usage, 3 it could not be read or written, a host not be asked, or the app versions are unknown, 4 changed, but \
            clients get in only by grace.

            With --json one object is printed: file, removed (the fields of the entries of verify), remaining, findings \
            (kind, host, text, until), premises.
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
    var output: ListOutput

    @OptionGroup
    var printing: PrintOptions

    @OptionGroup
    var check: ListChangeCheck

    @Option(
        help: ArgumentHelp(
            "How long a client may go on with an older list, such as 30d; 7d without it.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness = TimeSpan.usualStaleness

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws { try key.validate("--public-key") }

    func run() async throws {
        let now = SystemWallClock().now
        var removal: ListRemoval?
        func remove(from draft: inout PinListDraft) throws -> Data {
            removal = try ListRemoval(of: subjects, from: &draft, named: list, retiring: retire, at: now)
            return try draft.withItsSignatures()
        }
        let (file, publicKey) = (PinListFile(list, writing: output.path), try key.get())
        var settled: SettledChange?
        if let preview = try file.preview(signedBy: publicKey, creating: false, at: now, remove) {
            // A host that no longer exists cannot be probed.
            settled = try await check.check(
                preview, concerning: removal?.changedNames ?? [], of: list, signedBy: publicKey, staleness: staleness,
                by: connection, at: now)
        }
        let change = try file.update(signedBy: publicKey, creating: false, remove)
        if let orphans = removal?.orphans, !orphans.isEmpty {
            let names = orphans.map { SafeText.escapedLine($0) }.joined(separator: ", ")
            Output.standard.remark(
                "warning: \(names) has no live entry anymore: clients that know one refuse this list")
        }
        try ListRemovalReport(
            file: file.destination, removed: removal?.removed ?? [], remaining: change.count,
            findings: settled?.open, premises: settled?.premises
        ).print(printing, to: file.tells)
        try settled?.finish()
    }
}
