/// The signers of a role: key ids, the keys that they name, and how many of them must sign (sections 4.3, 4.5).
package struct Delegator: Sendable {
    let role: RoleName
    package let keyIDs: [[UInt8]]
    package let threshold: Int
    /// Keys by their ids. The ids are only names, not hashes of the keys (TAP 12).
    let keys: [[UInt8]: MetadataKey]

    /// - Parameters:
    ///   - fields: an object with `keyids` and `threshold`.
    ///   - keys: the keys of the file that contains this object.
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

    /// Section 5.3.4 and its counterparts: a threshold of different keys must have signed. Each key is tried at most
    /// once, and no more keys are tried than needed.
    /// - Parameter meter: counts each verification.
    /// - Throws: ``TUFError`` `notSigned`.
    func verify(_ file: SignedFile, section: String, meter: WorkMeter) throws(TUFError) {
        var signers: Set<[UInt8]> = []
        var others = UncountedSignatures()
        for id in keyIDs {
            guard signers.count < threshold else { break }
            guard let key = keys[id], let signature = file.signatures[id] else { continue }
            if let name = key.unsupportedName ?? meter.forbiddenName(key.signatureScheme) {
                others.add(unsupported: name)
                continue
            }
            guard let identity = key.identity, !signers.contains(identity), !signature.isEmpty else { continue }
            meter.verified()
            if key.verifies(signature, over: file.canonical) {
                signers.insert(identity)
            } else {
                others.invalid += 1
            }
        }
        guard signers.count >= threshold else {
            throw TUFError(
                others.explain(missing: threshold - signers.count) ? .unsupportedAlgorithm : .notSigned, of: role.text,
                section: section, expected: "signatures of \(threshold) of \(keyIDs.count) keys",
                found: "\(signers.count) that verify\(others.text)")
        }
    }

    /// The ids of the keys that have signed a file. A key with several ids is listed once.
    package func signers(of file: SignedFile) -> [[UInt8]] {
        var seen: Set<[UInt8]> = []
        return keyIDs.filter { id in
            guard let key = keys[id], let identity = key.identity, !seen.contains(identity),
                let signature = file.signatures[id], key.verifies(signature, over: file.canonical)
            else { return false }
            return seen.insert(identity).inserted
        }
    }

    /// The scheme or the kind of one of the role's keys, if no signature is verified with it; nil for other keys.
    package func unsupportedName(ofKey id: [UInt8]) -> String? { keys[id]?.unsupportedName }

    /// The signatures of a role's keys that are not accepted.
    private struct UncountedSignatures {
        /// The number of signatures that do not verify.
        var invalid = 0
        /// The number of signatures that cannot be verified.
        private var unsupported = 0
        private var names: [String] = []

        /// Maximum number of names in one message; a role may have many keys.
        private static let maximumNames = 4

        mutating func add(unsupported name: String) {
            unsupported += 1
            if names.count < Self.maximumNames, !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
                names.append(name)
            }
        }

        /// Whether the file may be authentic: no signature is invalid, and those that cannot be verified would complete
        /// the threshold.
        func explain(missing: Int) -> Bool { invalid == 0 && unsupported >= missing }

        var text: String {
            guard unsupported > 0 else { return "" }
            return ", and \(unsupported) that cannot be verified: \(names.joined(separator: ", ")) is not supported"
        }
    }

    /// Whether `next` lacks one of this role's keys, which means that they were rotated (section 5.3.11).
    func isRotated(in next: Delegator) -> Bool {
        let remaining = Set(next.keys.values.compactMap(\.identity))
        return keys.values.contains { $0.identity.map { !remaining.contains($0) } ?? false }
    }
}
