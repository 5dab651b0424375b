package import Foundation
package import Holdfast

/// The pins of a verified document as a client would use them, for tools that check if the client could connect.
package struct TrustServerDocumentPins: PinSource {
    private let format: TrustServerFormat
    private let table: TrustServerTable
    /// The hosts that the document names, without their ports.
    private let hosts: Set<DialedHost>

    /// The pins of a document.
    /// - Parameter configuration: that of the client; only its settings are used.
    /// - Throws: ``DocumentError`` for a document that clients refuse.
    package init(
        _ document: TrustServerDocument, _ configuration: TrustServerConfiguration
    ) throws(DocumentError) {
        format = TrustServerFormat(configuration: configuration)
        table = try format.table(of: document, issuedUpTo: .distantFuture)
        hosts = Set(document.entries.compactMap { try? DialedHost($0.hostname) })
    }

    /// Whether the document has an entry for a host, on any port and of any kind.
    func names(_ host: DialedHost) -> Bool { (try? DialedHost(host.name)).map(hosts.contains) ?? true }

    /// When the document was made, according to its signer.
    package var timestamp: Date { table.signedTimestamp }
    /// The first instant at which the document is in its grace period.
    package var graceBegins: Date { table.timestamp.addingTimeInterval(format.maximumAge + 1) }
    /// The first instant at which clients refuse the document.
    package var end: Date { table.end }
    /// The first instant at which clients no longer accept the document as a new one.
    package var downloadEnds: Date { table.timestamp.addingTimeInterval(TrustServerFormat.greatestAgeOfDownload + 1) }

    /// Why a client does not accept the document as a new one at a time; nil if it does.
    package func refusalOfDownload(at time: Date) -> DocumentError? {
        do throws(DocumentError) {
            // Clients state their times in whole seconds.
            try format.checkIsRecent(table, at: time)
            return nil
        } catch {
            return error
        }
    }

    /// Why a client that holds this document keeps it when it is served another at a time; nil if it takes the other.
    package func refusal(of new: TrustServerDocumentPins, at time: Date) -> DocumentError? {
        do throws(DocumentError) {
            try format.checkReplaces(new.table, table, newestIssue: timestamp, at: time)
            return nil
        } catch {
            return error
        }
    }

    package func answer(to question: PinQuestion) -> PinAnswer {
        format.answer(to: question, from: table, at: question.time, lastFailure: { nil })
    }

    package var mayAdmitWithoutPins: Bool { false }
}
