import Holdfast
import HoldfastTesting

/// The most expensive chains that a seeded campaign finds for each field of a certificate, by counted work.
public enum HostileWorkloads {
    /// One for each field, in both profiles.
    public static func dearest() throws -> [Workload] {
        try HostileChain.Field.allCases.flatMap { field in
            try ValidationProfile.allCases.map { try dearest(field, $0) }
        }
    }

    /// Names of as many attributes as fit, each of one character: the most expensive to fold, relative to their budget.
    public static func shortNames() throws -> [Workload] {
        let chain = try HostileChain(.init(.names, kind: 7, size: 984, count: 0))
        return try ValidationProfile.allCases.map { profile in
            try workload((chain, try validate(chain, profile).effort.work), profile)
        }
    }

    /// The most expensive chain of each field under an any-of of eight members, which share one budget.
    public static func dearestForComposites() throws -> [Workload] {
        try HostileChain.Field.allCases.map { field in
            let chain = try dearestChain(field, .standard).chain
            let host = try HostPattern(HostileChain.host)
            let members = try (0..<8 as Range<UInt8>).map { number in
                try PinnedPolicy(
                    host: host,
                    pins: PinSet(pins: [Pin(subject: .publicKey, digest: [UInt8](repeating: number, count: 32))]),
                    validatesHostName: number % 2 == 0)
            }
            let policy = try CompositePolicy(host: host, anyOf: members)
            let trust = ServerTrust(
                chain: PresentedChain(chain.presented), purpose: .server(identity: try DialedHost(HostileChain.host)),
                validator: PathValidator(anchors: try TrustAnchors(der: [chain.anchor])))
            let time = SystemWallClock().now
            let work = policy.evaluate(trust, at: time).effort.work
            let recipe = chain.recipe
            let name = "any-of 8, \(field.rawValue): kind \(recipe.kind), size \(recipe.size), work \(work)"
            return Workload(name) { try require(!policy.evaluate(trust, at: time).isTrusted, "\(name): accepted") }
        }
    }

    private static func dearest(_ field: HostileChain.Field, _ profile: ValidationProfile) throws -> Workload {
        try workload(try dearestChain(field, profile), profile)
    }

    private static func workload(
        _ best: (chain: HostileChain, work: Int), _ profile: ValidationProfile
    ) throws -> Workload {
        let recipe = best.chain.recipe
        let name =
            "\(recipe.field.rawValue), \(profile.rawValue): kind \(recipe.kind), size \(recipe.size), work \(best.work)"
        let validator = PathValidator(anchors: try TrustAnchors(der: [best.chain.anchor]), profile: profile)
        let host = try DialedHost(HostileChain.host)
        let time = SystemWallClock().now
        let presented = best.chain.presented
        return Workload(name) {
            let outcome = validator.validate(
                PresentedChain(presented), for: .server(identity: host), at: time, accepting: { _ in false })
            try require(outcome.path == nil, "\(name): accepted")
        }
    }

    private static func dearestChain(
        _ field: HostileChain.Field, _ profile: ValidationProfile
    ) throws -> (chain: HostileChain, work: Int) {
        var best: (chain: HostileChain, work: Int)?
        for kind in 0..<14 {
            for size in [0, 1, 30, 200, 500, 900, 1_400] {
                let chain = try HostileChain(.init(field, kind: kind, size: size, count: size % 50))
                let work = try validate(chain, profile).effort.work
                if work > best?.work ?? -1 { best = (chain, work) }
            }
        }
        guard let best else { throw WorkloadError("no chain for \(field)") }
        return best
    }

    private static func validate(_ chain: HostileChain, _ profile: ValidationProfile) throws -> ValidationOutcome {
        PathValidator(anchors: try TrustAnchors(der: [chain.anchor]), profile: profile).validate(
            PresentedChain(chain.presented), for: .server(identity: try DialedHost(HostileChain.host)),
            at: SystemWallClock().now, accepting: { _ in false })
    }
}
