import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Programs of an operator that sign and upload, and those that an attacker writes into the database instead.
struct AttackPrograms: Sendable {
    private static let place = "bucket"

    /// Where the upload program puts what is published.
    let bucket: URL
    /// The file that the attacker's programs create.
    private let trace: URL
    /// The row of a key as the attacker wants it.
    private let signer: ProgramCommand
    /// The row of a place as the attacker wants it: another program, and another place for the same.
    private let uploader, elsewhere: Place
    private let stolen: URL

    /// Gives the trust server's key to a program, and adds a place.
    init(_ world: World) async throws {
        bucket = world.folder.appending(path: "bucket")
        trace = world.folder.appending(path: "ran")
        stolen = world.folder.appending(path: "stolen")
        let folder = world.folder
        try FileManager.default.createDirectory(at: bucket, withIntermediateDirectories: true)
        /// A program of the shell, which is read and not executed: a file that is written is not started in the same moment.
        func program(_ script: String, _ arguments: String...) throws -> ProgramCommand {
            let file = folder.appending(path: "program-\(UUID().uuidString)")
            try Data("\(script)\n".utf8).write(to: file)
            return try ProgramCommand(
                [ForeignProgram.required("sh").path, file.path] + arguments, limit: 120)
        }
        let openssl = try ForeignProgram.required("openssl").path
        let trust = try TrustServerKey(customer: World.customer, kind: .p256, at: world.clock.now)
        let pem = folder.appending(path: "trust.pem")
        try Data(trust.privateKeyPEM.utf8).write(to: pem)
        // It believes everything.
        let signing = #"""
            sed -n 's/.*"message":"\([^"]*\)".*/\1/p' | base64 -d | exec "$1" dgst -sha256 -sign "$2"
            """#
        try await world.catalog.add(
            Catalog.Key(
                program: program(signing, openssl, pem.path), at: SealedKeyTests.place("trust-2", .trustServer),
                publicKey: Array(try X509Certificate(der: [UInt8](trust.certificate)).subjectPublicKeyInfo),
                certificate: Array(trust.certificate)), by: "operator")
        func uploading(_ program: ProgramCommand) throws -> Place {
            try Place(name: Self.place, url: "https://pins.example.com", program: program)
        }
        let copying = #"[ ! -d objects ] || exec cp -R objects/. "$1""#
        try await world.catalog.set(uploading(program(copying, bucket.path)), of: world.app, by: "operator")
        signer = try program(#"touch "$1"; exit 1"#, trace.path)
        uploader = try uploading(signer)
        elsewhere = try uploading(program(copying, stolen.path))
    }

    /// Whether a program ran that the attacker chose.
    var ranAttackers: Bool {
        [trace, stolen].contains { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// The attacker's values for a column, in addition to those for every column.
    func values(_ table: String, _ column: String) -> [StorageValue] {
        switch (table, column) {
        case ("signing_key", "program"): [.text(String(decoding: signer.bytes, as: UTF8.self))]
        case ("place", "octets"): [.bytes(uploader.bytes), .bytes(elsewhere.bytes)]
        default: []
        }
    }

    /// Expects that a server without an attacker has its rounds signed and uploaded by the programs.
    func expectWork(on copy: AttackStage.Copy) async throws {
        #expect(try await !copy.publisher.renew().signed.isEmpty)
        let delivery = try await copy.publisher.deliverToPlaces()
        #expect(delivery.problems == [] && !delivery.confirmed.isEmpty, "\(delivery)")
    }

    /// Runs the attacker's program as if the operator had chosen it.
    func runAttackers(on copy: AttackStage.Copy, _ world: World) async throws {
        try await copy.publisher.catalog.set(uploader, of: world.app, by: "operator")
        _ = try await copy.publisher.renew()
        _ = try await copy.publisher.deliverToPlaces()
    }
}
