import Foundation
import Holdfast
import HoldfastOutput
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("The lock of a file that is changed", .timeLimit(.minutes(15)))
struct ChangeLockTests {
    private static func held<Result>(_ path: String, _ body: () async throws -> Result) async throws -> Result {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
        return try await body()
    }

    @Test("A lock on the folder or on the list, which every user can take, stops no signing", .timeLimit(.minutes(15)))
    func locksOfOthers() async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.list([("api.example.com", "a", 30)])
            for path in [site.folder.path, site.folder.appending(path: "pins.json").path] {
                try await Self.held(path) {
                    let run = try await site.sign(["leaf.pem", "--list", "pins.json"])
                    #expect(run.status == 0, "\(run.errors)")
                }
            }
            #expect(try site.mode(".pins.json.lock") == 0o600)
        }
    }

    @Test("A lock that stays held is waited for in bounded time, which is said, and exits with 3")
    func bounded() async throws {
        try await SigningSite.with { site in
            let list = site.folder.appending(path: "pins.json")
            do { _ = try ChangeLock.on(list, for: "pins.json") }
            let lock = ChangeLock.file(for: list)
            try await Self.held(lock.path) {
                let said = SaidLines()
                Output.$listener.withValue({ said.add($0, isForErrors: $1) }) {
                    do throws(CommandFailure) {
                        _ = try ChangeLock.on(list, for: "pins.json", limit: .milliseconds(1_200))
                        Issue.record("somebody else holds the lock")
                    } catch {
                        #expect(error.status.rawValue == 3)
                        #expect(error.message.contains(lock.path) && error.message.contains("another process holds it"))
                    }
                }
                #expect(said.text.contains("waiting for another process that changes pins.json and holds \(lock.path)"))
            }
        }
    }

    @Test("A folder and a link to it have one lock")
    func links() async throws {
        try await SigningSite.with { site in
            let (place, link) = (site.folder.appending(path: "site"), site.folder.appending(path: "link"))
            // Also where the last folder is not there yet.
            #expect(ChangeLock.file(for: place).lastPathComponent == ".site.lock")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
            #expect(ChangeLock.file(for: link) == ChangeLock.file(for: place))
        }
    }

    @Test("A lock file that is a link, a folder or somebody else's is refused at once")
    func foreign() async throws {
        try await SigningSite.with { site in
            let list = site.folder.appending(path: "pins.json")
            let lock = ChangeLock.file(for: list)
            let manager = FileManager.default
            try manager.createSymbolicLink(at: lock, withDestinationURL: site.folder.appending(path: "elsewhere"))
            #expect(throws: CommandFailure.self) { try ChangeLock.on(list, for: "pins.json", limit: .seconds(60)) }
            #expect(!manager.fileExists(atPath: site.folder.appending(path: "elsewhere").path))
            try manager.removeItem(at: lock)
            try manager.createDirectory(at: lock, withIntermediateDirectories: false)
            #expect(throws: CommandFailure.self) { try ChangeLock.on(list, for: "pins.json", limit: .seconds(60)) }
            try manager.removeItem(at: lock)
            try site.write(lock.lastPathComponent, "", mode: 0o666)
            do { _ = try ChangeLock.on(list, for: "pins.json") }
            #expect(try site.mode(lock.lastPathComponent) == 0o600)
        }
    }

    @Test("Another file that was given the lock's name is refused, and its mode stays")
    func secondName() async throws {
        try await SigningSite.with { site in
            let list = site.folder.appending(path: "pins.json")
            let other = site.folder.appending(path: "other")
            try Data("shared".utf8).write(to: other)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other.path)
            try FileManager.default.linkItem(at: other, to: ChangeLock.file(for: list))
            #expect(throws: CommandFailure.self) { try ChangeLock.on(list, for: "pins.json", limit: .seconds(60)) }
            #expect(try site.mode("other") == 0o644)
        }
    }
}
