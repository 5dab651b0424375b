import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite(
    "Every address of a host, in each verb that asks",
    .needs(.wholeLoopbackBlock), .timeLimit(.minutes(15)))
struct EveryAddressTests {
    private static let addresses = ["127.0.0.1", "127.0.0.2"]

    /// A fleet whose two servers have keys of their own, and the arguments that name it.
    private static func withFleet(
        _ body: (SigningSite, LoopbackFleet, [TestCertificate], [String]) async throws -> Void
    ) async throws {
        try await SigningSite.with { site in
            let leaves = try addresses.map { _ in try site.issuing.leaf(names: [.dns(LoopbackFleet.name)]) }
            try await LoopbackFleet.with(Array(zip(addresses, leaves)).map { ($0, $1) }) { fleet in
                let host = "\(LoopbackFleet.name):\(fleet.port)"
                try await body(site, fleet, leaves, [host, "--ca", "root.pem", "--timeout", "60s"])
            }
        }
    }

    private static let both = addresses.flatMap { ["--address", $0] }

    @Test("A fleet with two keys: pin has both, and clients with those pins get in at either address")
    func pin() async throws {
        try await Self.withFleet { site, _, leaves, host in
            let pins = try leaves.map { try Pin.publicKey(of: $0.der).description }
            let all = try await site.run(["pin"] + host + Self.both + ["--format", "json"])
            #expect(all.status == 0 && pins.allSatisfy(all.output.contains), "\(all.errors)")
            try site.write("both.json", all.output)
            #expect(try await site.run(["check", "--pins", "both.json"] + host + Self.both).status == 0)

            let one = try await site.run(["pin"] + host + Self.both.prefix(2) + ["--format", "json"])
            #expect(one.output.contains(pins[0]) && !one.output.contains(pins[1]))
            try site.write("one.json", one.output)
            let locked = try await site.run(["check", "--pins", "one.json", "--json"] + host + Self.both)
            #expect(locked.status == 1)
            let lines = try locked.lines.map { try JSONDecoder().decode(CheckLine.self, from: Data($0.utf8)) }
            #expect(lines.map { $0.published?.isLockedOut } == [false, true])
            #expect(locked.lines.last?.contains("\"address\":\"127.0.0.2:") == true)
        }
    }

    @Test("A fleet with two keys: sign has an entry for each")
    func sign() async throws {
        try await Self.withFleet { site, _, leaves, host in
            let run = try await site.sign(
                host.filter { !["--ca", "root.pem"].contains($0) } + Self.both + ["--list", "pins.json"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(try Set(site.entries().map(\.pin)) == Set(leaves.map { Pin.certificate($0.der) }))
        }
    }

    @Test("An address that cannot be asked is never green: check says unknown, pin and sign do nothing")
    func addressDown() async throws {
        try await Self.withFleet { site, fleet, leaves, host in
            let pins = try leaves.map { try Pin.publicKey(of: $0.der).description }
            await fleet.servers[1].shutdown()
            let check = try await site.run(["check", "--json"] + host + Self.both)
            #expect(check.status == 3)
            #expect(check.lines.count == 2 && check.output.contains("\"code\":\"unreachable\""), "\(check.output)")
            #expect(check.errors.contains("127.0.0.2:\(fleet.port): connection refused"), "\(check.errors)")
            let pin = try await site.run(["pin"] + host + Self.both)
            #expect(pin.status == 3 && !pin.output.contains(pins[0]))
            #expect(pin.errors.contains("127.0.0.2") && pin.errors.contains("--address"), "\(pin.errors)")
            let sign = try await site.sign(
                host.filter { !["--ca", "root.pem"].contains($0) } + Self.both + ["--list", "pins.json"])
            #expect(sign.status == 3 && (try? site.text("pins.json")) == nil, "\(sign.errors)")
            // An operator who knows that no client reaches it leaves it out.
            #expect(try await site.run(["check"] + host + Self.both.prefix(2)).status == 0)
        }
    }

    @Test("A server is asked for a key of the other kind, unless --one-key-kind says that it has none")
    func oneKeyKind() async throws {
        try await Self.withFleet { site, fleet, _, host in
            var connections = 0
            for (more, count) in [([], 2), (["--one-key-kind"], 1)] as [([String], Int)] {
                let run = try await site.run(["check"] + host + Self.both.prefix(2) + more)
                #expect(run.status == 0, "\(run.output)\(run.errors)")
                connections += count
                #expect(fleet.servers[0].statistics.connectionsAccepted == connections, "\(more)")
            }
        }
    }

    @Test(
        "All addresses of a name are asked without an option, and -4 and -6 ask one family",
        .needs(.ipv6Loopback))
    func byDefault() async throws {
        try await SigningSite.with { site in
            let leaves = try (0..<2).map { _ in try site.issuing.leaf(names: [.dns("localhost")]) }
            let nodes = [("127.0.0.1", leaves[0]), ("::1", leaves[1])]
            try await LoopbackFleet.with(nodes) { fleet in
                let arguments = ["pin", "localhost:\(fleet.port)", "--ca", "root.pem", "--timeout", "60s"]
                let pins = try leaves.map { try Pin.publicKey(of: $0.der).description }
                let four = try await site.run(arguments + ["-4"])
                #expect(four.output.contains(pins[0]) && !four.output.contains(pins[1]), "\(four.errors)")
                let six = try await site.run(arguments + ["-6"])
                // Machines whose hosts file gives the name no IPv6 address have nothing to ask.
                guard !six.errors.contains("no address was found") else { return }
                #expect(six.output.contains(pins[1]) && !six.output.contains(pins[0]), "\(six.errors)")
                let all = try await site.run(arguments)
                #expect(pins.allSatisfy(all.output.contains), "\(all.errors)")
            }
        }
    }

    @Test("Of several published versions all must let a server in, in whatever order they are named")
    func versions() async throws {
        try await Self.withFleet { site, _, leaves, host in
            for (name, leaf) in zip(["first.json", "second.json"], leaves) {
                try site.write(name + ".pem", TestCertificate.pem(leaf.der))
                let run = try await site.run(
                    ["pin", name + ".pem", "--format", "json", "--host", LoopbackFleet.name])
                try site.write(name, run.output)
            }
            let first = Array(Self.both.prefix(2))
            for pins in [["first.json", "second.json"], ["second.json", "first.json"]] {
                let arguments = ["check"] + pins.flatMap { ["--pins", $0] } + host + first
                let run = try await site.run(arguments)
                #expect(run.status == 1, "\(run.output)")
                let alone = try await site.run(["check", "--pins", "first.json"] + host + first)
                #expect(alone.status == 0, "\(alone.output)")
            }
        }
    }
}
