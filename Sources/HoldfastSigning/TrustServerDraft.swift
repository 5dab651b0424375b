public import Foundation
public import Holdfast

/// A draft of a trust-server document: a customer, hosts and the time. Sign it when it is complete.
public struct TrustServerDraft: Sendable, Hashable {
    /// The customer whose hosts they are.
    public let customer: String
    /// The hosts in order.
    public let hosts: [TrustServerHost]
    /// When it is made, in Unix seconds.
    public let timestamp: Int64

    /// A draft of these hosts.
    /// - Throws: ``SigningError`` `invalidCustomer`.
    public init(customer: String, hosts: [TrustServerHost], timestamp: Int64) throws(SigningError) {
        try TrustServerKey.requireCustomer(customer)
        self.customer = customer
        self.hosts = hosts
        self.timestamp = timestamp
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

    /// The JSON that is signed: the keys of each object in order, without white space.
    public var content: Data {
        get throws(SigningError) {
            let content = Content(
                customer: customer,
                hashes: hosts.map {
                    Content.Host(hostname: $0.hostname, port: "\($0.port)", fp: $0.fingerprints, pk: $0.publicKeys)
                }, timestamp: timestamp)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return try encoder.encode(content)
            } catch {
                throw SigningError(.unreadableDocument, expected: "JSON", found: "what JSON cannot say")
            }
        }
    }

    /// Signs the document, and reads it as a client will before it returns it.
    /// - Parameters:
    ///   - key: whose certificate clients are configured with.
    ///   - limits: those of the clients.
    /// - Throws: ``SigningError`` `unreadableDocument` with what a client would say.
    public func signed(by key: TrustServerKey, limits: DocumentLimits = DocumentLimits()) throws(SigningError) -> Data {
        let time = Date(wholeSeconds: timestamp)
        let data = try key.sign(try content, at: time)
        let document: TrustServerDocument
        do throws(DocumentError) {
            let signer = try TrustServerSigner(certificate: key.certificate)
            document = try TrustServerDocument(
                verifying: data, by: signer, customer: customer, at: time, limits: limits)
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
