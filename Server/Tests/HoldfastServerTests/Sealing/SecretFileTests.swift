import Foundation
import Holdfast
import Testing

@testable import ServerFoundation
@testable import ServerStore

@Suite("The file of the secret")
struct SecretFileTests {
    @Test("The file is made with mode 0600, read again, and never overwritten")
    func round() async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
            let file = SecretFile(folder.appending(path: "secret"))
            let secret = SealedKeyTests.secret()
            try file.create(secret, outside: data)
            let mode = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try file.read(outside: data).fileContent == secret.fileContent)
            expectError(.file) { try file.create(SealedKeyTests.secret(2), outside: data) }
            #expect(try file.read(outside: data).fileContent == secret.fileContent)
        }
    }

    @Test(
        "A file that others can read, run or write, and one that is none, is refused",
        arguments: [
            0o640, 0o604, 0o620, 0o700, 0o666, 0o644,
        ])
    func modes(_ mode: Int) async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            let file = SecretFile(folder.appending(path: "secret"))
            try file.create(SealedKeyTests.secret(), outside: data)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.url.path)
            let error = expectError(.secretFile) { try file.read(outside: data) }
            #expect(error?.found == "mode 0\(String(mode, radix: 8))")
            expectError(.secretFile) { try SecretFile(folder).read(outside: data) }
            expectError(.file) { try SecretFile(folder.appending(path: "none")).read(outside: data) }
        }
    }

    @Test("A file in the data folder is refused, also behind links and dots")
    func inside() async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            try FileManager.default.createDirectory(at: data.appending(path: "sub"), withIntermediateDirectories: true)
            let link = folder.appending(path: "link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: data)
            for path in ["data/secret", "data/sub/secret", "data/sub/../secret", "link/secret", "data/../data/secret"] {
                let file = SecretFile(folder.appending(path: path))
                expectError(.secretFile) { try file.create(SealedKeyTests.secret(), outside: data) }
                expectError(.secretFile) { try file.create(SealedKeyTests.secret(), outside: link) }
                #expect(!FileManager.default.fileExists(atPath: file.url.path))
            }
            // The folder's neighbor of the same first letters is outside.
            try FileManager.default.createDirectory(
                at: folder.appending(path: "data2"), withIntermediateDirectories: false)
            try SecretFile(folder.appending(path: "data2/secret")).create(SealedKeyTests.secret(), outside: data)
            // A link outside to a file inside.
            let inner = data.appending(path: "inner")
            try Data(SealedKeyTests.secret().fileContent).write(to: inner)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: inner.path)
            let outer = folder.appending(path: "outer")
            try FileManager.default.createSymbolicLink(at: outer, withDestinationURL: inner)
            expectError(.secretFile) { try SecretFile(outer).read(outside: data) }
        }
    }
}
