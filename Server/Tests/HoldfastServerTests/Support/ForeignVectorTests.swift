import Foundation
import Testing

@Suite("Vectors, read by Python")
struct ForeignVectorTests {
    /// Python with the package that the script needs; nil where there is none.
    private static func python() async -> URL? {
        let own = ProcessInfo.processInfo.environment["HOLDFAST_TUF_PYTHON"] ?? ""
        for program in [own.isEmpty ? nil : URL(filePath: own), ForeignProgram.find("python3")].compactMap(\.self) {
            let answer = try? await ForeignProgram.run(
                program, ["-c", "import cryptography"], in: Vectors.folder, withErrors: false)
            if answer?.status == 0 { return program }
        }
        return nil
    }

    @Test(
        "Software that shares no code verifies the vectors",
        .needs(.cryptography))
    func checks() async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Python/check_vectors.py").path
        let python = try #require(await Self.python())
        let (status, bytes) = try await ForeignProgram.run(
            python, [script, Vectors.folder.path], in: Vectors.folder, withErrors: true)
        let output = String(decoding: bytes, as: UTF8.self)
        #expect(status == 0, "\(output)")
        #expect(output.contains("checks hold"))
    }
}
