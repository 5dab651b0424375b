import ArgumentParser
import Foundation
import Holdfast
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// Writes the first approver list, for all approvers to sign.
struct GenesisCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "genesis", abstract: "Write the first statement of approvers, which all of them sign.")

    @Option(help: "An approver: NAME=FILE with the public key. Repeat it.")
    var approver: [String]
    @Option(help: "How many of them must approve a change.")
    var number: Int
    @Option(help: "An offline key that can replace approvers: NAME=FILE. Repeat it; two must agree.")
    var recovery: [String] = []
    @Option(help: "The file to write.", completion: .file())
    var output: String

    func run() throws {
        let members = try Self.members(approver)
        let recovery = try Self.members(self.recovery)
        guard recovery.count != 1 else {
            throw ValidationError("Name no recovery key, or two and more: one alone could replace all approvers.")
        }
        var generator = SystemRandomNumberGenerator()
        let statement = try ApproverStatement(
            genesisOf: RandomID(using: &generator), approvers: ApproverSet(members, number: number),
            recovery: recovery.isEmpty ? nil : ApproverSet(recovery, number: 2))
        try InputFile.create(output, statement.bytes)
        Terminal.line("\(output): server \(statement.server), digest \(statement.digest)")
        if number == 1 {
            Terminal.line(
                "Only one approval is required, so a single stolen key can publish any pins. "
                    + "Pass --number 2 to require two.")
        }
        if members.count <= number + 1 {
            Terminal.line("With \(members.count) approvers of whom \(number) must agree, few keys may be lost.")
        }
        Terminal.line("Next, each of them: holdfast-server sign \(output) --key KEY --output NAME.sig")
    }

    static func members(_ texts: [String]) throws -> [ApproverSet.Member] {
        try texts.map { text in
            let (name, path) = try CommandValue.pair(text)
            return try ApproverSet.Member(name: name, key: InputFile.publicKey(path))
        }
    }
}

/// Signs a statement of approvers, or an invitation, after showing it.
struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign a statement of approvers, or an invitation, with your key.")

    @Argument(help: "The statement, or the invitation.", completion: .file())
    var statement: String
    @OptionGroup var key: ApproverKeyOptions
    @Option(help: "The file to write.", completion: .file())
    var output: String
    @Flag(help: "Do not ask.")
    var yes = false

    func run() throws {
        let bytes = try InputFile.bytes(statement)
        // This command must never sign anything else.
        let question = try Self.question(about: bytes)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            Terminal.line(String(decoding: Array(line), as: UTF8.self))
        }
        guard yes || Terminal.agrees(to: question) else { throw NegativeAnswer(words: "nothing was signed") }
        try InputFile.create(output, try key.read().signature(of: bytes).fileContent)
    }

    /// The question that a signature answers with yes.
    /// - Throws: ``ServerError`` for anything but a statement and an invitation.
    private static func question(about bytes: [UInt8]) throws -> String {
        if InvitationText.isBegun(by: bytes) {
            let invitation = try InvitationText(bytes)
            let words = invitation.purpose == .signIn ? "to sign in with" : "to approve with, once approvers name it"
            let apps = invitation.apps.map { CommandValue.apps($0) } ?? " for all apps, later ones too"
            let right = invitation.scope == .read ? "" : ", and to \(invitation.scope.text) at the pages"
            return "\(invitation.person) may make a passkey \(words)\(right)\(apps)?"
        }
        let set = try ApproverStatement(bytes).approvers
        for member in set.members where member.isPasskey {
            Terminal.line("passkey of \(member.name): \(member.key.identity)")
        }
        for member in set.members where member.apps != nil {
            Terminal.line("\(member.name) approves nothing but changes\(CommandValue.apps(member.apps))")
        }
        return "These \(set.members.count) people approve from now on, \(set.number) for each change?"
    }
}

/// Creates a server.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "init", abstract: "Make a server.")

    @OptionGroup var server: ServerOptions
    @Option(help: "The file for the new secret, outside the folder.", completion: .file())
    var secret: String
    @Option(help: "The first statement of approvers.", completion: .file())
    var genesis: String
    @Option(help: "The signature of an approver. Repeat it for each.", completion: .file())
    var signature: [String]
    @OptionGroup var copy: RecoveryCopyOptions

    func run() async throws {
        let signed = SignedApprovers(
            text: try InputFile.bytes(genesis),
            signatures: try InputFile.signatures(signature))
        var generator = SystemRandomNumberGenerator()
        let made = try await server.folder.create(
            genesis: signed, secret: SecretFile(URL(filePath: secret)), clock: SystemWallClock(), using: &generator)
        try copy.file?.create(made, outside: server.folder.url)
        Terminal.line("\(server.data): server \(try ApproverStatement(signed.text).server)")
        Terminal.line("The approvers' digest, which is worth writing down: \(Digest(of: signed.text))")
    }
}

