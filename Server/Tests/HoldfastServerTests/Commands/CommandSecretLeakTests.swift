import Foundation
import Holdfast
import HoldfastSigning
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel

/// Every command, with a file of a secret in the place of every file that it reads.
@Suite("No command prints a secret")
struct CommandSecretLeakTests {
    private typealias Desk = CommandTests.Desk

    /// Finds eight bytes in a row of a secret, as they are, in Base64 and in hexadecimal.
    private struct Scanner {
        private var windows: Set<[UInt8]> = []

        mutating func add(_ bytes: [UInt8]) {
            for form in [bytes, Array(Base64.encode(bytes).utf8), Array(Hex.encode(bytes).utf8)] {
                for start in 0...(form.count - 8) { windows.insert(Array(form[start..<(start + 8)])) }
            }
        }

        mutating func add(text: [UInt8]) {
            for start in 0...(text.count - 8) { windows.insert(Array(text[start..<(start + 8)])) }
        }

        func finds(in bytes: [UInt8]) -> Bool {
            guard bytes.count >= 8 else { return false }
            return (0...(bytes.count - 8)).contains { windows.contains(Array(bytes[$0..<($0 + 8)])) }
        }
    }

    /// One place of a command where a file is named, with the rest of the line.
    private struct Place {
        let arguments: [String]
        let name: String
    }

    /// Every option and argument with a value of every command, from the program's own description of itself.
    private func places(_ desk: Desk) async throws -> [Place] {
        try await ProgramDescription(desk).verbs.flatMap { verb in
            verb.arguments.indices.map { given in
                let line = desk.line(
                    verb, { $0 == given || !verb.arguments[$0].isOptional }, replacing: (given, "given"))
                return Place(arguments: line, name: line.joined(separator: " "))
            }
        }
    }

    /// The output of a command. A command that serves is stopped once it does.
    private func answer(to arguments: [String], _ desk: Desk) async throws -> String {
        guard arguments.first == "serve" else { return try await desk.run(anyStatus: arguments) }
        let ports = ["listen", "admin-listen"].filter { !arguments.contains("--\($0)") }
        let server = try ServingProcess(
            [ServerProgram.url.path] + arguments + ports.flatMap { ["--\($0)", "127.0.0.1:0"] }, in: desk.folder)
        do {
            try await server.says("listening for administration on")
            #expect(await server.stop() == 0, "\(arguments): \(server.text)")
        } catch is ServingProcess.Ended {
            let status = await server.status()
            #expect((1...3).contains(status), "\(arguments): \(server.text)")
        }
        return server.text
    }

    @Test("Eight bytes of a secret are in no answer and in no new file, whichever file was given")
    func leaks() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            let key = SigningKey()
            try Data(key.pem.utf8).write(to: folder.appending(path: "backup.pem"))
            try Data("\(key.publicKey.base64)\n".utf8).write(to: folder.appending(path: "backup.pub"))
            _ = try await desk.run("backup", "--data", desk.data, "--to", "pins.backup", "--recipient", "backup.pub")

            let secret = try Array(Data(contentsOf: folder.appending(path: "secret")))
            let text = Array(try #require(secret.split(separator: 0x20).last).dropLast())
            var scanner = Scanner()
            scanner.add(try #require(Base64.decode(text)))
            // The number of the private key, and the part of its Base64 that no other key has.
            let der = try #require(
                Base64.decode(Array(key.pem.utf8.split(separator: 0x0A).dropFirst().dropLast().joined())))
            scanner.add(Array(der[36..<68]))
            scanner.add(text: Array(Base64.encode(der).utf8)[52..<88].map { $0 })
            #expect(scanner.finds(in: secret) && scanner.finds(in: Array(key.pem.replacing("\n", with: "").utf8)))

            let known = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
            let places = try await places(desk)
            #expect(places.count > 60)
            var generator = SeededGenerator(seed: 0x5EC4E7)
            let files = [secret, Array(key.pem.utf8)]
            var answers = 0
            for (number, place) in places.enumerated() {
                for (kind, file) in files.enumerated() where mutants > 10_000 || (number + kind) % 2 == 0 {
                    for copy in [file, mutated(file, &generator), file + file] {
                        guard mutants > 10_000 || copy == file || number % 4 == 0 else { continue }
                        let given = folder.appending(path: "given")
                        try? FileManager.default.removeItem(at: given)
                        try Data(copy).write(to: given)
                        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: given.path)
                        let output = try await answer(to: place.arguments, desk)
                        answers += 1
                        #expect(!scanner.finds(in: Array(output.utf8)), "\(place.name)")
                    }
                }
            }
            #expect(answers >= places.count)
            // The written files, except for copies of the given one.
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !known.contains(name) {
                guard name != "given", let data = try? Data(contentsOf: folder.appending(path: name)) else { continue }
                #expect(!scanner.finds(in: Array(data)), "\(name)")
            }
            for case let file as URL in FileManager.default.enumerator(
                at: URL(filePath: desk.data), includingPropertiesForKeys: nil) ?? .init() where !file.hasDirectoryPath
            {
                let bytes = try Array(Data(contentsOf: file))
                #expect(!scanner.finds(in: bytes), "\(file.lastPathComponent)")
            }
        }
    }
}
