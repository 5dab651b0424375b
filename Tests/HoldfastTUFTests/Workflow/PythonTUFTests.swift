import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// The other way round: python-tuf's client verifies what the tests' own repository signs, which proves canonical JSON,
/// keys and signatures compatible. `holdfastctl tuf` meets python-tuf's repositories in holdfastctlTests.
@Suite("python-tuf over the tests' repositories", .needs(.pythonTUF), .timeLimit(.minutes(15)))
struct PythonTUFTests {
    @Test("python-tuf takes what our repository signs with keys of every kind that it knows", arguments: [true, false])
    func accepted(isConsistent: Bool) async throws {
        try await withTemporaryFolder { (folder: URL) async throws -> Void in
            var repository = try TestRepository(start: Date(timeIntervalSinceNow: 0), consistent: isConsistent)
            let old = try #require(repository.signers["root"])
            let kinds: [TestSigner.Spelling] = [.ed25519, .ecdsa, .ecdsa384, .rsaPSS]
            let keys = try kinds.map { try TestSigner($0) }
            repository.setKeys(of: "root", old + keys, threshold: 5)
            repository.change("root") { $0["ключ"] = ["😀": "é\"\\", "｡": [1, -5, true, NSNull()]] as [String: Any] }
            try repository.publish("root", increment: true)
            repository.describesFiles = true
            repository.delegate(to: "роль/?", key: keys[1], paths: ["a?/*"])
            repository.addTarget("ab/c", Data("content".utf8), to: "роль/?")
            try repository.publishAll()
            #expect(try write(repository, to: folder) == [TestRepository.digest(Data("content".utf8))])
        }
    }

    @Test("and refuses what ours refuses: it does look at them")
    func refused() async throws {
        try await withTemporaryFolder { (folder: URL) async throws -> Void in
            var repository = try TestRepository(start: Date(timeIntervalSinceNow: 0))
            repository.addTarget("ab/c", Data("content".utf8))
            repository.signers["targets"] = [try TestSigner()]
            try repository.publishAll()
            #expect(try write(repository, to: folder) == nil)
        }
    }

    /// - Returns: what python-tuf printed; nil where it failed.
    private func write(_ repository: TestRepository, to folder: URL) throws -> [String]? {
        for part in ["metadata", "targets", "kept", "downloads"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: part), withIntermediateDirectories: true)
        }
        try FolderSource.write(repository, to: folder)
        try (repository.served("1.root.json") ?? Data()).write(to: folder.appending(path: "kept/root.json"))
        return try PythonTUF.lines(
            of: "folder_client.py",
            [folder.path, folder.path + "/kept", folder.path + "/downloads", "ab/c"])
    }
}
