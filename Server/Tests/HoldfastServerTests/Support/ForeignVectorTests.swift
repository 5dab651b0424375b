import Foundation
import Testing

@Suite("Vectors, read by Python")
struct ForeignVectorTests {
    static let python: String? = {
        let own = ProcessInfo.processInfo.environment["HOLDFAST_TUF_PYTHON"] ?? ""
        return [own, "python3"].first { !$0.isEmpty && (try? run([$0, "-c", "import cryptography"]))?.status == 0 }
    }()

    static func run(_ command: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    @Test(
        "Software that shares no code verifies the vectors", .enabled(if: python != nil, "no Python with cryptography"))
    func checks() throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Python/check_vectors.py").path
        let (status, output) = try Self.run([try #require(Self.python), script, Vectors.folder.path])
        #expect(status == 0, "\(output)")
        #expect(output.contains("checks hold"))
    }
}
