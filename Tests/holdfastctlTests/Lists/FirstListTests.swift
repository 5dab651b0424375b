import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl sign and the first list", .timeLimit(.minutes(15)))
struct FirstListTests {
    private static func isThere(_ file: String, _ site: SigningSite) -> Bool {
        FileManager.default.fileExists(atPath: site.folder.appending(path: file).path)
    }

    @Test("A first list is made only if clients get in with it, and if that is known")
    func judged() async throws {
        try await SigningSite.with { site in
            let (leaf, _) = (try site.leaf("leaf.pem"), try site.leaf("next.pem"))
            try site.leaf("wild.pem", [.dns("*.example.com")])
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = ["--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s"]
                let none = ["--no-shipped-pins"]
                let wrong = try await site.sign(["next.pem", "--list", "pins.json"] + place + none)
                #expect(wrong.status == 1 && wrong.errors.contains("clients would be locked out"), "\(wrong.errors)")
                #expect(wrong.errors.contains("pins.json is not made"), "\(wrong.errors)")
                let unsaid = try await site.sign(["leaf.pem", "next.pem", "--list", "pins.json"] + place)
                #expect(unsaid.status == 3 && unsaid.errors.contains("app versions unknown"), "\(unsaid.errors)")
                // It is unknown which hosts a wildcard stands for.
                let wild = try await site.sign(["wild.pem", "--list", "wild.json"] + place + none)
                #expect(wild.status == 3 && wild.errors.contains("no host can be asked"), "\(wild.errors)")
                #expect(!Self.isThere("pins.json", site) && !Self.isThere("wild.json", site))
                let forced = try await site.sign(
                    ["wild.pem", "--list", "wild.json", "--force", "unreachable"] + place + none)
                #expect(forced.status == 0 && Self.isThere("wild.json", site), "\(forced.errors)")

                let first = try await site.sign(["leaf.pem", "next.pem", "--list", "pins.json"] + place + none)
                #expect(first.status == 0 && first.lines.first == "pins.json: 2 entries, a new list", "\(first.errors)")
                #expect(first.output.contains("it is the first list: "), "\(first.output)")
                // A new entry takes nothing from clients, and no host is asked.
                try site.leaf("third.pem")
                #expect(try await site.sign(["third.pem", "--list", "pins.json"]).status == 0)
            }
            let down = try await site.sign(
                ["leaf.pem", "--list", "down.json", "--no-shipped-pins", "--connect-to", "127.0.0.1:1"])
            #expect(down.status == 3 && !Self.isThere("down.json", site), "\(down.errors)")
            let meant = try await site.sign(["leaf.pem", "--list", "down.json", "--force", "offline"])
            #expect(meant.status == 0 && meant.errors.contains("offline: no host was asked"), "\(meant.errors)")
        }
    }

    @Test("A list that is printed or written with -o is judged as a first list is, and nothing comes out unjudged")
    func written() async throws {
        try await SigningSite.with { site in
            let (leaf, _) = (try site.leaf("leaf.pem"), try site.leaf("next.pem"))
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = ["--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s"]
                let none = ["--no-shipped-pins"]
                for output in [[], ["-o", "pins.json"]] {
                    let wrong = try await site.sign(["next.pem"] + place + none + output)
                    #expect(
                        wrong.status == 1 && wrong.errors.contains("clients would be locked out"), "\(wrong.errors)")
                    let name = output.last ?? "the list"
                    #expect(wrong.output.isEmpty && wrong.errors.contains("\(name) is not made"), "\(wrong.errors)")
                    let unsaid = try await site.sign(["leaf.pem", "next.pem"] + place + output)
                    #expect(unsaid.status == 3 && unsaid.output.isEmpty, "\(unsaid.errors)")
                    #expect(unsaid.errors.contains("app versions unknown"), "\(unsaid.errors)")
                    #expect(!Self.isThere("pins.json", site))
                }
                let printed = try await site.sign(["leaf.pem", "next.pem"] + place + none)
                #expect(printed.status == 0 && printed.errors.contains("it is the first list: "), "\(printed.errors)")
                let list = try FingerprintList(verifying: Data(printed.output.utf8), with: site.key.publicKey)
                #expect(list.entries.count == 2)
                let file = try await site.sign(["leaf.pem", "next.pem", "-o", "pins.json"] + place + none)
                #expect(file.status == 0 && file.output.isEmpty, "\(file.errors)")
                #expect(try site.entries().map(\.pin) == list.entries.map(\.pin))
                // The replaced list counts as well: clients that hold it are locked out until they ask.
                let earlier = try await site.sign(
                    ["next.pem", "-o", "earlier.json", "--force", "refused"] + place + none)
                #expect(earlier.status == 0 && earlier.errors.contains("warning: refused: "), "\(earlier.errors)")
                let replaced = ["--replaced", "earlier.json@\(Int(SystemWallClock().now.timeIntervalSince1970) - 60)"]
                let after = try await site.sign(["leaf.pem", "next.pem", "-o", "new.json"] + place + none + replaced)
                #expect(after.status == 1 && after.errors.contains("refused, as before: "), "\(after.errors)")
                #expect(try site.entries(of: "new.json").count == 2)
            }
            let down = ["leaf.pem", "-o", "down.json", "--no-shipped-pins", "--connect-to", "127.0.0.1:1"]
            let unknown = try await site.sign(down)
            #expect(unknown.status == 3 && !Self.isThere("down.json", site), "\(unknown.errors)")
            let meant = try await site.sign(["leaf.pem", "-o", "down.json", "--force", "offline"])
            #expect(meant.status == 0 && meant.errors.contains("offline: no host was asked"), "\(meant.errors)")
            #expect(try site.entries(of: "down.json").count == 1)
        }
    }

    @Test("Builds that carry other pins are named: the list is made, for it cannot help them, and that is no good news")
    func builds() async throws {
        try await SigningSite.with { site in
            let (leaf, old) = (try site.leaf("leaf.pem"), try site.leaf("old.pem"))
            let carried = try PinFile(hosts: [
                PinFile.Host(
                    HostPattern(SigningSite.name), pins: [PinFile.KeyPin(.publicKey(of: old.der))])
            ])
            try site.write("app.pins.json", String(decoding: carried.json, as: UTF8.self))
            try await withLoopbackTLSServer(serving: leaf) { server in
                let run = try await site.sign([
                    "leaf.pem", "--list", "pins.json", "--shipped", "7.4=app.pins.json", "--connect-to",
                    "127.0.0.1:\(server.port)", "--timeout", "60s",
                ])
                #expect(run.status == 1 && run.errors.contains("refused, as before: "), "\(run.errors)")
                #expect(try site.entries().map(\.pin) == [.certificate(leaf.der)])
            }
        }
    }
}
