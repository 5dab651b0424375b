import struct Foundation.Date

/// Pins of keys that count for certain certificates of a path, each until a time of its own.
struct RolePins: Sendable {
    /// The certificates of a path for which a pin counts.
    enum Role: Sendable, Hashable {
        /// The server's own.
        case leaf
        /// Every certificate above it.
        case issuer
    }

    /// One of them.
    struct RolePin: Sendable {
        let pin: Pin
        let role: Role
        /// The first instant at which it no longer counts.
        let end: Date
    }

    let pins: [RolePin]
    /// Whether a pin of each role must match.
    let requiresBothRoles: Bool

    /// The pins, each once, in the order given.
    var all: [Pin] {
        var seen: Set<Pin> = []
        return pins.map(\.pin).filter { seen.insert($0).inserted }
    }

    /// Those that count at a time.
    func counting(at time: Date) -> RolePins {
        // Written so that a time that is no number is past every end.
        RolePins(pins: pins.filter { time < $0.end }, requiresBothRoles: requiresBothRoles)
    }

    /// Whether some path could satisfy them.
    var isSatisfiable: Bool {
        requiresBothRoles ? Set(pins.map(\.role)).count == 2 : !pins.isEmpty
    }

    /// What of a path satisfies them: the pins in its order, each once, and the first instant at which those no longer do.
    struct Match {
        let pins: [Pin]
        let end: Date
    }

    /// nil where they are not satisfied.
    func match(in path: ValidatedPath) -> Match? {
        var found: [Pin] = []
        var ends: [Role: Date] = [:]
        for (position, certificate) in path.certificates.enumerated() {
            let role: Role = position == 0 ? .leaf : .issuer
            // What no pin is for need not be hashed.
            guard pins.contains(where: { $0.role == role }) else { continue }
            let own = certificate.publicKeyPin
            for pin in pins where pin.role == role && pin.pin == own {
                if !found.contains(own) { found.append(own) }
                ends[role] = max(ends[role] ?? .distantPast, pin.end)
            }
        }
        guard !found.isEmpty, !requiresBothRoles || ends.count == 2 else { return nil }
        // One match is enough for `any`, so the latest counts; of two roles both must go on.
        let end = requiresBothRoles ? ends.values.min() : ends.values.max()
        return Match(pins: found, end: end ?? .distantPast)
    }

    /// Why valid paths do not satisfy them.
    func mismatch(in paths: [ValidatedPath]) -> TrustFailure {
        let expected: String
        if requiresBothRoles {
            expected = "a leaf pin and an issuer pin in a valid path"
        } else {
            switch Set(pins.map(\.role)) {
            case [.leaf]: expected = "a pin of the server's own key"
            case [.issuer]: expected = "a pin of an issuer in a valid path"
            default: expected = "a pin of the server's own key, or of an issuer in a valid path"
            }
        }
        // The commonest mistake: the key is there, in another role than the file says.
        let keys = Set(pins.map(\.pin))
        let isElsewhere = paths.contains { $0.certificates.contains { keys.contains($0.publicKeyPin) } }
        return TrustFailure(
            .pinMismatch, expected: expected,
            found: isElsewhere
                ? requiresBothRoles ? "one of the two, or a pin in another role" : "a pin in another role"
                : paths.count == 1 ? "a valid path without one" : "\(paths.count) valid paths without one")
    }
}
