import Foundation
import Testing

/// python-tuf, the reference implementation of The Update Framework, as a client that shares no code with us.
enum TUFPython {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let given = ProcessInfo.processInfo.environment["HOLDFAST_TUF_PYTHON"]

    /// The Python that `scripts/python tuf` made, or the one that `HOLDFAST_TUF_PYTHON` names; an empty name says that this
    /// machine cannot have one.
    static let program: URL? = {
        let program = given.map { URL(filePath: $0) } ?? package.appending(path: ".build-tuf/bin/python")
        return given != "" && FileManager.default.isExecutableFile(atPath: program.path) ? program : nil
    }()

    static let isTested = program != nil || (ForeignProgram.areRequired && given != "")

    /// Updates from a repository, from the root that an app was built with.
    /// - Parameters:
    ///   - base: where the repository is, without a slash at the end.
    ///   - root: the root of the build.
    ///   - folder: where the client keeps what it trusts.
    /// - Returns: the pin file.
    static func follow(_ base: String, root: Data, in folder: URL) async throws -> Data {
        guard let program else { throw CocoaError(.featureUnsupported) }
        let (metadata, targets) = (folder.appending(path: "metadata"), folder.appending(path: "targets"))
        for place in [metadata, targets] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        }
        try root.write(to: metadata.appending(path: "root.json"))
        let script = package.appending(path: "Tests/HoldfastTUFTests/Support/Python/python_client.py")
        let (status, output) = try await ForeignProgram.run(
            program,
            [
                "-B", script.path, "--metadata-url", "\(base)/metadata", "--metadata-dir", metadata.path,
                "--target-dir",
                targets.path, "--target-base-url", "\(base)/targets", "--target-name", "pins.json", "download",
            ], in: folder, withErrors: true)
        #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
        return try Data(contentsOf: targets.appending(path: "pins.json"))
    }
}
