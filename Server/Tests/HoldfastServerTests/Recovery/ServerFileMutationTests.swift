import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The files that the server reads of its own, damaged: each is read as something that it could say, or refused, with work
/// that its length bounds.
@Suite("The server's own files, damaged")
struct ServerFileMutationTests {
    @Test("A damaged backup never gives another content, and no more messages are opened than it can have")
    func backup() throws {
        let database = BackupExample.database(17_000)
        let file = try BackupExample.sealed(database)
        let count = mutants(inPartsOf: 10)
        let read = campaign(0xBAC, [file], count: count) { mutant in
            let (content, read) = try BackupExample.opened(mutant)
            #expect(read == database && mutant == file)
            #expect(content.effort <= mutant.count / BackupSeal.messageBytes + 1)
        }
        #expect(read < count)
        // The part that is read before anything is authenticated.
        let header = Array(file[..<(file.indices.filter { file[$0] == 0x0A }[3] + 1)])
        let headers = campaign(0xBAD, [header]) { mutant in
            let reader = try BackupSeal.Reader(mutant, BackupExample.key, SealedKeyTests.secret())
            #expect(mutant.starts(with: header.prefix(header.count - 90)))
            #expect(reader.effort == 0)
        }
        // Another encapsulated key is one as well, if it is on the curve, and opens nothing.
        #expect(headers < mutants / 2)
    }

    @Test("A damaged manifest has one spelling or none")
    func manifest() throws {
        let line = Array(try BackupExample.manifest([1, 2, 3]).bytes.dropLast())
        let read = campaign(0x3A21, [line]) { mutant in
            let manifest = try BackupManifest(mutant)
            #expect(Array(manifest.bytes.dropLast()) == mutant)
        }
        #expect(read > 0)
    }

    @Test("A damaged secret is none, and a damaged id of one opens nothing")
    func secret() throws {
        let secret = SealedKeyTests.secret(0x41)
        let read = campaign(0x5EC, [secret.fileContent]) { mutant in
            let other = try SigningSecret(fileContent: mutant)
            #expect(other.fileContent == mutant)
            #expect((other.id == secret.id) == (mutant == secret.fileContent))
        }
        #expect(read < mutants)
    }

    @Test("A damaged sealed key does not open, whichever column was damaged")
    func sealedKey() throws {
        let key = try SealedKey(
            sealing: BackupExample.pem, at: SealedKeyTests.place(), with: SealedKeyTests.secret())
        let count = mutants(inPartsOf: 3)
        for (column, bytes) in [key.sealed, key.publicKey, key.secretID].enumerated() {
            let read = campaign(UInt64(0x5EA1 + column), [bytes], count: count) { mutant in
                let parts = (0..<3).map { $0 == column ? mutant : [key.sealed, key.publicKey, key.secretID][$0] }
                let damaged = SealedKey(place: key.place, publicKey: parts[1], secretID: parts[2], sealed: parts[0])
                _ = try damaged.opened(with: SealedKeyTests.secret())
                #expect(mutant == bytes)
            }
            #expect(read < count)
        }
        let read = campaign(0x1D, [Array("key-1".utf8)]) { mutant in
            let place = try SealedKey.Place(
                server: Story.server, app: AppName("bank"), id: String(decoding: mutant, as: UTF8.self),
                purpose: .fingerprints)
            #expect((1...64).contains(place.id.utf8.count))
        }
        #expect(read > 0)
    }

