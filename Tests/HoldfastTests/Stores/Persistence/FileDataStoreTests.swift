import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Files of a data store", .timeLimit(.minutes(15)))
struct FileDataStoreTests {
    private func withStore(_ body: (FileDataStore) async throws -> Void) async throws {
        try await withTemporaryFolder {
            try await body(FileDataStore(folder: $0.appending(path: "pins"), maximumBytes: 1_000))
        }
    }

    @Test("What is saved is loaded, replaced as a whole, and removed")
    func roundTrip() async throws {
        try await withStore { store in
            #expect(store.loadData(forKey: "default") == nil)
            for size in [10, 0, 1_000] {
                #expect(store.save(data: Data(repeating: 7, count: size), forKey: "default"))
                #expect(store.loadData(forKey: "default") == Data(repeating: 7, count: size))
            }
            store.removeData(forKey: "default")
            store.removeData(forKey: "never")
            #expect(store.loadData(forKey: "default") == nil)
        }
    }

    @Test("Files are for their owner only, and no other file is left behind but the lock")
    func modes() async throws {
        try await withStore { store in
            #expect(store.save(data: Data([1]), forKey: "default"))
            #expect(store.save(data: Data([2]), forKey: "default"))
            let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted()
            #expect(names == [".default.pins.lock", "default.pins"])
            for name in names {
                let path = store.folder.appending(path: name).path
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
                #expect(mode?.intValue == 0o600, "\(name)")
            }
        }
    }

    @Test("A pipe or a folder in the place of a file is an error at once")
    func pipe() async throws {
        try await withStore { store in
            #expect(store.save(data: Data([1]), forKey: "default"))
            let file = store.file(forKey: "default")
            try FileManager.default.removeItem(at: file)
            #expect(unsafe mkfifo(file.path, 0o600) == 0)
            let error = #expect(throws: FileDataStoreError.self) { try store.load(forKey: "default") }
            #expect(error?.code == .unreadable && error?.found == "it is no regular file")
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect(throws: FileDataStoreError.self) { try store.load(forKey: "default") }
        }
    }

    @Test("Keys that differ are files that differ, whatever is in them, and none leaves the folder")
    func keys() async throws {
        try await withStore { store in
            let keys = [
                "a", "A", "A b", "a b", "../a", "a/b", "a_b", "a_2fb", ".", "", "é", "e\u{301}", "a\u{0}b",
                String(repeating: "x", count: 300),
            ]
            // Also where the file system takes capital and small letters for the same.
            #expect(Set(keys.map { store.file(forKey: $0).lastPathComponent.lowercased() }).count == keys.count)
            for (index, key) in keys.enumerated() { #expect(store.save(data: Data([UInt8(index)]), forKey: key)) }
            for (index, key) in keys.enumerated() { #expect(store.loadData(forKey: key) == Data([UInt8(index)])) }
            let outside = try FileManager.default.contentsOfDirectory(
                atPath: store.folder.deletingLastPathComponent().path)
            #expect(outside == ["pins"])
        }
    }

    @Test("A file that cannot be read is an error that names it, and for the published call nothing")
    func unreadable() async throws {
        try await withStore { store in
            #expect(store.save(data: Data([1]), forKey: "big"))
            try Data(repeating: 0, count: 1_001).write(to: store.file(forKey: "big"))
            #expect(throws: FileDataStoreError.self) { try store.load(forKey: "big") }
            try FileManager.default.createDirectory(at: store.file(forKey: "folder"), withIntermediateDirectories: true)
            #expect { try store.load(forKey: "folder") } throws: { "\($0)".contains("folder.pins") }
            #expect(store.loadData(forKey: "big") == nil && store.loadData(forKey: "folder") == nil)
        }
    }

    @Test("A folder that cannot be written keeps nothing and says so")
    func notWritable() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "file")
            try Data([1]).write(to: file)
            let store = FileDataStore(folder: file.appending(path: "below"))
            #expect(!store.save(data: Data([1]), forKey: "a"))
            #expect(throws: FileDataStoreError.self) { try store.replace(Data([1]), forKey: "a") }
        }
    }

    @Test("A damaged file is reported and treated as empty; the next update mends it")
    func damagedFile() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try StoreFixture()
            let files = FileDataStore(folder: folder)
            try fixture.publish([("www.example.com", 1, 100)])
            try await fixture.store(files).update()
            let file = files.file(forKey: fixture.storageKey)
            let data = try Data(contentsOf: file)
            for damaged in [Data(), data.prefix(data.count / 2), Data("junk".utf8), data + data] {
                try damaged.write(to: file)
                let store = fixture.store(files)
                #expect(store.judge(1) == .empty && store.storageError?.code == .damagedStorage)
                try await store.update()
                #expect(fixture.store(files).judge(1) == .trusted)
            }
        }
    }

    @Test("What a writer left that was killed does not disturb the next")
    func leftover() async throws {
        try await withStore { store in
            #expect(store.save(data: Data([1]), forKey: "default"))
            try Data([9, 9]).write(to: store.folder.appending(path: ".default.pins.new"))
            #expect(store.loadData(forKey: "default") == Data([1]))
            #expect(store.save(data: Data([2]), forKey: "default") && store.loadData(forKey: "default") == Data([2]))
        }
    }

    @Test("Writers take turns, and readers always find a whole file")
    func manyWriters() async throws {
        try await withTemporaryFolder { folder in
            let store = FileDataStore(folder: folder)
            await withTaskGroup { group in
                for writer in 0..<4 {
                    group.addTask {
                        for _ in 0..<25 {
                            let data = Data(repeating: UInt8(writer), count: 50_000 + writer)
                            #expect(store.save(data: data, forKey: "default"))
                            let read = store.loadData(forKey: "default") ?? Data()
                            #expect(read.count == 50_000 + Int(read.first ?? 99) && Set(read).count == 1)
                        }
                    }
                }
            }
        }
    }
}
