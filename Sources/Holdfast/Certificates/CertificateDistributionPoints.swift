/// The names under which a certificate says that lists speak of it (cRLDistributionPoints, RFC 5280 4.2.1.13).
struct CertificateDistributionPoints {
    /// Of points for every reason, whose lists the certificate's issuer signs.
    private(set) var names: Set<DistributionPointName> = []
    /// Of points for some reasons.
    private(set) var namesForSomeReasons: Set<DistributionPointName> = []

    /// What cannot be read names nothing.
    /// - Parameter work: grows by what reading costs.
    init(of certificate: X509Certificate, work: inout Int) {
        // RFC 5280 6.3.3, last paragraph: a list of the issuer's is looked at as one whose point has the issuer's name.
        names.insert(DistributionPointName(certificate.issuer, work: &work))
        guard let value = certificate.distributionPoints else { return }
        let bytes = certificate.layout.der
        do throws(DERError) {
            var outer = DERReader(bytes, in: value)
            var points = outer.inside(try outer.next(DERTag.sequence))
            var count = 0
            while !points.isAtEnd, count < DistributionPointName.maximumCount {
                count += 1
                var fields = points.inside(try points.next(DERTag.sequence))
                let name = try fields.nextIfPresent(DERTag.contextConstructed(0))
                let isForSomeReasons = try fields.nextIfPresent(DERTag.context(1)) != nil
                // RFC 5280 6.3.3 (b) (1): the lists of a cRLIssuer are indirect.
                guard try fields.nextIfPresent(DERTag.contextConstructed(2)) == nil, let name else { continue }
                let read = try DistributionPointName.read(
                    name, of: bytes, relativeTo: certificate.issuer, work: &work)
                if isForSomeReasons { namesForSomeReasons.formUnion(read) } else { names.formUnion(read) }
            }
        } catch {
            return
        }
    }
}

extension X509Certificate {
    /// 2.5.29.31
    fileprivate var distributionPoints: Range<Int>? {
        let identifier: [UInt8] = [0x55, 0x1D, 0x1F]
        return layout.extensions.first { layout.der[$0.identifier].elementsEqual(identifier) }?.value
    }

    /// Octets that are read for its ``CertificateDistributionPoints``.
    var distributionPointLength: Int { distributionPoints?.count ?? 0 }
}
