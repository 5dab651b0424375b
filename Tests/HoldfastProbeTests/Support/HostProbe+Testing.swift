import Holdfast
import HoldfastProbe
import HoldfastTesting

extension HostProbe {
    /// A probe that trusts one root and has much time, for machines that have much to do.
    init(trusting root: TestAuthority, resolving addresses: [String]? = nil) throws {
        self.init(validator: PathValidator(anchors: try TrustAnchors(der: [root.root])))
        let limit = Duration.seconds(60)
        deadlines = ProbeDeadlines(resolving: limit, connecting: limit, handshake: limit, whole: limit)
        if let addresses { resolver = .fixed(try addresses.map { try IPAddress($0) }) }
    }
}

extension AddressResolver {
    static func fixed(_ addresses: [IPAddress]) -> AddressResolver {
        AddressResolver { _ throws(ProbeFailure) in addresses }
    }
}
