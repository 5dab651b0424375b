import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import ServerFoundation
@testable import ServerHTTP

/// Files with certificates and keys of an operator, damaged: each is read whole, or refused with its name.
@Suite("Files with certificates, damaged", .timeLimit(.minutes(60)))
struct CertificateFileMutationTests {
    @Test("A damaged file of authorities gives each certificate that it has, or an error that says which is none")
    func authorities() throws {
        let certificates = try (0..<2).map { _ in try TestAuthority.root().certificate }
        let text = certificates.map { "subject=CN = Test\n\($0.pem)" }.joined()
        let whole = certificates.map(\.der)
        let count = mutants(inPartsOf: 4)
        let read = campaign(0xCE47, [Array(text.utf8), whole[0]], count: count) { mutant in
            do throws(ServerError) {
                let found = try PEMFile.certificates(mutant, named: "roots.pem")
                #expect((1...2).contains(found.count))
                #expect(found.map(\.count).reduce(0, +) <= mutant.count)
                #expect(found.allSatisfy { (try? X509Certificate(der: $0)) != nil })
                // No block is lost in silence.
                let lines = mutant.split { $0 == 0x0A || $0 == 0x0D }
                let begins = lines.count { $0.elementsEqual("-----BEGIN CERTIFICATE-----".utf8) }
                #expect(mutant.first == 0x30 || found.count == begins)
            } catch {
                #expect(error.code == .invalidValue && error.subject == "roots.pem" && !error.remedy.isEmpty)
                #expect("\(error)".utf8.count <= 400)
                throw error
            }
        }
        #expect(read > 0 && read < count)
    }

    @Test("A listener takes a damaged chain or key as a whole or not at all, and says which file it was")
    func identities() async throws {
        let leaf = try TestAuthority.root().leaf(names: [.dns("localhost")])
        try await withFolder { folder in
            let (chain, key) = (folder.appending(path: "chain.pem"), folder.appending(path: "key.pem"))
            // ACME clients make links.
            let link = folder.appending(path: "link.pem")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: chain)
            try Data(leaf.pem.utf8).write(to: chain)
            try Data(leaf.key.privateKeyPEM.utf8).write(to: key)
            let identity = try TLSIdentity(certificates: link, key: key)
            #expect(identity.leaf == leaf.der)
            let count = mutants(inPartsOf: 40)
            // A certificate whose signature was damaged is one as well: clients refuse it, and no listener can know.
            var last = identity.leaf
            for (file, good) in [(chain, leaf.pem), (key, leaf.key.privateKeyPEM)] {
                let read = campaign(0xCE48 + UInt64(good.utf8.count), [Array(good.utf8)], count: count) { mutant in
                    try Data(mutant).write(to: file)
                    do throws(ServerError) {
                        try identity.reload()
                        #expect(try PEMFile.blocks("CERTIFICATE", at: chain)[0] == identity.leaf)
                        last = identity.leaf
                    } catch {
                        #expect(error.code == .file && !error.remedy.isEmpty, "\(error)")
                        let names = [link.path, key.path]
                        #expect(names.contains { error.subject == $0 }, "\(error)")
                        // The content of a key appears in no error.
                        #expect("\(error)".utf8.count <= 400 && !"\(error)".contains("NIOSSL"), "\(error)")
                        #expect(identity.leaf == last)
                        throw error
                    }
                }
                try Data(good.utf8).write(to: file)
                #expect(read < count)
            }
            try identity.reload()
            #expect(identity.leaf == leaf.der)
        }
    }
}
