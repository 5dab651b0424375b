import Foundation
import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerStore
@testable import ServerWeb

/// `Server/Examples/verifying-signer.py` with a configuration of its own, at the time of a test.
struct VerifyingSigner {
    static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/verifying-signer.py")

    /// It needs Python with `cryptography`, and a clock that a test sets.
    static let isTested = ForeignProgram.areRequired || (ForeignProgram.find("faketime") != nil && hasCryptography)

    static let hasCryptography: Bool = {
        guard let python = ForeignProgram.find("python3") else { return false }
        let process = Process()
        process.executableURL = python
        process.arguments = ["-c", "import cryptography"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    let folder: URL
    /// The program that the server runs.
    let program: ProgramCommand

    /// - Parameters:
    ///   - name: a folder of its own.
    ///   - key: the private key, PEM.
    ///   - command: a program that has the key instead.
    init(
        _ name: String, in world: World, key: String? = nil, command: [String] = [], app: String = "bank",
        server: RandomID = Story.server, genesis: Digest? = nil
    ) throws {
        folder = world.folder.appending(path: "signers").appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration: [String: Any] = [
            "server": "\(server)", "genesis": "\(genesis ?? Digest(of: world.story.genesis.text))", "app": app,
            "state": folder.appending(path: "state").path, "log": folder.appending(path: "log").path,
        ]
        if let key {
            try Data(key.utf8).write(to: folder.appending(path: "key.pem"))
            configuration["key"] = folder.appending(path: "key.pem").path
        } else {
            configuration["command"] = command
        }
        let file = folder.appending(path: "configuration.json")
        try JSONSerialization.data(withJSONObject: configuration).write(to: file)
        let wrapper = folder.appending(path: "program")
        let (faketime, python) = (try ForeignProgram.required("faketime"), try ForeignProgram.required("python3"))
        // A clock that stands still for each signature, and no bytecode beside the example.
        try Data(
            """
            exec '\(faketime.path)' "@$(cat '\(folder.path)/now')" '\(python.path)' -B '\(Self.script.path)' '\(file.path)'

            """.utf8
        ).write(to: wrapper)
        program = try ProgramCommand([ForeignProgram.required("sh").path, wrapper.path], limit: 120)
        try setTime(world.now)
    }

    /// The program's clock.
    func setTime(_ now: Int64) throws { try Data("\(now)".utf8).write(to: folder.appending(path: "now")) }

    /// The last line of its log.
    var lastWords: String {
        let log = (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? ""
        return log.split(separator: "\n").last.map(String.init) ?? ""
    }

    /// Forgets what it has accepted.
    func forget() throws { try FileManager.default.removeItem(at: folder.appending(path: "state")) }

    /// Runs it on a request.
    /// - Returns: its exit code.
    func answers(_ request: [UInt8]) async throws -> Int32 {
        let file = folder.appending(path: "request-\(UUID().uuidString)")
        try Data(request).write(to: file)
        return try await ForeignProgram.run(
            URL(filePath: program.words[0]), Array(program.words.dropFirst()), in: folder, withErrors: true, input: file
        ).status
    }
}
