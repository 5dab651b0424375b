import ArgumentParser
import Foundation
import Holdfast
import HoldfastServer

/// Writes the first statement of approvers, for all of them to sign.
struct GenesisCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "genesis", abstract: "Write the first statement of approvers, which all of them sign.")

    @Option(help: "Somebody who approves: NAME=FILE with the public key. Repeat it.")
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
        try InputFile.create(output, statement.octets)
        Terminal.line("\(output): server \(statement.server), digest \(statement.digest)")
        if number == 1 {
            Terminal.line("One approval is enough: whoever has one of the keys publishes what they like.")
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

/// Signs a statement of approvers, after showing it.
struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign a statement of approvers with your key.")

    @Argument(help: "The statement.", completion: .file())
    var statement: String
    @OptionGroup var key: ApproverKeyOptions
    @Option(help: "The file to write.", completion: .file())
    var output: String
    @Flag(help: "Do not ask.")
    var yes = false

    func run() throws {
        let octets = try InputFile.octets(statement)
        // Nothing else is ever signed by this command.
        let read = try ApproverStatement(octets)
        for line in octets.split(separator: UInt8(ascii: "\n")) {
            Terminal.line(String(decoding: Array(line), as: UTF8.self))
        }
        let question =
            "These \(read.approvers.members.count) people approve from now on, \(read.approvers.number) for each change?"
        guard yes || Terminal.agrees(to: question) else { throw NegativeAnswer(words: "nothing was signed") }
        try InputFile.create(output, try key.read().signature(of: octets).fileContent)
    }
}

/// Makes a server.
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
            text: try InputFile.octets(genesis),
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
                    Terminal.line("  \(member.name)  \(member.key.identity)\(kind)")
                }
                guard let passkeys = head.approvers.passkeys else { return }
                Terminal.line("passkeys of \(passkeys.party.origin): \(passkeys.rule.rawValue)")
            }
        }
    }

    struct Propose: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the next statement of approvers, to be signed.")
        @OptionGroup var server: ServerOptions
        @Option(help: "Somebody who approves from then on: NAME=FILE with the public key. Repeat it.")
        var approver: [String]
        @Option(help: "How many of them must approve a change.")
        var number: Int
        @Option(help: "The file to write.", completion: .file())
        var output: String

        func run() async throws {
            let members = try GenesisCommand.members(approver)
            try await server.withServer { open in
                let next = try ApproverStatement(
                    after: try await open.catalog.approvers().head, approvers: ApproverSet(members, number: number))
                try InputFile.create(output, next.octets)
            }
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
                text: try InputFile.octets(statement),
                signatures: try InputFile.signatures(signature))
            try await server.withServer { open in try await open.catalog.append(signed) }
        }
    }
}
