import Crypto
import Foundation

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport

/// An authenticator in software with one passkey, the same in every run, and the browser around it. A test turns whatever
/// they say.
struct SoftPasskey: Sendable {
    var isEd25519 = false
    /// Which key: 1 to 255.
    var number: UInt8 = 21
    var flags: AuthenticatorData.Flags = [.userPresent, .userVerified]
    var counter: UInt32 = 0
    var id = [UInt8](repeating: 0xC4, count: 32)
    /// The name for which it was made.
    var partyID = "pins.example.com"
    /// The page that asks.
    var origin = "https://pins.example.com"
    /// The other members of the client data.
    var others = #","crossOrigin":false"#
    var extensions: [CBORValue.Member] = []

    static var party: RelyingParty { get throws { try RelyingParty(origin: "https://pins.example.com") } }
    static var ed25519: SoftPasskey { SoftPasskey(isEd25519: true) }

    private var scalar: [UInt8] { [UInt8](repeating: 0, count: 31) + [number] }

    var coseKey: CBORValue {
        get throws {
            if isEd25519 {
                let key = try Curve25519.Signing.PrivateKey(rawRepresentation: scalar).publicKey
                return SoftPasskey.map(
                    [
                        (1, .integer(1)), (3, .integer(-8)), (-1, .integer(6)),
                        (-2, .bytes(Array(key.rawRepresentation))),
                    ])
            }
            let point = try P256.Signing.PrivateKey(rawRepresentation: scalar).publicKey.rawRepresentation
            return SoftPasskey.map(
                [
                    (1, .integer(2)), (3, .integer(-7)), (-1, .integer(1)), (-2, .bytes(Array(point.prefix(32)))),
                    (-3, .bytes(Array(point.suffix(32)))),
                ])
        }
    }

    var key: ApproverKey { get throws { try COSEKey(try coseKey).key } }

    static func map(_ members: [(Int64, CBORValue)]) -> CBORValue {
        .map(members.map { CBORValue.Member(key: .integer($0), value: $1) })
    }

    static func map(_ members: [(String, CBORValue)]) -> CBORValue {
        .map(members.map { CBORValue.Member(key: .text($0), value: $1) })
    }

    /// The client data that the browser writes.
    func clientDataJSON(_ kind: ClientData.Kind, _ challenge: PasskeyChallenge) -> [UInt8] {
        let text = Base64URL.encode(challenge.bytes)
        return Array(#"{"type":"\#(kind.rawValue)","challenge":"\#(text)","origin":"\#(origin)"\#(others)}"#.utf8)
    }

    /// The authenticator data, with the new key or without.
    func data(withKey: Bool = false) throws -> [UInt8] {
        var flags = flags
        if withKey { flags.insert(.attested) }
        if !extensions.isEmpty { flags.insert(.extended) }
        var bytes = ServerFoundation.Digest(of: partyID.utf8).bytes + [flags.rawValue]
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * UInt32($0))) }
        if withKey {
            bytes += [UInt8](repeating: 0, count: 16) + [UInt8(id.count >> 8), UInt8(id.count & 0xFF)] + id
            bytes += try coseKey.bytes
        }
        return extensions.isEmpty ? bytes : bytes + CBORValue.map(extensions).bytes
    }

    func registration(
        for challenge: PasskeyChallenge, format: String = "none", statement: CBORValue = .map([])
    ) throws -> PasskeyRegistration {
        let attestation = SoftPasskey.map(
            [("fmt", .text(format)), ("attStmt", statement), ("authData", .bytes(try data(withKey: true)))])
        return PasskeyRegistration(
            attestationObject: attestation.bytes, clientDataJSON: clientDataJSON(.create, challenge))
    }

    /// The passkey as a server knows it that has registered it.
    func credential(_ purpose: PasskeyPurpose = .signIn) throws -> PasskeyCredential {
        var generator = SeededGenerator(seed: 30)
        let challenge = PasskeyChallenge.registration(purpose, using: &generator)
        return try registration(for: challenge).credential(for: purpose, challenge, at: SoftPasskey.party)
    }

    func assertion(
        for challenge: PasskeyChallenge, kind: ClientData.Kind = .get
    ) throws -> PasskeyAssertion {
        let (data, client) = (try data(), clientDataJSON(kind, challenge))
        return try PasskeyAssertion(
            authenticatorData: data, clientDataJSON: client,
            signature: try signature(of: data + ServerFoundation.Digest(of: client).bytes))
    }

    func signature(of message: [UInt8]) throws -> [UInt8] {
        isEd25519
            ? Array(try Curve25519.Signing.PrivateKey(rawRepresentation: scalar).signature(for: message))
            : Array(try P256.Signing.PrivateKey(rawRepresentation: scalar).signature(for: message).derRepresentation)
    }

    /// The signature over an approval, or over a statement of approvers.
    func evidence(over text: [UInt8]) throws -> PasskeyEvidence {
        PasskeyEvidence(try assertion(for: .approval(of: text)), by: try key)
    }
}

extension CBORValue {
    /// As an authenticator writes it; maps in the order that they have.
    var bytes: [UInt8] {
        func head(_ kind: UInt8, _ number: UInt64) -> [UInt8] {
            let length =
                switch number {
                case ..<24: 0
                case ..<0x100: 1
                case ..<0x1_0000: 2
                case ..<0x1_0000_0000: 4
                default: 8
                }
            guard length > 0 else { return [kind << 5 | UInt8(number)] }
            return [kind << 5 | UInt8(24 + length.trailingZeroBitCount)]
                + (0..<length).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (length - 1 - $0))) }
        }
        switch self {
        case .unsigned(let number): return head(0, number)
        case .negative(let number): return head(1, number)
        case .bytes(let bytes): return head(2, UInt64(bytes.count)) + bytes
        case .text(let text): return head(3, UInt64(text.count)) + text
        case .array(let elements): return head(4, UInt64(elements.count)) + elements.flatMap(\.bytes)
        case .map(let members):
            return head(5, UInt64(members.count)) + members.flatMap { $0.key.bytes + $0.value.bytes }
        case .boolean(let value): return [value ? 0xF5 : 0xF4]
        case .null: return [0xF6]
        }
    }
}

/// Random bytes that a test chose.
struct ChosenBytes: RandomNumberGenerator {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> UInt64 {
        defer { place += 1 }
        return UInt64(bytes[place % bytes.count])
    }
}
