import Foundation
import Testing

@testable import PinPublication

@Suite("Who else can write a server's folder")
struct FolderPermissionTests {
    @Test("Files and folders that a group or everybody can write are named, with what to do, and no others")
    func findings() async throws {
        try await withFolder { folder in
            let (data, secret) = (folder.appending(path: "pins"), folder.appending(path: "secret"))
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
            let database = data.appending(path: "server.db")
            for file in [database, data.appending(path: "head"), secret] { try Data().write(to: file) }
            func set(_ mode: Int, _ url: URL) throws {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
            }
            for url in [database, data.appending(path: "head"), secret] { try set(0o600, url) }
            for url in [folder, data] { try set(0o711, url) }
            let permissions = FolderPermissions(of: data, secret: secret)
            #expect(permissions.findings == [])
            try set(0o666, database)
            #expect(permissions.findings.map(\.isOpenToAll) == [true])
            #expect(permissions.findings[0].words.hasSuffix("run chmod go-w \(database.path)"))
            try set(0o660, database)
            #expect(permissions.findings.map(\.isOpenToAll) == [false])
            try set(0o600, database)
            // Anyone who can write to the folder can replace its files.
            for url in [data, folder] {
                try set(0o777, url)
                #expect(permissions.findings.map(\.isOpenToAll) == [true])
                // As in /tmp: users can replace only their own files.
                try set(0o1777, url)
                #expect(permissions.findings == [])
                try set(0o711, url)
            }
            try set(0o602, secret)
            #expect(permissions.findings.map(\.isOpenToAll) == [true])
        }
    }
}
