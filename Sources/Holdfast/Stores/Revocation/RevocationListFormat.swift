import Foundation

/// The format of the lists of one place of a ``RevocationStore``: DER, signed by an authority (RFC 5280 section 5).
struct RevocationListFormat: DocumentFormat {
    let key: RevocationPlace.Key
    let url: URL
    let authorities: RevocationAuthorities
    let configuration: RevocationConfiguration
    /// The reserved memory; nil for a place that the configuration names.
    let room: RevocationRoom.Share?

    var origin: [UInt8] {
        StoredRecord.origin(of: [Array("revocation-list".utf8), Array(key.address.octets), Array(key.authority.octets)])
    }
    var storageKey: String { "revocation-list-\(Hexadecimal.encode(origin))" }
    /// The name without the parts of the URL that may be secret.
    var logName: String { "revocation list of \(url.quotedAddress)" }
    static let storeName = "revocation"
    var storeName: String { Self.storeName }
    var documentURL: URL? { url }
    var authority: X509Certificate? { authorities.first }
    var recordFormat: StoredRecord.Format { .revocationList }
    var buildDate: Date? { nil }
    var longestInterval: TimeInterval { configuration.schedule.longestInterval }
    var updateTimeout: Duration { configuration.updateTimeout }

    func fetch(
        from provider: any RemoteDataProvider, replacing current: CurrentDocument<RevocationLists>
    ) async throws(StoreError) -> FetchedDocument<RevocationLists>? {
        var request = RemoteDataRequest(
            url: url, headers: ["Accept": "application/pkix-crl, */*"], maximumBytes: configuration.maximumBytes)
        request.allowsPlainHTTP = true
        // Make the request conditional only with a valid list: an attacker chooses the tag of a replayed list.
        if let lists = current.content, lists.objection(at: current.time().wholeSeconds) == nil,
            !current.entityTag.isEmpty
        {
            let name = Self.isEntityTag(current.entityTag) ? "If-None-Match" : "If-Modified-Since"
            request.headers[name] = current.entityTag
        }
        guard let (body, response) = try await provider.document(for: request) else { return nil }
        let lists: RevocationLists
        do throws(DocumentError) {
            let time = current.time().wholeSeconds
            let known = current.content ?? RevocationLists()
            let list = try list(der: [UInt8](body), besides: known.byteCount(besides:), at: time)
            lists = try known.adding(list, for: authorities.certificates(of: list.issuer), at: time)
        } catch {
            throw StoreError(error)
        }
        room?.grow(lists.byteCount)
        var record = StoredRecord(format: recordFormat, body: lists.encoded)
        record.entityTag = Self.validator(of: response)
        return FetchedDocument(record: record, content: lists)
    }

    func content(
        of record: StoredRecord, issuedUpTo latest: Date, at time: Date
    ) throws(DocumentError) -> RevocationLists {
        let parts = try Self.reading { () throws(CertificateError) in
            do throws(DERError) {
                return try RevocationLists.parts(of: record.body)
            } catch {
                throw CertificateError(error, in: "certificateList")
            }
        }
        var lists: [CertificateRevocationList] = []
        var failure: DocumentError?
        for part in parts {
            let others = lists.reduce(0) { $0 + $1.der.count }
            do throws(DocumentError) {
                var list = try list(der: part.der, besides: { _ in others }, at: time.wholeSeconds)
                list.provenance?.revokesOnly = part.revokesOnly
                lists.append(list)
            } catch {
                // The other lists are still valid, for example after the certificate of one signer was removed.
                failure = failure ?? error
            }
        }
        if lists.isEmpty, let failure { throw failure }
        return RevocationLists(restored: lists)
    }

    /// Reads and verifies one list.
    /// - Parameter others: returns the number of bytes of the lists that are kept next to this one.
    private func list(
        der: [UInt8], besides others: (RevocationListHeader) -> Int, at time: Int64
    ) throws(DocumentError) -> CertificateRevocationList {
        var list = try Self.reading { () throws(CertificateError) in try RevocationListHeader(der: der) }
        // Find the signer before reading the entries: indexing them costs far more than a signature, and anyone on the
        // network path can send as many as fit.
        switch authorities.signer(of: list, knowing: configuration.certificates, at: time) {
        case .known(let signer):
            if let room, !room.take(list.der.count + others(list)) {
                throw DocumentError(
                    .tooLarge, field: "certificateList",
                    expected: "lists of at most \(configuration.maximumTotalBytes) bytes together",
                    found: "\(list.der.count) bytes more",
                    remedy: "Set maximumTotalBytes higher, or name the place in the configuration.")
            }
            list.provenance = CertificateRevocationList.Provenance(
                digest: SHA256Digest.of(list.der), signer: signer, authority: key.authority, address: key.address)
            return try Self.reading { () throws(CertificateError) in try CertificateRevocationList(list) }
        case .unsupported(let found):
            throw DocumentError(
                .unsupportedAlgorithm, field: "certificateList",
                expected: "a list that is signed with RSA, ECDSA or Ed25519", found: found,
                remedy: "Have the authority sign its lists with a supported algorithm.")
        case .none(let found):
            throw DocumentError(
                .invalidSignature, field: "certificateList", expected: "a list that its authority signed", found: found,
                remedy: "Give the certificate with which the authority's lists are signed, or check the URL.")
        }
    }

