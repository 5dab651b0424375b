import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Steps that would lock clients out", .timeLimit(.minutes(15)))
struct WrongStepTests {
    @Test(
        "A certificate is not signed for if its successor could not reach every client, and the reason is reckoned up")
    func shortLife() async throws {
        try await SigningSite.with { site in
            _ = try site.leaf("short.pem") { $0.notAfter = .days(6) }
            _ = try site.leaf("47.pem") { $0.notAfter = .days(47) }
            let short = try await site.sign(["short.pem"])
            #expect(short.status == 1 && short.output.isEmpty)
            #expect(
                short.errors.contains("lives 6 days: renewed after two thirds of that, 4 days, it leaves 2 days"),
                "\(short.errors)")
            #expect(try await site.sign(["short.pem", "--staleness", "2d"]).status == 0)
            #expect(try await site.sign(["47.pem"]).status == 0)
            #expect(try await site.sign(["47.pem", "--staleness", "30d"]).status == 1)
        }
    }

    @Test("What a server shows is not taken out of a list if servers are asked first, nor if they do not answer")
    func removal() async throws {
        try await SigningSite.with { site in
            let (old, next) = (try site.leaf("old.pem"), try site.leaf("next.pem"))
            let entries = try [old, next].map {
                try FingerprintEntry(
                    name: SigningSite.name, pin: .certificate($0.der),
                    until: SystemWallClock().now.addingTimeInterval(80 * 86_400))
            }
            let list = try PinListDraft(entries).signed(by: site.key)
            try site.write("pins.json", String(decoding: list, as: UTF8.self))
            try await withLoopbackTLSServer(serving: old) { server in
                func remove(_ certificate: TestCertificate, port: Int) async throws -> CommandRun {
                    let pin = Pin.certificate(certificate.der)
                    return try await site.run([
                        "list", "remove", "pins.json", Hexadecimal.encode(pin.digest), "--key", site.publicKey, "--ask",
                        "--ca", "root.pem", "--connect-to", "127.0.0.1:\(port)", "--timeout", "60",
                    ])
                }
                let refused = try await remove(old, port: server.port)
                #expect(refused.status == 1, "\(refused.output)\(refused.errors)")
                #expect(refused.errors.contains("left as it is: www.example.com shows it at 127.0.0.1"))
                #expect(try await remove(old, port: 1).status == 3)
                #expect(try site.entries().count == 2)
                let done = try await remove(next, port: server.port)
                #expect(done.status == 0, "\(done.errors)")
                #expect(try site.entries().map(\.pin) == [.certificate(old.der)])
            }
        }
    }
}
