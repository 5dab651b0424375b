import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Metadata in a folder", .timeLimit(.minutes(15)))
struct MetadataFolderTests {
    private let name = StoredMetadataName(.timestamp)

    @Test("Files have their roles' names, and only their owner may read them")
    func files() async throws {
        try await withTemporaryFolder { scratch in
            let folder = scratch.appending(path: "metadata")
            var test = try TestClient()
            test.repository.delegate(to: "A/b", key: try TestSigner())
            try test.repository.publishAll()
            test.source.serve(test.repository)
            let client = TUFClient(store: MetadataFolder(folder), source: test.source, clock: test.clock)
            try client.initialize(root: try #require(test.repository.served("1.root.json")))
            let update = try await client.refresh()
            _ = try? await update.target("x")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(
                files == [".tuf.lock", "A%2Fb.json", "root.json", "snapshot.json", "targets.json", "timestamp.json"])
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "root.json").path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            _ = test.source.asked()
            _ = try? await client.refresh().target("x")
            #expect(test.source.asked() == ["2.root.json", "timestamp.json"])
        }
    }

    @Test("Folders, pipes and devices in place of a file count as none, and are not waited for")
    func oddFiles() async throws {
        try await withTemporaryFolder { (folder: URL) async throws -> Void in
            let store = MetadataFolder(folder)
            let file = folder.appending(path: "timestamp.json")
            #expect(unsafe mkfifo(file.path, 0o600) == 0)
            #expect(try store.data(of: name, atMost: 100) == nil)
            try FileManager.default.removeItem(at: file)
            for target in ["/dev/zero", "/dev/null", folder.path, folder.appending(path: "missing").path, file.path] {
                try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: target)
                #expect(try store.data(of: name, atMost: 100) == nil)
                // The link is replaced, not what it leads to.
                #expect(try store.replace(name, nil, with: Data("{}".utf8), atMost: 100))
                #expect(try store.data(of: name, atMost: 100) == Data("{}".utf8))
                #expect(try store.replace(name, Data("{}".utf8), with: nil, atMost: 100))
            }
        }
    }

    @Test("A file that is larger than its limit counts as none and can be replaced")
    func largeFile() async throws {
        try await withTemporaryFolder { (folder: URL) async throws -> Void in
            let store = MetadataFolder(folder)
            try Data(repeating: 0, count: 101).write(to: folder.appending(path: "timestamp.json"))
            #expect(try store.data(of: name, atMost: 100) == nil)
            #expect(try store.replace(name, nil, with: Data([1]), atMost: 100))
            #expect(try store.data(of: name, atMost: 100) == Data([1]))
        }
    }

    @Test("What another process kept in between is not replaced")
    func race() async throws {
        try await withTemporaryFolder { (folder: URL) async throws -> Void in
            let store = MetadataFolder(folder)
            #expect(try store.replace(name, nil, with: Data([1]), atMost: 100))
            #expect(try store.replace(name, nil, with: Data([2]), atMost: 100) == false)
            #expect(try store.replace(name, Data([1]), with: Data([2]), atMost: 100))
            #expect(try store.replace(name, Data([1]), with: nil, atMost: 100) == false)
            #expect(try store.data(of: name, atMost: 100) == Data([2]))
        }
    }
}
