/// The names of the revocation lists that cover a certificate (cRLDistributionPoints, RFC 5280 4.2.1.13).
struct CertificateDistributionPoints {
    /// The names of points that cover every reason, and whose lists are signed by the certificate's issuer.
    private(set) var names: Set<DistributionPointName> = []
    /// The names of points that cover only some reasons.
    private(set) var namesForSomeReasons: Set<DistributionPointName> = []

    /// Reads the names. An extension that cannot be read contributes none.
    /// - Parameter work: increased by the cost of reading.
    init(of certificate: X509Certificate, work: inout Int) {
        // RFC 5280 6.3.3, last paragraph: a list of the issuer is treated as if its point had the issuer's name.
        names.insert(DistributionPointName(certificate.issuer, work: &work))
        let bytes = certificate.layout.der
        do throws(DERError) {
            for point in try Self.points(of: certificate) {
                let read = try DistributionPointName.read(
                    point.name, of: bytes, relativeTo: certificate.issuer, work: &work)
                if point.isForSomeReasons { namesForSomeReasons.formUnion(read) } else { names.formUnion(read) }
            }
        } catch {
            return
        }
    }

    /// The URLs (uniformResourceIdentifier) of points for every reason, as bytes that are not parsed yet.
    static func addresses(of certificate: X509Certificate) -> [ArraySlice<UInt8>] {
        let bytes = certificate.layout.der
        var addresses: [ArraySlice<UInt8>] = []
        do throws(DERError) {
            for point in try points(of: certificate) where !point.isForSomeReasons {
                var choice = DERReader(bytes, in: point.name.content)
                let full = try choice.next()
                guard full.tag == DERTag.contextConstructed(0) else { continue }
                var names = DERReader(bytes, in: full.content)
                while !names.isAtEnd, addresses.count < DistributionPointName.maximumCount {
                    let name = try names.next()
                    if name.tag == DERTag.context(6) { addresses.append(bytes[name.content]) }
                }
            }
        } catch {
            return addresses
        }
        return addresses
    }

    private struct Point {
        /// The content of `distributionPoint`, inside its explicit tag.
        let name: DERReader.Element
        let isForSomeReasons: Bool
    }

    private static func points(of certificate: X509Certificate) throws(DERError) -> [Point] {
        guard let value = certificate.distributionPoints else { return [] }
        var outer = DERReader(certificate.layout.der, in: value)
        var list = outer.inside(try outer.next(DERTag.sequence))
        var points: [Point] = []
        var count = 0
        while !list.isAtEnd, count < DistributionPointName.maximumCount {
            count += 1
            var fields = list.inside(try list.next(DERTag.sequence))
            let name = try fields.nextIfPresent(DERTag.contextConstructed(0))
            let isForSomeReasons = try fields.nextIfPresent(DERTag.context(1)) != nil
            // RFC 5280 6.3.3 (b) (1): the lists of a cRLIssuer are indirect.
            guard try fields.nextIfPresent(DERTag.contextConstructed(2)) == nil, let name else { continue }
            points.append(Point(name: name, isForSomeReasons: isForSomeReasons))
        }
        return points
    }
}

extension X509Certificate {
    /// The value of cRLDistributionPoints, 2.5.29.31.
    fileprivate var distributionPoints: Range<Int>? {
        let identifier: [UInt8] = [0x55, 0x1D, 0x1F]
        return layout.extensions.first { layout.der[$0.identifier].elementsEqual(identifier) }?.value
    }

    /// The number of bytes that are read for its ``CertificateDistributionPoints``.
    var distributionPointLength: Int { distributionPoints?.count ?? 0 }
}
