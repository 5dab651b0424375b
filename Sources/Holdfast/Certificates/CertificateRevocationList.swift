public import struct Foundation.Date

/// A certificate revocation list (RFC 5280 section 5), read as far as checking needs; reading verifies nothing.
///
/// Complete lists of the issuer itself can vouch for certificates: lists for all certificates, or only for end
/// entities, CAs or one distribution point. Delta lists, indirect lists and lists for some reasons or attribute
/// certificates cannot vouch and are not supported. The certificates that they revoke are still revoked, and a delta
/// list may remove an entry of its base.
public struct CertificateRevocationList: Sendable {
    /// The maximum size of a list, in bytes; large authorities have lists of about ten megabytes.
    package static let maximumBytes = 64 << 20

    typealias Scope = RevocationListHeader.Scope
    typealias Provenance = RevocationListHeader.Provenance

    /// The list's fields other than its entries.
    private(set) var header: RevocationListHeader
    /// The reason why the list cannot vouch for a certificate although it can be read, for example `a delta list`; nil
    /// if it can.
    package let unsupported: String?
    private let entries: RevocationEntries

    /// Reads a list.
    /// - Parameter der: DER of one list, with nothing after it.
    /// - Throws: ``CertificateError`` naming the field that cannot be read.
    public init(der: [UInt8]) throws(CertificateError) { try self.init(RevocationListHeader(der: der)) }

    /// Reads the entries of a list as well.
    init(_ header: RevocationListHeader) throws(CertificateError) {
        do throws(DERError) {
            entries = try RevocationEntries(
                header.entries.map { DERReader(header.der, in: $0) }, issuer: header.issuer, isDelta: header.isDelta)
        } catch {
            throw CertificateError(error, in: "certificateList")
        }
        let flaw = header.flaw ?? (entries.hasCriticalExtension ? "a list with a critical extension of an entry" : nil)
        isDeltaAlone = header.isDelta && flaw == nil
        unsupported = header.isDelta ? flaw ?? "a delta list" : flaw
        self.header = header
    }

    /// Whether it is a delta list that is otherwise understood, so that it can be combined with its base.
    let isDeltaAlone: Bool

    /// The DER as given.
    public var der: [UInt8] { header.der }
    /// The issuer whose certificates the list covers, as the list states it.
    public var issuer: DistinguishedName { header.issuer }
    /// When it was issued.
    public var thisUpdate: Date { Date(wholeSeconds: thisUpdateSeconds) }
    /// The latest time at which the next list is due; nil if the list does not state it.
    public var nextUpdate: Date? { endSecond.map { Date(wholeSeconds: $0 - 1) } }
    /// The first instant at which the list no longer counts, a second after ``nextUpdate``; nil if the list states no
    /// end.
    public var end: Date? { endSecond.map { Date(end: $0) } }
    /// The number of certificates of its issuer that it revokes.
    package var count: Int { entries.count }
    /// The memory that the index of serial numbers takes, in addition to the DER.
    var indexBytes: Int { entries.indexBytes }

    var thisUpdateSeconds: Int64 { header.thisUpdateSeconds }
    var endSecond: Int64? { header.endSecond }
    var scope: Scope { header.scope }
    /// The origin of the list; nil for a list that the application gave.
    var provenance: Provenance? {
        get { header.provenance }
        set { header.provenance = newValue }
    }

    /// Whether it lists a serial number, given as the content bytes of the INTEGER; nothing is verified.
    public func lists(_ serialNumber: ArraySlice<UInt8>) -> Bool { listing(of: serialNumber) == .revoked }

    /// The entry of a serial number, given as the content bytes of the INTEGER.
    func listing(of serialNumber: ArraySlice<UInt8>) -> RevocationEntries.Listing {
        entries.listing(of: serialNumber, in: der)
    }
}
