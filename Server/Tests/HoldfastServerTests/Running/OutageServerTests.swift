import Foundation
import Holdfast
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Without a number, some steps are tried.
private let triesEach = ProcessInfo.processInfo.environment["HOLDFAST_KILLS"] != nil

/// The program itself on a database that cannot be written, and killed at its work.
@Suite("serve and renew in an outage", .timeLimit(.minutes(10)))
struct OutageServerTests {
    private static let trust = "trust/\(World.customer).json.signed"

    @Test("While another process holds the database, serve signs nothing, says so, and goes on by itself")
    func locked() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let other = try SQLiteConnection(
                site.server.url.appending(path: "server.db").path, clock: site.clock)
            try other.execute("BEGIN IMMEDIATE")
            let server = try await ServingProcess.start(site)
            try await server.says("signing again: bank: lockedDatabase")
            try await site.everybodyFollows(server.port)
            #expect(try await RawClient(port: server.port).get("/health/ready").status == 200)
            let writable = try await RawClient(port: server.port).get("/health/writable")
            #expect(writable.status == 503 && writable.body == #"{"status":"UNAVAILABLE"}"#, "\(writable.text)")
            #expect(!server.text.contains("signed again: "), "\(server.text)")
            try other.execute("ROLLBACK")
            try await server.says("signed again: \(Self.trust)")
            #expect(try await RawClient(port: server.port).get("/health/writable").status == 200)
            try await site.everybodyFollows(server.port)
            #expect(await server.stop() == 0)
            _ = try await site.open.catalog.now()
            #expect(site.open.catalog.ledger.documents[.init(app: site.app, name: Self.trust)]?.version == 2)
            let doctor = try await ServerProgram.run(["doctor", "--data", site.data], in: site.folder)
            #expect(doctor.status == 0, "\(doctor.output)")
        }
    }

    // MARK: Killed between any two steps

    /// Ends a process with SIGKILL right before one of its steps to the disk.
    private static let shim = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <sys/types.h>
        #include <unistd.h>
        static long steps(void) { const char *text = getenv("HOLDFAST_TEST_STEPS"); return text ? atol(text) : 1L << 40; }
        static void step(void) {
            static long taken;
            if (__sync_add_and_fetch(&taken, 1) == steps()) kill(getpid(), SIGKILL);
        }
        int fsync(int file) { step(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file); }
        int fdatasync(int file) { step(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file); }
        int rename(const char *from, const char *to) {
            step();
            return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
        }
        """#

    private func makeShim(in folder: URL) async throws -> String {
        let (source, library) = (folder.appending(path: "steps.c"), folder.appending(path: "steps.so"))
        try Data(Self.shim.utf8).write(to: source)
        let (status, output) = try await ForeignProgram.run(
            try ForeignProgram.required("cc"), ["-shared", "-fPIC", "-o", library.path, source.path, "-ldl"],
            in: folder, withErrors: true)
        try #require(status == 0, "\(String(decoding: output, as: UTF8.self))")
        return library.path
    }

    /// Each version of each path with what it is, wherever that is written.
    private func meanings(_ site: ServeSite) async throws -> Set<[String]> {
        var meanings: Set<[String]> = []
        for path in [Self.trust, "trust/\(World.customer)-canary.json.signed"] {
            let note = site.server.url.appending(path: "versions").appending(path: "\(Digest(of: path.utf8))")
            let parts = String(decoding: try Data(contentsOf: note), as: UTF8.self).split(separator: " ")
            try meanings.insert([path, String(#require(parts.first)), String(#require(parts.last).dropLast())])
        }
        var place: Int64 = -1
        while case let page = try await site.open.catalog.audit(after: place, limit: 1_000), !page.isEmpty {
            place += Int64(page.count)
            for entry in try page.map({ try AuditEntry($0) }) where entry.event == .signed {
                let path = entry.facts["format"] ?? ""
                guard path.hasPrefix("trust/") else { continue }
                meanings.insert([path, entry.facts["version"] ?? "", entry.facts["digest"] ?? ""])
            }
        }
        return meanings
    }

    @Test(
        "Killed before any step of a round, no version ever has two contents",
        .needs(.program("cc")))
    func killed() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let shim = try await makeShim(in: site.folder)
            var all: Set<[String]> = try await meanings(site)
            // Until it is not killed anymore.
            var step = 1
            while true {
                let program = try ServingProcess(
                    ["env", "LD_PRELOAD=\(shim)", ServerProgram.url.path, "renew", "--data", site.data],
                    environment: ["HOLDFAST_TEST_STEPS": "\(step)"])
                let status = await program.status()
                all.formUnion(try await meanings(site))
                if status != SIGKILL {
                    #expect(status == 0, "\(program.text)")
                    break
                }
                step += triesEach ? 1 : 3
                try #require(step < 400, "it never ends")
            }
            // A last round for what is left.
            let last = try await ServerProgram.run(["renew", "--data", site.data], in: site.folder)
            #expect(last.status == 0, "\(last.output)")
            all.formUnion(try await meanings(site))
            #expect(all.count > 2)
            let versions = Dictionary(grouping: all) { "\($0[0]) \($0[1])" }
            for (version, meanings) in versions { #expect(meanings.count == 1, "\(version): \(meanings)") }
            // No version is left out either.
            for path in Set(all.map { $0[0] }) {
                let numbers = all.filter { $0[0] == path }.compactMap { Int($0[1]) }.sorted()
                #expect(numbers == Array(1...(numbers.last ?? 1)), "\(path)")
            }
            let doctor = try await ServerProgram.run(["doctor", "--data", site.data], in: site.folder)
            #expect(doctor.status == 0, "\(doctor.output)")
        }
    }
}