    private static func reading<List>(_ read: () throws(CertificateError) -> List) throws(DocumentError) -> List {
        do throws(CertificateError) {
            return try read()
        } catch {
            throw DocumentError(
                .invalidValue, field: "certificateList", expected: "a revocation list in DER: \(error.expected)",
                found: error.found, remedy: "Check that the URL leads to a revocation list.")
        }
    }

    /// nil, because only the clock determines the time: an authority that dates its lists in the future does not change
    /// it.
    func issueTime(of content: RevocationLists) -> Date? { nil }

    /// The fetched lists contain the stored ones that are still valid, see ``RevocationLists/adding(_:for:at:)``.
    func checkReplaces(
        _ new: RevocationLists, _ old: RevocationLists?, newestIssue: Date?, at time: Date
    ) throws(DocumentError) {
        if let old { try new.checkReplaces(old, at: time.wholeSeconds) }
    }

    func obstacle(to content: RevocationLists?, at time: Date) -> StoreError? {
        guard let content else {
            return StoreError(
                .storeIsEmpty, expected: "a revocation list of \(url.quotedAddress)", found: "none",
                remedy: "Let the application reach the authority's server.")
        }
        guard let found = content.objection(at: time.wholeSeconds) else { return nil }
        return StoreError(
            .storeIsEmpty, expected: "a revocation list of \(url.quotedAddress) that counts now", found: found,
            remedy: "Check that the authority still publishes its lists, and the clock.")
    }

    func nextUpdate(
        for content: RevocationLists, at time: Date, using generator: inout some RandomNumberGenerator
    ) -> Date {
        configuration.schedule.nextUpdate(
            at: time, soonestExpiry: content.soonestEnd(at: time.wholeSeconds), using: &generator)
    }

    func news(of content: RevocationLists) -> [StoreEvent] {
        guard let newest = content.all.max(by: { $0.thisUpdateSeconds < $1.thisUpdateSeconds }) else { return [] }
        return [StoreEvent(.replaced, entries: newest.count, date: newest.thisUpdate)]
    }

    // MARK: Conditional requests

    /// The validator for the next request: the entity tag, otherwise the date of the last change (RFC 9110 8.8).
    private static func validator(of response: RemoteDataResponse) -> String {
        let tag = response.entityTag
        if isEntityTag(tag) { return tag }
        guard let date = response.header("Last-Modified"), date.isASCII(atMost: 64),
            date.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), !isEntityTag(date)
        else { return "" }
        return date
    }

    /// Whether the text is an entity tag; a date begins differently.
    private static func isEntityTag(_ text: String) -> Bool {
        text.utf8.starts(with: "\"".utf8) || text.utf8.starts(with: "W/\"".utf8)
    }
}

/// The certificates and anchors of the one key whose lists are expected at a place: a few at most.
final class RevocationAuthorities: Sendable {
    /// An authority may have certificates of several roots, and some publish the lists of several names at one place.
    static let maximumCount = 8

    /// The authority that was added first.
    let first: X509Certificate
    private let known: Lock<[RevocationAuthority]>

    init(_ first: RevocationAuthority) {
        self.first = first.issuer
        known = Lock([first])
    }

    /// Adds an authority. One whose certificates name the place together with many others is kept once, with as many
    /// names as necessary.
    /// - Returns: whether it, or one of its names, is new; false also if there are too many.
    func add(_ authority: RevocationAuthority) -> Bool {
        known.withLock { known in
            if let index = known.firstIndex(where: { $0.issuer == authority.issuer && $0.anchor == authority.anchor }) {
                return known[index].certificates.formUnion(authority.certificates)
            }
            guard known.count < Self.maximumCount else { return false }
            known.append(authority)
            return true
        }
    }

    /// The certificates that name the place, of the authorities with this name.
    func certificates(of issuer: DistinguishedName) -> NamingCertificates {
        let named = known.withLock { $0 }.filter { $0.issuer.subject.matches(issuer) }.map(\.certificates)
        guard var all = named.first, !named.contains(.any) else { return .any }
        for certificates in named.dropFirst() { _ = all.formUnion(certificates) }
        return all
    }

    /// The signer of a list that belongs to one of the authorities.
    func signer(
        of list: RevocationListHeader, knowing certificates: [X509Certificate], at time: Int64
    ) -> RevocationAuthority.Signer {
        var objection: RevocationAuthority.Signer?
        for authority in known.withLock({ $0 }) {
            switch authority.signer(of: list, knowing: certificates, at: time) {
            case .known(let signer): return .known(signer)
            case .unsupported(let found): objection = .unsupported(found)
            case .none(let found): objection = objection ?? RevocationAuthority.Signer.none(found)
            }
        }
        return objection ?? .none("a list of nobody")
    }
}
