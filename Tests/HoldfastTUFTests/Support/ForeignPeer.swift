import Foundation
import HoldfastTesting

/// Programs of others that agree with us or not.
enum ForeignPeer {
    /// Where they must be there, their absence is a failure and not a reason to skip.
    static let isRequired = ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN_PEERS"] == "1"

    /// The Python that `scripts/tuf-python` made, or the one that `HOLDFAST_TUF_PYTHON` names. An empty name says that
    /// there can be none on this machine.
    private static let pythonTUF: URL? = {
        guard !isOutOfReach else { return nil }
        let given = ProcessInfo.processInfo.environment["HOLDFAST_TUF_PYTHON"].map { URL(filePath: $0) }
        let program = given ?? package.appending(path: ".build-tuf/bin/python")
        return FileManager.default.isExecutableFile(atPath: program.path) ? program : nil
    }()
    static let runsPythonTUF = pythonTUF != nil || (isRequired && !isOutOfReach)
    private static let isOutOfReach = ProcessInfo.processInfo.environment["HOLDFAST_TUF_PYTHON"] == ""

    private static let package = (0..<4).reduce(URL(filePath: #filePath)) { file, _ in file.deletingLastPathComponent()
    }

    /// Runs one of the scripts in Tests/HoldfastTUFTests/Support/Python.
    /// - Returns: the lines that it printed; nil where it failed.
    static func python(_ script: String, _ arguments: [String]) throws -> [String]? {
        guard let pythonTUF else { throw CocoaError(.featureUnsupported) }
        let process = try ChildProcess(
            pythonTUF.path,
            ["-B", package.appending(path: "Tests/HoldfastTUFTests/Support/Python/\(script)").path] + arguments)
        var output = Data()
        while let octets = process.octets() { output += octets }
        guard process.wait() == 0 else { return nil }
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    static func opensslPSS(_ message: [UInt8], key: TestKey, salt: String) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (keyFile, messageFile, signature) = (
            folder.appending(path: "key"), folder.appending(path: "message"), folder.appending(path: "signature")
        )
        try Data(key.privateKeyPEM.utf8).write(to: keyFile)
        try Data(message).write(to: messageFile)
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "openssl", "dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:\(salt)",
                "-sign", keyFile.path, "-out", signature.path, messageFile.path,
            ])
        while process.octets() != nil {}
        guard process.wait() == 0 else { throw CocoaError(.featureUnsupported) }
        return Array(try Data(contentsOf: signature))
    }
}
