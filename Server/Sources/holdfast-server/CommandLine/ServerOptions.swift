import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// The options that select a server.
struct ServerOptions: ParsableArguments {
    @Option(help: "The folder of the server.", completion: .directory)
    var data: String
    @OptionGroup var database: DatabaseOption

    var folder: ServerFolder { get throws { ServerFolder(URL(filePath: data), database: try database.address) } }

    /// Opens the server while a closure runs.
    func withServer<Value>(_ body: (ServerFolder.Open) async throws -> Value) async throws -> Value {
        try await closing(folder.open(clock: SystemWallClock()), after: body)
    }

    /// Opens the server while a closure runs, even if it is not writable.
    /// - Parameter body: receives the server, and the reason why it is not writable; nil if it is.
    func withReadableServer(_ body: (ServerFolder.Open, ServerError?) async throws -> Void) async throws {
        switch try await folder.openWhatCanBe(clock: SystemWallClock()) {
        case .whole(let open): try await closing(open) { try await body($0, nil) }
        case .reading(let open, let problem): try await closing(open) { try await body($0, problem) }
        case .documents(let problem): throw problem
        }
    }

    private func closing<Value>(
        _ open: ServerFolder.Open, after body: (ServerFolder.Open) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await body(open)
            await open.engine.close()
            return value
        } catch {
            await open.engine.close()
            throw error
        }
    }
}

/// The option that selects a PostgreSQL database.
struct DatabaseOption: ParsableArguments {
    @Option(help: "A PostgreSQL database, if not the one given to init: postgresql://USER@HOST/NAME.")
    var database: String?

    static let variable = "HOLDFAST_SERVER_DATABASE"

    /// The value of the flag, or else of the variable.
    var address: PostgreSQLAddress? {
        get throws {
            if let database { return try Self.read(database) }
            return try ProcessInfo.processInfo.environment[Self.variable].map { try PostgreSQLAddress($0) }
        }
    }

    /// Reads an address of the command line, which all users of the machine can see.
    static func read(_ text: String) throws -> PostgreSQLAddress {
        let address = try PostgreSQLAddress(text)
        guard !address.hasPassword else {
            throw ValidationError(
                "Other users can read the command line. Put the password into a file, and name the file with "
                    + "?passfile=FILE.")
        }
        return address
    }

    func validate() throws { _ = try database.map(Self.read) }
}

/// The options for the second copy of a new secret.
struct RecoveryCopyOptions: ParsableArguments {
    @Option(help: "A second file for the secret, to keep elsewhere.", completion: .file())
    var recoveryCopy: String?
    @Flag(help: "Write no second file. If the secret is lost, the keys of all apps are lost.")
    var noRecoveryCopy = false

    var file: SecretFile? { recoveryCopy.map { SecretFile(URL(filePath: $0)) } }

    func validate() throws {
        guard (recoveryCopy == nil) == noRecoveryCopy else {
            throw ValidationError("Say where the recovery copy of the secret goes, or --no-recovery-copy.")
        }
    }
}

/// The option that names the actor for the audit.
struct ActorOption: ParsableArguments {
    @Option(name: .customLong("as"), help: "Who does it, for the audit.")
    var actor: String = "operator"
}

/// The files that commands read, each with a limit.
enum InputFile {
    private static let limit = 16 << 20

    static func bytes(_ path: String) throws -> [UInt8] {
        // ACME clients link to the newest files.
        let file = URL(filePath: path).resolvingSymlinksInPath()
        guard let size = try? file.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey]),
            size.isRegularFile == true,
            size.fileSize ?? 0 <= limit, let content = try? Data(contentsOf: file)
        else {
            throw ValidationError(
                "\(path) is no regular file of at most \(limit >> 20) MiB that can be read; check the path and its permissions."
            )
        }
        return Array(content)
    }

    /// The certificates of a file, PEM or DER.
    static func certificates(_ path: String) throws -> [[UInt8]] {
        try PEMFile.certificates(bytes(path), named: path)
    }

    /// A public key: the output of `holdfastctl keygen`, PEM, or DER.
    static func publicKey(_ path: String) throws -> ApproverKey {
        let bytes = try bytes(path)
        if bytes.first == 0x30 { return try ApproverKey(der: bytes) }
        let isPEM = bytes.split(separator: 0x0A).contains { $0.starts(with: "-----BEGIN ".utf8) }
        if isPEM {
            return try ApproverKey(der: PEMFile.blocks("PUBLIC KEY", of: bytes, named: path)[0])
        }
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        guard line.count <= 128, line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ValidationError(
                "\(path) is no public key; give what holdfastctl keygen printed, or one in PEM or DER.")
        }
        return try ApproverKey(printed: String(decoding: line, as: UTF8.self))
    }

    /// The signatures of approvers.
    static func signatures(_ paths: [String]) throws -> [ApproverSignature] {
        // The optimizing compiler crashes on a throwing closure for `map` in an asynchronous throwing function.
        var signatures: [ApproverSignature] = []
        for path in paths { signatures.append(try ApproverSignature(fileContent: bytes(path))) }
        return signatures
    }

    /// Writes a new file.
    static func create(_ path: String, _ bytes: [UInt8], mode: Int = 0o644) throws {
        guard !FileManager.default.fileExists(atPath: path),
            FileManager.default.createFile(
                atPath: path, contents: Data(bytes), attributes: [.posixPermissions: mode])
        else { throw ValidationError("\(path) exists, or cannot be written; nothing is overwritten.") }
    }
}

