import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Synchronization
import Testing

@testable import ServerHTTP

/// The command that takes over, as an operator uses it.
@Suite("The command import", .timeLimit(.minutes(5)))
struct ImportCommandTests {
    private typealias Desk = CommandTests.Desk

    private func oldServer(_ desk: Desk) throws -> OldUtilityServer {
        var old = try OldUtilityServer(SigningKey())
        try old.add(desk.shown)
        try old.add(desk.next)
        return old
    }

    private static let rules = [
        "--anchors", "roots.pem", "--no-shipped-pins", "--canary", "0", "--reason", "a test", "--no-proposer",
    ]

    @Test("From a pipe it rehearses, takes over once, and says in words what is wrong without a value of the export")
    func pipe() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeEmptyServer()
            let old = try oldServer(desk)
            func take(_ stream: [UInt8], _ more: [String], status: Int32 = 0) async throws -> String {
                let file = folder.appending(path: "stream")
                try Data(stream).write(to: file)
                let (found, output) = try await ForeignProgram.run(
                    ServerProgram.url,
                    ["import", "--data", desk.data, "--mobile-utility-server", "-"] + Self.rules + more,
                    in: folder, withErrors: true, input: file)
                try FileManager.default.removeItem(at: file)
                let text = String(decoding: output, as: UTF8.self)
                #expect(found == status, "\(text)")
                #expect(!text.contains(old.privateKey) && !text.contains("PRIVATE KEY"))
                return text
            }
            let rehearsed = try await take(old.stream, ["--dry-run"])
            #expect(rehearsed.contains("mobile  1 hosts, 2 certificates") && rehearsed.contains(old.publicKey))
            #expect(!rehearsed.contains("change ") && rehearsed.contains("nothing was written"))
            #expect(try await desk.run("app", "list", "--data", desk.data) == "")
            #expect(try await take(Array(old.stream.dropLast(30)), [], status: 3).contains("cut off"))
            var wrong = old
            wrong.publicKey = try SigningKey().publicKey.base64
            #expect(
                try await take(wrong.stream, [], status: 2).contains("mus_mobile_app, line 2, field sign_public_key"))
            #expect(try await desk.run("app", "list", "--data", desk.data) == "")
            #expect(try await take(old.stream, []).contains("taken over: nothing is served before people approve"))
            #expect(try await desk.run("app", "list", "--data", desk.data).contains("generation 0"))
            #expect(try await take(old.stream, [], status: 3).contains("--again"))
            for verb in ["status", "doctor"] {
                #expect(try await desk.run(verb, "--data", desk.data).contains("was in plain text"), "\(verb)")
            }
            let key = try await desk.run("app", "key", "mobile", "--data", desk.data, status: 3)
            #expect(key.contains("--replace"))
        }
    }

    @Test("A key that came as a file is noted as one that was in plain text, and one that was made here is not")
    func keyFiles() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            try Data(SigningKey().pem.utf8).write(to: folder.appending(path: "list.pem"))
            _ = try await desk.run(
                "app", "add", "shop", "--data", desk.data, "--anchors", "roots.pem", "--no-shipped-pins")
            _ = try await desk.run("app", "key", "shop", "--data", desk.data, "--file", "list.pem")
            let doctor = try await desk.run("doctor", "--data", desk.data)
            #expect(doctor.contains("note: shop: the key for fingerprints"))
            #expect(!doctor.contains("bank: the key for fingerprints"))
        }
    }

    @Test("What does not belong together is refused before anything is read")
    func usage() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            for (arguments, words) in [
                ([], "Say what to take over"), (["--pins", "x", "--list", "y"], "Say what to take over"),
                (["--mobile-utility-server", "-"], "--anchors"),
                (["--mobile-utility-server", "-", "--app", "bank"] + Self.rules, "keep their names"),
                (["--pins", "x"] + Self.rules, "Name the --app"), (["--list", "x"] + Self.rules, "--key"),
            ] {
                let said = try await desk.run(["import", "--data", desk.data] + arguments, status: 2)
                #expect(said.contains(words), "\(arguments): \(said)")
            }
        }
    }
}
