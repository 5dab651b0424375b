import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation

/// The lines of `docs/server/operating.md` that take over a trust server, a list and a pin file, as they stand there.
/// TakingOverFilesTests publish what they take over, and have clients follow.
@Suite("Taking over files, as docs/server/operating.md has it", .timeLimit(.minutes(10)))
struct ImportReadmeTests {
    /// Writes the files to take over, where the commands look for them.
    private func write(_ desk: CommandTests.Desk) throws -> (trust: TrustServerKey, list: SigningKey) {
        let trust = try TrustServerKey(customer: "old", kind: .p256, at: desk.clock.now)
        // A document of now may be of a second that has not begun for the program.
        try OldTrustServer.write(
            trust, [desk.shown, desk.next], in: desk.folder.appending(path: "trust"),
            at: desk.clock.now.addingTimeInterval(-60))
        let list = SigningKey()
        let entries = try [desk.shown, desk.next].map { certificate in
            try FingerprintEntry(
                name: World.host, pin: Pin(subject: .certificate, digest: Digest(of: certificate.der).bytes),
                until: desk.clock.now.addingTimeInterval(86_400 * 100))
        }
        try PinListDraft(entries).signed(by: list).write(to: desk.folder.appending(path: "list.json"))
        let key = desk.folder.appending(path: "list.pem")
        try Data(list.pem.utf8).write(to: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
        let pins = try [desk.shown, desk.next].map { Base64.encode(Digest(of: try $0.subjectPublicKeyInfo).bytes) }
        let file =
            #"{"schema":1,"hosts":[{"host":"\#(World.host)","pins":[{"pin":"sha256/\#(pins[0])"},"#
            + #"{"pin":"sha256/\#(pins[1])","state":"backup"}]}]}"#
        try Data(file.utf8).write(to: desk.folder.appending(path: "app.pins.json"))
        return (trust, list)
    }

    @Test("Every line is a command that runs: it rehearses, and takes over with the keys that clients have")
    func lines() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeEmptyServer()
            let (trust, list) = try write(desk)
            let expected = [
                ("--trust-server", "old", trust.certificate.base64EncodedString()),
                ("--list", "bank", try list.publicKey.base64), ("--pins", "shop", "2 keys"),
            ]
            let commands = try Manual("docs/server/operating.md").block("taking over files").commands
            try #require(commands.count == expected.count)
            for (command, (option, app, words)) in zip(commands, expected) {
                #expect(command.text.contains(option), "\(command.text)")
                let text = command.text.replacing("/srv/pins", with: desk.data)
                    .replacing("/srv/trust", with: "trust")
                var arguments = try #require(SignerProgram.words(text))
                #expect(arguments.removeFirst() == "holdfast-server")
                let rehearsed = try await desk.run(arguments + ["--dry-run"])
                #expect(rehearsed.contains(words) && rehearsed.contains("nothing was written"), "\(rehearsed)")
                let said = try await desk.run(arguments)
                #expect(said.contains(words) && said.contains("taken over: nothing is served before"), "\(said)")
                #expect(said.contains("\nchange "), "\(said)")
                let listed = try await desk.run("app", "list", "--data", desk.data)
                #expect(listed.contains(app), "\(listed)")
            }
            let served = (try? FileManager.default.subpathsOfDirectory(atPath: "\(desk.data)/public")) ?? []
            #expect(served.allSatisfy { !$0.hasSuffix(".json") && !$0.hasSuffix(".signed") }, "\(served)")
        }
    }
}
