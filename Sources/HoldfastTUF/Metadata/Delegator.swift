/// Who signs a role: key ids, the keys that they name, and how many of them must sign (sections 4.3, 4.5).
package struct Delegator: Sendable {
    let role: RoleName
    package let keyIDs: [[UInt8]]
    package let threshold: Int
    /// Keys by their ids, which are names and nothing else (TAP 12).
    let keys: [[UInt8]: MetadataKey]

    /// - Parameters:
    ///   - fields: an object with `keyids` and `threshold`.
    ///   - keys: of the file in which that object stands.
    init(_ role: RoleName, _ fields: Fields, keys: [[UInt8]: MetadataKey]) throws(TUFError) {
        self.role = role
        keyIDs = try fields.distinctTexts("keyids", atMost: TUFSettings.keysOfRole)
        threshold = Int(clamping: try fields.integer("threshold", atLeast: 1))
        var named: [[UInt8]: MetadataKey] = [:]
        for id in keyIDs { named[id] = keys[id] }
        self.keys = named
    }

    /// Reads the `keys` of a root file or of delegations.
    static func keys(_ fields: Fields) throws(TUFError) -> [[UInt8]: MetadataKey] {
        var keys: [[UInt8]: MetadataKey] = [:]
        for member in try fields.object("keys").members { keys[Array(member.key)] = try MetadataKey(member.value) }
        return keys
    }

    /// Section 5.3.4 and its like: whether a threshold of different keys has signed. Each key verifies at most once, and
    /// no more are asked than are needed.
    /// - Parameter meter: is charged for each verification.
    func verify(_ file: SignedFile, section: String, meter: WorkMeter) throws(TUFError) {
        var signers: Set<[UInt8]> = []
        for id in keyIDs {
            guard signers.count < threshold else { break }
            guard let key = keys[id], let identity = key.identity, !signers.contains(identity),
                meter.allows(key.signatureScheme),
                let signature = file.signatures[id], !signature.isEmpty
            else { continue }
            meter.verified()
            if key.verifies(signature, over: file.canonical) { signers.insert(identity) }
        }
        guard signers.count >= threshold else {
            throw TUFError(
                .notSigned, of: role.text, section: section,
                expected: "signatures of \(threshold) of \(keyIDs.count) keys", found: "\(signers.count) that verify")
        }
    }

    /// Which keys have signed a file: their ids, each key once.
    package func signers(of file: SignedFile) -> [[UInt8]] {
        var seen: Set<[UInt8]> = []
        return keyIDs.filter { id in
            guard let key = keys[id], let identity = key.identity, !seen.contains(identity),
                let signature = file.signatures[id], key.verifies(signature, over: file.canonical)
            else { return false }
            return seen.insert(identity).inserted
        }
    }

    /// Whether a key of this one no longer signs for another: then the role's keys were rotated (section 5.3.11).
    func isRotated(in next: Delegator) -> Bool {
        let remaining = Set(next.keys.values.compactMap(\.identity))
        return keys.values.contains { $0.identity.map { !remaining.contains($0) } ?? false }
    }
}
