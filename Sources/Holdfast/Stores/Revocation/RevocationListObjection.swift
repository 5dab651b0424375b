import Foundation

/// The reason why a list that its authority signed is not accepted at a place. The existing lists stay.
enum RevocationListObjection {
    private static let askAgain = """
        Fetch it again later. If this happens again, someone answers with old lists: use an https URL if the authority \
        has one.
        """

    /// The numbers of one key and scope form one sequence (RFC 5280 5.2.3).
    static func checkOrder(
        of list: CertificateRevocationList, after old: CertificateRevocationList
    ) throws(DocumentError) {
        if list.provenance?.signer == old.provenance?.signer, let number = list.header.number,
            let oldNumber = old.header.number, number < oldNumber
        {
            throw DocumentError(
                .issuedBeforeNewest, field: "cRLNumber",
                expected: "a list with the number of the one that is there, or a higher one", found: "a lower number",
                remedy: "\(askAgain) If the authority has restarted its numbers, reset the store of its lists.")
        }
        guard list.thisUpdateSeconds >= old.thisUpdateSeconds else { throw older(list, than: old) }
    }

    static func older(_ list: CertificateRevocationList, than newer: CertificateRevocationList) -> DocumentError {
        DocumentError(
            .issuedBeforeNewest, field: "thisUpdate",
            expected: "a list of \(newer.thisUpdate.formatted(.iso8601)) or later",
            found: "one of \(list.thisUpdate.formatted(.iso8601))", remedy: askAgain)
    }

    static func future(_ list: CertificateRevocationList) -> DocumentError {
        DocumentError(
            .invalidValue, field: "thisUpdate", expected: "a list that counts already",
            found: "a list of the future, \(list.thisUpdate.formatted(.iso8601))",
            remedy: "Check this device's clock; if it is right, ask the authority to date its lists correctly.")
    }

    static func otherScope(_ found: String) -> DocumentError {
        DocumentError(
            .invalidValue, field: "issuingDistributionPoint",
            expected: "a list that covers a certificate which names this URL", found: found,
            remedy: "Check that the URL leads to the list of these certificates. The store keeps the lists that it has."
        )
    }

    static func otherKind(_ found: String) -> DocumentError {
        DocumentError(
            .invalidValue, field: "certificateList", expected: "a list that gives the status of certificates",
            found: found,
            remedy: "Check that the URL leads to the authority's complete list. The store keeps the lists that it has.")
    }

    static func outOfDate(_ found: String) -> DocumentError {
        DocumentError(
            .outdated, field: "nextUpdate", expected: "a list that counts now", found: found,
            remedy: """
                Check that the authority still publishes its lists, and this device's clock; otherwise someone answers \
                with old lists.
                """)
    }

    static var noRoom: DocumentError {
        DocumentError(
            .tooManyEntries, field: "certificateList",
            expected: """
                at most \(RevocationLists.maximumCount) lists in force of one URL, of at most \
                \(CertificateRevocationList.maximumBytes) bytes together
                """, found: "one more",
            remedy: "Check that the URL leads to one list. The store keeps the lists that it has.")
    }
}
