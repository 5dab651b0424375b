import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel

/// A refusal, and what a person does about it.
struct Refusal: Sendable {
    /// The part of a message that the test obeys.
    enum Remedy: Sendable {
        /// The first or the last command in grave accents, with words that a person fills in.
        case first([String: String] = [:])
        case last([String: String] = [:])
        /// A sentence, and what a person does in a shell then.
        case says(String, does: String = "true")
        /// A person must decide; one that decides for it does something in a shell.
        case decides(does: String = "true")
    }

    /// Lines of a shell that make what is refused.
    var setup = "true"
    /// The command that refuses it.
    let refused: String
    var status: Int32 = 1
    let remedy: Remedy
    /// The command that succeeds then; nil for the refused command.
    var then: String?
    var good: Set<Int32> = [0]
    /// Whether the server serves meanwhile.
    var serves = false
}

/// A server whose folder each refusal gets a copy of, and a host that listens.
struct RefusalDesk {
    let folder: URL
    let port: Int

    /// The functions of every shell.
    private static let prelude = """
        propose() {
          holdfast-server change propose bank --data data --reason because --no-proposer "$@" > proposed.txt || return
          head -1 proposed.txt | cut -c8- > id
        }
        approve() {
          for key in alice bob; do
            holdfast-server approve $(cat id) --key $key.pem --yes --data data > approved.txt || return
          done
        }
        publish() { holdfast-server publish $(cat id) --data data; }
        call() {
          local path=$1 status; shift
          status=$(curl -s -o answer.json -w '%{http_code}' -H "Authorization: Bearer $(cat token)" "$@" \
            "http://127.0.0.1:$ADMIN$path")
          echo "$status $(cat answer.json)"
          case $status in 2*) ;; *) return 1 ;; esac
        }
        send() { call "$1" -H 'Content-Type: application/json' -d "$2"; }
        again() { head -1 remedy.txt | cut -c8- > id; approve && publish; }
        """

    /// Makes a server with an app and its key.
    static func run(
        _ setup: String = "true", _ refusals: [Refusal], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withFolder { folder in
            let files = try CommandTests.Desk(in: folder)
            try await files.makeEmptyServer()
            let host = try await LoopbackTLSServer.start(serving: files.shown)
            let desk = RefusalDesk(folder: folder, port: host.port)
            let other = try files.authority.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try Data(other.chainPEM.utf8).write(to: folder.appending(path: "other.pem"))
            let short = try files.authority.leaf(names: [.dns(World.host)]) {
                $0.notBefore = .days(0)
                $0.notAfter = .days(47)
            }
            try Data(short.chainPEM.utf8).write(to: folder.appending(path: "short.pem"))
            let made = try await desk.shell(
                """
                set -e
                openssl ecparam -name prime256v1 -genkey -noout -out backup.key
                openssl req -new -key backup.key -subj /CN=\(World.host) -out backup.csr
                openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out dave.pem
                openssl pkey -in dave.pem -pubout -outform DER | tail -c 65 | base64 -w 0 > dave.pub
                openssl genpkey -algorithm ed25519 -out root.pem && openssl pkey -in root.pem -pubout -out root.pub
                openssl genpkey -algorithm ed25519 -out pins.pem && openssl pkey -in pins.pem -pubout -out pins.pub
                holdfast-server app add bank --anchors roots.pem --no-shipped-pins --canary 0 --data data
                holdfast-server app key bank --data data
                \(setup)
                """, in: folder)
            try #require(made.status == 0, "\(made.output)", sourceLocation: sourceLocation)
            for (index, refusal) in refusals.enumerated() {
                let copy = folder.appending(path: "case-\(index)")
                try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
                for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
                where !name.hasPrefix("case-") {
                    try FileManager.default.copyItem(
                        at: folder.appending(path: name), to: copy.appending(path: name))
                }
                try await desk.obey(refusal, in: copy, sourceLocation)
                try FileManager.default.removeItem(at: copy)
            }
            await host.shutdown()
        }
    }

    /// Runs lines of a shell for which `holdfast-server` is the command.
    /// - Parameter server: the process that serves; nil if none does.
    func shell(_ lines: String, in folder: URL, _ server: ServingProcess? = nil) async throws -> (
        status: Int32, output: String
    ) {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let now = SystemWallClock().now
        let run = try await ForeignProgram.run(
            ForeignProgram.required("bash"), ["-c", "\(Self.prelude)\n\(lines)"], in: folder, withErrors: true,
            environment: [
                "PATH": "\(ServerProgram.url.deletingLastPathComponent().path):\(path)", "PORT": "\(port)",
                "HOST": "\(World.host):\(port)", "ADMIN": "\(server?.administration ?? 0)",
                "SERVER": server.map { "\($0.id)" } ?? "",
                "SECRET": self.folder.appending(path: "secret").path,
                "NOW": now.formatted(.iso8601), "LATER": now.addingTimeInterval(20 * 86_400).formatted(.iso8601),
            ])
        return (run.status, String(decoding: run.output, as: UTF8.self))
    }

    /// A command as a person fills it in: with their folder, a reason and their files, and without a terminal.
    private static func filled(_ command: String, _ words: [String: String]) -> String {
        var command = command
        for (word, value) in words.merging(["DIR": "data", "WHY": "because"], uniquingKeysWith: { own, _ in own }) {
            command = command.replacing(" \(word)", with: " \(value)")
        }
        return command.hasPrefix("holdfast-server approve ") ? "\(command) --yes" : command
    }

    private static func commands(in message: String) -> [String] {
        message.matches(of: /`((?:holdfast-server|chmod) [^`]+)`/).map { String($0.1) }
    }

    private func obey(_ refusal: Refusal, in folder: URL, _ sourceLocation: SourceLocation) async throws {
        let setup = try await shell("set -e\n\(refusal.setup)", in: folder)
        #expect(setup.status == 0, "setup of \(refusal.refused): \(setup.output)", sourceLocation: sourceLocation)
        let server =
            refusal.serves
            ? try await ServingProcess.start(on: ServerFolder(folder.appending(path: "data")), ["--no-watch"]) : nil
        let run = try await shell(refusal.refused, in: folder, server)
        #expect(
            run.status == refusal.status, "\(refusal.refused): \(run.status) \(run.output)",
            sourceLocation: sourceLocation)
        let command: String?
        switch refusal.remedy {
        case .first(let words): command = Self.commands(in: run.output).first.map { Self.filled($0, words) }
        case .last(let words): command = Self.commands(in: run.output).last.map { Self.filled($0, words) }
        case .says(let sentence, let does):
            #expect(
                run.output.contains(sentence), "\(refusal.refused): \(run.output)", sourceLocation: sourceLocation)
            command = does
        case .decides(let does):
            #expect(
                run.output.contains("decide"), "\(refusal.refused): \(run.output)", sourceLocation: sourceLocation)
            command = does
        }
        guard let command else {
            Issue.record("no remedy of \(refusal.refused): \(run.output)", sourceLocation: sourceLocation)
            return
        }
        let obeyed = try await shell(
            "{ \(command)\n} > remedy.txt 2>&1; status=$?; cat remedy.txt; exit $status", in: folder,
            server)
        #expect(obeyed.status == 0, "\(refusal.refused), \(command): \(obeyed.output)", sourceLocation: sourceLocation)
        let again = try await shell(refusal.then ?? refusal.refused, in: folder, server)
        await server?.stop()
        #expect(
            refusal.good.contains(again.status),
            "\(command), then \(refusal.then ?? refusal.refused): \(again.status) \(again.output)",
            sourceLocation: sourceLocation)
    }
}
