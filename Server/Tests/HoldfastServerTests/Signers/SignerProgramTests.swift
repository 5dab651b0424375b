import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Signer programs", .timeLimit(.minutes(5)))
struct SignerProgramTests {
    private static let formats = World.formats.filter { $0.kind == .list }

    /// A program of the shell, which is read and not executed: a file that is written is not started in the same moment.
    private static func program(
        _ script: String, in world: World, limit: Int64 = 120, arguments: [String] = []
    ) throws -> ProgramCommand {
        let file = world.folder.appending(path: "program-\(UUID().uuidString)")
        try Data("\(script)\n".utf8).write(to: file)
        return try ProgramCommand([ForeignProgram.required("sh").path, file.path] + arguments, limit: limit)
    }

    private static func add(
        _ program: ProgramCommand, _ id: String, _ world: World, publicKey: [UInt8]? = nil, replacing: Bool = false
    ) async throws {
        try await world.catalog.add(
            Catalog.Key(
                program: program, at: SealedKeyTests.place(id),
                publicKey: try publicKey ?? SigningKey().subjectPublicKeyInfo), replacing: replacing, by: "operator")
    }

    @Test("A program that fails, hangs, says nothing, too much or something else: an error, and nothing is published")
    func trouble() async throws {
        try await World.run { world in
            let change = try await world.approved(Self.formats).change
            let lock = world.folder.appending(path: "held")
            let cases: [(script: String, limit: Int64, words: String)] = [
                ("echo 'no token 9182736455' >&2; exit 7", 120, "exit code 7"),
                ("exit 1", 120, "that it refuses"), ("kill -9 $$", 120, "signal 9 ended it"),
                ("cat >/dev/null", 120, "nothing"), ("exec cat /dev/zero", 120, "more"),
                ("flock '\(lock.path)' sleep 600 & exec sleep 600", 1, "within 1 s"),
                ("trap '' TERM; while :; do sleep 600; done", 1, "within 1 s"),
                ("head -c 64 /dev/zero", 120, "64 octets that do not verify"),
            ]
            for (index, (script, limit, words)) in cases.enumerated() {
                let program = try Self.program(script, in: world, limit: limit, arguments: ["--pin", "9182736455"])
                try await Self.add(program, "bad-\(index)", world)
                let error = await expectError(.signerProgram) { try await world.publisher.publish(change) }
                #expect(error.map { "\($0)".contains(words) } ?? false, "\(script): \(error.map { "\($0)" } ?? "")")
                // Neither an argument nor what a program complains about is shown.
                #expect(error.map { !"\($0)".contains("9182736455") } ?? false)
                #expect(world.publisher.live.current.documents.isEmpty)
            }
            // Processes that a program left in the background have ended with it.
            withExtendedLifetime(try FolderLock.waiting(for: lock)) {}
            let nowhere = try ProgramCommand([world.folder.appending(path: "nowhere").path], limit: 120)
            try await Self.add(nowhere, "nowhere", world)
            let error = await expectError(.signerProgram) { try await world.publisher.publish(change) }
            #expect(error?.found == "there is no such program")
            #expect(try await world.publisher.examine().contains { $0.isFault && $0.words.contains("cannot be run") })
        }
    }

    @Test("A program may leave something in the background: it is not waited for, and ends with the program")
    func background() async throws {
        try await World.run { world in
            let lock = world.folder.appending(path: "held")
            let program = try Self.program("flock '\(lock.path)' sleep 600 & cat", in: world)
            let end = await ProgramRun.run(program, input: Array("signed".utf8), output: .atMost(64))
            #expect(end == .ended(code: 0, output: Array("signed".utf8)))
            withExtendedLifetime(try FolderLock.waiting(for: lock)) {}
        }
    }

    @Test("A program has no socket of the server: what it leaves running keeps no port and no connection")
    func sockets() async throws {
        try await World.run { world in
            // SwiftNIO does not mark it close-on-exec.
            let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .bind(host: "127.0.0.1", port: 0).get()
            // `timeout` closes 3, which the watchdog's shell has.
            let program = try Self.program(
                "i=3; while [ $i -le 200 ]; do if [ -e /dev/fd/$i ] && [ $i -ne 10 ]; then echo $i; fi; i=$((i + 1)); done",
                in: world)
            let end = await ProgramRun.run(program, input: [], output: .atMost(10_000))
            try await listener.close().get()
            #expect(end == .ended(code: 0, output: []))
        }
    }

