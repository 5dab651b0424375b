import Holdfast
import HoldfastTesting

/// The dearest of the chains that a seeded campaign finds for each field of a certificate, by counted work.
public enum HostileWorkloads {
    /// One for each field, in both profiles.
    public static func dearest() throws -> [Workload] {
        try HostileChain.Field.allCases.flatMap { field in
            try ValidationProfile.allCases.map { try dearest(field, $0) }
        }
    }

    private static func dearest(_ field: HostileChain.Field, _ profile: ValidationProfile) throws -> Workload {
        var best: (chain: HostileChain, work: Int)?
        for kind in 0..<14 {
            for size in [0, 1, 30, 200, 500, 900, 1_400] {
                let chain = try HostileChain(.init(field, kind: kind, size: size, count: size % 50))
                let work = try validate(chain, profile).effort.work
                if work > best?.work ?? -1 { best = (chain, work) }
            }
        }
        guard let best else { throw WorkloadError("no chain for \(field)") }
        let recipe = best.chain.recipe
        let name = "\(field.rawValue), \(profile.rawValue): kind \(recipe.kind), size \(recipe.size), work \(best.work)"
        let validator = PathValidator(anchors: try TrustAnchors(der: [best.chain.anchor]), profile: profile)
        let host = try DialledHost(HostileChain.host)
        let time = SystemWallClock().now
        let presented = best.chain.presented
        return Workload(name) {
            let outcome = validator.validate(
                PresentedChain(presented), for: .server(identity: host), at: time, accepting: { _ in false })
            try require(outcome.path == nil, "\(name): accepted")
        }
    }

    private static func validate(_ chain: HostileChain, _ profile: ValidationProfile) throws -> ValidationOutcome {
        PathValidator(anchors: try TrustAnchors(der: [chain.anchor]), profile: profile).validate(
            PresentedChain(chain.presented), for: .server(identity: try DialledHost(HostileChain.host)),
            at: SystemWallClock().now, accepting: { _ in false })
    }
}
