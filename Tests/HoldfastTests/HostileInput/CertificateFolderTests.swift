import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Folders of certificates in a bad state", .timeLimit(.minutes(15)))
struct CertificateFolderTests {
    private func anchors(in folder: URL) throws(TrustAnchorError) -> TrustAnchors {
        try SystemTrustAnchors(environment: ["SSL_CERT_DIR": folder.path]).read().anchors
    }

    @Test("An empty one pins nothing, which no policy is made of, and anchors nothing, which is an error")
    func empty() async throws {
        try await withTemporaryFolder { folder in
            let source = CertificateSource.folder(folder)
            #expect(try source.read().isEmpty)
            let host = try HostPattern("www.example.com")
            func policy() throws -> PinnedPolicy { try PinnedPolicy(host: host, pinning: .certificate, of: source) }
            #expect(throws: PolicyConfigurationError.self) { try policy() }
            #expect(throws: TrustAnchorError.self) { try anchors(in: folder) }
        }
    }

    @Test("One that is a file, is not there, or may not be entered is an error that names it")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "file")
            try Data("x".utf8).write(to: file)
            let locked = folder.appending(path: "locked")
            try FileManager.default.createDirectory(at: locked, withIntermediateDirectories: false)
            try Data("x".utf8).write(to: locked.appending(path: "a.pem"))
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: locked.path)
            // The superuser can open the locked folder, but the file in it is no certificate.
            for place in [file, folder.appending(path: "missing"), locked] {
                let error = #expect(throws: CertificateFileError.self) {
                    try CertificateSource.folder(place).read()
                }
                #expect(error?.file.contains(place.lastPathComponent) == true)
                #expect(throws: TrustAnchorError.self) { try anchors(in: place) }
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: locked.path)
        }
    }

    @Test(
        "What is no file is not waited for: a pipe, a folder, a link to nothing, a link in a circle",
        .timeLimit(.minutes(15)))
    func noFiles() async throws {
        try await withTemporaryFolder { folder in
            let root = try TestAuthority.root()
            for name in ["pipe.pem", "folder.pem", "nothing.pem", "circle.pem"] {
                let place = folder.appending(path: name)
                switch name {
                case "pipe.pem":
                    let status = unsafe mkfifo(place.path, 0o600)
                    #expect(status == 0)
                case "folder.pem":
                    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
                case "circle.pem": try FileManager.default.createSymbolicLink(at: place, withDestinationURL: place)
                default:
                    try FileManager.default.createSymbolicLink(
                        at: place, withDestinationURL: folder.appending(path: "gone"))
                }
                let error = #expect(throws: CertificateFileError.self) { try CertificateSource.folder(folder).read() }
                #expect(error?.code == .unreadable)
                #expect(error?.file.hasSuffix(name) == true)
                #expect(throws: TrustAnchorError.self) { try anchors(in: folder) }
                try FileManager.default.removeItem(at: place)
            }
            try Data(root.root).write(to: folder.appending(path: "root.pem"))
            #expect(try CertificateSource.folder(folder).read().count == 1)
        }
    }

    @Test("Huge ones are refused by their number of files, and by the size of one, before they are read")
    func huge() async throws {
        try await withTemporaryFolder { folder in
            let big = folder.appending(path: "big.cer")
            try Data().write(to: big)
            let handle = try FileHandle(forWritingTo: big)
            try handle.truncate(atOffset: 1 << 34)
            try handle.close()
            let tooLarge = #expect(throws: CertificateFileError.self) { try CertificateSource.folder(folder).read() }
            #expect(tooLarge?.code == .tooLarge)
            #expect(tooLarge?.file.hasSuffix("big.cer") == true)
            for number in 0..<CertificateSource.maximumFiles {
                try FileManager.default.linkItem(at: big, to: folder.appending(path: "\(number).cer"))
            }
            let tooMany = #expect(throws: CertificateFileError.self) { try CertificateSource.folder(folder).read() }
            #expect(tooMany?.code == .tooLarge)
            #expect(tooMany?.found == "\(CertificateSource.maximumFiles + 1)")
        }
    }

    @Test("While one changes, what is read is whole certificates that were put there, or an error that names a file")
    func changing() async throws {
        let authorities = try (0..<4).map { try TestAuthority.root(name: .commonName("Root \($0)")) }
        let known = Set(authorities.map(\.root))
        try await withTemporaryFolder { folder in
            // One stays, so that there is always something to trust.
            try Data(authorities[0].root).write(to: folder.appending(path: "0.pem"))
            let store = try await TrustAnchorStore { try self.anchors(in: folder) }
            let isOver = Lock(false)
            async let changes = Self.change(folder, authorities) { isOver.withLock { $0 } }
            var (read, failed) = (0, 0)
            for round in 0..<150 {
                do throws(CertificateFileError) {
                    let certificates = try CertificateSource.folder(folder).read()
                    read += 1
                    #expect(known.isSuperset(of: certificates.map(\.der)))
                    #expect(certificates.contains { $0.der == authorities[0].root })
                } catch {
                    failed += 1
                    #expect(error.file.hasPrefix(folder.path), "\(error)")
                }
                guard round % 5 == 0 else { continue }
                _ = try await store.reload()
                #expect(known.isSuperset(of: store.current.certificates.map(\.der)))
                #expect(store.current.certificates.contains { $0.der == authorities[0].root })
            }
            isOver.withLock { $0 = true }
            #expect(try await changes > 0)
            #expect(read + failed == 150)
        }
    }

    /// Writes, replaces, cuts short and removes files until told to stop.
    @concurrent
    private static func change(
        _ folder: URL, _ authorities: [TestAuthority], until isOver: @Sendable () -> Bool
    ) async throws -> Int {
        var rounds = 0
        while !isOver() || rounds < 20 {
            for (number, authority) in authorities.enumerated().dropFirst() {
                let file = folder.appending(path: "\(number).pem")
                switch (rounds + number) % 4 {
                case 0: try Data(authority.root).write(to: file, options: .atomic)
                case 1: try Data(authority.certificate.pem.utf8).write(to: file)
                case 2: try Data(authority.certificate.pem.utf8.prefix(200)).write(to: file)
                default: try? FileManager.default.removeItem(at: file)
                }
            }
            rounds += 1
        }
        return rounds
    }
}
