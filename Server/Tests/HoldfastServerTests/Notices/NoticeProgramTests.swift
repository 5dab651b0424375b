import Foundation
import Testing

@testable import PinPublication
@testable import ServerFoundation

@Suite("The program that is told", .timeLimit(.minutes(2)))
struct NoticeProgramTests {
    private static let notice = Notice(.alarm, of: Story.server, ["app": "bank"], words: "A key was seen.")

    private func script(_ text: String, in folder: URL, within limit: Int64 = 60) async throws -> NoticeProgram {
        let file = folder.appending(path: "program")
        try await ExecutableScript.write("#!/bin/sh\n\(text)\n", to: file)
        return NoticeProgram(program: try ProgramCommand([file.path], limit: limit))
    }

    private func text(_ name: String, in folder: URL) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    @Test("It reads the notice as one line, has its kind and id as variables, and nothing of the server's environment")
    func input() async throws {
        try await withFolder { folder in
            let program = try await script(
                "cat >\(folder.path)/input; env | sort >\(folder.path)/environment; echo noise; echo noise >&2",
                in: folder)
            #expect(await program.deliver(Self.notice) == nil)
            #expect(try text("input", in: folder) == String(decoding: Self.notice.bytes, as: UTF8.self) + "\n")
            let names = try text("environment", in: folder).split(separator: "\n").map { $0.prefix { $0 != "=" } }
            #expect(
                Set(names).isSubset(of: [
                    "PATH", "HOLDFAST_NOTICE", "HOLDFAST_NOTICE_ID", "PWD", "SHLVL", "_", "OLDPWD",
                ]))
            let environment = try text("environment", in: folder)
            #expect(environment.contains("HOLDFAST_NOTICE=alarm\n"))
            #expect(environment.contains("HOLDFAST_NOTICE_ID=\(Self.notice.id)\n"))
        }
    }

    @Test("Another exit code than 0, or a signal, says that it was not taken")
    func refusals() async throws {
        try await withFolder { folder in
            let failing = try await script("exit 7", in: folder)
            #expect(await failing.deliver(Self.notice) == "it ended with exit code 7")
            let dying = try await script("kill -9 $$", in: folder)
            #expect(await dying.deliver(Self.notice) == "signal 9 ended it")
            let gone = NoticeProgram(
                program: try ProgramCommand([folder.appending(path: "gone").path], limit: 60))
            #expect(await gone.deliver(Self.notice)?.contains("could not be started") == true)
        }
    }

    @Test("A program that hangs is ended with everything that it started, and what it leaves behind ends with it")
    func hanging() async throws {
        try await withFolder { folder in
            // A child keeps the lock as long as it lives; the test gets it when no process has it anymore.
            let lock = folder.appending(path: "lock")
            try Data().write(to: lock)
            func isFree() -> Bool {
                // A program that another test starts at this moment would inherit the lock.
                let descriptor = unsafe open(lock.path, O_RDWR | O_CLOEXEC)
                defer { close(descriptor) }
                return flock(descriptor, LOCK_EX | LOCK_NB) == 0
            }
            let holding = "exec 9<>\(lock.path); flock 9; trap '' TERM; sleep 600 & "
            let hangs = try await script(holding + "wait", in: folder, within: 1)
            #expect(await hangs.deliver(Self.notice)?.contains("did not end within") == true)
            // A process that was killed gives up its files a moment later.
            try await eventually("somebody still has the lock") { isFree() }
            let leaves = try await script(holding + "exit 0", in: folder)
            #expect(await leaves.deliver(Self.notice) == nil)
            // A process that was killed gives up its files a moment later.
            try await eventually("somebody still has the lock") { isFree() }
        }
    }

    @Test("A program that reads nothing, or has signals to wait for, is no different")
    func signals() async throws {
        try await withFolder { folder in
            // A signal that the server blocks would never come, and the pipe's writer would never end.
            let program = try await script("trap 'exit 0' TERM; kill -TERM $$; exit 3", in: folder)
            #expect(await program.deliver(Self.notice) == nil)
            let pipe = try await script("yes | head -1 >/dev/null; exit 0", in: folder)
            #expect(await pipe.deliver(Self.notice) == nil)
        }
    }
}
