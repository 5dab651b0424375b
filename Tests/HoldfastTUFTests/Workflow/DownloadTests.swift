import Crypto
import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Downloading targets (section 5.7)", .timeLimit(.minutes(15)))
struct DownloadTests {
    @Test("A target has its hash in front of its name under consistent snapshots alone", arguments: [true, false])
    func names(isConsistent: Bool) async throws {
        var test = try TestClient(TestRepository(consistent: isConsistent))
        let data = Data("content".utf8)
        test.repository.addTarget("path/to/a file.txt", data)
        try test.repository.publishAll()
        for (path, content) in [("a file.txt", data), ("\(TestRepository.digest(data)).a file.txt", data)] {
            let quoted = path.replacing(" ", with: "%20")
            test.repository.files[RepositoryFile(kind: .target, path: "path/to/\(quoted)")] = content
        }
        let update = try await test.refresh()
        _ = test.source.asked()
        let target = try await update.target("path/to/a file.txt")
        #expect(try await update.data(of: target) == data)
        let prefix = isConsistent ? TestRepository.digest(data) + "." : ""
        let path = "path/to/\(prefix)a%20file.txt"
        #expect(test.source.asked() == [path])
        #expect(test.source.limit(of: path) == data.count)
        #expect(target.hashes == ["sha256": TestRepository.digest(data)])
    }

    @Test(
        "Other content, and more of it than the metadata says, is refused",
        arguments: ["other..", "longer content", ""])
    func substituted(content: String) async throws {
        var test = try TestClient()
        test.repository.addTarget("x", Data("content".utf8))
        try test.repository.publishAll()
        let path = "\(TestRepository.digest(Data("content".utf8))).x"
        test.repository.files[RepositoryFile(kind: .target, path: path)] = Data(content.utf8)
        let update = try await test.refresh()
        let target = try await update.target("x")
        let code: TUFError.Code = content.utf8.count > 7 ? .tooLarge : .mismatch
        await #expect(throws: TUFError(code, expected: "", found: "")) { try await update.data(of: target) }
    }

