import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting

/// Helpers for tests of `check --pins`: pins of certificates, and a pin file that is checked at a server.
extension SigningSite {
    /// A time some days from now, in whole seconds as a pin file states it.
    static func date(days: Double) -> Date {
        Date(wholeSeconds: SystemWallClock().now.addingTimeInterval(days * 86_400).wholeSeconds)
    }

    /// The pin of a certificate's key.
    static func pin(
        _ certificate: [UInt8], _ role: PinFile.KeyPin.Role = .leaf, days: Double? = nil
    ) throws -> PinFile.KeyPin {
        try PinFile.KeyPin(Pin.publicKey(of: certificate), role: role, notAfter: days.map { date(days: $0) })
    }

    /// Writes a pin file and checks its hosts, all at one server.
    func check(
        _ server: LoopbackTLSServer, _ hosts: [PinFile.Host], notAfter days: Double? = nil, _ arguments: String...
    ) async throws -> CommandRun {
        let file = try PinFile(notAfter: days.map { Self.date(days: $0) }, hosts: hosts)
        try write("app.pins.json", String(decoding: file.json, as: UTF8.self))
        return try await run(
            [
                "check", "--pins", "app.pins.json", "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)",
                "--timeout", "60s",
            ] + arguments)
    }
}
