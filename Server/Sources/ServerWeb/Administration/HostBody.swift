import ServerFoundation
import ServerModel

/// How to dial a host, and how its certificates are renewed: the options of `holdfast-server host add`, as JSON.
enum HostBody {
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, naming the field.
    static func host(
        _ name: String, _ port: Int64, _ fields: inout JSONFields
    ) throws(ServerError) -> CatalogHost {
        let dial = try fields.optionalText("dial").map { bytes throws(ServerError) in
            guard ASCIIText.isPrintable(bytes, 1...255) else { throw fields.invalid("dial", "an address") }
            return String(decoding: bytes, as: UTF8.self)
        }
        let renewal = try fields.optionalText("renewal").map { bytes throws(ServerError) in
            guard let renewal = CatalogHost.Renewal(bytes: bytes) else {
                throw fields.invalid("renewal", "announced, same-key or issuer")
            }
            return renewal
        }
        let hasOneKeyKind = try fields.optionalBoolean("oneKeyKind") ?? false
        try fields.finish()
        return try CatalogHost(
            name: name, port: port, dial: dial, renewal: renewal ?? .announced, hasOneKeyKind: hasOneKeyKind)
    }
}