/// An approver's private key.
struct ApproverKeyOptions: ParsableArguments {
    @Option(help: "The approver's private key, as holdfastctl keygen writes it.", completion: .file())
    var key: String
    @Option(help: "A file with the password of the key, in one line.", completion: .file())
    var passwordFile: String?

    func read() throws -> ApproverPrivateKey {
        let password = try passwordFile.map { try InputFile.bytes($0).prefix { $0 != 0x0A && $0 != 0x0D } }
        return try ApproverPrivateKey(
            pem: String(decoding: try InputFile.bytes(key), as: UTF8.self), password: password.map(Array.init))
    }
}

/// Times and names on the command line.
enum CommandValue {
    /// The purpose of a passkey, and the scope that signing in with it gives.
    static func right(_ purpose: PasskeyPurpose, _ scope: TokenGrant.Scope) -> String {
        scope == .read ? purpose.rawValue : "\(purpose.rawValue) to \(scope.text)"
    }

    /// A suffix that names apps; empty for all apps.
    static func apps(_ apps: Set<AppName>?) -> String {
        guard let apps else { return "" }
        let names = apps.map(\.description).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return " for \(names.joined(separator: ", "))"
    }

    /// Parses the names of gates.
    static func gates(_ names: [String]) throws -> Set<Gate> {
        var gates: Set<Gate> = []
        for name in names {
            guard let gate = Gate(rawValue: name) else {
                let known = Gate.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("There is no gate \(name) to --force; there are \(known).")
            }
            gates.insert(gate)
        }
        return gates
    }

    static func time(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }

    static func seconds(_ text: String, of option: String) throws -> Int64 {
        let days = Date.ISO8601FormatStyle().year().month().day()
        // Foundation parses 29 February of a common year as 1 March, and 25:00 as the next day.
        let day = String(text.prefix(10))
        let clock = text.dropFirst(11).prefix(8).split(separator: ":").map { Int($0) ?? .max }
        guard text.utf8.count <= 32, let date = try? Date(text, strategy: .iso8601),
            let midnight = try? Date(day, strategy: days), days.format(midnight) == day,
            zip(clock, [23, 59, 59]).allSatisfy({ $0 <= $1 })
        else { throw ValidationError("\(option) is a time such as 2026-12-24T12:00:00Z.") }
        return Int64(date.timeIntervalSince1970)
    }

    static func id(_ text: String) throws -> RandomID {
        guard let id = RandomID(hex: text.utf8) else {
            throw ValidationError(
                "A change is named by 32 hexadecimal digits; `holdfast-server change list APP --data DIR` shows those of an "
                    + "app.")
        }
        return id
    }

    static func digest(_ text: String) throws -> Digest {
        guard let digest = Digest(hex: text.utf8) else {
            throw ValidationError(
                "A certificate or key is named by its SHA-256, 64 lower-case hexadecimal digits; this is none: \(text.prefix(80))."
            )
        }
        return digest
    }

    /// Splits a program and its arguments. No shell is involved.
    static func words(_ text: String) throws -> [String] {
        guard let words = SignerProgram.words(text) else {
            throw ValidationError("Give the path of a program and its arguments, with each quote closed.")
        }
        return words
    }

    /// Parses `NAME=VALUE`.
    static func pair(_ text: String) throws -> (name: String, value: String) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError("Write it as NAME=FILE: \(text.prefix(80))") }
        return (parts[0], parts[1])
    }

    /// Finds a host of an app by `NAME` or `NAME:PORT`.
    static func host(_ text: String, of app: AppName, _ catalog: Catalog) async throws -> CatalogHost {
        let hosts = try await catalog.hosts(of: app)
        let label = text.utf8.contains(UInt8(ascii: ":")) ? text : "\(text):443"
        guard let host = hosts.first(where: { $0.label.utf8.elementsEqual(label.utf8) }) else {
            throw ValidationError(
                "\(app) has no host \(label). Name one that `holdfast-server host list \(app) --data DIR` shows.")
        }
        return host
    }
}
