import Foundation
import Holdfast
import Testing

@testable import HoldfastServer

/// Without a number, some steps are tried.
private let triesEach = ProcessInfo.processInfo.environment["HOLDFAST_KILLS"] != nil

/// The program itself on a database that cannot be written, and killed at its work.
@Suite("serve and renew in an outage", .timeLimit(.minutes(10)))
struct OutageServerTests {
    private static let trust = "trust/\(World.customer).json.signed"

    private func journal(_ site: ServeSite) throws -> Journal? {
        let secret = try SecretFile(site.secret).read(outside: site.server.url)
        return try JournalFile(site.server.head.journal.url).read(with: secret, entered: nil)
    }

    @Test("While another process holds the database, serve signs rounds, says until when, and enters them later")
    func locked() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let other = try SQLiteConnection(
                site.server.url.appending(path: "server.db").path, clock: site.clock)
            try other.execute("BEGIN IMMEDIATE")
            let server = try await ServingProcess.start(site)
            try await server.says("signed again: \(Self.trust)")
            #expect(server.text.contains("in the journal"), "\(server.text)")
            try await server.says("writing to the database: lockedDatabase")
            try await site.everybodyFollows(server.port)
            #expect(try await RawClient(port: server.port).get("/health/ready").status == 200)
            let writable = try await RawClient(port: server.port).get("/health/writable")
            #expect(writable.status == 503 && writable.body == #"{"status":"UNAVAILABLE"}"#, "\(writable.text)")
            let (status, output) = try await ServerProgram.run(["status", "--data", site.data], in: site.folder)
            #expect(status == 1 && output.contains("1 rounds are in the journal"), "\(output)")
            #expect(output.contains("if nobody publishes, the first is refused at "), "\(output)")
            let json = try await ServerProgram.run(["status", "--data", site.data, "--json"], in: site.folder)
            #expect(json.output.contains(#""outage":{"rounds":1,"since":"20"#), "\(json.output)")
            // Killed: what was signed is in the journal alone.
            server.signal(SIGKILL)
            _ = await server.status()
            #expect(try journal(site)?.records.count == 1)
            try other.execute("ROLLBACK")
            let next = try await ServingProcess.start(site)
            try await next.says("1 rounds that were signed while the database could not be written are in it now")
            try await next.says("signed again: \(Self.trust)")
            try await site.everybodyFollows(next.port)
            #expect(await next.stop() == 0)
            _ = try await site.open.catalog.now()
            #expect(site.open.catalog.ledger.documents[.init(app: site.app, name: Self.trust)]?.version == 3)
            let doctor = try await ServerProgram.run(["doctor", "--data", site.data], in: site.folder)
            #expect(doctor.status == 0, "\(doctor.output)")
        }
    }

    @Test(
        "On a full disk rounds go on in the space that was reserved",
        .needs(.mounting))
    func full() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            await site.open.engine.close()
            let disk = site.folder.appending(path: "disk").path
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            let full = site.folder.appending(path: "full").path
            // It has served and reserved space when the disk fills up.
            let script = #"""
                mount -t tmpfs -o size=32m tmpfs "$0" && cp -a "$1" "$0/data"
                full="$2"; run="$3"; shift 3
                "$run" "$@" & first=$!
                for i in $(seq 600); do [ -e "$full" ] && break; sleep 0.1; done
                kill $first; wait $first
                dd if=/dev/zero of="$0/filler" bs=4k 2>/dev/null
                exec "$run" "$@"
                """#
            let server = try ServingProcess([
                "unshare", "-m", "sh", "-c", script, disk, site.data, full, ServerProgram.url.path, "serve", "--data",
                disk + "/data", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--no-watch",
            ])
            try await server.says("signed again: ")
            let count = server.text.utf8.count
            try Data().write(to: URL(filePath: full))
            try await server.says("listening for apps on", after: count)
            try await server.says("in the journal", after: count)
            let port = try #require(server.text.components(separatedBy: "listening for apps on 127.0.0.1:").last)
            let number = try #require(Int(port.prefix { $0.isNumber }))
            #expect(try await site.clientsThatLetIn(site.shown, number) == World.everybody)
            #expect(await server.stop() == 0)
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
        for record in try journal(site)?.records ?? [] {
            for document in record.documents {
                for place in document.places {
                    meanings.insert([place.path, "\(place.version)", "\(document.digest)"])
                }
            }
        }
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
        "Killed before any step of a round without a database, and of entering it, no version ever has two contents",
        .needs(.mounting, .program("cc")))
    func killed() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let shim = try await makeShim(in: site.folder)
            let database = site.server.url.appending(path: "server.db").path
            let readOnly =
                #"mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec env LD_PRELOAD="$1" "$2" "${@:3}""#
            var all: Set<[String]> = try await meanings(site)
            // Until neither is killed anymore.
            var (step, alive): (Int, Set<Bool>) = (1, [])
            while alive.count < 2 {
                for isWritable in [false, true] where !alive.contains(isWritable) {
                    let arguments = [shim, ServerProgram.url.path, "renew", "--data", site.data]
                    let command =
                        isWritable
                        ? ["env", "LD_PRELOAD=\(shim)"] + arguments.dropFirst()
                        : ["unshare", "-m", "bash", "-c", readOnly, database] + arguments
                    let program = try ServingProcess(command, environment: ["HOLDFAST_TEST_STEPS": "\(step)"])
                    let status = await program.status()
                    if status != SIGKILL {
                        alive.insert(isWritable)
                        #expect(status == (isWritable ? 0 : 1), "\(program.text)")
                    }
                    all.formUnion(try await meanings(site))
                }
                step += triesEach ? 1 : 3
                try #require(step < 400, "it never ends")
            }
            // A last round for what is left.
            let last = try await ServerProgram.run(["renew", "--data", site.data], in: site.folder)
            #expect(last.status == 0, "\(last.output)")
            all.formUnion(try await meanings(site))
            #expect(all.count > step / 3)
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
