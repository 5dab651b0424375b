import Crypto
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Damaged output of programs of the operator: no document has a signature that its key does not verify, and
/// the output of a program is not repeated.
@Suite("What programs say, damaged", .timeLimit(.minutes(60)))
struct SignerMutationTests {
    private static let message = Array("www.google.com&nu1DOBz31Y5FY6lRNkJV/HdnB6BDVCp7mX0nxkbub7Y=&1540280280".utf8)

    /// A signer program for what a world has published.
    private func program(_ world: World) async throws -> ProgramSigner {
        let permit = try await world.catalog.look { session, ledger throws(ServerError) in
            guard let publication = ledger.publication(of: world.app) else {
                throw ServerError(.notFound, expected: "a publication", found: "none")
            }
            return try Catalog.permit(for: publication, world.catalog, session, ledger)
        }
        return try ProgramSigner(
            key: SealedKeyTests.place("program"), publicKey: SigningKey().subjectPublicKeyInfo,
            program: ProgramCommand(["/usr/bin/sign", "--pin", "9182736455"], limit: 10), content: permit.content,
            approved: permit.approved)
    }

    /// How a program ends that prints something: mostly well.
    private func end(_ output: [UInt8], _ generator: inout SeededGenerator) -> ProgramRun.End {
        switch Int.random(in: 0..<32, using: &generator) {
        case 0: .ended(code: Int32.random(in: 0...255, using: &generator), output: output)
        case 1: .signaled(Int32.random(in: 1...64, using: &generator))
        case 2: .printedTooMuch
        case 3: .timedOut
        case 4: .ended(code: 0, output: [])
        default: .ended(code: 0, output: output)
        }
    }

    @Test("A damaged signature of a list or a challenge is one of the key in DER, or none, however the program ended")
    func lists() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let program = try await program(world)
            let key = SigningKey()
            let listed = try key.publicKey
            let good = try key.signature(for: Self.message)
            let point = try #require(Base64.decode(listed.base64.utf8))
            let publicKey = try P256.Signing.PublicKey(x963Representation: point)
            let raw = Array(try P256.Signing.ECDSASignature(derRepresentation: good).rawRepresentation)
            let count = mutants(inPartsOf: 4)
            var number = 0
            let read = campaign(0x5164, [good, raw], count: count) { mutant in
                var generator = SeededGenerator(seed: UInt64(mutant.count) << 8 | UInt64(mutant.last ?? 0))
                // Now and then it is left as it is, and the program ends well.
                let isGood = number % 32 < 2
                let end: ProgramRun.End =
                    isGood ? .ended(code: 0, output: [good, raw][number % 2]) : end(mutant, &generator)
                number += 1
                let outside = OutsideSigningKey(publicKey: listed) { _ in
                    try program.bytes(of: end, for: .list)
                }
                do throws(SigningError) {
                    let der = try outside.signature(for: Self.message)
                    let read = try? P256.Signing.ECDSASignature(derRepresentation: der)
                    let isValid = read.map { publicKey.isValidSignature($0, for: Self.message) }
                    #expect(isValid == true && der.count <= 72)
                } catch {
                    #expect("\(error)".utf8.count <= 500 && !"\(error)".contains("9182736455"), "\(error)")
                    throw ServerError(.signerProgram, expected: "a signature", found: "another")
                }
            }
            #expect(read > 0 && read < count)
        }
    }

    @Test("A damaged signature of a trust-server document signs nothing")
    func documents() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let program = try await program(world)
            let now = world.clock.now
            let published = try #require(world.publisher.live.current.document(at: "trust/gcx.json.signed".utf8))
            let signer = try #require(try await world.catalog.key(.trustServer, of: world.app)?.certificate)
            let content = try PublishedDocument(
                reading: Data(published.bytes), signedBy: Data(signer), customer: World.customer, at: now
            ).signedContent
            let trust = try TrustServerKey(customer: World.customer, kind: .p256, at: now)
            let key = try P256.Signing.PrivateKey(pemRepresentation: trust.privateKeyPEM)
            let count = mutants(inPartsOf: 20)
            let messages = campaign(0x5165, [Array(0..<32)], count: count) { mutant in
                let outside = try OutsideTrustServerKey(certificate: trust.certificate) { request in
                    let signature = Array(try key.signature(for: request.message).derRepresentation)
                    var generator = SeededGenerator(seed: mutant.reduce(1) { $0 &* 31 &+ UInt64($1) })
                    // Now and then it is left as it is.
                    let printed = mutant.count == 32 ? signature : mutated(signature, &generator)
                    return try program.bytes(of: end(printed, &generator), for: .trustServer)
                }
                let document: Data
                do throws(SigningError) {
                    document = try outside.sign(content, at: now)
                } catch {
                    #expect("\(error)".utf8.count <= 500, "\(error)")
                    throw ServerError(.signerProgram, expected: "a signature", found: "another")
                }
                // Clients take it.
                let served = try PublishedDocument(
                    reading: document, signedBy: trust.certificate, customer: World.customer, at: now)
                #expect(served.signedContent == content)
            }
            #expect(messages > 0 && messages < count)
        }
    }

    @Test("What a watchdog wrote down is an exit code, or nothing")
    func exitCodes() {
        var codes: Set<Int32> = []
        _ = campaign(0x5167, ["0\n", "137\n", "255\n", "126\n"].map { Array($0.utf8) }) { mutant in
            guard let code = ProgramRun.code(in: mutant) else { return }
            #expect((0...255).contains(code) && mutant.last == 0x0A)
            codes.insert(code)
        }
        #expect(codes.count > 4 && codes.contains(137))
    }
}