    @Test("The same key moves from the server to a program at any time; another key needs --replace once apps know one")
    func moving() async throws {
        try await World.run { world in
            try await world.publish(try await world.draft { $0.formats = Self.formats })
            let own = try #require(try await world.catalog.key(.fingerprints, of: world.app))
            let program = try Self.program("exit 1", in: world)
            await expectError(.constraint) { try await Self.add(program, "other", world) }
            try await Self.add(program, "same", world, publicKey: own.publicKey)
            let moved = try #require(try await world.catalog.key(.fingerprints, of: world.app))
            #expect(moved.program == program && moved.sealed == nil && moved.publicKey == own.publicKey)
            try await Self.add(program, "other", world, replacing: true)
        }
    }

    @Test("Whoever can write to the database does not choose which program runs")
    func attacked() async throws {
        try await World.run { world in
            let good = try Self.program("exit 1", in: world)
            let trace = world.folder.appending(path: "ran")
            let evil = try Self.program("touch '\(trace.path)'; exit 1", in: world)
            try await Self.add(good, "program", world)
            let change = try await world.approved(Self.formats).change
            // In the place of another program, and in that of a key that the server has.
            for (id, purpose) in [("program", SealedKey.Purpose.fingerprints), ("trust-1", .trustServer)] {
                let row = "UPDATE signing_key SET program = $1, sealed = NULL, secret_id = NULL WHERE id = '\(id)'"
                let connection = try SQLiteConnection(
                    world.folder.appending(path: "server.db").path, clock: world.clock)
                _ = try connection.run(
                    text: row, [.text(String(decoding: evil.bytes, as: UTF8.self))])
                await #expect(throws: ServerError.self) { try await world.catalog.key(purpose, of: world.app) }
                await #expect(throws: ServerError.self) { try await world.publisher.publish(change) }
            }
            #expect(!FileManager.default.fileExists(atPath: trace.path))
        }
    }

    @Test("doctor names a program that other users can replace: by its own mode, or by that of a folder above it")
    func replaceable() async throws {
        try await World.run { world in
            let folder = world.folder.appending(path: "programs/bin")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appending(path: "sign")
            try Data("#!/bin/sh\nexit 1\n".utf8).write(to: file)
            func setMode(_ mode: Int, of url: URL) throws {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
            }
            try setMode(0o755, of: file)
            let link = world.folder.appending(path: "link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            for (index, path) in [file.path, link.path].enumerated() {
                try await Self.add(try ProgramCommand([path], limit: 10), "signer-\(index)", world)
                func isNamed() async throws -> Bool {
                    try await world.publisher.examine().contains {
                        $0.isFault && $0.words.contains("can be replaced by other users")
                    }
                }
                #expect(try await !isNamed())
                for url in [file, folder, folder.deletingLastPathComponent()] {
                    for mode in [0o775, 0o757] {
                        try setMode(mode, of: url)
                        #expect(try await isNamed(), "\(path): \(url.path) with \(String(mode, radix: 8))")
                    }
                    try setMode(0o755, of: url)
                }
                // As in /tmp, where users can rename only their own files.
                try setMode(0o1777, of: folder)
                #expect(try await !isNamed())
                try setMode(0o755, of: folder)
            }
        }
    }

    @Test("Without the secret, keys that programs have sign on")
    func withoutSecret() async throws {
        try await World.run { world in
            let key = SigningKey()
            let pem = world.folder.appending(path: "key.pem")
            try Data(key.pem.utf8).write(to: pem)
            // It believes everything; what it gets on standard input is the request.
            let script = """
                python3 -c 'import base64, json, sys
                sys.stdout.buffer.write(base64.b64decode(json.load(sys.stdin)["message"]))' |
                  openssl dgst -sha256 -sign '\(pem.path)'
                """
            try await Self.add(
                try Self.program(script, in: world), "program", world, publicKey: try key.subjectPublicKeyInfo)
            let trust = try TrustServerKey(customer: World.customer, kind: .p256, at: world.clock.now)
            try await world.catalog.add(
                Catalog.Key(
                    program: try Self.program("exit 1", in: world), at: SealedKeyTests.place("trust-2", .trustServer),
                    publicKey: Array(try X509Certificate(der: [UInt8](trust.certificate)).subjectPublicKeyInfo),
                    certificate: Array(trust.certificate)), by: "operator")
            let change = try await world.approved(Self.formats).change
            let blind = Publisher(
                world.catalog, folder: world.publisher.folder, secret: nil, live: world.publisher.live)
            #expect(try await blind.publish(change) == .published(generation: 1))
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.everybodyFollows(refusing: [stranger], isThorough: false)
        }
    }
}
