public import Foundation
public import Holdfast

/// A draft of a trust-server document: a customer, its hosts and the time. Sign it when it is complete.
public struct TrustServerDraft: Sendable, Hashable {
    /// The customer that owns the hosts.
    public let customer: String
    /// The hosts in order.
    public let hosts: [TrustServerHost]
    /// When the document is made, in whole seconds.
    public let timestamp: Date

    /// Makes a draft.
    /// - Parameters:
    ///   - customer: the customer that owns the hosts.
    ///   - hosts: the hosts in order.
    ///   - timestamp: when the document is made; a fraction of a second is cut off.
    /// - Throws: ``SigningError`` `invalidCustomer`.
    public init(customer: String, hosts: [TrustServerHost], timestamp: Date) throws(SigningError) {
        try TrustServerKey.requireCustomer(customer)
        self.customer = customer
        self.hosts = hosts
        self.timestamp = Date(wholeSeconds: timestamp.wholeSeconds)
    }

    private struct Content: Encodable {
        struct Host: Encodable {
            let hostname: String
            let port: String
            let fp: [String]
            let pk: [String]
        }

        let customer: String
        let hashes: [Host]
        let timestamp: Int64
    }

    /// The JSON that is signed, in UTF-8: the keys of each object are sorted, and there is no white space.
    public var content: Data {
        get throws(SigningError) {
            let content = Content(
                customer: customer,
                hashes: hosts.map {
                    Content.Host(hostname: $0.hostname, port: "\($0.port)", fp: $0.fingerprints, pk: $0.publicKeys)
                }, timestamp: timestamp.wholeSeconds)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return try encoder.encode(content)
            } catch {
                throw SigningError(.unreadableDocument, expected: "JSON", found: "what JSON cannot express")
            }
        }
    }

    /// Signs the document. Before it returns the document, it reads it as a client will.
    /// - Parameters:
    ///   - key: the key. Clients are configured with its certificate.
    ///   - limits: the limits of the clients.
    /// - Returns: the DER of a CMS SignedData; see ``TrustServerDocumentSigner/sign(_:at:)``.
    /// - Throws: ``SigningError`` `unreadableDocument` if a client would refuse the document, with the client's reason;
    ///   `cryptographyFailed`.
    public func signed(
        by key: some TrustServerDocumentSigner, limits: DocumentLimits = DocumentLimits()
    ) throws(SigningError) -> Data {
        guard timestamp.wholeSeconds <= FingerprintEntry.latestExpiry else {
            throw SigningError(
                .unreadableDocument, expected: "a timestamp before the year 10000, in seconds",
                found: "\(timestamp.wholeSeconds), which may be in milliseconds")
        }
        let data = try key.sign(try content, at: timestamp)
        let document: TrustServerDocument
        do throws(DocumentError) {
            let signer = try TrustServerSigner(certificate: key.certificate)
            document = try TrustServerDocument(
                verifying: data, by: signer, customer: customer, at: timestamp, limits: limits)
        } catch {
            throw SigningError(
                .unreadableDocument, expected: "a document that clients accept, with \(error.expected)",
                found: "\(error.found) (\(error.code.rawValue))")
        }
        guard document.entries.count == hosts.count else {
            throw SigningError(
                .unreadableDocument, expected: "\(hosts.count) hosts", found: "\(document.entries.count)")
        }
        return data
    }
}