/// Shows and replaces approvers.
struct ApproversCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvers", abstract: "Show who approves, or replace them.",
        subcommands: [List.self, Propose.self, Replace.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show who approves.")
        @OptionGroup var server: ServerOptions

        func run() async throws {
            try await server.withServer { open in
                let head = try await open.catalog.approvers().head
                Terminal.line("statement \(head.index), \(head.digest): \(head.approvers.number) must approve")
                for member in head.approvers.members {
                    let kind = member.isPasskey ? "  passkey" : ""
                    let apps = member.apps.map { "  only" + CommandValue.apps($0) } ?? ""
                    Terminal.line("  \(member.name)  \(member.key.identity)\(kind)\(apps)")
                }
                guard let passkeys = head.approvers.passkeys else { return }
                Terminal.line("passkeys of \(passkeys.party.origin): \(passkeys.rule.rawValue)")
            }
        }
    }

    struct Propose: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the next statement of approvers, to be signed.",
            discussion: """
                An approver with --apps approves changes of these apps, but no statements of approvers. The required \
                number of approvers must approve all apps. The statement then states the apps of each \
                (holdfast-approvers-v3), and so does each later one. An approver who stays keeps their apps unless \
                --apps changes them; a passkey has those of its invitation.

                EXAMPLE
                  holdfast-server approvers propose --data /srv/pins --number 2 \\
                    --approver alice=alice.pub --approver bob=bob.pub \\
                    --approver carol=carol.pub --apps carol=bank,shop --output next.txt
                """)
        @OptionGroup var server: ServerOptions
        @Option(help: "An approver from then on: NAME=FILE with the public key. Repeat it.")
        var approver: [String]
        @Option(help: "An approver with a registered passkey: NAME, or NAME=DIGEST. Repeat it.")
        var passkey: [String] = []
        @Option(help: "The only apps that one of them approves: NAME=APP,APP, or NAME=* for all. Repeat it.")
        var apps: [String] = []
        @Flag(help: "Passkeys are enough: no approval has to be by a key file or a signer program.")
        var passkeysOnly = false
        @Option(help: "How many of them must approve a change.")
        var number: Int
        @Option(help: "The file to write.", completion: .file())
        var output: String

        func run() async throws {
            let members = try GenesisCommand.members(approver)
            let limits = try ApproverLimits(apps)
            try await server.withServer { open in
                for app in limits.named { _ = try await open.catalog.app(app) }
                let head = try await open.catalog.approvers().head
                let registered = try await open.catalog.passkeys()
                let holders = try Self.holders(passkey, among: registered)
                let terms = try Self.terms(of: holders.map(\.party), passkeysOnly ? .passkeysOnly : .keyRequired)
                let people = try limits.applied(
                    to: members + holders.map(\.member), after: head.approvers, registered)
                let next = try ApproverStatement(
                    after: head, approvers: ApproverSet(people, number: number, passkeys: terms))
                try InputFile.create(output, next.bytes)
                for (member, _) in holders { Terminal.line("passkey of \(member.name): \(member.key.identity)") }
            }
        }

        /// The passkeys for approvals that texts name: a person's only passkey, or the one with a digest.
        private static func holders(
            _ texts: [String], among registered: [RegisteredPasskey]
        ) throws -> [(member: ApproverSet.Member, party: RelyingParty)] {
            try texts.map { text in
                let isPair = text.utf8.contains(UInt8(ascii: "="))
                let (name, value) = isPair ? try CommandValue.pair(text) : (text, "")
                let digest = isPair ? try CommandValue.digest(value) : nil
                let found = registered.filter { passkey in
                    passkey.purpose == .approval
                        && (digest.map { passkey.key.identity == $0 } ?? passkey.person.utf8.elementsEqual(name.utf8))
                }
                guard let one = found.first, found.count == 1 else {
                    throw ValidationError(
                        "\(found.count) passkeys for approvals fit \(name): passkey list has all; write NAME=DIGEST.")
                }
                return (try ApproverSet.Member(name: name, key: one.key, isPasskey: true), one.party)
            }
        }

        private static func terms(of parties: [RelyingParty], _ rule: PasskeyTerms.Rule) throws -> PasskeyTerms? {
            guard let party = parties.first else {
                guard rule == .keyRequired else { throw ValidationError("--passkeys-only needs a --passkey.") }
                return nil
            }
            guard Set(parties).count == 1 else {
                throw ValidationError("These passkeys were made at different addresses, and approve at one only.")
            }
            return PasskeyTerms(rule, at: party)
        }
    }

    struct Replace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a signed statement count. Approvals before it lapse.")
        @OptionGroup var server: ServerOptions
        @Argument(help: "The statement.", completion: .file())
        var statement: String
        @Option(help: "The signature of an approver. Repeat it.", completion: .file())
        var signature: [String]

        func run() async throws {
            let signed = SignedApprovers(
                text: try InputFile.bytes(statement),
                signatures: try InputFile.signatures(signature))
            try await server.withServer { open in try await open.catalog.append(signed) }
        }
    }
}
