import Foundation
import Testing

@testable import ServerApprovals
@testable import ServerFoundation

/// soft-webauthn and fido2: an authenticator that shares no code with us.
enum SoftWebAuthn {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private static let given = ProcessInfo.processInfo.environment["HOLDFAST_WEBAUTHN_PYTHON"]

    /// The Python that `scripts/python webauthn` made, or the one that `HOLDFAST_WEBAUTHN_PYTHON` names; an empty name says
    /// that this machine cannot have one.
    static let program: URL? = {
        let package = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let program = given.map { URL(filePath: $0) } ?? package.appending(path: ".build-webauthn/bin/python")
        return given != "" && FileManager.default.isExecutableFile(atPath: program.path) ? program : nil
    }()

    static let isTested = program != nil || (ForeignProgram.areRequired && given != "")

    /// The registration and the assertions of a passkey.
    struct Answers: Decodable {
        let registration: [String: String]
        let assertions: [[String: String]]

        func registered() throws -> PasskeyRegistration {
            PasskeyRegistration(
                attestationObject: try Answers.bytes("attestationObject", registration),
                clientDataJSON: try Answers.bytes("clientDataJSON", registration))
        }

        func assertion(_ place: Int) throws -> PasskeyAssertion {
            let assertion = assertions[place]
            return try PasskeyAssertion(
                authenticatorData: Answers.bytes("authenticatorData", assertion),
                clientDataJSON: Answers.bytes("clientDataJSON", assertion),
                signature: Answers.bytes("signature", assertion))
        }

        private static func bytes(_ name: String, _ response: [String: String]) throws -> [UInt8] {
            try #require(response[name].flatMap { Base64.decode($0.utf8) }, "\(name)")
        }
    }

    /// Makes a passkey of each kind, and has it sign.
    /// - Returns: the answers by kind: `es256`, `edDSA`, and `unverified`, which knows no user.
    static func answers(
        at party: RelyingParty, registration: PasskeyChallenge, signing challenges: [PasskeyChallenge]
    ) async throws -> [String: Answers] {
        guard let program else { throw CocoaError(.featureUnsupported) }
        let script = tests.appending(path: "Python/soft_passkey.py").path
        let (status, output) = try await ForeignProgram.run(
            program,
            ["-B", script, party.origin, Hex.encode(registration.bytes)] + challenges.map { Hex.encode($0.bytes) },
            in: tests, withErrors: false)
        try #require(status == 0)
        return try JSONDecoder().decode([String: Answers].self, from: output)
    }
}
