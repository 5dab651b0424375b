import Foundation
import Holdfast
import Testing

@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerStore

/// The program itself, serving although something of its folder has died.
@Suite("serve when something dies", .timeLimit(.minutes(3)))
struct DyingTests {
    private static let challenge = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]
    private static let signed = World.everybody.subtracting(["challenge"])
    static let canMount = geteuid() == 0 && ForeignProgram.find("unshare") != nil

    /// Starts it, and waits until it answers apps.
    private func start(
        _ data: String, wrappedBy wrapper: [String] = []
    ) async throws -> ServingProcess {
        let server = try ServingProcess(
            wrapper + [
                ServerProgram.url.path, "serve", "--data", data, "--listen", "127.0.0.1:0", "--admin-listen",
                "127.0.0.1:0", "--no-watch",
            ])
        try await server.says("listening for apps on")
        return server
    }

    /// It serves documents alone, and says why.
    private func servesDocuments(_ site: ServeSite, _ server: ServingProcess, because code: String) async throws {
        #expect(server.text.contains("are served, and nothing else: \(code)"), "\(server.text)")
        #expect(try await site.clientsThatLetIn(site.shown, server.port) == Self.signed)
        let client = RawClient(port: server.port)
        let answer = try await client.get("/app/init?appName=bank", Self.challenge)
        #expect(answer.status == 503 && answer.header("X-Cert-Pinning-Signature") == nil, "\(answer.text)")
        #expect(try await client.get("/app/init/public-key?appName=bank").status == 503)
        #expect(try await client.get("/health/ready").status == 200)
        let writable = try await client.get("/health/writable")
        #expect(writable.status == 503 && !writable.body.contains(code), "\(writable.text)")
        #expect(try await client.get("/health/live").status == 200)
        #expect(try await client.get("/lists/nothing.json").status == 404)
    }

    /// It goes on as a whole, without a person.
    private func recovers(_ site: ServeSite, _ server: ServingProcess, after count: Int) async throws {
        try await server.says("the database is usable again", after: count)
        try await server.says("listening for administration on", after: count)
        try await server.says("signed again", after: count)
        try await site.everybodyFollows(server.latestPort)
        #expect(await server.stop() == 0)
        #expect(server.text.contains("stopped"))
    }

    /// Possible damage of a file of a database.
    enum Damage: String, CaseIterable {
        case header, half, empty, gone, zeros

        func done(to bytes: [UInt8]) -> [UInt8]? {
            switch self {
            case .header: Array("no database".utf8) + bytes.dropFirst(11)
            case .half: Array(bytes.prefix(bytes.count / 2))
            case .empty: []
            case .gone: nil
            case .zeros: Array(bytes.prefix(4_096)) + [UInt8](repeating: 0, count: bytes.count - 4_096)
            }
        }
    }

    @Test(
        "With a damaged database it serves the last documents, and goes on when the database is back",
        arguments: Damage.allCases)
    func damaged(_ damage: Damage) async throws {
        try await ServeSite.run { site in
            try await site.publish()
            await site.open.engine.close()
            let file = site.server.url.appending(path: "server.db")
            let good = try Array(Data(contentsOf: file))
            #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
            try FileManager.default.removeItem(at: file)
            if let bad = damage.done(to: good) { try WholeFile.replace(file, with: bad) }
            let server = try await start(site.data)
            let codes = ["damagedDatabase", "brokenChain", "database"]
            let code = try #require(codes.first { server.text.contains("nothing else: \($0)") }, "\(server.text)")
            try await servesDocuments(site, server, because: code)
            let count = server.text.utf8.count
            for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + end) }
            try WholeFile.replace(file, with: good)
            try await recovers(site, server, after: count)
        }
    }

    @Test("With a database that another program holds it serves the last documents, and goes on when it is free")
    func locked() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            await site.open.engine.close()
            var other: SQLiteConnection? = try SQLiteConnection(
                site.server.url.appending(path: "server.db").path, clock: site.clock)
            try other?.execute("PRAGMA locking_mode = EXCLUSIVE")
            try other?.execute("BEGIN EXCLUSIVE")
            try other?.execute("UPDATE host SET next_poll_at = 0")
            try other?.execute("COMMIT")
            let server = try await start(site.data)
            try await servesDocuments(site, server, because: "lockedDatabase")
            let count = server.text.utf8.count
            other = nil
            try await recovers(site, server, after: count)
        }
    }

    @Test(
        "With a folder that cannot be written it serves everything and answers challenges, and signs no documents",
        .needs(.mounting), arguments: [true, false])
    func readOnly(_ isInUse: Bool) async throws {
        try await ServeSite.run { site in
            try await site.publish()
            // There since the first server; only its holder is gone.
            _ = try site.server.lock()
            // A log that a process left, or none.
            if !isInUse { await site.open.engine.close() }
            let mount = #"mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@""#
            let server = try await start(site.data, wrappedBy: ["unshare", "-m", "sh", "-c", mount, site.data])
            #expect(server.text.contains("nothing can be written: "), "\(server.text)")
            #expect(server.text.contains("readOnlyDatabase"), "\(server.text)")
            try await server.says("listening for administration on")
            #expect(try await site.clientsThatLetIn(site.shown, server.port) == World.everybody)
            try await server.says("signing again: bank: readOnlyDatabase")
            let second = try await ServerProgram.run(
                ["serve", "--data", site.data, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"],
                in: site.folder)
            #expect(second.status == 3 && second.output.contains("folderInUse"), "\(second.output)")
            #expect(await server.stop() == 0)
        }
    }

    @Test(
        "On a full disk it serves everything and answers challenges, and signs documents again when there is space",
        .needs(.mounting))
    func full() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            await site.open.engine.close()
            let disk = site.folder.appending(path: "disk").path
            let free = site.folder.appending(path: "free").path
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            // The content of the disk goes away with the process.
            let script = #"""
                mount -t tmpfs -o size=8m tmpfs "$0" && cp -a "$1" "$0/data" && dd if=/dev/zero of="$0/filler" bs=4k 2>/dev/null
                (for i in $(seq 600); do [ -e "$2" ] && break; sleep 0.2; done; rm "$0/filler") &
                shift 2; exec "$@"
                """#
            let server = try await start(
                disk + "/data", wrappedBy: ["unshare", "-m", "sh", "-c", script, disk, site.data, free])
            try await server.says("listening for administration on")
            #expect(try await site.clientsThatLetIn(site.shown, server.port) == World.everybody)
            try await server.says("signing again: bank: ")
            let words = ["fullDatabase", "readOnlyDatabase"]
            #expect(words.contains { server.text.contains("bank: \($0)") }, "\(server.text)")
            let count = server.text.utf8.count
            try Data().write(to: URL(filePath: free))
            try await server.says("signed again", after: count)
            #expect(try await site.clientsThatLetIn(site.shown, server.latestPort) == World.everybody)
            #expect(await server.stop() == 0)
        }
    }
}

extension ServingProcess {
    /// The port of the listener for apps since its latest start.
    fileprivate var latestPort: Int {
        let parts = text.components(separatedBy: "listening for apps on 127.0.0.1:")
        return Int((parts.last ?? "").prefix { $0.isNumber }) ?? 0
    }
}