    @Test("A damaged head is one or two heads in their one spelling, or none")
    func head() async throws {
        try await withFolder { folder in
            let file = HeadFile(folder.appending(path: "head"))
            let heads = [
                AuditHead(count: 12, digest: Digest(of: [12])), AuditHead(count: 13, digest: Digest(of: [13])),
            ]
            var seeds: [[UInt8]] = []
            for next in [nil, heads[1]] {
                try file.write(heads[0], next: next)
                seeds.append(try #require(try WholeFile.read(file.url, limit: 512)))
            }
            let read = campaign(0x4EAD, seeds, count: mutants(inPartsOf: 5)) { mutant in
                try Data(mutant).write(to: file.url)
                let heads = try file.heads()
                let lines = ["holdfast-head-v1"] + heads.map(\.description)
                #expect((1...2).contains(heads.count))
                #expect(mutant == Array(lines.map { $0 + "\n" }.joined().utf8))
            }
            #expect(read > 0)
        }
        let text = Array("7 \(Digest(of: [1]))".utf8)
        let read = campaign(0x4EAE, [text]) { mutant in
            guard let head = AuditHead(mutant) else { throw ServerError(.malformed, expected: "", found: "") }
            #expect(Array(head.description.utf8) == mutant)
        }
        #expect(read > 0)
    }

    @Test("A damaged configuration is read in its one spelling, or refused with a field")
    func configuration() throws {
        let settings = try FolderConfiguration(
            server: Story.server, genesis: Digest(of: [1]), secret: "/etc/holdfast/secret")
        let read = campaign(0xC0F, [settings.bytes]) { mutant in
            let read = try FolderConfiguration(mutant)
            #expect(read.bytes == mutant || read.bytes == mutant + [0x0A])
        }
        #expect(read > 0)
    }

    @Test("A damaged file of settings is read, or refused with what is wrong in it")
    func settings() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "settings.json")
            let text =
                #"{"listen": "127.0.0.1:8080", "allow": ["10.0.0.0/8", "fd00::/8"], "watch": true, "#
                + #""behind-proxy": "127.0.0.0/8", "admin-behind-proxy": "::1/128", "vantage": "office", "log-level": "debug"}"#
            var generator = SeededGenerator(seed: 0x5E7)
            var read = 0
            defer { noteCampaign(of: mutants(inPartsOf: 10)) }
            for _ in 0..<mutants(inPartsOf: 10) {
                try Data(mutated(Array(text.utf8), &generator)).write(to: file)
                do throws(ServerError) {
                    _ = try await ServeSettings(flags: [:], environment: [:], file: file)
                    read += 1
                } catch {
                    #expect(error.code == .invalidValue && error.subject != nil, "\(error)")
                }
            }
            #expect(read > 0)
        }
    }

    @Test("A damaged statement of approvers is in its one spelling, or none, and is not as signed")
    func statements() throws {
        let story = try Story()
        let second = try ApproverStatement(
            after: story.chain.head,
            approvers: ApproverSet(try [.alice, .bob].map { (it: Approver) in try it.member }, number: 1))
        let read = campaign(0x57A7, [story.genesis.text, second.bytes], count: mutants(inPartsOf: 4)) { mutant in
            let read = try ApproverStatement(mutant)
            #expect(read.bytes == mutant)
            #expect((1...read.approvers.members.count).contains(read.approvers.number))
        }
        #expect(read > 0)
        let line = try Approver.alice.signature(of: [1]).fileContent
        let signatures = campaign(0x519, [line]) { mutant in
            let signature = try ApproverSignature(fileContent: mutant)
            #expect(signature.fileContent == mutant)
        }
        #expect(signatures > 0)
    }

    @Test("A damaged mark of a restoration starts no server")
    func restoring() async throws {
        try await withFolder { folder in
            let server = ServerFolder(folder.appending(path: "data"))
            try FileManager.default.createDirectory(at: server.url, withIntermediateDirectories: false)
            var generator = SeededGenerator(seed: 0x4E5)
            let mark = Array("holdfast-restoring-v1\n\(Story.server)\n".utf8)
            defer { noteCampaign(of: mutants(inPartsOf: 50)) }
            for _ in 0..<mutants(inPartsOf: 50) {
                try Data(mutated(mark, &generator)).write(to: server.restoring)
                await expectError(.restoring) {
                    try await server.open(clock: ManualClock(now: Date(timeIntervalSince1970: 0)))
                }
            }
        }
    }
}
