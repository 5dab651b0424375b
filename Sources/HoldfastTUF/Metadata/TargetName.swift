import Crypto

/// The name of a target to search for, prepared once for all delegations.
struct TargetName: Sendable {
    let octets: [UInt8]
    /// SHA-256 of the name.
    let digest: [UInt8]
    private let hexadecimal: [UInt8]
    private let parts: [[Unicode.Scalar]]

    /// - Throws: ``TUFError`` `unusableName` for an empty name, or one that is too long.
    init(_ name: String) throws(TUFError) {
        octets = Array(name.utf8)
        guard !octets.isEmpty, octets.count <= TUFSettings.nameBytes else {
            throw TUFError(
                .unusableName, of: octets.quotedName, expected: "a name of 1 to \(TUFSettings.nameBytes) octets",
                found: "\(octets.count)")
        }
        digest = Array(SHA256.hash(data: octets))
        hexadecimal = Array(HexText.text(of: digest).utf8)
        parts = PathPattern.parts(octets[...])
    }

    func isCovered(by scope: Delegations.Entry.Scope, meter: WorkMeter) throws(TUFError) -> Bool {
        switch scope {
        case .hashPrefixes(let prefixes):
            for prefix in prefixes {
                try meter.matched(steps: 1)
                if hexadecimal.starts(with: prefix) { return true }
            }
        case .patterns(let patterns):
            for pattern in patterns {
                try meter.matched(steps: pattern.count + 1)
                if try PathPattern(pattern).matches(parts, meter: meter) { return true }
            }
        }
        return false
    }
}
