package import struct Foundation.Date

extension PinFile {
    /// What one build may do beyond what the file allows.
    public struct Overrides: Sendable, Hashable {
        let usesDebugAnchors: Bool

        /// Nothing.
        public static let none = Overrides(usesDebugAnchors: false)

        #if DEBUG
        /// Trusts the debug anchors of the file: a chain to one of them is trusted without a pin, with a line in the
        /// log each time.
        ///
        /// Only debug builds have it, so that code for a release build that asks for it does not compile. Write
        /// `#if DEBUG` around its use.
        public static let debugOverrides = Overrides(usesDebugAnchors: true)
        #endif
    }

    /// A policy for each host, in the order of the file.
    /// - Parameters:
    ///   - overrides: what a debug build may do.
    ///   - clock: the clock of the published calls that have no time parameter.
    public func policies(
        overrides: Overrides = .none, clock: any WallClock = SystemWallClock()
    ) -> [any TrustPolicy] {
        let anchors =
            overrides.usesDebugAnchors && !debugAnchors.isEmpty ? TrustAnchors(debugAnchors) : nil
        let end = end ?? .distantFuture
        return hosts.map { $0.policy(until: end, anchors, clock, .shared) }
    }

    /// A policy for each host whose pins have run out at another time than the file says.
    package func policies(until end: Date, clock: any WallClock, log: PolicyLog) -> [any TrustPolicy] {
        hosts.map { $0.policy(until: end, nil, clock, log) }
    }
}

extension PinFile.Host {
    fileprivate func policy(
        until end: Date, _ debugAnchors: TrustAnchors?, _ clock: any WallClock, _ log: PolicyLog
    ) -> any TrustPolicy {
        if isRetired {
            let failure = TrustFailure(
                .hostRetired, expected: "a host that is in use", found: "\(pattern), which the pin file retired")
            return RejectingPolicy(scope: .hosts(pattern), validationType: nil, failure: failure, clock: clock)
        }
        func rolePins(_ select: (PinFile.KeyPin) -> Bool, both: Bool) -> RolePins {
            RolePins(
                pins: pins.filter(select).map { pin in
                    RolePins.RolePin(
                        pin: pin.pin, role: pin.role == .leaf ? .leaf : .issuer,
                        end: min(pin.end ?? .distantFuture, end))
                }, requiresBothRoles: both)
        }
        return RolePinPolicy(
            scope: .hosts(pattern),
            pins: rolePins({ $0.state != .candidate }, both: requirement == .leafAndIssuer),
            candidates: rolePins({ $0.state == .candidate }, both: false), ports: ports,
            isEnforced: mode == .enforce, fallsBackToStandard: onExpiry == .systemTrust, debugAnchors: debugAnchors,
            clock: clock, log: log)
    }
}
