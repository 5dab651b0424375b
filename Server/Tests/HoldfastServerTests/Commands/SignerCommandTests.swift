import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("The command, for signer programs and places")
struct SignerCommandTests {
    @Test("A program is named for a key, and shown by doctor; what cannot be is wrong usage")
    func signer() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeServer()
            let text = try SigningKey().publicKey.base64
            try Data("\(text)\n".utf8).write(to: folder.appending(path: "list.pub"))
            let begin = ["app", "signer", "bank", "--data", desk.data]
            let added = try await desk.run(begin + ["--public-key", "list.pub", "--program", "/bin/false --pin 1234"])
            #expect(added.contains(text) && !added.contains("1234"), "\(added)")
            let examined = try await desk.run(anyStatus: ["doctor", "--data", desk.data])
            #expect(examined.contains("/bin/false has the key for fingerprints"), "\(examined)")
            #expect(!examined.contains("1234"))
            for wrong in [
                ["--public-key", "list.pub", "--program", "false"], ["--program", "/bin/false"],
                ["--public-key", "list.pub"],
                ["--public-key", "list.pub", "--purpose", "root", "--program", "/bin/false"],
                ["--public-key", "list.pub", "--limit", "0", "--program", "/bin/false"],
            ] {
                _ = try await desk.run(begin + wrong, status: 2)
            }
        }
    }

    @Test("A place is added, shown and removed, and doctor names what is not fenced")
    func place() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeServer()
            func run(_ verb: String, _ arguments: [String], status: Int32 = 0) async throws -> String {
                try await desk.run(["place", verb, "bank", "--data", desk.data] + arguments, status: status)
            }
            let url = ["--url", "https://pins.example.com"]
            #expect(try await run("add", ["bucket"] + url + ["--program", "/bin/true"]).isEmpty)
            let loose = try await run("add", ["ftp"] + url + ["--not-fenced-on", "web1", "--program", "/bin/true"])
            #expect(loose.contains("bank, place ftp: not fenced, so web1 alone may upload"), "\(loose)")
            let listed = try await run("list", [])
            #expect(listed.contains("bucket  https://pins.example.com  /bin/true"), "\(listed)")
            #expect(try await desk.run(anyStatus: ["doctor", "--data", desk.data]).contains("not fenced"))
            _ = try await run("remove", ["ftp"])
            #expect(try await !run("list", []).contains("ftp"))
            _ = try await run("remove", ["ftp"], status: 3)
            _ = try await run("add", ["folder"] + url + ["--program", "/bin/true"], status: 2)
            _ = try await run("add", ["bucket", "--url", "pins", "--program", "/bin/true"], status: 2)
        }
    }
}
