import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Documents that holdfastctl writes into files", .timeLimit(.minutes(5)))
struct DocumentOutputTests {
    @Test("A verb that fails leaves the old file as it is")
    func failing() async throws {
        try await SigningSite.with { site in
            try site.write("old", "what was there before\n", mode: 0o640)
            try site.write("damaged.json", "{\"schema\": 1, \"hosts\": [")
            let place = ["--connect-to", "127.0.0.1:1", "--ca", "root.pem"]
            for (arguments, status) in [
                (["pin", SigningSite.name, "--format", "json"] + place, 3),
                (["sign", SigningSite.name, "--key", "key.pem"] + place, 3),
                (["export", "damaged.json", "--format", "android"], 1),
                (["export", "missing.json", "--format", "android"], 3),
                (["export", "--key", "root.pem"], 3),
                (["import", "damaged.json", "--from", "trustkit"], 1),
                (["pins", "set", "damaged.json", "--issued", "now"], 1),
            ] as [([String], Int32)] {
                let run = try await site.run(arguments + ["-o", "old"])
                #expect(run.status == status && run.output.isEmpty, "\(arguments) \(run.status) \(run.errors)")
                #expect(try site.text("old") == "what was there before\n", "\(arguments)")
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: site.folder.path).allSatisfy {
                    !$0.hasSuffix(".new")
                })
        }
    }

    @Test("A document replaces a file as a whole: links, mode and what other names of the file have stay")
    func whole() async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.write("old", "what was there before\n", mode: 0o640)
            let folder = site.folder
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending(path: "link").path, withDestinationPath: "old")
            try FileManager.default.linkItem(
                at: folder.appending(path: "old"), to: folder.appending(path: "other"))
            let pin = ["pin", "leaf.pem", "--format", "json", "--host", SigningSite.name]
            let run = try await site.run(pin + ["-o", "link"])
            #expect(run.status == 0 && run.output.isEmpty, "\(run.errors)")
            let printed = try await site.run(pin)
            #expect(try site.text("old") == printed.output && site.mode("old") == 0o640)
            // The file was replaced, not written over.
            #expect(try site.text("other") == "what was there before\n")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "link").path)
            #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
            let new = try await site.run([
                "export", "old", "--format", "okhttp", "--force", "offline", "-o", "new.kt", "--json",
            ])
            #expect(try new.status == 0 && site.mode("new.kt") == 0o644 && new.output.contains(#""schema":1"#))
        }
    }

    @Test(
        "What cannot be written is said, and nothing is left behind", arguments: ["no/such/folder", ".", "/dev/null/x"])
    func unwritable(path: String) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            let before = try FileManager.default.contentsOfDirectory(atPath: site.folder.path)
            let run = try await site.run([
                "pin", "leaf.pem", "--format", "json", "--host", SigningSite.name, "-o", path,
            ])
            #expect(run.status == 3 && run.errors.contains("\(path) cannot be written"), "\(run.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: site.folder.path).count == before.count)
        }
    }

    @Test("A private key is written into a new file that only its owner can read")
    func privateKey() async throws {
        try await SigningSite.with { site in
            let run = try await site.run(["export-private", "--key", "key.pem", "-o", "number"])
            #expect(try run.status == 0 && run.output.isEmpty && site.mode("number") == 0o600)
            let printed = try await site.run(["export-private", "--key", "key.pem"])
            #expect(try site.text("number") == printed.output)
            let again = try await site.run(["export-private", "--key", "key.pem", "-o", "number"])
            #expect(again.status == 3 && again.errors.contains("is there already"))
        }
    }
}
