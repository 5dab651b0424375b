import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show a signed list, or remove entries from it.",
        discussion: """
            EXAMPLES
              holdfastctl list show pins.json
              holdfastctl list prune pins.json --public-key signer.pub
              holdfastctl list remove pins.json old.example.com --retire \\
                --public-key signer.pub

            Exit codes are those of the verb; each verb has its own --help.
            """,
        subcommands: [ListShowCommand.self, ListPruneCommand.self, ListRemoveCommand.self])

    func run() async throws { throw ValidationError("Say what to do with the list: show, prune or remove.") }
}

/// `holdfastctl list show`
struct ListShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the entries of a list, with or without verifying it.",
        discussion: """
            Without --public-key the list is read as strictly as clients read it, but no signature is verified. To find out \
            whether clients accept a list, use verify.

            EXAMPLES
              holdfastctl list show pins.json
              holdfastctl list show pins.json --public-key signer.pub --json

            Exit codes: 0 success, 1 it is not a list or does not verify, 2 wrong usage, 3 it could not be read.

            With --json one object is printed, with the fields of verify except outcome.
            """)

    @Argument(help: ArgumentHelp("The list.", valueName: "list"), completion: .file(extensions: ["json"]))
    var list: String

    @Option(
        name: .customLong("public-key"), help: ArgumentHelp(PublicKeyArgument.help, valueName: "public"),
        completion: .file(),
        transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>?

    func validate() throws { try key?.validate("--public-key") }

    @OptionGroup
    var printing: PrintOptions

    func run() async throws {
        let data = try PinListFile(list).data()
        let now = SystemWallClock().now
        let key = try key?.get()
        let report: FingerprintListReport
        do throws(DocumentError) {
            report =
                if let key {
                    try FingerprintListReport(verifying: data, named: list, with: key, at: now)
                } else {
                    try FingerprintListReport(unverified: data, named: list, at: now)
                }
        } catch {
            throw CommandFailure(.invalidList, "\(list) is not a list of fingerprints: \(error)")
        }
        try printing.print(report) { output in
            report.print(to: output)
            if !report.verified { output.line("Signatures were not verified: holdfastctl verify does that.", .faint) }
        }
    }
}

/// `holdfastctl list prune`
struct ListPruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove the expired entries from a list.",
        usage: "holdfastctl list prune <list> --public-key <public> [<options>]",
        discussion: """
            The list is verified first, and no private key is needed: the remaining entries keep their signatures. If \
            no entry would remain, the list is not written, because clients refuse a list without entries.

            EXAMPLES
              holdfastctl list prune pins.json --public-key signer.pub

            Exit codes: 0 success, 1 the list does not verify or nothing would be left, 2 wrong usage, 3 it could not \
            be read or written.

            With --json one object is printed: file, removed (the fields of the entries of verify), remaining.
            """)

    @Argument(help: ArgumentHelp("The list.", valueName: "list"), completion: .file(extensions: ["json"]))
    var list: String

    @Option(
        name: .customLong("public-key"), help: ArgumentHelp(PublicKeyArgument.help, valueName: "public"),
        completion: .file(),
        transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>

    @OptionGroup
    var output: ListOutput

    @OptionGroup
    var printing: PrintOptions

    func validate() throws { try key.validate("--public-key") }

    func run() async throws {
        let now = SystemWallClock().now
        var removal: ListRemoval?
        let file = PinListFile(list, writing: output.path)
        let change = try file.update(signedBy: try key.get(), creating: false) { draft in
            removal = ListRemoval(expiredOf: &draft, at: now)
            return try draft.withItsSignatures()
        }
        try ListRemovalReport(file: file.destination, removed: removal?.removed ?? [], remaining: change.count)
            .print(printing, to: file.tells)
    }
}

/// The entries that were removed from a list. Its fields are those of the JSON object.
struct ListRemovalReport: Encodable {
    let file: String
    let removed: [FingerprintListReport.Entry]
    let remaining: Int
    /// Problems of clients, with or without the change of the list; absent if no host was probed.
    var findings: [HostsOutlook.Finding]?
    /// The premises of the answer about the hosts; absent if no host was probed.
    var premises: [String]?

    func print(_ printing: PrintOptions, to output: Output) throws {
        try printing.print(self, to: output) { output in
            findings?.printHeadline(to: output)
            output.line("\(file): \(removed.count) removed, \(remaining) left")
            for entry in removed {
                output.line("removed  \(SafeText.escapedLine(entry.name))  \(entry.remaining)  \(entry.certificatePin)")
            }
            for premise in premises ?? [] { output.line("  \(SafeText.escapedLine(premise))", .faint) }
        }
    }
}
