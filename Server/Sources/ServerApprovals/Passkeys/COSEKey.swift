package import ServerFoundation

/// The public key of a passkey in COSE form (RFC 9052 7, WebAuthn 6.5.1.1): ES256 with a point of P-256, or EdDSA with
/// Ed25519, without other parameters.
///
/// The digest of the key's SubjectPublicKeyInfo identifies a person, no matter where the key comes from. Therefore this
/// becomes an ``ApproverKey``, which has one accepted encoding.
package struct COSEKey: Sendable, Hashable {
    /// A signature algorithm of passkeys.
    package enum Algorithm: Int64, Sendable, Hashable, CaseIterable {
        /// ECDSA with P-256 and SHA-256.
        case es256 = -7
        /// Ed25519.
        case edDSA = -8
    }

    let algorithm: Algorithm
    package let key: ApproverKey

    private enum Label {
        static let type = CBORValue.integer(1)
        static let algorithm = CBORValue.integer(3)
        static let curve = CBORValue.integer(-1)
        static let x = CBORValue.integer(-2)
        static let y = CBORValue.integer(-3)
    }

    /// Reads a key.
    /// - Throws: ``ServerError`` `invalidValue` for another kind of key, missing or additional parameters, a point that
    ///   is not on the curve, and a point for which signatures can be forged without the private key.
    package init(_ value: CBORValue) throws(ServerError) {
        let (byteKey, point) = (CBORValue.integer(1), CBORValue.integer(2))
        let (p256, ed25519) = (CBORValue.integer(1), CBORValue.integer(6))
        let raw: [UInt8]
        if let values = value.values(of: [Label.type, Label.algorithm, Label.curve, Label.x, Label.y]),
            values.starts(with: [point, .integer(Algorithm.es256.rawValue), p256]),
            case .bytes(let x) = values[3], case .bytes(let y) = values[4], x.count == 32, y.count == 32
        {
            algorithm = .es256
            raw = [0x04] + x + y
        } else if let values = value.values(of: [Label.type, Label.algorithm, Label.curve, Label.x]),
            values.starts(with: [byteKey, .integer(Algorithm.edDSA.rawValue), ed25519]),
            case .bytes(let x) = values[3], x.count == 32
        {
            algorithm = .edDSA
            raw = x
        } else {
            throw Self.unusable(value)
        }
        guard let key = try? ApproverKey(raw: raw) else { throw Self.unusable(value) }
        self.key = key
    }

    /// Algorithms that are not supported (IANA's registry of COSE algorithms).
    private static let unsupported: [CBORValue: String] = [
        .integer(-9): "ESP256", .integer(-19): "Ed25519 (-19)", .integer(-35): "ES384", .integer(-36): "ES512",
        .integer(-37): "PS256", .integer(-38): "PS384", .integer(-39): "PS512", .integer(-47): "ES256K",
        .integer(-48): "ML-DSA-44", .integer(-49): "ML-DSA-65", .integer(-50): "ML-DSA-87", .integer(-53): "Ed448",
        .integer(-257): "RS256", .integer(-258): "RS384", .integer(-259): "RS512", .integer(-65_535): "RS1",
    ]

    private static func unusable(_ value: CBORValue) -> ServerError {
        var found = "another key"
        if case .map(let members) = value,
            let algorithm = members.first(where: { $0.key == Label.algorithm })?.value,
            let name = unsupported[algorithm]
        {
            found = "a key for \(name), which is not supported"
        }
        return ServerError(
            .invalidValue, of: "key of the passkey",
            expected: "ES256 with a point of P-256, or EdDSA with Ed25519, and no other parameter",
            found: found, remedy: "Register with an authenticator that offers ES256 or EdDSA.")
    }
}
