/// authorityInfoAccess has its syntax (RFC 5280 4.2.2.1). It is not used: nothing is fetched.
struct AuthorityInformationAccessRule: PathRule {
    let name = "authorityInfoAccess"
    let reference = "RFC 5280 4.2.2.1"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        let layout = certificate.layout
        for one in layout.extensions where layout.der[one.identifier].elementsEqual(Self.identifier) {
            do throws(DERError) {
                var outer = DERReader(layout.der, in: one.value)
                var list = outer.inside(try outer.next(DERTag.sequence))
                try outer.finish()
                guard !list.isAtEnd else { throw DERError(.invalidValue("an empty list"), at: list.position) }
                while !list.isAtEnd {
                    var description = list.inside(try list.next(DERTag.sequence))
                    _ = try description.next(DERTag.objectIdentifier)
                    _ = try GeneralName(try description.next(), of: layout.der, addressSizes: [4, 16])
                    try description.finish()
                }
            } catch {
                return Violation(error, in: "authorityInfoAccess", of: certificate)
            }
        }
        return nil
    }

    /// 1.3.6.1.5.5.7.1.1
    private static let identifier: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01]
}
