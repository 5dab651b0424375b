import Foundation
import Holdfast
import HoldfastProbe
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite(
    "holdfastctl gate between certbot and nginx", .needs(.acmeSite),
    .timeLimit(.minutes(30)), .serialized)
struct CertbotGateTests {
    @Test("A renewed certificate with the same key is installed by the hook")
    func sameKey() async throws {
        try await ACMESite.with(reusesKey: true) { site in
            let first = try site.leaf("srv/current/fullchain.pem")
            try await site.waitUntilServed(first)
            let renewal = try await site.renew()
            let second = try site.leaf(site.live + "/fullchain.pem")
            #expect(second != first, "\(renewal.output) \(renewal.errors)")
            #expect(try Pin.publicKey(of: second) == Pin.publicKey(of: first))
            #expect(try site.leaf("srv/current/fullchain.pem") == second, "\(renewal.output) \(renewal.errors)")
            try await site.waitUntilServed(second)
            #expect(try await site.install().status == 0)
        }
    }

    @Test("A renewed certificate with another key waits for the pins, whoever restarts the web server meanwhile")
    func otherKey() async throws {
        try await ACMESite.with(reusesKey: false) { site in
            let first = try site.leaf("srv/current/fullchain.pem")
            try await site.waitUntilServed(first)
            let renewal = try await site.renew()
            let second = try site.leaf(site.live + "/fullchain.pem")
            #expect(try Pin.publicKey(of: second) != Pin.publicKey(of: first), "\(renewal.errors)")

            // An administrator who knows nothing of this stops the web server and starts it again.
            try await site.restartWebServer()
            #expect(try await site.served() == first)
            let closed = try await site.install()
            #expect(closed.status == 75 && closed.output.hasPrefix("Not yet: "), "\(closed.output) \(closed.errors)")
            #expect(try site.leaf("srv/current/fullchain.pem") == first)
            let versions = try FileManager.default.contentsOfDirectory(
                atPath: site.folder.appending(path: "srv").path)
            #expect(versions.count == 2, "\(versions)")

            try await site.pin("srv/current/fullchain.pem", site.live + "/fullchain.pem")
            let open = try await site.install()
            #expect(open.status == 0, "\(open.output) \(open.errors)")
            #expect(try site.leaf("srv/current/fullchain.pem") == second)
            // The key changed with it, or the web server would have refused the pair.
            try await site.waitUntilServed(second)
            try await site.restartWebServer()
            #expect(try await site.served() == second)
        }
    }

    @Test("If the pins cannot be read or the host cannot be asked, nothing is installed")
    func unknown() async throws {
        try await ACMESite.with(reusesKey: true) { site in
            let first = try site.leaf("srv/current/fullchain.pem")
            let pins = site.folder.appending(path: "bank.pins.json")
            let content = try Data(contentsOf: pins)
            try FileManager.default.removeItem(at: pins)
            _ = try await site.renew()
            #expect(try await site.install().status == 3)
            try content.write(to: pins)
            try await site.stopWebServer()
            #expect(try await site.install().status == 3)
            #expect(try site.leaf("srv/current/fullchain.pem") == first)
        }
    }
}
