import Foundation
import Testing

@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerStore
@testable import ServerWeb

/// The program itself on a real disk that fills up.
@Suite("serve on a disk that fills up", .timeLimit(.minutes(10)))
struct DiskReserveTests {
    /// It serves on a disk of its own, which only its processes see. A shell beside it does on that disk what the test asks
    /// for: it waits for a file with the name of each step.
    private static let script = #"""
        mount -t tmpfs -o size=192m tmpfs "$0" && cp -a "$1" "$0/data"
        outside="$2"; run="$3"; shift 3
        step() { for i in $(seq 2400); do [ -e "$outside/$1" ] && return; sleep 0.05; done; exit; }
        (
            step fill
            stat -c '%a %s %b' "$0/data/reserve" >"$outside/held"
            dd if=/dev/zero of="$0/filler" bs=4k 2>/dev/null; : >"$outside/filled"
            step ask
            "$run" status --data "$0/data" >"$outside/status" 2>&1
            "$run" doctor --data "$0/data" >"$outside/doctor" 2>&1
            ls "$0/data" >"$outside/files"; : >"$outside/asked"
            step free
            rm "$0/filler"
        ) &
        "$run" "$@" & first=$!
        while [ ! -e "$outside/filled" ]; do sleep 0.05; done
        kill $first; wait $first
        exec "$run" "$@"
        """#

    private func text(_ site: ServeSite, _ name: String) throws -> String {
        try String(contentsOf: site.folder.appending(path: name), encoding: .utf8)
    }

    private func waits(for name: String, _ site: ServeSite, _ server: ServingProcess) async throws {
        try await eventually("\(name): \(server.text)") {
            FileManager.default.fileExists(atPath: site.folder.appending(path: name).path)
        }
    }

    @Test(
        "Held-back space is given up once, rounds go on in it, people are alerted, and it is held back again",
        .needs(.mounting))
    func full() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            await site.open.engine.close()
            func step(_ name: String) throws { try Data().write(to: site.folder.appending(path: name)) }
            let disk = site.folder.appending(path: "disk").path
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            let program = site.folder.appending(path: "program")
            try Data("#!/bin/sh\ncat >>\(site.folder.path)/told\n".utf8).write(to: program)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program.path)
            let server = try ServingProcess([
                "unshare", "-m", "sh", "-c", Self.script, disk, site.data, site.folder.path, ServerProgram.url.path,
                "serve", "--data", disk + "/data", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
                "--no-watch", "--on-event", program.path,
            ])
            try await server.says("space is held back for a full disk")
            let before = server.text.utf8.count
            try step("fill")
            // The second one begins on a full disk, where nothing can be opened or written without that space.
            try await server.says("signed again: ", after: before)
            try await server.says("holding back space for a full disk: no space is held back", after: before)
            let held = try text(site, "held").split(separator: " ")
            // All of it is on the disk: blocks of 512 bytes.
            #expect(held.first == "600" && held.dropFirst().first == "\(DiskReserve.size)", "\(held)")
            #expect(try #require(Int(held.last?.trimmingCharacters(in: .newlines) ?? "")) * 512 >= DiskReserve.size)
            func port(_ audience: String) -> Int {
                let last = server.text.components(separatedBy: "listening for \(audience) on 127.0.0.1:").last
                return Int((last ?? "").prefix { $0.isNumber }) ?? 0
            }
            #expect(try await site.clientsThatLetIn(site.shown, port("apps")) == World.everybody)
            try step("ask")
            try await waits(for: "asked", site, server)
            let (status, doctor) = (try text(site, "status"), try text(site, "doctor"))
            #expect(status.contains("ALARM: no space is held back"), "\(status)")
            #expect(doctor.contains("note: no space is held back"), "\(doctor)")
            let files = try text(site, "files").split(separator: "\n")
            #expect(files.contains("reserve.missing") && !files.contains("reserve"), "\(files)")
            func metric() async throws -> Bool {
                let metrics = try await RawClient(port: port("administration")).get("/metrics").body
                #expect(metrics.contains("holdfast_disk_reserve_missing "))
                return metrics.contains("holdfast_disk_reserve_missing 1\n")
            }
            #expect(try await metric())
            try await eventually(server.text) {
                ((try? text(site, "told")) ?? "").contains(#""about":"reserve""#)
            }
            let after = server.text.utf8.count
            try step("free")
            try await server.says("space is held back for a full disk", after: after)
            #expect(try await !metric())
            #expect(await server.stop() == 0)
        }
    }

    @Test("It is held back with all its bytes and mode 0600, is given up once, and only when the disk is full")
    func once() async throws {
        try await withFolder { folder in
            let reserve = DiskReserve(in: folder)
            #expect(!reserve.isMissing && reserve.warning == nil)
            #expect(reserve.make() && !reserve.make())
            var status = stat()
            #expect(unsafe stat(reserve.url.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(status.st_size == DiskReserve.size && Int(status.st_blocks) * 512 >= DiskReserve.size)
            #expect(!reserve.isGivenUp(because: ServerError(.lockedDatabase, expected: "a", found: "b")))
            // There is space on this disk, so this has another reason.
            #expect(!reserve.isGivenUp(because: ServerError(.readOnlyDatabase, expected: "a", found: "b")))
            let full = ServerError(.fullDatabase, expected: "a", found: "b")
            #expect(reserve.isGivenUp(because: full) && !reserve.isGivenUp(because: full))
            #expect(reserve.isMissing && reserve.warning?.contains("make room") == true)
            #expect(reserve.make() && !reserve.isMissing && reserve.warning == nil)
        }
    }
}
