import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// An operator who publishes a repository in the folder `site`, with the keys offline.pem and online.pem.
extension SigningSite {
    var published: URL { folder.appending(path: "site/public") }

    @discardableResult
    func repository(
        _ verb: String, _ arguments: String..., more: [String] = [], at line: SourceLocation = #_sourceLocation
    ) async throws -> CommandRun {
        let run = try await run(["repository", verb] + arguments + more + Self.offline(verb))
        // Without a host, it is unknown whether clients get in.
        #expect(
            run.status == (verb == "status" ? 3 : 0), "\(verb) \(arguments): \(run.output)\(run.errors)",
            sourceLocation: line)
        return run
    }

    /// With what a verb asks no host, of which there is none.
    static func offline(_ verb: String?) -> [String] {
        switch verb {
        case "status", "renew": ["--offline"]
        case "sign", "pins": ["--force", "offline"]
        default: []
        }
    }

    /// Begins it, with pins that are prepared.
    func beginRepository(active: TestCertificate, backup: TestCertificate) async throws {
        for name in ["offline.pem", "online.pem"] { try write(name, SigningKey().pem, mode: 0o600) }
        try await repository(
            "init", "site", "--small", "--offline-key", "offline.pem", "--online-key", "online.pem")
        try await preparePins(active: active, backup: backup)
    }

    func preparePins(active: TestCertificate, backup: TestCertificate) async throws {
        let host = try PinFile.Host(
            try HostPattern(Self.name),
            pins: [
                try PinFile.KeyPin(Pin.publicKey(of: active.der)),
                try PinFile.KeyPin(Pin.publicKey(of: backup.der), state: .backup),
            ])
        try await preparePins(PinFile(hosts: [host]))
    }

    func preparePins(_ file: PinFile) async throws {
        try write("bank.pins.json", String(decoding: file.json, as: UTF8.self))
        try await repository("pins", "site", "bank.pins.json", "--key", "offline.pem")
    }

    /// Publishes without asking a host, of which there is none.
    func publishRepository(by keys: String...) async throws {
        try await repository("publish", "site", "--force", "offline", more: keys.flatMap { ["--key", $0] })
    }

    /// Begins and publishes it.
    func beginPublishedRepository(active: TestCertificate, backup: TestCertificate) async throws {
        try await beginRepository(active: active, backup: backup)
        try await publishRepository(by: "online.pem")
    }

    /// Prepares another online key, whose file is `online-NUMBER.pem`.
    func prepareOnlineKey(_ number: Int, after old: String = "online.pem") async throws {
        try write("online-\(number).pem", SigningKey().pem, mode: 0o600)
        try await repository(
            "rotate", "site", "--role", "online", "--add", "online-\(number).pem", "--remove", old, "--key",
            "offline.pem")
    }

    /// How many files are served, without a look into them.
    var servedFileCount: Int {
        let paths = try? FileManager.default.subpathsOfDirectory(atPath: published.path)
        return (paths ?? []).count { $0.hasSuffix(".json") }
    }

    /// The served files, by name.
    func servedFiles() throws -> [String: Data] {
        let paths = try? FileManager.default.subpathsOfDirectory(atPath: published.path)
        let files = (paths ?? []).filter { $0.hasSuffix(".json") }
        return try Dictionary(
            uniqueKeysWithValues: files.map { ($0, try Data(contentsOf: published.appending(path: $0))) })
    }
}
