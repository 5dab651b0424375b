import Foundation
import HoldfastNIOTesting

/// curl with the pins of a pin file.
struct DemoCurl: Sendable {
    private let program: DemoProgram
    private let arguments: [String]

    /// What a pin file in JSON says, as far as curl needs it.
    private struct Pins: Decodable {
        struct Host: Decodable {
            struct Pin: Decodable { let pin: String }
            let pins: [Pin]
        }
        let hosts: [Host]
    }

    /// Configures it; nil if it is not installed.
    /// - Parameters:
    ///   - roots: the file with the authority, PEM.
    ///   - pinFile: the pin file.
    init?(of stage: DemoStage, roots: URL, pinFile: Data) throws {
        guard let program = DemoProgram("curl") else { return nil }
        self.program = program
        let pins = try JSONDecoder().decode(Pins.self, from: pinFile).hosts.flatMap(\.pins)
            .map { $0.pin.replacing("sha256/", with: "sha256//") }
        let place = "\(DemoStage.host):\(stage.tls.port)"
        arguments = [
            "--silent", "--fail", "--max-time", "20", "--noproxy", "*", "--cacert", roots.path, "--pinnedpubkey",
            pins.joined(separator: ";"), "--resolve", "\(place):\(stage.tls.address)", "https://\(place)/",
        ]
    }

    /// Whether it gets an answer from the host as it is now.
    func getsIn() async throws -> Bool { try await program.succeeds(with: arguments) }
}