    @Test("What is there already is not asked for again; what was altered is, and a failure leaves it")
    func cached() async throws {
        try await withTemporaryFolder { folder in
            var test = try TestClient()
            test.repository.addTarget("a/x", Data("content".utf8))
            try test.repository.publishAll()
            let update = try await test.refresh()
            let target = try await update.target("a/x")
            let file = try await update.download(target, into: folder.appending(path: "new"))
            #expect(file.lastPathComponent == "a%2Fx")
            #expect(try Data(contentsOf: file) == Data("content".utf8))
            _ = test.source.asked()
            try await update.download(target, into: folder.appending(path: "new"))
            #expect(test.source.asked().isEmpty)
            try Data("altered".utf8).write(to: file)
            try await update.download(target, into: folder.appending(path: "new"))
            #expect(test.source.asked().count == 1)
            #expect(try Data(contentsOf: file) == Data("content".utf8))

            test.repository.addTarget("a/x", Data("newer".utf8))
            try test.repository.publishAll()
            test.repository.files = test.repository.files.filter { $0.key.kind == .metadata }
            let next = try await test.refresh()
            let newer = try await next.target("a/x")
            await #expect(throws: TUFError(.unavailable, expected: "", found: "")) {
                try await next.download(newer, into: folder.appending(path: "new"))
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path) == ["a%2Fx"])
            #expect(try Data(contentsOf: file) == Data("content".utf8))
        }
    }

    @Test(
        "Names that lead elsewhere, or nowhere, are never asked for",
        arguments: [
            "..", ".", "../x", "a/../../x", "a/.", "a/", "/",
        ])
    func unusable(name: String) async throws {
        try await withTemporaryFolder { folder in
            var test = try TestClient()
            test.repository.change("targets") { $0["targets"] = [name: TestRepository.description(Data())] }
            try test.repository.publishAll()
            let update = try await test.refresh()
            _ = test.source.asked()
            let target = try await update.target(name)
            await #expect(throws: TUFError(.unusableName, expected: "", found: "")) {
                try await update.download(target, into: folder)
            }
            #expect(test.source.asked().isEmpty)
        }
    }

    private struct Name: CustomTestStringConvertible {
        let text: String
        var testDescription: String { text.utf8.count > 60 ? "\(text.utf8.count) characters" : text }
    }

    @Test(
        "Odd names of targets become one file each, in the folder",
        arguments: ([
            "?", "#", "a\u{0}b", "a\\b", "%2e%2e", ".hidden", "ключ", String(repeating: "n", count: 1_000), "a//b",
            "-rf",
        ] as [String]).map { Name(text: $0) })
    private func oddNames(of target: Name) async throws {
        let name = target.text
        try await withTemporaryFolder { folder in
            var test = try TestClient()
            test.repository.change("targets") { $0["targets"] = [name: TestRepository.description(Data())] }
            try test.repository.publishAll()
            let update = try await test.refresh()
            _ = test.source.asked()
            let target = try await update.target(name)
            _ = try? await update.data(of: target)
            let path = try #require(test.source.asked().first)
            #expect(
                path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
            test.repository.files[RepositoryFile(kind: .target, path: path)] = Data()
            test.source.serve(test.repository)
            let file = try await update.download(target, into: folder)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [file.lastPathComponent])
            #expect(!file.lastPathComponent.hasPrefix("."))
        }
    }

    @Test("Each of several hashes is checked; unknown ones are not, and alone are refused")
    func hashes() async throws {
        let good = TestRepository.digest(Data("x".utf8))
        let wrong = String(repeating: "0", count: 128)
        let long = HexText.text(of: SHA512.hash(data: Data("x".utf8)))
        for (hashes, code) in [
            (["sha256": good, "blake9": "?"], nil), (["sha512": long], nil),
            (["sha256": good, "sha512": wrong], .mismatch),
            (["blake9": good], .malformed), ([:], .malformed), (["sha256": good.uppercased()], .malformed),
            (["sha256": "00"], .malformed),
        ] as [([String: String], TUFError.Code?)] {
            var test = try TestClient()
            test.repository.addTarget("x", Data("x".utf8))
            test.repository.change("targets") {
                $0["targets"] = ["x": ["length": 1, "hashes": hashes] as [String: Any]]
            }
            try test.repository.publishAll()
            for prefix in [good, long, wrong] {
                test.repository.files[RepositoryFile(kind: .target, path: "\(prefix).x")] = Data("x".utf8)
            }
            var found: TUFError.Code?
            do throws(TUFError) {
                let update = try await test.refresh()
                _ = try await update.data(of: try await update.target("x"))
            } catch {
                found = error.code
            }
            #expect(found == code, "\(hashes)")
        }
    }

    @Test("A target without a known hash takes nothing from the targets beside it")
    func unknownHashBesideOthers() async throws {
        var test = try TestClient()
        test.repository.addTarget("good", Data("good".utf8))
        test.repository.change("targets") {
            var targets = $0["targets"] as? [String: Any] ?? [:]
            targets["odd"] = ["length": 1, "hashes": ["blake9": "00"]] as [String: Any]
            $0["targets"] = targets
        }
        try test.repository.publishAll()
        let update = try await test.refresh()
        await #expect(throws: TUFError(.malformed, expected: "", found: "")) { try await update.target("odd") }
        #expect(try await update.data(of: try await update.target("good")) == Data("good".utf8))
    }

    @Test("A target above the settings' bound is not asked for")
    func tooLarge() async throws {
        var test = try TestClient(settings: TUFSettings(targetBytes: 3))
        test.repository.addTarget("x", Data("four".utf8))
        try test.repository.publishAll()
        let update = try await test.refresh()
        let target = try await update.target("x")
        _ = test.source.asked()
        await #expect(throws: TUFError(.tooLarge, expected: "", found: "")) { try await update.data(of: target) }
        #expect(test.source.asked().isEmpty)
    }
}
