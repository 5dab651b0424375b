import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// `holdfastctl repository sign`
struct RepositorySignCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Read what is about to be published, and add a signature to it.",
        usage: "holdfastctl repository sign <folder> [--key <file>] [<options>]",
        discussion: """
            Prints what the drafts change in what is published, and with --key adds the key's signature to each draft \
            that it may sign. Without --key it only prints: read first, then sign. It does not sign a draft that does \
            not follow the published version, that lists another pin file than the one beside it, or that has a \
            signature which does not verify.

            Keyholders pass the folder on to each other, for example in a git repository. Each of them compares the \
            drafts with what is published in the folder, so get it from a source that you trust, not from the person \
            who asks for the signature. With --app-root the command refuses a folder that does not have a root that you \
            know. Give the newest one: a folder that was put back to an older state still has the older ones. It prints \
            the SHA-256 of the first and of the newest root in any case.

            Before a key signs new pins, every host of them is asked at every address, as publish does, and pins with which \
            clients would be locked out are not signed. Neither are they as long as something is not known, for example \
            which versions of the app are in the field: name them with --shipped, each with what it carries, or give \
            --no-shipped-pins. --force names what does not matter: refused, if clients would be locked out; unreachable, \
            if something is not known; offline, to ask no host, for example where the key has no network. If clients that \
            hold something else are locked out, as they will be until they ask, the pins are signed, and the exit code is 1.

            A key in a token, a hardware security module or a key service signs through a program: --signer-command \
            starts it once for each draft, with the bytes to sign on its standard input, and reads the signature from \
            its standard output: 64 octets for Ed25519; for ECDSA either DER, or r and s concatenated; or RSA-PSS with \
            SHA-256. The program hashes the bytes itself, and may ask for a PIN on the terminal. Its signature is \
            verified before anything is written. No shell reads the command; if you need one, give sh -c '...'.

            EXAMPLES
              holdfastctl repository sign site
              holdfastctl repository sign site --key ann.pem --app-root app/root.json \\
                --no-shipped-pins
              holdfastctl repository sign site --key ann.pem --force offline
              holdfastctl repository sign site --signer-key ann.pub --no-shipped-pins \\
                --signer-command './sign-with-token ann'

            Exit codes: 0 signed or shown, 1 there is nothing to sign, nothing for this key, or a draft that must not \
            be signed; or it was signed, and clients are locked out as before, 2 wrong usage, 3 a file could not be read or \
            written, a host not be asked, the app versions are unknown, or the program gave no signature, 4 signed, but \
            clients get in only by grace.
            """)

    @OptionGroup
    var place: RepositoryPlace

    @OptionGroup
    var root: RepositoryRootOption

    @OptionGroup
    var keys: RepositoryKeyOptions

    @OptionGroup
    var overrides: HostOverrides

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @OptionGroup
    var age: StalenessOptions

    @OptionGroup
    var platforms: PlatformOptions

    @OptionGroup
    var printing: PrintOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func run() async throws {
        let files = try keys.read()
        // Without keys the command only reads, so it needs no write access.
        let lock = keys.isEmpty ? nil : try place.lock()
        defer { withExtendedLifetime(lock) {} }
        var state = try await place.state()
        try root.check(state, in: place.path)
        guard !state.hasNoDraft else {
            throw CommandFailure(
                .notSigned,
                "nothing is prepared in \(place.path), so there is nothing to sign: repository pins or repository rotate "
                    + "prepares a change")
        }
        let signers = try keys.signers(files, of: state)
        let now = SystemWallClock().now
        var settled: SettledChange?
        if !signers.isEmpty {
            settled = try await overrides.settle(
                draftPinsOf: state, in: place, for: clients, by: connection, at: now, else: "nothing was signed")
        }
        var roles: Set<TUFRole> = []
        try CommandFailure.translating { () throws(TUFRepositoryError) in
            for key in signers { roles.formUnion(try state.sign(by: key)) }
        }
        if !signers.isEmpty { try await place.write(state) }
        let names = roles.map(\.rawValue).sorted().joined(separator: " and ")
        var report = RepositoryReport(signers.isEmpty ? "Not signed: no key was given" : "Signed: \(names)")
        try report.takeDrafts(state, withChanges: true)
        report.isOffline = settled == nil
        if let settled { report.take(settled) }
        try report.warn(ofRefusalsOf: state, in: place, at: now)
        report.next.append(
            report.isSigned
                ? "holdfastctl repository publish \(place.shellWord) --key ONLINE-KEY"
                : "holdfastctl repository sign \(place.shellWord) --key KEY")
        try report.print(asJSON: printing.json, isQuiet: printing.quiet)
        if let status = report.status { throw NegativeAnswer(status: status) }
    }
}
